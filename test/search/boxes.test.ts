import { afterAll, beforeAll, expect, test } from 'vitest'
import { signUp } from '../support/client.ts'
import { Oracle } from './oracle.ts'
import { bulk } from '../support/nightly.ts'
import { dice, type Search } from './world.ts'

const rounds = bulk(20, 3)
const kinds = ['villa', 'apartment', 'farm']
let oracle: Oracle

beforeAll(async () => {
  const { identityId } = await signUp()
  // The listings lie within 4 by 4 km, so that a grid cell has more listings than a search reads. Hundreds
  // share one point, and each group of five has the same age, price and size.
  oracle = await Oracle.open(async (client) => {
    await client.query(
      `insert into public.properties (
         owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2, bedrooms,
         governorate_id, area_id, lat, lng, location_precision, published_at, expires_at
       )
       select $1, 'individual', (array['SALE', 'RENT', 'SALE', 'RENT', 'EXCHANGE'])[1 + n % 5], 'active',
         ($2::text[])[case when n % 41 = 0 then 3 when n % 9 = 0 then 2 else 1 end],
         'عقار مجرب ' || n % 7, 1000 + n / 5 * 37 % 811, 500 + n / 5 * 91 % 797, n % 8,
         'hawalli', 'salmiya',
         case when n % 8 = 0 then 29.31 else 29.30 + (n * 37 % 4001) * 0.00001 end,
         case when n % 8 = 0 then 47.99 else 47.98 + (n * 61 % 4001) * 0.00001 end,
         (array['exact', 'block'])[1 + n % 2], now() - (n / 5) * interval '1 minute',
         now() + interval '1 day'
       from generate_series(1, 4000) as n`,
      [identityId, kinds],
    )
    await client.query('analyze private.search_documents')
  })
})

afterAll(() => oracle.close())

type Filters = {
  bbox?: [number, number, number, number]
  near?: { lat: number; lng: number; km: number }
  kinds?: string[]
  bedroomsMin?: number
}

function locations(seed: number) {
  const roll = dice(seed)
  const between = (low: number, high: number) => low + (high - low) * (roll(1_000_000) / 1_000_000)
  return (where: ('bbox' | 'near')[]): Filters => {
    const [lat, lng] = [between(29.295, 29.345), between(47.975, 48.025)]
    // Some boxes are too large for the search to read them cell by cell, and some are empty.
    const size = [0.002, 0.01, 0.03, 0.5][roll(4)]
    const filters: Filters = {}
    if (where.includes('bbox')) {
      filters.bbox = [lng - size, lat - between(0, size), lng + between(0, size), lat + size]
    }
    if (where.includes('near')) {
      // The circle may be next to the box, so that most listings near its centre are outside the box.
      const [up, right] = where.includes('bbox')
        ? [between(-size, size), between(-size, size)]
        : [0, 0]
      filters.near = { lat: lat + up, lng: lng + right, km: Math.min(50, size * between(10, 300)) }
    }
    if (roll(3) === 0) filters.kinds = [kinds[roll(3)]]
    if (roll(3) === 0) filters.bedroomsMin = 1 + roll(8)
    return filters
  }
}

async function expectAllPages(search: Omit<Search, 'strategy'>): Promise<number> {
  const query: Search = { strategy: 'standard', ...search }
  const ids = await oracle.expected(query)
  expect({ search, ...await oracle.walk(query) }).toEqual({ search, ids, ended: true })
  return ids.length
}

const places: ('bbox' | 'near')[][] = [['bbox'], ['near'], ['bbox', 'near']]
const orders = ['newest', 'price_asc', 'price_desc', 'area_desc', 'distance']

test.each(
  places.flatMap((where) => orders.map((sort) => ({ where, sort })))
    .filter(({ where, sort }) => sort !== 'distance' || where.includes('near')),
)(
  'SRCH-03 in random places ($where, by $sort) all pages are what plain SQL finds, in its order',
  async ({ where, sort }) => {
    const draw = locations(4711 + sort.length * 31 + where.length)
    let found = 0
    for (let n = 0; n < rounds; n++) {
      const q = n % 4 === 0 ? 'مجرب' : undefined
      found += Math.min(1, await expectAllPages({ filters: draw(where), sort, q, limit: 50 }))
    }
    // Many searches must find something; otherwise the comparison would prove nothing.
    expect(found).toBeGreaterThan(rounds / 4)
  },
)

test('the place where all of many listings stand is searched newest first', async () => {
  const filters: Filters = { near: { lat: 29.31, lng: 47.99, km: 0.01 } }
  expect(await expectAllPages({ filters, limit: 50 })).toBeGreaterThan(300)
})
