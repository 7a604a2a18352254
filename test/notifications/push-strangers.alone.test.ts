// HARM-05: pushes about messages from strangers without a verified phone or email.
import { expect } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { openConversation, postMessage } from '../support/conversations.ts'
import { testLocally } from '../support/facade.ts'
import { proveEmail } from '../support/fixtures.ts'
import {
  kuwaitTimeIn,
  notificationsOf,
  notify,
  registerDevice,
  serviceMessage,
} from '../support/notifications.ts'
import { ageHits, hitsOf, plantHits } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { waitUntil } from '../support/wait.ts'
import { answer, failure } from './stub-fcm.ts'
import {
  agePushes,
  fcm,
  makePushesDue,
  sara,
  sendPushes,
  startPushes,
  waitingPushes,
} from './push/process.ts'

startPushes()

withRates(defaultRates(/^pushes/, /^messages_unanswered$/))

const write = async (writer: Person, message = 'مرحبا'): Promise<string> =>
  (await openConversation(writer, { identityId: sara.identityId, message })).id

async function pushed(pushToken: string): Promise<string[]> {
  await sendPushes()
  return fcm.sentTo(pushToken).map(({ body }) => body)
}

const strangers = (count: number) => Promise.all(Array.from({ length: count }, () => signUp()))

testLocally('HARM-05 ten an hour from all of them, then one that says how many wait', async () => {
  const { pushToken } = await registerDevice(sara)
  const writers = await strangers(20)
  for (let round = 0; round < 3; round++) {
    for (const writer of writers) {
      await write(writer)
      await sendPushes()
    }
  }
  expect(await pushed(pushToken)).toHaveLength(10)
  const listed = await notificationsOf(sara, 'message_new')
  expect(listed).toHaveLength(20)
  expect(new Set(listed.map(({ bodyAr }) => bodyAr))).toEqual(
    new Set(['3 رسائل جديدة: مرحبا']),
  )
  await agePushes(sara)
  const notified = (await pushed(pushToken)).slice(10)
  expect(notified).toEqual(['بانتظارك 50 رسالة'])
  console.log(`20 strangers wrote 60 messages: 10 pushes, and ${notified.length}: ${notified}`)

  await write(writers[0]!)
  expect(await pushed(pushToken)).toHaveLength(11)
  expect(await waitingPushes(sara)).toMatchObject([{ data: { count: '1' }, wait: anHour }])
  await ageHits(3600, sara.id)
  await write((await strangers(1))[0]!)
  expect(await pushed(pushToken)).toHaveLength(12)
  await sara.post('/notifications/read-all')
  await agePushes(sara)
  expect(await pushed(pushToken)).toHaveLength(12)
})

testLocally(
  'HARM-05 who has a proof, had an answer or wrote before is pushed beside them',
  async () => {
    const { pushToken } = await registerDevice(sara)
    const [proven, answered, earlier, ...others] = await strangers(15)
    await proveEmail(proven!)
    const [answeredId, earlierId] = [await write(answered!), await write(earlier!)]
    expect((await postMessage(sara, answeredId)).status).toBe(201)
    await database().query(
      `update public.messages set created_at = created_at - interval '1 hour'
     where conversation_id = $1`,
      [earlierId],
    )
    for (const other of others) {
      await write(other)
      await sendPushes()
    }
    expect(await pushed(pushToken)).toHaveLength(10)
    expect(await hitsOf('pushes_strangers', sara.id)).toBe(10)
    for (const writer of [proven!, answered!, earlier!]) {
      await write(writer, 'من معروف')
      await sendPushes()
    }
    expect((await pushed(pushToken)).slice(10)).toEqual([
      'من معروف',
      'رسالتان جديدتان: من معروف',
      'رسالتان جديدتان: من معروف',
    ])
  },
)

/** Nearly an hour, in seconds. On a slow machine more of the hour has already passed. */
const anHour = expect.toSatisfy((wait: number) => wait > 3000 && wait <= 3600)

