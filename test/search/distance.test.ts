// Reads all pages sorted by distance, with listings along one street. Postgres prints distances with 15
// digits or in full, depending on extra_float_digits, which is 0 on hosted projects.
import { beforeAll, expect, test } from 'vitest'
import { database, guest, signUp } from '../support/client.ts'
import { uniqueWord } from './results.ts'

const count = 1200
const word = uniqueWord()
const near = { lat: 29.3401, lng: 48.0502, km: 5 }
let street: string[]

beforeAll(async () => {
  const { identityId } = await signUp()
  const { rows } = await database().query(
    `insert into public.properties (
       owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2,
       governorate_id, area_id, lat, lng, location_precision, published_at, expires_at
     )
     select $1, 'individual', 'SALE', 'active', 'villa', 'فيلا ' || $2 || ' رقم ' || n, 1000, 500,
       'hawalli', 'salmiya', 29.3333 + (n % 40) * 1.1e-14, 48.0777 + (n / 40) * 2.3e-14, 'exact',
       now(), now() + interval '1 day'
     from generate_series(1, $3::integer) as n
     returning id`,
    [identityId, word, count],
  )
  street = rows.map(({ id }) => id).sort()
  // Most of these distances change when cut to 15 digits.
  const { rows: [counts] } = await database().query(
    `select count(*) filter (where distance::numeric::double precision <> distance)::int as moved
     from private.search_documents
     cross join lateral (
       select location operator(extensions.<->) private.earth_point($2, $3) as distance
     ) as distances
     where property_id = any ($1)`,
    [street, near.lat, near.lng],
  )
  expect(counts.moved).toBeGreaterThan(count / 2)
})

type Page = { items: { id: string }[]; nextCursor: string | null }

async function walk(page: (cursor: string | undefined, n: number) => Promise<Page>) {
  const ids: string[] = []
  let cursor: string | undefined
  for (let n = 0; n <= count; n++) {
    const { items, nextCursor } = await page(cursor, n)
    ids.push(...items.map(({ id }) => id))
    if (!nextCursor) return ids
    cursor = nextCursor
  }
  throw new Error('it does not end')
}

const filters = { near }
const sort = 'distance'

test.each([{ q: word }, {}])('by HTTP every listing comes once, %j', async (words) => {
  const price = { priceMin: 1000, priceMax: 1000 }
  const ids = await walk(async (cursor) => {
    const { status, body } = await guest.post('/search/advanced', {
      ...{ strategy: 'standard', ...words, near, ...price, sort, limit: 50 },
      cursor,
    })
    expect(status).toBe(200)
    return body
  })
  expect(new Set(ids).size).toBe(ids.length)
  const ours = new Set(street)
  expect(ids.filter((id) => ours.has(id)).sort()).toEqual(street)
})

test.each([
  ['0', ['0']],
  ['1', ['1']],
  ['3', ['3']],
  ['another one for each page', ['0', '3', '-4', '1']],
])('with extra_float_digits %s every listing comes once', async (_, settings) => {
  const client = await database().connect()
  const seen = []
  try {
    for (const size of [17, 50]) {
      seen.push(
        await walk(async (cursor, n) => {
          await client.query(`select set_config('extra_float_digits', $1, false)`, [
            settings[n % settings.length],
          ])
          const { rows } = await client.query(
            `select private.search('standard', $1, $2, $3, $4, $5)::json as page`,
            [filters, word, sort, cursor, size],
          )
          return rows[0].page
        }),
      )
    }
  } finally {
    await client.query('reset extra_float_digits')
    client.release()
  }
  for (const ids of seen) expect([...ids].sort()).toEqual(street)
  expect(seen[0]).toEqual(seen[1])
})
