import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { asCaller, database, guest, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'

/** Stores the prices and returns true, or returns false if the scheduler is storing them at this moment. */
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
    `select areas.id, types.type, count(properties.id)::integer as count, coalesce(
       array_agg(properties.price::float8 order by properties.price)
         filter (where properties.price > 0), '{}') as prices,
       count(distinct identities.account_id) filter (where properties.price > 0)::integer
         as accounts,
       coalesce(array_agg(
         properties.price::float8 / coalesce(land_area_m2, built_area_m2)::float8
         order by properties.price / coalesce(land_area_m2, built_area_m2)
       ) filter (where properties.price > 0), '{}') as per_m2
     from public.areas
     cross join unnest('{SALE,RENT,EXCHANGE}'::text[]) as types (type)
     left join public.properties
       on properties.area_id = areas.id and properties.type = types.type and properties.listed
     left join public.identities on identities.id = properties.owner_identity_id
     group by areas.id, types.type order by areas.position, areas.id`,
  )
  const median = (sorted: number[], accounts: number) =>
    sorted.length < 5 || accounts < 3 ? null : (sorted[Math.floor((sorted.length - 1) / 2)]! +
      sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2
  return Object.entries(Object.groupBy(rows, ({ id }) => id)).map(([id, ofTypes = []]) => {
    const of = (ofType: string) => {
      const { prices, per_m2, accounts } = ofTypes.find(({ type }) => type === ofType)
      return [median(prices, accounts), median(per_m2, accounts)]
    }
    const count = ofTypes.reduce((sum, { count }) => sum + count, 0)
    return { id, count, medians: [...of('SALE'), ...of('RENT')] }
  })
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
    for (const [index, { count, medians }] of plain.entries()) {
      const { areaId, medianPrice, medianPricePerM2, sale, rent } = items[index]
      expect([areaId, items[index].count, medianPrice, medianPricePerM2])
        .toEqual([areaId, count, null, null])
      const found = [sale, rent].flatMap((one) => [one.medianPrice, one.medianPricePerM2])
      expect(found, areaId).toEqual(
        medians.map((median) => median === null ? null : expect.closeTo(median, 2)),
      )
    }
    expect(items.find(({ areaId }: { areaId: string }) => areaId === 'surra').sale.medianPrice)
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

describe('SRCH-12 by month', { shuffle: false }, () => {
  // No other test has farms there.
  const farm = { area_id: 'failaka', governorate_id: 'capital', kind: 'farm', land_area_m2: 1000 }
  const path = '/map/areas/failaka/history?kind=farm'
  const history = async (type: string) => (await guest.get(`${path}&type=${type}`)).body.items
  const ofFarms = `where area_id = 'failaka' and kind = 'farm'`
  const run = async () =>
    Number((await database().query('select private.keep_area_prices() as n')).rows[0].n)

  const dayPasses = () =>
    database().query(
      `update private.timestamps set at = at - interval '1 day' where name = 'area_prices_kept'`,
    )

  async function nextDay() {
    await dayPasses()
    await drain('keep_area_prices')
  }

  test('what listings cost is kept once a day, and stands when the month is over', async () => {
    await database().query(`delete from private.area_price_history ${ofFarms}`)
    const people = await Promise.all([signUp(), signUp(), signUp()])
    const offered: (() => Promise<unknown>)[] = []
    const offer = async (price: number, type = 'SALE') => {
      const seller = people[offered.length % 3]!
      const id = await insertListing(seller.identityId, { ...farm, price, type })
      offered.push(() => seller.delete(`/properties/${id}`))
    }
    for (const price of [50_000, 60_000.5, 70_000, 80_000]) await offer(price)
    await nextDay()
    const none = { medianPrice: null, medianPricePerM2: null }
    const first = await history('SALE')
    expect(first).toEqual([{ month: expect.stringMatching(/^\d{4}-\d\d$/), count: 4, ...none }])
    expect(await history('RENT')).toEqual([])

    await offer(65_000)
    await drain('keep_area_prices')
    expect(await history('SALE')).toEqual(first)
    await nextDay()
    const full = { count: 5, medianPrice: 65_000, medianPricePerM2: 65 }
    expect(await history('SALE')).toEqual([{ month: first[0].month, ...full }])

    await database().query(
      `update private.area_price_history set month = month - interval '1 month' ${ofFarms}`,
    )
    await offer(68_000)
    await offer(300, 'RENT')
    await nextDay()
    const [now, before, ...others] = await history('SALE')
    expect(others).toEqual([])
    expect(now).toEqual({
      month: first[0].month,
      count: 6,
      medianPrice: 66_500,
      medianPricePerM2: 66.5,
    })
    expect(before).toEqual({ month: expect.any(String), ...full })
    expect(before.month < now.month).toBe(true)
    expect(await history('RENT')).toEqual([{ month: now.month, count: 1, ...none }])
    expect(await history('EXCHANGE')).toEqual([])

    await Promise.all(offered.map((end) => end()))
    await nextDay()
    expect(await history('SALE')).toEqual([before])
    expect(await history('RENT')).toEqual([])
  })

  test('of runs at once one works', async () => {
    const seller = await signUp()
    const id = await insertListing(seller.identityId, farm)
    await dayPasses()
    const counts = await Promise.all([run(), run(), run()])
    // The scheduler may have run the job first.
    expect(counts.filter((rows) => rows > 0).length).toBeLessThanOrEqual(1)
    expect((await history('SALE'))[0]).toMatchObject({ count: 1 })
    await seller.delete(`/properties/${id}`)
  })

  test('an area, type or kind that does not exist is refused by name, also past the facade', async () => {
    const query = { type: 'SALE', kind: 'farm' }
    const refused = async (area: string, given: Record<string, string>) => {
      const { status, body } = await guest.get(
        `/map/areas/${area}/history?${new URLSearchParams(given)}`,
      )
      expect([status, body.error.code]).toEqual([422, 'validation_failed'])
      return body.error.fields.map((one: { path: string; code: string }) => [one.path, one.code])
    }
    expect(await refused('atlantis', query)).toEqual([['areaId', 'invalid']])
    expect(await refused('failaka', { kind: 'farm' })).toEqual([['type', 'required']])
    expect(await refused('failaka', { type: 'SALE' })).toEqual([['kind', 'required']])
    expect(await refused('failaka', { ...query, type: 'LEASE' })).toEqual([['type', 'invalid']])
    expect(await refused('failaka', { ...query, kind: 'palace' })).toEqual([['kind', 'invalid']])
    const past = await asCaller(
      undefined,
      (client) =>
        client.query(`select private.list_area_price_history('atlantis', 'sale', null)`)
          .then(() => undefined, ({ code, detail }) => [code, JSON.parse(detail).fields]),
    )
    expect(past).toEqual(['PT422', [
      { path: 'areaId', code: 'invalid' },
      { path: 'type', code: 'invalid' },
      { path: 'kind', code: 'required' },
    ]])
  })
})
