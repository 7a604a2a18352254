// CHAT-31: the text of a push about messages is composed when the push is sent, from the messages
// that are unread at that moment.
import { expect } from 'vitest'
import { database, type Person, signIn, signUp } from '../../support/client.ts'
import { listEntry, openConversation, postMessage } from '../../support/conversations.ts'
import { testLocally } from '../../support/facade.ts'
import { publishListing } from '../../support/listings.ts'
import {
  kuwaitTimeIn,
  notificationsOf,
  registerDevice,
  unreadCount,
} from '../../support/notifications.ts'
import { act, why } from '../../admin/studio.ts'
import { answer, failure } from '../stub-fcm.ts'
import { agePushes, fcm, makePushesDue, sara, sendPushes, waitingPushes } from './process.ts'

const inQuietHours = () =>
  sara.patch('/settings', { quietHours: { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(2) } })

/**
 * Ends quiet hours and waits after failures, sends the pushes, and returns the texts of all pushes
 * so far. A badge has no text.
 */
async function pushedLater(pushToken: string) {
  await agePushes(sara, 20_000)
  await sendPushes()
  return fcm.sentTo(pushToken).map(({ body }) => body).filter(Boolean)
}

async function writtenBy(writer: Person, ...messages: string[]): Promise<string> {
  const { id } = await openConversation(writer, {
    identityId: sara.identityId,
    message: messages[0],
  })
  for (const message of messages.slice(1)) await postMessage(writer, id, message)
  return id
}

testLocally('CHAT-31 messages that are pushed but not listed: read is not pushed', async () => {
  const { pushToken } = await registerDevice(sara)
  await sara.patch('/settings', { notifications: { messages: { inApp: false, push: true } } })
  await inQuietHours()
  const [one, other] = [await signUp(), await signUp()]
  const read = await writtenBy(one, 'الأولى')
  await writtenBy(other, 'الثانية')
  expect(await notificationsOf(sara, 'message_new')).toEqual([])
  expect(await waitingPushes(sara)).toHaveLength(2)
  await sara.post(`/conversations/${read}/read`)
  const muted = await writtenBy(await signUp(), 'الثالثة')
  await sara.patch(`/conversations/${muted}`, { muted: true })
  const blocked = await signUp()
  await writtenBy(blocked, 'الرابعة')
  await sara.post(`/blocks/${blocked.identityId}`)
  expect(await pushedLater(pushToken)).toEqual(['الثانية'])
  expect(fcm.sentTo(pushToken)[0]!.message.apns.payload.aps.badge).toBe(1)
  expect(await waitingPushes(sara)).toEqual([])
})

testLocally('CHAT-31 nor what was read after FCM failed once', async () => {
  const { pushToken } = await registerDevice(sara)
  await sara.patch('/settings', { notifications: { messages: { inApp: false, push: true } } })
  const id = await writtenBy(await signUp(), 'الأولى')
  fcm.answers.set(pushToken, failure(500, 'INTERNAL'))
  await sendPushes()
  fcm.answers.delete(pushToken)
  expect(await waitingPushes(sara)).toMatchObject([{ attempts: 1 }])
  await sara.post(`/conversations/${id}/read`)
  expect(await pushedLater(pushToken)).toEqual(['الأولى']) // only the attempt that failed
})

testLocally('CHAT-31 of several in quiet hours one is hidden: the others are pushed', async () => {
  const { pushToken } = await registerDevice(sara)
  await inQuietHours()
  const [one, other, third] = [await signUp(), await signUp(), await signUp()]
  const hide = (id: string) => act({ act: 'hide_message', target: id, reason: why })
  const id = await writtenBy(one, 'مرحبا')
  const { body: last } = await postMessage(one, id, 'تم')
  await hide(last.id)
  const { body: first } = await postMessage(other, await writtenBy(other, 'تم'), 'والباقي تم')
  expect(first.seq).toBe(2)
  const alone = await writtenBy(third, 'وحدها')
  await hide((await sara.get(`/conversations/${alone}/messages`)).body.items[0].id)
  for (const hidden of [0, 1]) { // the second message ends with the text of the first
    const both = await writtenBy(await signUp(), 'قد تم', 'وهذا قد تم')
    await hide((await sara.get(`/conversations/${both}/messages`)).body.items[hidden].id)
  }
  expect((await pushedLater(pushToken)).toSorted()).toEqual(
    ['مرحبا', 'رسالتان جديدتان: والباقي تم', 'وهذا قد تم', 'قد تم'].toSorted(),
  )
})

