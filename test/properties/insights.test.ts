// FRESH-05: the daily activity of a listing. The tests move rows into the past instead of moving the clock.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { givePhone, insertListing, insertOrganisation } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { refusal } from '../support/problems.ts'

let seller: Person
let viewers: Person[]
const elsewhere = randomUUID()

/** Inserts activity of another listing on that day, so that days are counted from then on. */
const countedSince = (daysAgo: number) =>
  database().query(
    `insert into private.property_days (property_id, day)
     values ($1, (now() at time zone 'Asia/Kuwait')::date - $2::integer)`,
    [elsewhere, daysAgo],
  )

beforeAll(async () => {
  ;[seller, ...viewers] = await Promise.all([signUp(), signUp(), signUp()])
  await givePhone(seller)
})
afterAll(() =>
  database().query('delete from private.property_days where property_id = $1', [elsewhere])
)

/** Moves the listing's activity so far this many days into the past. */
async function moveBack(id: string, days: number) {
  await drain('count_views')
  for (const table of ['private.property_views', 'private.property_days', 'public.leads']) {
    await database().query(`update ${table} set day = day - $2::integer where property_id = $1`, [
      id,
      days,
    ])
  }
}

const dayInKuwait = (daysAgo: number) =>
  new Date(Date.now() + 3 * 3_600_000 - daysAgo * 86_400_000).toISOString().slice(0, 10)
const of = async (id: string, days: number, person = seller) =>
  (await person.get(`/properties/${id}/insights?days=${days}`)).body
type Day = { day: string; views: number; favorites: number; contacts: number; shown: number }
const none = { views: 0, shown: 0, favorites: 0, contacts: 0 }

test('FRESH-05 figures are those of their day in Kuwait, zeros too, none before the release', async () => {
  await countedSince(39)
  const { id } = await publishListing(seller)
  const [first, second] = viewers as [Person, Person]
  for (const person of [first, first, second, seller, guest]) await person.get(`/properties/${id}`)
  for (let times = 0; times < 3; times++) await first.post(`/favorites/${id}`)
  for (const kind of ['call', 'call', 'whatsapp']) {
    await second.post(`/properties/${id}/contact`, { kind })
  }
  await moveBack(id, 39)
  await first.get(`/properties/${id}`)
  await second.post(`/properties/${id}/contact`, { kind: 'call' })
  await drain('count_views')
  // The last second of a day in Kuwait, and the first of the next.
  for (const [time, who] of [['23:59:59', first], ['24:00:00', second]] as const) {
    await database().query(
      `delete from public.favorites where identity_id = $1 and property_id = $2`,
      [who.identityId, id],
    )
    await database().query(
      `insert into public.favorites (identity_id, property_id, created_at)
       values ($1, $2, ($3::date + $4::interval) at time zone 'Asia/Kuwait')`,
      [who.identityId, id, dayInKuwait(5), time],
    )
  }
  const happened: Record<string, Partial<Day>> = {
    [dayInKuwait(39)]: { views: 2, favorites: 2, contacts: 2 },
    [dayInKuwait(5)]: { favorites: 1 },
    [dayInKuwait(4)]: { favorites: 1 },
    [dayInKuwait(0)]: { views: 1, contacts: 1 },
  }
  const model = (days: number) =>
    Array.from({ length: days }, (_, nth) => dayInKuwait(days - 1 - nth))
      .map((day) => ({ day, ...none, ...happened[day] }))

  expect((await of(id, 90)).days).toEqual(model(40))
  expect(await of(id, 30)).toMatchObject({
    days: model(30),
    totals: { views: 1, shown: 0, favorites: 2, contacts: 1 },
    demand: null,
  })
  expect((await of(id, 1)).days).toEqual(model(1))
  expect((await seller.get(`/properties/${id}/insights`)).body.days).toHaveLength(30)

  await countedSince(89)
  const { days, totals } = await of(id, 90)
  expect(days).toEqual(model(90))
  const sum = (name: 'views' | 'favorites' | 'contacts' | 'shown') =>
    days.reduce((all: number, day: Day) => all + day[name], 0)
  expect(totals).toEqual({
    views: sum('views'),
    shown: sum('shown'),
    favorites: sum('favorites'),
    contacts: sum('contacts'),
  })
  for (const wrong of ['0', '91', '1.5', 'x']) {
    expect(await seller.get(`/properties/${id}/insights?days=${wrong}`))
      .toMatchObject(refusal(422, 'validation_failed'))
  }
})

