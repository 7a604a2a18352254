import type pg from 'pg'
import { expect, test } from 'vitest'
import { database, guest, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'

/** Stores the prices and returns whether it did; it does nothing while the scheduler stores them. */
const refresh = async (client: pg.Pool | pg.PoolClient = database()) =>
  Number((await client.query(`select private.refresh_area_prices('0') as n`)).rows[0].n) > 0

async function refreshNow() {
  while (!(await refresh()));
}

async function atOneMoment(work: (client: pg.PoolClient) => Promise<void>) {
  const client = await database().connect()
  try {
    for (let written = false; !written;) {
      await client.query('begin isolation level repeatable read')
      // The refresh fails if the scheduler has just stored the values.
      written = await refresh(client).catch(() => false)
      if (written) await work(client)
      await client.query('rollback')
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
}

async function plainFigures(client: pg.PoolClient) {
  const { rows } = await client.query(
    `select areas.id, count(properties.id)::integer as count, coalesce(
       array_agg(properties.price::float8 order by properties.price)
         filter (where properties.price > 0), '{}') as prices,
       count(distinct identities.account_id) filter (where properties.price > 0)::integer
         as accounts,
       coalesce(array_agg(
         properties.price::float8 / coalesce(land_area_m2, built_area_m2)::float8
         order by properties.price / coalesce(land_area_m2, built_area_m2)
       ) filter (where properties.price > 0), '{}') as per_m2
     from public.areas
     left join public.properties on properties.area_id = areas.id and properties.listed
     left join public.identities on identities.id = properties.owner_identity_id
     group by areas.id order by areas.position`,
  )
  const median = (sorted: number[], accounts: number) =>
    sorted.length < 5 || accounts < 3 ? null : (sorted[Math.floor((sorted.length - 1) / 2)]! +
      sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2
  return rows.map(({ id, count, prices, per_m2, accounts }) => ({
    id,
    count,
    median: median(prices, accounts),
    perM2: median(per_m2, accounts),
  }))
}

const answer = async (client: pg.PoolClient) =>
  (await client.query('select private.list_map_areas() as answer')).rows[0].answer

test('what is kept is what plain SQL finds in the listings', async () => {
  const people = await Promise.all([signUp(), signUp(), signUp()])
  const there = { area_id: 'surra', governorate_id: 'capital' }
  const prices = [90_000, 110_000.125, 90_000, 250_000, 300_000.5, 70_000]
  for (const [nth, price] of prices.entries()) {
    await insertListing(people[nth % 3]!.identityId, { ...there, price })
  }
  await insertListing(people[0]!.identityId, { ...there, type: 'EXCHANGE', price: null })
  await insertListing(people[1]!.identityId, { ...there, price: 0 })
  await atOneMoment(async (client) => {
    const { items } = await answer(client)
    const plain = await plainFigures(client)
    expect(items.map(({ areaId }: { areaId: string }) => areaId)).toEqual(plain.map(({ id }) => id))
    for (const [index, { count, median, perM2 }] of plain.entries()) {
      const { areaId, medianPrice, medianPricePerM2 } = items[index]
      expect(items[index].count, areaId).toBe(count)
      if (median === null) expect([medianPrice, medianPricePerM2], areaId).toEqual([null, null])
      else {
        expect(medianPrice, areaId).toBeCloseTo(median, 2)
        expect(medianPricePerM2, areaId).toBeCloseTo(perM2!, 2)
      }
    }
    expect(items.find(({ areaId }: { areaId: string }) => areaId === 'surra').medianPrice)
      .not.toBeNull()
  })
})

test('a new listing is counted from the next run of the job on', async () => {
  const { identityId } = await signUp()
  const quiet = { area_id: 'failaka', governorate_id: 'capital' } // no other test has listings here
  const count = async () => {
    const { body } = await guest.get('/map/areas')
    return body.items.find(({ areaId }: { areaId: string }) => areaId === quiet.area_id).count
  }
  await refreshNow()
  const before = await count()
  await insertListing(identityId, quiet)
  await refreshNow()
  expect(await count()).toBe(before + 1)
})

test('with filters they are of this moment', async () => {
  const { identityId } = await signUp()
  const price = 2_000_000 + Math.floor(Math.random() * 1e9)
  await refreshNow()
  await insertListing(identityId, { price })
  const { body } = await guest.get(`/map/areas?priceMin=${price}&priceMax=${price}`)
  expect(body.items.find(({ areaId }: { areaId: string }) => areaId === 'salmiya').count).toBe(1)
})

test('where nothing is kept, or it is older than five minutes, they are of this moment', async () => {
  await atOneMoment(async (client) => {
    const { items } = await answer(client)
    await client.query(`update private.area_prices set items = '[]'`)
    expect((await answer(client)).items).toEqual([])
    await client.query(
      `update private.area_prices set computed_at = computed_at - interval '5 minutes'`,
    )
    expect((await answer(client)).items).toEqual(items)
    await client.query('delete from private.area_prices')
    expect((await answer(client)).items).toEqual(items)
  })
})

test('refreshes at once leave one row, and a fresh one is left alone', async () => {
  const written = await Promise.all(Array.from({ length: 4 }, () => refresh()))
  if (!written.includes(true)) await refreshNow()
  const { rows } = await database().query('select computed_at from private.area_prices')
  expect(rows).toHaveLength(1)
  await drain('refresh_area_prices')
  expect((await database().query('select computed_at from private.area_prices')).rows)
    .toEqual(rows)
})