testLocally('CHAT-31 five messages, read up to four, a sixth: two are new', async () => {
  const { pushToken } = await registerDevice(sara)
  await inQuietHours()
  const writer = await signUp()
  const id = await writtenBy(writer, '1', '2', '3', '4', '5')
  const before = await unreadCount(sara)
  await sara.post(`/conversations/${id}/read`, { upToSeq: 4 })
  const texts = async () => (await notificationsOf(sara, 'message_new')).map(({ bodyAr }) => bodyAr)
  expect(await texts()).toEqual(['5'])
  await postMessage(writer, id, '6')
  expect(await texts()).toEqual(['رسالتان جديدتان: 6'])
  expect((await listEntry(sara, id)).unread).toBe(2)
  expect(await unreadCount(sara)).toBe(before)
  expect(await pushedLater(pushToken)).toEqual(['رسالتان جديدتان: 6'])

  await sara.post('/notifications/read-all')
  await postMessage(writer, id, '7')
  expect((await texts())[0]).toBe('3 رسائل جديدة: 7')
})

testLocally('CHAT-31 when FCM is well again a newer message is sent at once', async () => {
  const { pushToken } = await registerDevice(sara)
  const writer = await signUp()
  fcm.answers.set(pushToken, failure(500, 'INTERNAL'))
  const id = await writtenBy(writer, '1')
  for (let nth = 0; nth < 6; nth++) {
    await agePushes(sara)
    await sendPushes()
  }
  const [failing] = await waitingPushes(sara)
  expect(failing.attempts).toBeGreaterThan(3)
  fcm.answers.delete(pushToken)
  await sendPushes()
  const before = fcm.sentTo(pushToken).length
  await postMessage(writer, id, '2')
  expect(await waitingPushes(sara)).toMatchObject([{ attempts: 0 }])
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toHaveLength(before + 1)
  expect(fcm.sentTo(pushToken).at(-1)!.body).toBe('رسالتان جديدتان: 2')
})

testLocally('CHAT-31 and so is one that came while the failing one was on its way', async () => {
  const { pushToken } = await registerDevice(sara)
  const writer = await signUp()
  const id = await writtenBy(writer, '1')
  fcm.answers.set(pushToken, async (response) => {
    fcm.answers.delete(pushToken)
    await postMessage(writer, id, '2')
    return failure(500, 'INTERNAL')(response)
  })
  await sendPushes()
  await sendPushes()
  expect(fcm.sentTo(pushToken).map(({ body }) => body)).toEqual(['1', 'رسالتان جديدتان: 2'])
  expect(await waitingPushes(sara)).toEqual([])
})

testLocally('CHAT-31 but not before the time that FCM named, nor in quiet hours', async () => {
  const { pushToken } = await registerDevice(sara)
  const writer = await signUp()
  const wrong = failure(401, 'THIRD_PARTY_AUTH_ERROR') // only this push waits, for 600 s
  fcm.answers.set(pushToken, wrong)
  const id = await writtenBy(writer, '1')
  await sendPushes()
  fcm.answers.delete(pushToken)
  await postMessage(writer, id, '2')
  const [held] = await waitingPushes(sara)
  expect(held.attempts).toBe(0)
  expect(held.wait).toBeGreaterThan(300)

  await agePushes(sara)
  fcm.answers.set(pushToken, async (response) => {
    fcm.answers.delete(pushToken)
    await inQuietHours()
    await postMessage(writer, id, '3')
    return answer(500, {})(response)
  })
  await sendPushes()
  expect(fcm.sentTo(pushToken).at(-1)!.body).toBe('رسالتان جديدتان: 2')
  const [quiet] = await waitingPushes(sara)
  expect(quiet.wait).toBeGreaterThan(3000)
  await agePushes(sara, 20_000)
  await sendPushes()
  expect(fcm.sentTo(pushToken).at(-1)!.body).toBe('3 رسائل جديدة: 3')
})

