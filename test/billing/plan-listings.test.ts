// Listings that are hidden because the plan allows fewer show a reason, and their owner is notified once.
// They return when a plan that allows more is paid (contract, section 7).
import { expect, test } from 'vitest'
import { database, type Person } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { notificationsOf } from '../support/notifications.ts'
import { agePlans, buy, newPlan, personWithMoney } from './purchases.ts'

/** Creates a person with this many listings and a plan for one, so that all but the oldest are hidden. */
async function hiding(
  listings: number,
  columns: (i: number) => Record<string, unknown> = () => ({}),
) {
  const [person, small] = await Promise.all([personWithMoney(), newPlan({ price: 1, listings: 1 })])
  const ids: string[] = []
  for (let i = 0; i < listings; i++) {
    ids.push(
      await insertListing(person.identityId, {
        published_at: new Date(Date.now() - 1e6 + i * 1000),
        floor_no: i, // so that no listing repeats another
        ...columns(i),
      }),
    )
  }
  await buy(person, small)
  return { person, small, ids }
}

const states = (person: Person, ids: string[]) =>
  Promise.all(ids.map(async (id) => {
    const { status, pauseReason } = (await person.get(`/properties/${id}`)).body
    return pauseReason ? `${status}: ${pauseReason}` : status
  }))

const textsOf = async (person: Person, kind: string): Promise<string[]> =>
  (await notificationsOf(person, kind)).map(({ bodyEn }) => bodyEn)

const hidden = 'paused: plan'

test('WAL-11 listings that a plan hides come back when one with room is paid, the oldest first', async () => {
  const { person, ids } = await hiding(4)
  expect(await states(person, ids)).toEqual(['active', hidden, hidden, hidden])
  expect(await textsOf(person, 'listings_hidden')).toEqual([
    expect.stringMatching(/^We paused 3 listings .* your plan has no room/),
  ])
  await buy(person, await newPlan({ price: 2, listings: 3 }))
  expect(await states(person, ids)).toEqual(['active', 'active', 'active', hidden])
  expect(await textsOf(person, 'listings_back')).toEqual([
    'With your plan, 2 listings are shown again',
  ])
  await buy(person, await newPlan({ price: 3, listings: 9 }))
  expect(await states(person, ids)).toEqual(Array(4).fill('active'))
  expect(await textsOf(person, 'listings_back')).toHaveLength(2)
  expect(await textsOf(person, 'listings_hidden')).toHaveLength(1)
})

test('WAL-11 they come back with the time that they had left', async () => {
  const { person, ids } = await hiding(2, () => ({
    expires_at: new Date(Date.now() + 10 * 86_400_000),
  }))
  await database().query(
    `update public.properties
     set expires_at = expires_at - interval '20 days', paused_at = paused_at - interval '20 days'
     where id = $1`,
    [ids[1]],
  )
  await buy(person, await newPlan({ price: 2 }))
  const { status, expiresAt } = (await person.get(`/properties/${ids[1]}`)).body
  expect([status, Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)])
    .toEqual(['active', 10])
})

test('WAL-11 not after 90 days, not without a way to reach the owner, and not what the owner paused', async () => {
  const { person, ids } = await hiding(5)
  await database().query('update public.properties set allow_chat = false where id = $1', [ids[2]])
  await database().query(
    `update public.properties set paused_at = paused_at - interval '90 days' where id = $1`,
    [ids[1]],
  )
  expect((await person.post(`/properties/${ids[0]}/pause`)).status).toBe(200)
  await buy(person, await newPlan({ price: 2 }))
  expect(await states(person, ids)).toEqual(['paused', hidden, hidden, 'active', 'active'])
  expect(await textsOf(person, 'listings_back')).toEqual([
    'With your plan, 2 listings are shown again',
  ])
  expect((await person.post(`/properties/${ids[1]}/resume`)).body)
    .toMatchObject({ status: 'active', pauseReason: null })
})

test('WAL-11 they come back when a plan that follows has room', async () => {
  const { person, small, ids } = await hiding(3)
  await database().query('update public.plans set active_listings = 2 where id = $1', [small])
  await buy(person, small)
  expect(await states(person, ids)).toEqual(['active', hidden, hidden])
  await agePlans(person, 31)
  await drain('downgrade_plans')
  expect(await states(person, ids)).toEqual(['active', 'active', hidden])
})

test('WAL-11 a renewal that has no more room says nothing', async () => {
  const { person, small, ids } = await hiding(2)
  await buy(person, small)
  expect(await states(person, ids)).toEqual(['active', hidden])
  expect(await textsOf(person, 'listings_back')).toEqual([])
  expect(await textsOf(person, 'listings_hidden')).toHaveLength(1)
})

test('WAL-11 a suspension in between changes neither the reason nor that it comes back', async () => {
  const { person, ids } = await hiding(2)
  await database().query(`select private.suspend_property($1, 'صور مخالفة')`, [ids[1]])
  expect(await states(person, ids)).toEqual(['active', 'suspended'])
  await database().query('select private.lift_suspension($1)', [ids[1]])
  expect(await states(person, ids)).toEqual(['active', hidden])
  await buy(person, await newPlan({ price: 2 }))
  expect(await states(person, ids)).toEqual(['active', 'active'])
})