async function unheard(count: number): Promise<Person[]> {
  await plantHits('pushes_strangers', sara.id, 10)
  return await strangers(count)
}

testLocally('HARM-05 what comes while that one is being sent is told an hour later', async () => {
  const { pushToken } = await registerDevice(sara)
  const [one, other] = await unheard(2)
  await write(one!)
  await agePushes(sara)
  let release = () => {}
  fcm.answers.set(pushToken, (response) => {
    release = () => answer(200, { name: 'one' })(response)
  })
  const running = sendPushes()
  await waitUntil('it is on its way', () => fcm.sentTo(pushToken).length === 1)
  await write(one!)
  await write(other!)
  fcm.answers.delete(pushToken)
  release()
  await running
  expect(await pushed(pushToken)).toEqual(['بانتظارك رسالة'])
  const waiting = await waitingPushes(sara)
  expect(waiting).toMatchObject([{ data: { count: '2' }, lease: null, wait: anHour }])

  await agePushes(sara)
  expect(await pushed(pushToken)).toEqual(['بانتظارك رسالة', 'بانتظارك رسالتان'])
  const [first, second] = fcm.sentTo(pushToken).map(({ message }) =>
    message.android.notification.tag
  )
  expect(second).toBe(first) // the device replaces the earlier push
})

testLocally('HARM-05 one that could not be sent keeps what it was to say', async () => {
  const { pushToken } = await registerDevice(sara)
  const [one] = await unheard(1)
  await write(one!)
  await agePushes(sara)
  fcm.answers.set(pushToken, failure(503))
  await sendPushes()
  fcm.answers.delete(pushToken)
  await write(one!)
  expect(await waitingPushes(sara)).toMatchObject([{ data: { count: '2' }, attempts: 1 }])
  await agePushes(sara)
  expect((await pushed(pushToken)).at(-1)).toBe('بانتظارك رسالتان')
  expect(await waitingPushes(sara)).toEqual([])
})

testLocally('HARM-05 what was read meanwhile waits no more', async () => {
  const { pushToken } = await registerDevice(sara)
  const [one, other] = await unheard(2)
  const read = await write(one!)
  for (let more = 0; more < 2; more++) await write(one!)
  for (let more = 0; more < 2; more++) await write(other!)
  expect(await waitingPushes(sara)).toMatchObject([{ data: { count: '5' } }])
  expect((await sara.post(`/conversations/${read}/read`)).body).toEqual({ unread: 0 })
  await agePushes(sara)
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toMatchObject([{
    body: 'بانتظارك رسالتان',
    data: { kind: 'message_new', route: 'notifications', count: '2' },
  }])
})

testLocally(
  'HARM-05 one that was read before it was sent puts the next one off by nothing',
  async () => {
    const { pushToken } = await registerDevice(sara)
    const [one, other] = await unheard(2)
    const id = await write(one!)
    await sara.post(`/conversations/${id}/read`)
    await agePushes(sara)
    expect(await pushed(pushToken)).toEqual([])
    await write(other!)
    const [{ wait }] = await waitingPushes(sara)
    expect(wait).toBeLessThanOrEqual(60)
  },
)

testLocally('HARM-05 what comes while one that fails is on its way is told with it', async () => {
  const { pushToken } = await registerDevice(sara)
  const [one, other] = await unheard(2)
  for (let nth = 0; nth < 3; nth++) await write(one!)
  await agePushes(sara)
  fcm.answers.set(pushToken, async (response) => {
    fcm.answers.delete(pushToken)
    await write(other!)
    return failure(500)(response)
  })
  await sendPushes()
  const [{ wait }] = await waitingPushes(sara)
  expect(wait).toBeLessThan(60)
  await agePushes(sara)
  expect((await pushed(pushToken)).at(-1)).toBe('بانتظارك 4 رسائل')
  expect(await waitingPushes(sara)).toEqual([])
})

