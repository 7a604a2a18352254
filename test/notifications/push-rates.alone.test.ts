import { expect } from 'vitest'
import { type Person, signUp } from '../support/client.ts'
import { openConversation, postMessage } from '../support/conversations.ts'
import { testLocally } from '../support/facade.ts'
import { givePhone, insertListing, insertOrganisation } from '../support/fixtures.ts'
import { notificationsOf, registerDevice } from '../support/notifications.ts'
import { ageHits, plantHits } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { fcm, sara, sendPushes, startPushes } from './push/process.ts'

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

  // From the sixty-first on, messages are only in the list, from either identity; pushes of other senders are
  // sent as before.
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
  expect((await author.post('/reviews', { identityId: sara.identityId, rating: 5 })).status)
    .toBe(201)
  expect(await notificationsOf(sara, 'review_new')).toHaveLength(1)
  expect(await pushed(pushToken)).toBe(11)
  await ask(other, listings[0]!)
  expect(await pushed(pushToken)).toBe(12)
})
