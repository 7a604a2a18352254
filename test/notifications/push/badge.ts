import { expect } from 'vitest'
import { database, type Person, signIn, signUp } from '../../support/client.ts'
import { conversationBetween, postMessage } from '../../support/conversations.ts'
import { testLocally } from '../../support/facade.ts'
import {
  notificationsOf,
  notify,
  registerDevice,
  serviceMessage,
} from '../../support/notifications.ts'
import { answer } from '../stub-fcm.ts'
import { agePushes, fcm, sara, sendPushes, waitingPushes } from './process.ts'

const signInAgain = () => signIn(sara.identifier, sara.password)

const badgesFor = async (person: Person) =>
  (await waitingPushes(person)).filter(({ category }) => category === 'badge')

/** Makes the waiting pushes due and sends them. */
async function sendNow(person: Person) {
  await agePushes(person)
  await sendPushes()
}

/** Simulates that ten minutes have passed since the last badge. */
const rest = (person: Person) =>
  database().query('update public.devices set badge_due_at = null where account_id = $1', [
    person.id,
  ])

testLocally('CHAT-23 what is read here asks the other phones for the badge, silently', async () => {
  const here = await registerDevice(sara)
  const phone = await registerDevice(await signInAgain())
  const browser = await registerDevice(await signInAgain(), { platform: 'web' })
  for (const text of ['الأولى', 'الثانية']) await notify(sara, 'system', serviceMessage(text))
  await sendPushes()
  const [newest] = await notificationsOf(sara)
  fcm.received.length = 0
  await sara.post(`/notifications/${newest.id}/read`)
  expect(await badgesFor(sara)).toMatchObject([{ device_id: phone.deviceId, title: '', body: '' }])
  await sendNow(sara)
  expect(fcm.sentTo(here.pushToken)).toEqual([])
  expect(fcm.sentTo(browser.pushToken)).toEqual([])
  expect(fcm.sentTo(phone.pushToken).map(({ message }) => message)).toEqual([{
    token: phone.pushToken,
    data: { kind: 'badge', badge: '1' },
    android: {
      priority: 'NORMAL',
      ttl: expect.stringMatching(/^\d{1,4}s$/),
      collapse_key: 'badge',
    },
    apns: {
      headers: {
        'apns-push-type': 'background',
        'apns-priority': '5',
        'apns-expiration': expect.stringMatching(/^\d{10}$/),
        'apns-collapse-id': 'badge',
      },
      payload: { aps: { 'content-available': 1 } },
    },
  }])
  expect(await waitingPushes(sara)).toEqual([])
})

testLocally('CHAT-23 six an hour at most for a device, with the number of then', async () => {
  const phone = await registerDevice(await signInAgain())
  for (let nth = 0; nth < 5; nth++) await notify(sara, 'system', serviceMessage(`رقم ${nth}`))
  await sendPushes()
  fcm.received.length = 0
  const list = await notificationsOf(sara)
  await sara.post(`/notifications/${list[0].id}/read`)
  await sendNow(sara)
  for (const { id } of list.slice(1, 4)) await sara.post(`/notifications/${id}/read`)
  const [waiting, ...more] = await badgesFor(sara)
  expect(more).toEqual([])
  expect(waiting.wait).toBeGreaterThan(300) // due ten minutes after the first badge
  expect(waiting.wait).toBeLessThanOrEqual(605)
  await sendNow(sara)
  expect(fcm.sentTo(phone.pushToken).map(({ data }) => data.badge)).toEqual(['4', '1'])
})

testLocally(
  'CHAT-23 a conversation that is read or archived, all at once, what is deleted and a block ask for it',
  async () => {
    const salem = await signUp('سالم العنزي')
    const id = await conversationBetween(salem, sara)
    await registerDevice(await signInAgain())
    const upToSeq = async () => (await sara.get(`/conversations/${id}`)).body.lastMessage.seq
    const ways: Record<string, () => Promise<unknown>> = {
      'read the conversation': () => sara.post(`/conversations/${id}/read`, {}),
      'read all': () => sara.post('/notifications/read-all'),
      'delete it': async () => sara.delete(`/notifications/${(await notificationsOf(sara))[0].id}`),
      'archive the conversation': async () =>
        sara.patch(`/conversations/${id}`, { archived: true, upToSeq: await upToSeq() }),
      'block the other side': () => sara.post(`/blocks/${salem.identityId}`),
    }
    for (const [way, act] of Object.entries(ways)) {
      await postMessage(salem, id)
      await sendPushes()
      await act()
      expect(await badgesFor(sara), way).toHaveLength(1)
      await sendNow(sara)
      await rest(sara)
      await act() // nothing is left to read, or the deleted notification was already read
      expect(await badgesFor(sara), way).toEqual([])
    }
  },
)

testLocally('CHAT-23 what is read while a badge is on its way is told afterwards', async () => {
  const phone = await registerDevice(await signInAgain())
  for (let nth = 0; nth < 3; nth++) await notify(sara, 'system', serviceMessage(`رقم ${nth}`))
  await sendPushes()
  const [first, ...more] = await notificationsOf(sara)
  fcm.received.length = 0
  fcm.answers.set(phone.pushToken, async (response) => {
    fcm.answers.delete(phone.pushToken)
    for (const { id } of more) await sara.post(`/notifications/${id}/read`)
    return answer(200, { name: 'one' })(response)
  })
  await sara.post(`/notifications/${first.id}/read`)
  await sendNow(sara)
  const [waiting] = await badgesFor(sara)
  expect(waiting.lease).toBe(null)
  // On a slow machine the push may time out. It is then retried earlier.
  if (waiting.attempts === 0) expect(waiting.wait).toBeGreaterThan(300)
  const { rows: [{ next }] } = await database().query(
    `select extract(epoch from badge_due_at - now())::float as next
     from public.devices where device_id = $1`,
    [phone.deviceId],
  )
  expect(next).toBeLessThanOrEqual(600) // regardless of how many were read in the meantime
  await sendNow(sara)
  expect(fcm.sentTo(phone.pushToken).map(({ data }) => data.badge)).toEqual(['2', '0'])
  expect(await waitingPushes(sara)).toEqual([])
})
