// The free plan applies to all accounts, so its limits are tested alone.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { completeFields, publishListing } from '../support/listings.ts'
import { givePlan } from '../support/plans.ts'
import { insertListing } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'

const setFree = (most: number) =>
  database().query(`update public.plans set active_listings = $1 where code = 'free'`, [most])

beforeAll(() => setFree(5))
afterAll(() => setFree(1_000_000))

test('without a plan there are five listings, whatever the type of the identity', async () => {
  const person = await signUp()
  for (let i = 0; i < 5; i++) await publishListing(person)
  expect(await person.post('/properties', { ...completeFields.SALE, publish: true })).toMatchObject(
    {
      status: 402,
      body: { error: { code: 'quota_exceeded', limit: 5, used: 5 } },
    },
  )
  expect((await person.get('/plans/current')).body).toMatchObject({
    plan: { code: 'free', activeListings: 5, listingDays: 30, photosPerListing: 10 },
    usage: { activeListings: { limit: 5, used: 5 } },
  })
})

test('when a plan ends the newest over five are paused; a new plan lets them resume', async () => {
  const person = await signUp()
  await givePlan(person.identityId, 'plus')
  const ids: string[] = []
  for (let i = 0; i < 8; i++) {
    ids.push(
      await insertListing(person.identityId, { published_at: new Date(Date.now() - 1e6 + i) }),
    )
  }
  await database().query(
    `update public.subscriptions set starts_at = now() - interval '31 days',
       ends_at = now() - interval '1 second'
     where identity_id = $1`,
    [person.identityId],
  )
  await drain('downgrade_plans')
  const state = async (id: string) => (await person.get(`/properties/${id}`)).body.status
  expect(await Promise.all(ids.map(state)))
    .toEqual([...Array(5).fill('active'), ...Array(3).fill('paused')])
  expect((await person.post(`/properties/${ids[7]}/resume`)).status).toBe(402)
  await givePlan(person.identityId, 'plus')
  expect((await person.post(`/properties/${ids[7]}/resume`)).body.status).toBe('active')
})

test("a listing that an admin releases by hand over its owner's quota stays paused", async () => {
  const person = await signUp()
  for (let i = 0; i < 4; i++) await publishListing(person)
  const waiting = { status: 'pending_review', published_at: null, expires_at: null }
  const [approved, restored] = [
    await insertListing(person.identityId, waiting),
    await insertListing(person.identityId, { status: 'suspended', suspended_from: 'active' }),
  ]
  const set = (id: string) =>
    database().query(`update public.properties set status = 'active' where id = $1`, [id])
  const state = async (id: string) => (await person.get(`/properties/${id}`)).body.status
  await set(restored)
  expect(await state(restored)).toBe('paused') // the listing that waits for review counts towards the quota
  await set(approved)
  expect(await state(approved)).toBe('active')
  await set(restored)
  expect(await state(restored)).toBe('paused')
})
