import { expect } from 'vitest'
import { type Person, signUp } from '../support/client.ts'
import { openConversation, postMessage } from '../support/conversations.ts'
import { testLocally } from '../support/facade.ts'
import { givePhone, insertListing, insertOrganisation, proveEmail } from '../support/fixtures.ts'
import { kuwaitTimeIn, notificationsOf, registerDevice } from '../support/notifications.ts'
import { ageHits, hitsOf, plantHits } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { answer, failure } from './stub-fcm.ts'
import { agePushes, fcm, sara, sendPushes, startPushes, waitingPushes } from './push/process.ts'

startPushes()

withRates(defaultRates(/^pushes/))

const pairOf = (author: Person) => `${author.id} ${sara.id}`

async function pushed(pushToken: string) {
  await sendPushes()
  return fcm.sentTo(pushToken).length
}

testLocally('60 an hour of messages, from all conversations and identities of one', async () => {
  const { pushToken } = await registerDevice(sara)
  const [author, other] = [await signUp(), await signUp()]
  const office = await insertOrganisation(author.id, 'office')
  const about = { identityId: sara.identityId }
  const { id } = await openConversation(author, { ...about, message: '1' })
  expect(await pushed(pushToken)).toBe(1)
  await plantHits('pushes_messages', pairOf(author), 58)
  expect((await postMessage(author, id, '2')).status).toBe(201)
  expect(await pushed(pushToken)).toBe(2)
  await author.post('/auth/identity/switch', { identityId: office })
  await openConversation(author, { ...about, message: '3' })
  expect(await pushed(pushToken)).toBe(3)

  // After sixty pushes in an hour, further messages of this account, from either identity, only appear in the
  // list. Messages of other senders are still pushed.
  await openConversation(author, { ...about, message: '4' })
  await author.post('/auth/identity/switch', { identityId: author.identityId })
  expect((await postMessage(author, id, '5')).status).toBe(201)
  expect(await pushed(pushToken)).toBe(3)
  const notified = (await notificationsOf(sara, 'message_new')).map(({ bodyAr }) => bodyAr)
  expect(notified).toEqual(['3 رسائل جديدة: 5', 'رسالتان جديدتان: 4'])
  await openConversation(other, { ...about, message: '6' })
  expect(await pushed(pushToken)).toBe(4)
  await ageHits(3600, pairOf(author))
  expect((await postMessage(author, id, '7')).status).toBe(201)
  expect(await pushed(pushToken)).toBe(5)
})

testLocally('10 a day of everything else, beside its messages', async () => {
  const { pushToken } = await registerDevice(sara)
  await givePhone(sara)
  const [author, other] = [await signUp(), await signUp()]
  const listings = await Promise.all(
    Array.from({ length: 12 }, () => insertListing(sara.identityId)),
  )
  const ask = async (person: Person, id: string) =>
    expect((await person.post(`/properties/${id}/contact`, { kind: 'call' })).status).toBe(200)
  for (const id of listings) await ask(author, id)
  expect(await notificationsOf(sara, 'lead_new')).toHaveLength(12)
  expect(await pushed(pushToken)).toBe(10)
  const { id } = await openConversation(author, { propertyId: listings[0] })
  expect((await postMessage(author, id)).status).toBe(201)
  expect((await postMessage(sara, id)).status).toBe(201)
  await proveEmail(author)
  expect((await author.post('/reviews', { identityId: sara.identityId, rating: 5 })).status)
    .toBe(201)
  expect(await notificationsOf(sara, 'review_new')).toHaveLength(1)
  expect(await pushed(pushToken)).toBe(11)
  await ask(other, listings[0]!)
  expect(await pushed(pushToken)).toBe(12)
})

testLocally('CHAT-31 what was read before it was pushed counts for nothing', async () => {
  const { pushToken } = await registerDevice(sara)
  const author = await signUp()
  const { id } = await openConversation(author, { identityId: sara.identityId, message: '1' })
  for (let nth = 2; nth <= 61; nth++) {
    await sara.post(`/conversations/${id}/read`)
    if (nth % 10 === 0) expect(await pushed(pushToken)).toBe(0)
    expect((await postMessage(author, id, String(nth))).status).toBe(201)
  }
  expect(await pushed(pushToken)).toBe(1)
  expect(await hitsOf('pushes_messages', pairOf(author))).toBe(1)
})

testLocally('CHAT-31 in quiet hours the one that waits says as many as the list', async () => {
  const [{ pushToken }] = [await registerDevice(sara), await registerDevice(sara)]
  await sara.patch('/settings', { quietHours: { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(2) } })
  const author = await signUp()
  const { id } = await openConversation(author, { identityId: sara.identityId, message: '1' })
  for (let nth = 2; nth <= 65; nth++) await postMessage(author, id, String(nth))
  await plantHits('pushes_messages', pairOf(author), 60)
  await postMessage(author, id, 'الأخيرة')
  await agePushes(sara, 20_000)
  expect(await pushed(pushToken)).toBe(1)
  const said = '66 رسالة جديدة: الأخيرة'
  expect(fcm.sentTo(pushToken)[0]!.body).toBe(said)
  expect((await notificationsOf(sara, 'message_new'))[0].bodyAr).toBe(said)
})

testLocally('CHAT-31 a push counts once for all devices, when one of them has it', async () => {
  const author = await signUp()
  const devices = [
    await registerDevice(sara),
    await registerDevice(sara),
    await registerDevice(sara),
  ]
  const write = (message: string) =>
    openConversation(author, { identityId: sara.identityId, message })
  const counted = async () => {
    await agePushes(sara)
    await sendPushes()
    return await hitsOf('pushes_messages', pairOf(author))
  }
  const { id } = await write('1')
  expect(await counted()).toBe(1)
  fcm.answers.set(devices[1]!.pushToken, failure(500, 'INTERNAL'))
  await write('2')
  expect(await counted()).toBe(2)
  // A push that no device receives is not counted; here FCM refuses it for each device.
  for (const { pushToken } of devices) fcm.answers.set(pushToken, failure(500, 'INTERNAL'))
  await sara.post(`/conversations/${id}/read`)
  await write('3')
  for (let nth = 0; nth < 9; nth++) expect(await counted()).toBe(2)
  expect(await waitingPushes(sara)).toEqual([])
})

testLocally('CHAT-31 what comes while a push is on its way is another one', async () => {
  const { pushToken } = await registerDevice(sara)
  const author = await signUp()
  const { id } = await openConversation(author, { identityId: sara.identityId, message: '1' })
  const meanwhile = (...messages: string[]) =>
    fcm.answers.set(pushToken, async (response) => {
      fcm.answers.delete(pushToken)
      for (const message of messages) await postMessage(author, id, message)
      return answer(200, { name: 'one' })(response)
    })
  meanwhile('2', '3')
  await sendPushes()
  expect(await pushed(pushToken)).toBe(2)
  expect(fcm.sentTo(pushToken)[1]!.body).toBe('3 رسائل جديدة: 3')
  expect(await hitsOf('pushes_messages', pairOf(author))).toBe(2)
  await plantHits('pushes_messages', pairOf(author), 59)
  meanwhile('5')
  await postMessage(author, id, '4')
  await sendPushes()
  expect(await pushed(pushToken)).toBe(3) // the last one is the sixtieth
  expect(await waitingPushes(sara)).toEqual([])
})
