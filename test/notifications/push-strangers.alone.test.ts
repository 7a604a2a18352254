/** HARM-05: pushes of messages from people who have proven nothing and whom one does not know. */
import { expect } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { openConversation, postMessage } from '../support/conversations.ts'
import { testLocally } from '../support/facade.ts'
import { proveEmail } from '../support/fixtures.ts'
import { notificationsOf, registerDevice } from '../support/notifications.ts'
import { ageHits, hitsOf } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { agePushes, fcm, sara, sendPushes, startPushes, waitingPushes } from './push/process.ts'

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
  const told = (await pushed(pushToken)).slice(10)
  expect(told).toEqual(['بانتظارك 50 رسالة'])
  console.log(`20 strangers wrote 60 messages: 10 pushes, and ${told.length}: ${told}`)

  // What comes after it waits for the next hour.
  await write(writers[0]!)
  expect(await pushed(pushToken)).toHaveLength(11)
  const [next] = await waitingPushes(sara)
  expect(next.wait).toBeGreaterThan(3000)
  expect(next.body).toBe('بانتظارك رسالة')
  await ageHits(3600, sara.id)
  await write((await strangers(1))[0]!)
  expect(await pushed(pushToken)).toHaveLength(12)
  // Who has read everything is not told that anything waits.
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
