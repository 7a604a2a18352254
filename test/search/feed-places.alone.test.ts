// HARM-07: the positions ("places") of one account's listings in the feed.
import { describe, expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { insertListing, insertOrganisation, proveEmail } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { completeFields, publishListing } from '../support/listings.ts'
import { givePlan } from '../support/plans.ts'
import { bearer, race } from '../support/races.ts'
import { withRates } from '../support/own-rates.ts'
import { ids, now, page } from './feed-pages.ts'

withRates({ feed_places: 1, feed_places_unproven: 1 })

async function places(...listings: string[]): Promise<{ sorted: number; published: number }[]> {
  const { rows } = await database().query(
    `select extract(epoch from publications.published_at)::float as sorted,
       extract(epoch from properties.published_at)::float as published
     from private.publications
     join public.properties on properties.id = publications.property_id
     where publications.property_id = any ($1) and publications.until = 'infinity'
     order by array_position($1, publications.property_id)`,
    [listings],
  )
  return rows
}

/** Expects each place this many minutes after the previous place, or at the publication if that is later. */
async function expectApart(minutes: number, listings: string[]) {
  const all = await places(...listings)
  expect(all).toHaveLength(listings.length)
  for (const [nth, { sorted, published }] of all.entries()) {
    const next = nth ? all[nth - 1]!.sorted + minutes * 60 : 0
    expect(sorted).toBeCloseTo(Math.max(published, next), 3)
  }
}

async function publish(person: Person, count: number): Promise<string[]> {
  const made: string[] = []
  while (made.length < count) made.push((await publishListing(person)).id)
  return made
}

const inFeed = async () => ids((await page(await now(), 1, 50)).items)

test('HARM-07 ten minutes apart, the first at once; sixty where nothing is proven', async () => {
  const [proven, unproven] = [await signUp(), await signUp()]
  await proveEmail(proven)
  const own = await publish(proven, 4)
  const others = await publish(unproven, 3)
  await expectApart(10, own)
  await expectApart(60, others)
  const shown = await inFeed()
  expect([own[0], others[0]].every((id) => shown.includes(id!))).toBe(true)
  for (const id of [...own.slice(1), ...others.slice(1)]) expect(shown).not.toContain(id)
  const found = await guest.get(`/identities/${proven.identityId}/listings?limit=50`)
  expect(ids(found.body.items).toSorted()).toEqual(own.toSorted())
  const searched = await guest.post('/search/advanced', {
    strategy: 'standard',
    postedSince: (await proven.get(`/properties/${own[0]}`)).body.publishedAt,
    limit: 50,
  })
  for (const id of [...own, ...others]) expect(ids(searched.body.items)).toContain(id)

  await database().query(
    `update private.publications set published_at = now() - interval '1 second' where property_id = $1`,
    [own[1]],
  )
  expect(await inFeed()).toContain(own[1])
})

/** Moves ended publications eight hours back, before any snapshot that can still be read. */
async function forgetPast(listings: string[]) {
  await database().query(
    `update private.publications
     set since = since - interval '8 hours', until = until - interval '8 hours'
     where property_id = any ($1) and until < 'infinity'`,
    [listings],
  )
  await drain('purge_publications')
  const { rows } = await database().query(
    'select from private.publications where property_id = any ($1)',
    [listings],
  )
  expect(rows).toEqual([])
}

test('HARM-07 a place is kept while a listing is away, however long', async () => {
  const person = await signUp()
  const listings = await publish(person, 3)
  const before = await places(...listings)
  for (const isForgotten of [false, true]) {
    for (const id of listings) {
      expect((await person.post(`/properties/${id}/pause`)).status).toBe(200)
    }
    if (isForgotten) await forgetPast(listings)
    for (const id of listings) {
      expect((await person.post(`/properties/${id}/resume`)).status).toBe(200)
    }
    expect(await places(...listings)).toEqual(before)
  }
})

test('HARM-07 what was approved without room takes its place when it is shown for the first time', async () => {
  const person = await signUp()
  // The state of a listing right after its approval (2_rules_states.sql).
  const at = { status: 'paused', paused_at: new Date(), published_at: new Date() }
  const listings = [
    await insertListing(person.identityId, at),
    await insertListing(person.identityId, at),
    await insertListing(person.identityId, at),
  ]
  for (const id of listings) {
    expect((await person.post(`/properties/${id}/resume`)).status).toBe(200)
  }
  await expectApart(60, listings)
})

test('HARM-07 no place is more than a day ahead, and none behind goes back', async () => {
  const person = await signUp()
  const [first] = await publish(person, 1)
  await database().query(
    `update private.feed_places set taken_to = now() + interval '23 hours 50 minutes'
     where account_id = $1`,
    [person.id],
  )
  const ahead = async (listings: string[]) =>
    (await places(...listings)).map(({ sorted, published }) => sorted - published)
  for (const seconds of await ahead(await publish(person, 2))) {
    expect(seconds).toBeCloseTo(86_400, 3)
  }

  // A listing that was approved long ago but is shown only now gets no earlier place than the others.
  const old = await insertListing(person.identityId, {
    status: 'paused',
    paused_at: new Date(),
    published_at: new Date(Date.now() - 3 * 86_400_000),
  })
  expect((await person.post(`/properties/${old}/resume`)).status).toBe(200)
  const [shown, known] = await places(old, first!)
  expect(shown!.sorted).toBeGreaterThan(known!.sorted + 86_000)
})

test('HARM-07 identities of one account share them; of several at once none stand together', async () => {
  const person = await signUp()
  await proveEmail(person)
  const office = await insertOrganisation(person.id, 'office')
  await givePlan(office, 'office')
  const own = await publish(person, 1)
  await person.post('/auth/identity/switch', { identityId: office })
  const replies = await race(Array.from({ length: 6 }, () => ({
    path: '/properties',
    body: { ...completeFields.RENT, publish: true },
    headers: [bearer(person)],
  })))
  const all = [...own, ...replies.map(({ body }) => body.id)]
  const { rows } = await database().query(
    `select extract(epoch from published_at - lag(published_at) over (order by published_at)) as apart
     from private.publications where property_id = any ($1)`,
    [all],
  )
  const apart = rows.slice(1).map((row) => Number(row.apart))
  expect(apart).toHaveLength(6)
  for (const seconds of apart) expect(seconds).toBeGreaterThanOrEqual(600)
})

describe('simulated', () => {
  test('HARM-07 five accounts that publish all that they may take five places of the first page', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => signUp()))
    const flood = (await Promise.all(people.map((person) => publish(person, 5)))).flat()
    const neighbours = await Promise.all(Array.from({ length: 15 }, () => signUp()))
    const honest = (await Promise.all(neighbours.map((person) => publish(person, 1)))).flat()
    const first = ids((await page(await now(), 1, 20, 'sale')).items)
    const taken = first.filter((id) => flood.includes(id)).length
    console.log(`of the first 20 slots five accounts with 25 new listings take ${taken}`)
    expect(taken).toBe(5)
    expect(first.filter((id) => honest.includes(id))).toHaveLength(15)
  })
})