testLocally('CHAT-31 the next try waits for the end of quiet hours, and no longer', async () => {
  const { pushToken } = await registerDevice(sara)
  const failsOnce = (meanwhile?: () => unknown) =>
    fcm.answers.set(pushToken, async (response) => {
      fcm.answers.delete(pushToken)
      await meanwhile?.()
      return failure(500, 'INTERNAL')(response)
    })
  const sent = () => fcm.sentTo(pushToken).map(({ body }) => body)
  const waits = async () => (await waitingPushes(sara)).map(({ wait }) => wait > 3000)
  const writer = await signUp()
  failsOnce(inQuietHours) // quiet hours begin while FCM handles the push
  const id = await writtenBy(writer, '1')
  await sendPushes()
  await makePushesDue(sara)
  await sendPushes()
  expect([sent(), await waits()]).toEqual([['1'], [true]])
  await sara.patch('/settings', { quietHours: null })
  await sendPushes()
  expect(sent()).toEqual(['1', '1'])

  failsOnce()
  await postMessage(writer, id, '2')
  await sendPushes()
  expect(await waits()).toEqual([false])
  await inQuietHours()
  expect(await waits()).toEqual([true])
  expect(await pushedLater(pushToken)).toHaveLength(4)
})

testLocally(
  'CHAT-31 what was due before quiet hours and not sent waits for their end',
  async () => {
    const { pushToken } = await registerDevice(sara)
    await writtenBy(await signUp(), '1')
    await inQuietHours()
    await makePushesDue(sara) // as after a pause of all pushes
    await sendPushes()
    expect(fcm.sentTo(pushToken)).toEqual([])
    expect((await waitingPushes(sara))[0]).toMatchObject({ attempts: 0, lease: null })
    expect(await pushedLater(pushToken)).toEqual(['1'])
  },
)

testLocally.each(['while it is on its way', 'after it failed'])(
  'CHAT-31 pushes that are switched off %s are not tried again',
  async (when) => {
    const { pushToken } = await registerDevice(sara)
    const switchOff = () =>
      sara.patch('/settings', { notifications: { messages: { push: false } } })
    fcm.answers.set(pushToken, async (response) => {
      fcm.answers.delete(pushToken)
      if (when === 'while it is on its way') await switchOff()
      return failure(500, 'INTERNAL')(response)
    })
    await writtenBy(await signUp(), '1')
    await sendPushes()
    if (when === 'after it failed') {
      expect(await waitingPushes(sara)).toHaveLength(1)
      await switchOff()
    }
    await agePushes(sara)
    await sendPushes()
    expect(fcm.sentTo(pushToken)).toHaveLength(1)
    expect(await waitingPushes(sara)).toEqual([])
  },
)

testLocally('CHAT-29 about a listing: one push, which names it while it may be named', async () => {
  const { pushToken } = await registerDevice(sara)
  const other = await registerDevice(await signIn(sara.identifier, sara.password))
  const listing = await publishListing(sara)
  const buyer = await signUp('سالم العنزي')
  const { id } = await openConversation(buyer, { propertyId: listing.id, message: 'هل هو متاح؟' })
  await sendPushes()
  const [first, ...more] = fcm.sentTo(pushToken)
  expect(first).toMatchObject({
    title: `سالم العنزي · ${listing.titleAr}`,
    body: 'هل هو متاح؟',
    data: { kind: 'message_new', entityId: id },
    message: { apns: { payload: { aps: { badge: 1 } } } },
  })
  expect(more).toEqual([])

  await sara.post(`/conversations/${id}/read`)
  await postMessage(sara, id, 'نعم')
  await pushedLater(other.pushToken)
  expect(fcm.sentTo(other.pushToken).map(({ data }) => data)).toMatchObject([
    { kind: 'message_new' },
    { kind: 'badge', badge: '0' },
  ])

  const theirs = await publishListing(buyer)
  const asked = await openConversation(sara, { propertyId: theirs.id, message: 'هل هو متاح؟' })
  const heading = `سالم العنزي · ${theirs.titleAr}`
  await inQuietHours()
  const titles = async () => {
    await pushedLater(pushToken)
    return fcm.sentTo(pushToken).filter(({ data }) => data.entityId === asked.id)
      .map(({ title }) => title)
  }
  await postMessage(buyer, asked.id, 'نعم')
  expect((await buyer.post(`/properties/${theirs.id}/pause`)).status).toBe(200)
  expect(await titles()).toEqual([heading])
  await postMessage(buyer, asked.id, 'غداً؟')
  await database().query(
    `update public.properties set status = 'suspended' where id = $1`,
    [theirs.id],
  )
  expect(await titles()).toEqual([heading, 'سالم العنزي'])
})