testLocally('HARM-05 and waits for the end of quiet hours that began meanwhile', async () => {
  const { pushToken } = await registerDevice(sara)
  const [one, other] = await unheard(2)
  await write(one!)
  await agePushes(sara)
  fcm.answers.set(pushToken, async (response) => {
    fcm.answers.delete(pushToken)
    await sara.patch('/settings', { quietHours: { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(3) } })
    await write(other!)
    return failure(500)(response)
  })
  await sendPushes()
  await makePushesDue(sara)
  await sendPushes()
  const [{ data, wait }] = await waitingPushes(sara)
  expect(data).toMatchObject({ count: '2' })
  expect(wait).toBeGreaterThan(2 * 3600)
})

testLocally('HARM-05 of somebody who was blocked meanwhile nothing is told', async () => {
  const { pushToken } = await registerDevice(sara)
  const [one, other] = await unheard(2)
  await write(one!)
  await write(other!)
  await sara.post(`/blocks/${one!.identityId}`)
  await agePushes(sara)
  expect(await pushed(pushToken)).toEqual(['بانتظارك رسالة'])
  await write(other!)
  await sara.post(`/blocks/${other!.identityId}`)
  await agePushes(sara)
  expect(await pushed(pushToken)).toHaveLength(1)
})

testLocally('HARM-05 in quiet hours the next one waits for their end', async () => {
  const { pushToken } = await registerDevice(sara)
  const [one] = await unheard(1)
  await write(one!)
  await agePushes(sara)
  expect(await pushed(pushToken)).toHaveLength(1)
  await sara.patch('/settings', { quietHours: { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(3) } })
  await write(one!)
  const [{ wait }] = await waitingPushes(sara)
  expect(wait).toBeGreaterThan(2 * 3600)
})

testLocally('HARM-05 messages that are pushed but not listed wait and are read, too', async () => {
  const { pushToken } = await registerDevice(sara)
  await sara.patch('/settings', { notifications: { messages: { inApp: false, push: true } } })
  const [one, other] = await unheard(2)
  const id = await write(one!)
  await write(other!)
  await sara.post(`/conversations/${id}/read`)
  await agePushes(sara)
  expect(await pushed(pushToken)).toEqual(['بانتظارك رسالة'])
})

testLocally(
  'HARM-05 a change of settings sends it no sooner, quiet hours hold it back',
  async () => {
    const { pushToken } = await registerDevice(sara)
    const [one] = await unheard(1)
    await write(one!)
    await agePushes(sara)
    expect(await pushed(pushToken)).toEqual(['بانتظارك رسالة'])
    await write(one!)
    const dueNow = async () => (await waitingPushes(sara)).map(({ due_at }) => due_at.getTime())
    const due = await dueNow()
    expect(due).toHaveLength(1)
    for (
      const change of [
        { privacy: { readReceipts: false } },
        { notifications: { leads: { push: false } } },
        { quietHours: null },
        { quietHours: { from: kuwaitTimeIn(3), to: kuwaitTimeIn(4) } },
      ]
    ) {
      expect((await sara.patch('/settings', change)).status).toBe(200)
      expect(await dueNow()).toEqual(due)
    }
    await sara.patch('/settings', { quietHours: { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(3) } })
    expect((await dueNow())[0]).toBeGreaterThan(due[0]!)
    expect(await pushed(pushToken)).toHaveLength(1)
    await sara.patch('/settings', { notifications: { messages: { push: false } } })
    expect(await waitingPushes(sara)).toEqual([])
  },
)

testLocally(
  'settings that are about neither notifications nor quiet hours move no push',
  async () => {
    await registerDevice(sara)
    await notify(sara, 'system', serviceMessage('يصل بعد قليل'))
    const later =
      'update private.push_outbox set due_at = due_at + $2::interval where account_id = $1'
    await database().query(later, [sara.id, '1 hour'])
    const [{ due_at: due }] = await waitingPushes(sara)
    await sara.patch('/settings', { privacy: { readReceipts: false } })
    expect((await waitingPushes(sara))[0].due_at).toEqual(due)
    await sara.patch('/settings', { notifications: { leads: { push: false } } })
    expect((await waitingPushes(sara))[0].due_at.getTime()).toBeLessThan(due.getTime())
  },
)
