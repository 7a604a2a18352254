import { describe, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { givePlan } from '../support/plans.ts'
import { bearer, race, type RawRequest } from '../support/races.ts'
import { insertListing } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'
import { giveMoney } from '../support/money.ts'
import { agePlans, buy, newPlan } from './purchases.ts'

const refused = (limit: number, used: number) => ({
  status: 402,
  body: { error: { code: 'quota_exceeded', limit, used } },
})

async function seller(active: number): Promise<{ person: Person; ids: string[] }> {
  const person = await signUp()
  await givePlan(person.identityId, 'plus')
  const ids: string[] = []
  for (let i = 0; i < active; i++) {
    ids.push(
      await insertListing(person.identityId, {
        published_at: new Date(Date.now() - 1e6 + i * 1000),
        floor_no: i, // so that the suspended listing is a different unit
      }),
    )
  }
  return { person, ids }
}

const states = async (person: Person): Promise<string[]> =>
  (await database().query(
    'select status from public.properties where owner_identity_id = $1 order by published_at, id',
    [person.identityId],
  )).rows.map(({ status }) => status)

test('the eleventh of ten is refused, and the plan says how many are used', async () => {
  const { person } = await seller(9)
  await publishListing(person)
  expect((await person.get('/plans/current')).body.usage.activeListings).toEqual({
    limit: 10,
    used: 10,
  })
  expect(await person.post('/properties', { ...completeFields.SALE, publish: true }))
    .toMatchObject(refused(10, 10))
  const { id } = await createDraft(person, completeFields.RENT)
  expect(await person.post(`/properties/${id}/publish`)).toMatchObject(refused(10, 10))
  expect((await states(person)).filter((state) => state === 'draft')).toHaveLength(1)
  expect(await states(person)).toHaveLength(11)
})

test('an invalid listing is refused as such, before the quota', async () => {
  const { person } = await seller(10)
  const { id } = await createDraft(person, { ...completeFields.SALE, price: null })
  expect((await person.post(`/properties/${id}/publish`)).status).toBe(422)
  expect((await person.post(`/properties/${id}/resume`)).status).toBe(409)
})

test('resume, renew and publish take a place; pause, sell, archive and delete free one', async () => {
  const { person, ids } = await seller(10)
  const act = (id: string, name: string) => person.post(`/properties/${id}/${name}`)
  const paused = await insertListing(person.identityId, { status: 'paused', paused_at: new Date() })
  const expired = await insertListing(person.identityId, { status: 'expired' })
  for (const [id, name] of [[paused, 'resume'], [expired, 'renew']] as const) {
    expect(await act(id, name)).toMatchObject(refused(10, 10))
  }
  expect((await act(ids[0]!, 'pause')).status).toBe(200)
  expect((await act(paused, 'resume')).status).toBe(200)
  expect(await act(ids[0]!, 'resume')).toMatchObject(refused(10, 10))
  expect((await act(ids[1]!, 'mark-sold')).status).toBe(200)
  expect((await act(expired, 'renew')).body).toMatchObject({ status: 'active' })
  expect((await person.delete(`/properties/${ids[2]}`)).status).toBe(204)
  expect((await act(ids[3]!, 'archive')).status).toBe(200)
  expect((await act(ids[3]!, 'restore')).status).toBe(200)
  await publishListing(person)
  await publishListing(person)
  expect(await person.post('/properties', { ...completeFields.SALE, publish: true }))
    .toMatchObject(refused(10, 10))
})

describe('at once', () => {
  test('of twenty published at once over two free places, two are', async () => {
    const { person } = await seller(8)
    const shots = Array.from({ length: 20 }, (): RawRequest => ({
      path: '/properties',
      body: { ...completeFields.SALE, publish: true },
      headers: [bearer(person)],
    }))
    const replies = await race(shots)
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(2)
    expect(replies.filter(({ status }) => status === 402)).toHaveLength(18)
    expect((await states(person)).filter((state) => state === 'active')).toHaveLength(10)
  })

  test('publishing, resuming and renewing share the quota', async () => {
    const { person } = await seller(9)
    const drafts = await Promise.all(
      Array.from({ length: 4 }, () => createDraft(person, completeFields.RENT)),
    )
    const paused = await insertListing(person.identityId, {
      status: 'paused',
      paused_at: new Date(),
    })
    const expired = await insertListing(person.identityId, { status: 'expired' })
    const shots = [
      ...drafts.map(({ id }) => `${id}/publish`),
      `${paused}/resume`,
      `${expired}/renew`,
    ].map((act): RawRequest => ({
      method: 'POST',
      path: `/properties/${act}`,
      body: {},
      headers: [bearer(person)],
    }))
    const replies = await race(shots)
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 402, 402, 402, 402, 402])
  })
})

test('a listing lives as long as its plan says', async () => {
  const [free, plus] = await Promise.all([signUp(), signUp()])
  await givePlan(plus.identityId, 'plus')
  const days = async (person: Person) => {
    const { expiresAt, publishedAt } = await publishListing(person)
    return Math.round((Date.parse(expiresAt) - Date.parse(publishedAt)) / 86_400_000)
  }
  expect(await days(free)).toBe(30)
  expect(await days(plus)).toBe(60)
})

test('when a plan ends the newest over the quota are paused, and nothing is deleted', async () => {
  const { person, ids } = await seller(10)
  await giveMoney(person.identityId, 1)
  await buy(person, await newPlan({ price: 1, listings: 4 }))
  expect(await states(person)).toEqual(Array(10).fill('active'))
  await agePlans(person, 30)
  await runJobs()
  expect(await states(person)).toEqual([...Array(4).fill('active'), ...Array(6).fill('paused')])
  expect(await person.post(`/properties/${ids[9]}/resume`)).toMatchObject(refused(4, 4))
  const { rows } = await database().query(
    'select status, ended_at is null as open from public.subscriptions where identity_id = $1 order by starts_at',
    [person.identityId],
  )
  expect(rows).toEqual([{ status: 'expired', open: false }, { status: 'active', open: true }])
})

test('restoring a listing as an admin does not get around the quota', async () => {
  const { person, ids } = await seller(10)
  await database().query(`select private.suspend_property($1, 'مخالفة')`, [ids[0]])
  await publishListing(person, { floorNo: 10 })
  await database().query('select private.lift_suspension($1)', [ids[0]])
  expect((await person.get(`/properties/${ids[0]}`)).body)
    .toMatchObject({ status: 'paused', pauseReason: 'plan' })
  expect((await states(person)).filter((state) => state === 'active')).toHaveLength(10)
})

test('plans belong to the acting identity', async () => {
  const { person } = await seller(0)
  expect((await person.get('/plans/current')).body).toMatchObject({
    plan: { code: 'plus', activeListings: 10, listingDays: 60, photosPerListing: 20 },
    subscription: { payWith: 'invoice', renews: true },
    usage: { photosPerListing: { limit: 20 } },
  })
  const other = await signUp()
  expect((await other.get('/plans/current')).body)
    .toMatchObject({ plan: { code: 'free' }, subscription: null })
})
