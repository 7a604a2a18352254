import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { bulk } from '../support/nightly.ts'

type Cluster = { count: number; sale: { minPrice: number | null }; bbox: number[] }

/** In nightly runs, more listings than the 20,000 that the map counts one by one. */
const listings = bulk(20_600, 1500)

let client: pg.PoolClient
const box = [46.6, 28.6, 47.6, 29.6]

beforeAll(async () => {
  const { identityId } = await signUp()
  client = await database().connect()
  // Only this connection sees the listings; they are rolled back at the end.
  await client.query('begin')
  await client.query(
    `insert into public.properties (
       owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2,
       governorate_id, area_id, lat, lng, location_precision, published_at, expires_at
     )
     select $1, 'individual', 'SALE', 'active', 'camp', 'مخيم في الصحراء', 1000000 - n, 500,
       'jahra', 'salmi',
       -- There are 91 places, one of which has a five-hundredth of all; their rows are mixed in every block.
       28.65 + n % 10 * 0.09, 46.65 + (case when n % 500 = 0 then 9 else n / 10 % 9 end) * 0.09,
       'exact', now() - (n * 7919 % $2) * interval '1 minute', now() + interval '1 day'
     from generate_series(1, $2) as n`,
    [identityId, listings],
  )
  await client.query('analyze private.search_documents')
})

afterAll(async () => {
  await client.query('rollback')
  client.release()
})

const map = async (zoom: number) => {
  const { rows: [{ map }] } = await client.query(
    'select private.list_map_listings($1, $2) as map',
    [JSON.stringify(box), zoom],
  )
  return map
}

test('of thousands of listings no cell with a thousandth is missing, and no lowest price is wrong', async () => {
  const zoom = 11
  const { clusters, approximate }: { clusters: Cluster[]; approximate: boolean } = await map(zoom)
  const { rows: cells } = await client.query(
    `select floor((shown_lng + 180) / $1) || ',' || floor((shown_lat + 90) / $1) as cell,
       count(*)::integer as count,
       min(nullif(price, 0)) filter (where type = 'SALE')::float8 as "minPrice"
     from public.properties
     where listed and shown_lng between $2 and $4 and shown_lat between $3 and $5
     group by 1 having count(*) > $6`,
    [360 / 2 ** (zoom + 2), ...box, Math.floor(listings / 1000)],
  )
  const size = 360 / 2 ** (zoom + 2)
  const found = new Map(clusters.map((cluster) => {
    const [west, south] = cluster.bbox
    return [`${Math.floor((west! + 180) / size)},${Math.floor((south! + 90) / size)}`, cluster]
  }))
  expect(cells.length).toBeGreaterThan(80)
  for (const { cell, count, minPrice } of cells) {
    expect([cell, found.get(cell)]).toEqual([cell, expect.anything()])
    const cluster = found.get(cell)!
    expect([cell, cluster.sale.minPrice]).toEqual([cell, approximate ? null : minPrice])
    if (!approximate) expect([cell, cluster.count]).toEqual([cell, count])
  }
})

test('points are the newest of all that lie in the box, however many', async () => {
  const { points, truncated } = await map(15)
  const { rows } = await client.query(
    `select id from public.properties
     where listed and shown_lng between $1 and $3 and shown_lat between $2 and $4
     order by published_at desc, id desc limit 500`,
    box,
  )
  expect(truncated).toBe(true)
  expect(points.map(({ id }: { id: string }) => id)).toEqual(rows.map(({ id }) => id))
})
