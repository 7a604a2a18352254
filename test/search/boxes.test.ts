import { afterAll, beforeAll, expect, test } from 'vitest'
import type pg from 'pg'
import { database, signUp } from '../support/client.ts'
import { dice } from './world.ts'

const roll = dice(4711)
const between = (low: number, high: number) => low + (high - low) * (roll(1_000_000) / 1_000_000)
const kinds = ['villa', 'apartment', 'farm']
let client: pg.PoolClient

beforeAll(async () => {
  const { identityId } = await signUp()
  // One snapshot for searches and plain SQL: whatever happens meanwhile, both see the same.
  client = await database().connect()
  await client.query('begin isolation level repeatable read')
  // In 4 by 4 km, so that a cell of the search's grid holds more than it looks at; hundreds stand
  // at one place, and five at a time are equally new.
  await client.query(
    `insert into public.properties (
       owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2, bedrooms,
       governorate_id, area_id, lat, lng, location_precision, published_at, expires_at
     )
     select $1, 'individual', (array['SALE', 'RENT', 'SALE', 'RENT', 'EXCHANGE'])[1 + n % 5], 'active',
       ($2::text[])[case when n % 41 = 0 then 3 when n % 9 = 0 then 2 else 1 end],
       'عقار مجرب ' || n % 7, 1000, 500, n % 8,
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

afterAll(async () => {
  await client.query('rollback')
  client.release()
})

type Filters = {
  bbox?: [number, number, number, number]
  near?: { lat: number; lng: number; km: number }
  kinds?: string[]
  bedroomsMin?: number
}

function randomLocation(): Filters {
  const [lat, lng] = [between(29.28, 29.36), between(47.96, 48.04)]
  // Some are larger than what is walked cell by cell, and some hold nothing.
  const size = [0.002, 0.01, 0.03, 0.5][roll(4)]
  const filters: Filters = {}
  if (roll(3)) {
    filters.bbox = [lng - size, lat - between(0, size), lng + between(0, size), lat + size]
  }
  if (!filters.bbox || roll(3) === 0) filters.near = { lat, lng, km: size * between(10, 100) }
  if (roll(2)) filters.kinds = [kinds[roll(3)]]
  if (roll(3) === 0) filters.bedroomsMin = 1 + roll(8)
  return filters
}

async function plain({ bbox, near, kinds, bedroomsMin }: Filters, q?: string): Promise<string[]> {
  const { rows } = await client.query(
    `select property_id as id from private.search_documents
     where type in ('SALE', 'RENT') and (auction_ends_at > now()) is not true
       and ($1::float8[] is null
         or lng between ($1)[1] and ($1)[3] and lat between ($1)[2] and ($1)[4])
       and ($2::float8 is null or 2 * 6371.0088 * asin(sqrt(sind((lat - $2) / 2) ^ 2
         + cosd(lat) * cosd($2) * sind((lng - $3) / 2) ^ 2)) <= $4::float8)
       and ($5::text[] is null or kind = any ($5))
       and ($6::integer is null or bedrooms >= $6)
       and ($7::text is null or $7 = any (tsvector_to_array(document)))
     order by published_at desc, property_id desc`,
    [bbox, near?.lat, near?.lng, near?.km, kinds, bedroomsMin, q],
  )
  return rows.map(({ id }) => id)
}

async function allPages(filters: Filters, limit: number, q?: string): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const { rows: [page] }: { rows: { items: { id: string }[]; nextCursor: string | null }[] } =
      await client.query(
        `select items, "nextCursor" from api.search('standard', $1, $2, 'newest', $3, $4)`,
        [filters, q, cursor, limit],
      )
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor)
  return ids
}

test(
  'the pages of 60 random boxes and circles are what plain SQL finds, in its order',
  async () => {
    let found = 0
    for (let n = 0; n < 60; n++) {
      const filters = randomLocation()
      const expected = await plain(filters)
      expect({ filters, ids: await allPages(filters, 50) }).toEqual({ filters, ids: expected })
      found += Math.min(1, expected.length)
    }
    // Most of them find something, or they would show nothing.
    expect(found).toBeGreaterThan(30)
  },
  300_000,
)

test(
  'with a word, 20 random boxes and circles are what plain SQL finds, in its order',
  async () => {
    for (let n = 0; n < 20; n++) {
      const filters = randomLocation()
      const expected = await plain(filters, 'مجرب')
      expect({ filters, ids: await allPages(filters, 17, 'مجرب') })
        .toEqual({ filters, ids: expected })
    }
  },
  300_000,
)

test('the place where all of many listings stand is searched newest first', async () => {
  const filters: Filters = { near: { lat: 29.31, lng: 47.99, km: 0.01 } }
  const ids = await allPages(filters, 50)
  expect(ids).toEqual(await plain(filters))
  expect(ids.length).toBeGreaterThan(300)
})
