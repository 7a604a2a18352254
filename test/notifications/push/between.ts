import { expect } from 'vitest'
import { toggleFavorite } from '../../favorites/reads.ts'
import { signUpAdmin } from '../../support/admins.ts'
import { database, type Person, signUp } from '../../support/client.ts'
import { signUpByPhone } from '../../support/codes.ts'
import { openConversation, postMessage } from '../../support/conversations.ts'
import { testLocally } from '../../support/facade.ts'
import { givePhone, insertOrganisation, proveEmail } from '../../support/fixtures.ts'
import { publishListing } from '../../support/listings.ts'
import {
  kuwaitTimeIn,
  notificationsOf,
  registerDevice,
  waitForNotification,
} from '../../support/notifications.ts'
import { statusAndCode } from '../../support/problems.ts'
import { agePushes, fcm, sara, sendPushes, waitingPushes } from './process.ts'

async function acquaintance(): Promise<{ other: Person; conversation: string }> {
  const other = await signUp('سالم العنزي')
  await proveEmail(other)
  const { id } = await openConversation(other, { identityId: sara.identityId, message: 'مرحبا' })
  expect((await postMessage(sara, id, 'أهلاً')).status).toBe(201)
  return { other, conversation: id }
}

async function review(author: Person, rating = 1): Promise<string> {
  const { status, body } = await author.post('/reviews', { identityId: sara.identityId, rating })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

async function pushesOf(kind: string, pushToken: string) {
  await sendPushes()
  return fcm.sentTo(pushToken).filter(({ data }) => data.kind === kind)
}

testLocally('a review is told once, however often it is deleted and written again', async () => {
  const { pushToken } = await registerDevice(sara)
  const { other } = await acquaintance()
  let id = await review(other)
  expect(await pushesOf('review_new', pushToken)).toHaveLength(1)
  expect(await notificationsOf(sara, 'review_new')).toMatchObject([{ data: { entityId: id } }])
  expect((await other.patch(`/reviews/${id}`, { rating: 2 })).status).toBe(200)
  for (let times = 0; times < 3; times++) {
    expect((await other.delete(`/reviews/${id}`)).status).toBe(204)
    expect(await notificationsOf(sara, 'review_new')).toEqual([])
    id = await review(other, 2)
  }
  expect((await other.delete(`/reviews/${id}`)).status).toBe(204)
  const office = await insertOrganisation(other.id, 'office')
  await other.post('/auth/identity/switch', { identityId: office })
  const { id: talk } = await openConversation(other, {
    identityId: sara.identityId,
    message: 'مرحبا',
  })
  expect((await postMessage(sara, talk, 'أهلاً')).status).toBe(201)
  id = await review(other, 2)
  expect(await notificationsOf(sara, 'review_new')).toEqual([])
  expect(await pushesOf('review_new', pushToken)).toHaveLength(1)
  // Other people's reviews notify Sara; her reply notifies nobody.
  await review((await acquaintance()).other)
  expect(await notificationsOf(sara, 'review_new')).toHaveLength(1)
  expect((await sara.post(`/reviews/${id}/reply`, { body: 'شكراً' })).status).toBe(200)
  expect(new Set((await notificationsOf(other)).map(({ kind }) => kind)))
    .toEqual(new Set(['message_new']))
})

const deleteReview = async (id: string, author: Person) =>
  expect((await author.delete(`/reviews/${id}`)).status).toBe(204)

async function hideReview(id: string) {
  const admin = await signUpAdmin()
  const target = { targetType: 'review', targetId: id, reason: 'offensive' }
  const { body } = await sara.post('/reports', target)
  const decision = { decision: 'uphold', reason: 'مسيء' }
  expect((await admin.post(`/admin/moderation/${body.id}/decide`, decision)).status).toBe(200)
}

testLocally.each([
  ['deleted', true, deleteReview],
  ['hidden', true, hideReview],
  ['deleted', false, deleteReview],
  ['hidden', false, hideReview],
])('a review that is %s while its push waits is not pushed (inApp: %s)', async (_, inApp, goes) => {
  const { pushToken } = await registerDevice(sara)
  const { other } = await acquaintance()
  await sara.patch('/settings', {
    quietHours: { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(2) },
    notifications: { reviews: { inApp, push: true } },
  })
  const id = await review(other)
  expect(await notificationsOf(sara, 'review_new')).toHaveLength(inApp ? 1 : 0)
  const waiting = async () =>
    (await waitingPushes(sara)).filter(({ data }) => data.kind === 'review_new').length
  expect(await waiting()).toBe(1)
  await goes(id, other)
  expect(await notificationsOf(sara, 'review_new')).toEqual([])
  expect(await waiting()).toBe(0)
  await agePushes(sara, 20_000)
  expect(await pushesOf('review_new', pushToken)).toEqual([])
})

testLocally('reviews have preferences of their own', async () => {
  const { pushToken } = await registerDevice(sara)
  expect((await sara.get('/settings')).body.notifications.reviews)
    .toEqual({ push: true, inApp: true, sms: false, email: false })
  await sara.patch('/settings', {
    notifications: { reviews: { push: false }, account: { inApp: false } },
  })
  await review((await acquaintance()).other)
  expect(await notificationsOf(sara, 'review_new')).toHaveLength(1)
  expect(await pushesOf('review_new', pushToken)).toEqual([])
  await sara.patch('/settings', { notifications: { reviews: { push: true } } })
  await review((await acquaintance()).other)
  expect(await pushesOf('review_new', pushToken)).toMatchObject([{
    message: { android: { notification: { channel_id: 'reviews' } } },
  }])
})

testLocally.each(['who blocked', 'who was blocked'])(
  'a block stops every notice: %s hears nothing of the other',
  async (side) => {
    const { pushToken } = await registerDevice(sara)
    const { other: known, conversation } = await acquaintance()
    const saved = await publishListing(known, { price: 200_000 })
    const third = await signUp()
    for (const person of [sara, third]) await toggleFavorite(person, saved.id)
    await givePhone(sara)
    const own = await publishListing(sara)
    await sara.post('/notifications/read-all')
    const before = (await notificationsOf(sara)).length
    await sendPushes()
    const pushed = fcm.sentTo(pushToken).length

    const [blocker, blocked] = side === 'who blocked' ? [sara, known] : [known, sara]
    expect((await blocker.post(`/blocks/${blocked.identityId}`)).status).toBe(204)
    expect(statusAndCode(await postMessage(known, conversation))).toEqual([403, 'blocked'])
    for (const kind of ['call', 'whatsapp', 'chat']) {
      expect(statusAndCode(await known.post(`/properties/${own.id}/contact`, { kind })))
        .toEqual([403, 'blocked'])
    }
    await review(known)
    expect((await sara.get(`/reviews?identityId=${sara.identityId}`)).body.count).toBe(1)
    expect((await known.patch(`/properties/${saved.id}`, { price: 150_000 })).status).toBe(200)
    await waitForNotification(third, 'favorite_price_drop')
    expect((await known.post(`/properties/${saved.id}/mark-sold`)).status).toBe(200)
    await waitForNotification(third, 'favorite_unavailable')
    await sendPushes()
    expect(await notificationsOf(sara)).toHaveLength(before)
    expect(fcm.sentTo(pushToken)).toHaveLength(pushed)

    expect((await blocker.delete(`/blocks/${blocked.identityId}`)).status).toBe(204)
    const reached = await known.post(`/properties/${own.id}/contact`, { kind: 'call' })
    expect(reached.status).toBe(200)
    expect(await notificationsOf(sara, 'lead_new')).toHaveLength(1)
    expect(await pushesOf('lead_new', pushToken)).toHaveLength(1)
  },
)

testLocally('a number is given to nobody across a block, whoever made it', async () => {
  const owner = await signUpByPhone()
  const identityId = (await owner.get('/auth/me')).body.activeIdentity.id
  const { id } = await publishListing(owner)
  const call = (person: Person) => person.post(`/properties/${id}/contact`, { kind: 'call' })
  const buyer = await signUp()
  expect((await call(buyer)).status).toBe(200)
  const leads = async () =>
    (await database().query('select from public.leads where property_id = $1', [id])).rowCount
  expect(await leads()).toBe(1)
  await database().query(
    `update public.leads set day = day - 1, created_at = created_at - interval '1 day'
     where property_id = $1`,
    [id],
  )
  for (const [one, other] of [[owner, buyer.identityId], [buyer, identityId]] as const) {
    expect((await one.post(`/blocks/${other}`)).status).toBe(204)
    const refused = await call(buyer)
    expect(statusAndCode(refused)).toEqual([403, 'blocked'])
    expect(JSON.stringify(refused.body)).not.toContain(owner.identifier.slice(-8))
    expect((await one.delete(`/blocks/${other}`)).status).toBe(204)
  }
  expect(await leads()).toBe(1)
  expect((await call(buyer)).body).toMatchObject({ phone: expect.any(String) })
  expect(await leads()).toBe(2)
})

testLocally('what somebody said before being blocked is not pushed after quiet hours', async () => {
  const { pushToken } = await registerDevice(sara)
  await sara.patch('/settings', { quietHours: { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(2) } })
  const [one, other] = [await signUp(), await signUp()]
  for (const person of [one, other]) {
    await openConversation(person, { identityId: sara.identityId, message: 'مرحبا' })
  }
  expect(await waitingPushes(sara)).toHaveLength(2)
  expect((await sara.post(`/blocks/${one.identityId}`)).status).toBe(204)
  await agePushes(sara, 20_000)
  expect(await pushesOf('message_new', pushToken)).toHaveLength(1)
  expect(await waitingPushes(sara)).toEqual([])
})