test('FRESH-05 days are gone after 90 days', async () => {
  const property = randomUUID()
  await database().query(
    `insert into private.property_days (property_id, day)
     select $1, (now() at time zone 'Asia/Kuwait')::date - nth from unnest('{89,91}'::integer[]) as nth`,
    [property],
  )
  await drain('purge_property_days')
  const { rows } = await database().query(
    'delete from private.property_days where property_id = $1 returning day::text',
    [property],
  )
  expect(rows).toEqual([{ day: dayInKuwait(89) }])
})

test('FRESH-05 the market is known from the fifth listing of the same type, kind and area on', async () => {
  const there = { kind: 'stable', area_id: 'abdali', governorate_id: 'jahra' }
  const add = (price: number | null, more = {}) =>
    insertListing(viewers[0]!.identityId, { ...there, price, ...more })
  const own = await insertListing(seller.identityId, {
    ...there,
    price: 130_000,
    land_area_m2: 400,
  })
  const others = [110_000.125, 150_000, 90_000]
  for (const price of others) await add(price)
  await add(1, { type: 'RENT' })
  await add(2, { status: 'paused', paused_at: new Date() })
  const market = async () => (await of(own, 1)).market
  expect(await market()).toBe(null)

  const model = (prices: number[]) => {
    const median = (values: number[]) => {
      const sorted = values.toSorted((one, other) => one - other)
      const middle = (sorted.length - 1) / 2
      return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
    }
    const perM2 = [...prices.map((price) => price / 500), 130_000 / 400]
    return {
      medianPrice: expect.closeTo(median([...prices, 130_000]), 3),
      medianPricePerM2: expect.closeTo(median(perM2), 3),
      percentile: Math.round(
        100 * prices.filter((price) => price < 130_000).length / (prices.length + 1),
      ),
    }
  }
  await add(0)
  expect(await market()).toEqual({ listings: 5, ...model(others) })
  await add(120_000)
  expect(await market()).toEqual({ listings: 6, ...model([...others, 120_000]) })
  await database().query(`update public.properties set price = 0 where id = $1`, [own])
  expect((await market()).percentile).toBe(null)
  await database().query(
    `update public.properties set status = 'archived'
     where kind = 'stable' and owner_identity_id = any ($1)`,
    [[seller.identityId, viewers[0]!.identityId]],
  )
})

test('FRESH-05 the figures of an office are the sum over its listings', async () => {
  const owner = await signUp()
  const office = await insertOrganisation(owner.id, 'office')
  await owner.post('/auth/identity/switch', { identityId: office })
  await owner.patch('/office/profile', { phone: '22334455' })
  const ids = [(await publishListing(owner)).id, (await publishListing(owner, { price: 1 })).id]
  for (const id of ids) {
    for (const person of viewers) await person.get(`/properties/${id}`)
    await viewers[0]!.post(`/favorites/${id}`)
  }
  await viewers[1]!.post(`/properties/${ids[0]}/contact`, { kind: 'call' })
  await owner.post(`/properties/${ids[1]}/pause`)
  await drain('count_views')
  const all = await Promise.all(ids.map((id) => of(id, 30, owner)))
  const sum = (name: keyof typeof none) =>
    all.reduce((whole: number, { totals }) => whole + totals[name], 0)
  const expected = { views: 4, shown: 0, favorites: 2, contacts: 1 }
  expect({
    views: sum('views'),
    shown: sum('shown'),
    favorites: sum('favorites'),
    contacts: sum('contacts'),
  }).toEqual(expected)
  expect((await owner.get('/office/stats')).body.last30Days).toEqual(expected)
  await owner.delete(`/properties/${ids[1]}`)
  expect((await owner.get('/office/stats')).body.last30Days)
    .toEqual({ views: 2, shown: 0, favorites: 1, contacts: 1 })
})

test('FRESH-05 they are for the identity that owns the listing, in any state', async () => {
  const owner = await signUp()
  const office = await insertOrganisation(owner.id, 'office')
  const { id } = await publishListing(owner)
  const ask = (person: typeof guest) => person.get(`/properties/${id}/insights`)
  expect(await ask(owner)).toMatchObject({ status: 200 })
  expect(await ask(viewers[0]!)).toMatchObject(refusal(404, 'property_not_found'))
  expect(await ask(guest)).toMatchObject(refusal(401, 'token_missing'))
  await owner.post('/auth/identity/switch', { identityId: office })
  expect(await ask(owner)).toMatchObject(refusal(404, 'property_not_found'))
  await owner.post('/auth/identity/switch', { identityId: owner.identityId })
  const draft = await createDraft(owner)
  expect(await of(draft.id, 1, owner)).toMatchObject({ totals: none, market: null })
  await owner.delete(`/properties/${id}`)
  expect(await ask(owner)).toMatchObject(refusal(404, 'property_not_found'))
})
