// What a person sees on one device is reported to the account's other devices.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { socketOf } from '../chat/sockets.ts'
import { signUpAdmin } from '../support/admins.ts'
import { closeClients, joinAs, topicOf } from '../support/channels.ts'
import { database, type Person, signIn, signUp } from '../support/client.ts'
import { conversationBetween, sendMessageAs } from '../support/conversations.ts'
import { callDataApi } from '../support/data-api.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import {
  notificationsOf,
  notify,
  registerDevice,
  serviceMessage,
  unreadCount,
} from '../support/notifications.ts'
import { waitUntil } from '../support/wait.ts'

let sara: Person
let salem: Person

beforeEach(async () => {
  sara = await signUp('سارة المطيري')
  salem = await signUp('سالم العنزي')
})
afterEach(closeClients)

const numbers = (events: { unread: number }[]) => events.map(({ unread }) => unread)

/** Connects a phone by Realtime and a tablet by the gateway, each with its own session. */
async function otherDevices(person: Person) {
  const [one, two] = await Promise.all(
    [1, 2].map(() => signIn(person.identifier, person.password)),
  )
  const phone = await joinAs(one!, await topicOf(person))
  const tablet = await socketOf(two!)
  await waitUntil('the gateway hears', async () => {
    await notify(person, 'system', serviceMessage())
    return tablet.events('notification').length > 0
  })
  return {
    hear: (counts: number[]) =>
      expect.poll(() => [
        numbers(phone.payloads('notifications_changed')),
        tablet.events('notifications_changed'),
      ]).toEqual([counts, counts.map((unread) => ({ unread }))]),
  }
}

test('CHAT-30 what is read or deleted here is told there, once, with the number of then', async () => {
  const there = await otherDevices(sara)
  await sara.post('/notifications/read-all')
  for (let nth = 0; nth < 5; nth++) await notify(sara, 'system', serviceMessage())
  const [one, two] = await notificationsOf(sara)
  await sara.post(`/notifications/${one.id}/read`)
  await sara.post(`/notifications/${one.id}/read`)
  await sara.delete(`/notifications/${one.id}`)
  await sara.delete(`/notifications/${two.id}`)
  const id = await conversationBetween(salem, sara)
  await sendMessageAs(salem, id)
  await sendMessageAs(salem, id)
  await sara.post(`/conversations/${id}/read`, { upToSeq: 1 })
  await sara.post(`/conversations/${id}/read`)
  await sara.post(`/conversations/${id}/read`)
  await sara.post('/notifications/read-all')
  await sara.post('/notifications/read-all')
  await notify(sara, 'system', serviceMessage())
  await sara.post('/notifications/read-all')
  // Actions that changed nothing came before the last event, so they sent no events.
  await there.hear([0, 4, 3, 3, 0, 0])
})

test('CHAT-30 of many that are read at once the last event counts all', async () => {
  const there = await otherDevices(sara)
  await sara.post('/notifications/read-all')
  for (let nth = 0; nth < 20; nth++) await notify(sara, 'system', serviceMessage())
  const all = await notificationsOf(sara)
  await Promise.all(
    all.slice(0, 20).map(({ id }) => sara.post(`/notifications/${id}/read`)),
  )
  await there.hear([0, ...Array.from({ length: 20 }, (_, nth) => 19 - nth)])
})

test('CHAT-30 what goes unread with a deleted account is told, what was read is not', async () => {
  const admin = await signUpAdmin()
  await registerDevice(sara)
  const there = await otherDevices(sara)
  await sara.post('/notifications/read-all')
  await notify(sara, 'system', serviceMessage())
  const other = await signUp()
  for (const writer of [salem, other]) {
    await sendMessageAs(writer, await conversationBetween(writer, sara))
  }
  const remove = async ({ id }: Person) =>
    expect((await admin.delete(`/admin/users/${id}`, { reason: 'بطلبه' })).status).toBe(204)
  await remove(salem)
  await drain('announce_withdrawals')
  const [{ id }] = await notificationsOf(sara, 'message_new')
  await sara.post(`/notifications/${id}/read`)
  await remove(other)
  await drain('announce_withdrawals')
  await sara.post('/notifications/read-all')
  await there.hear([0, 2, 1, 0])
  const { rows } = await database().query(
    `select data from private.push_outbox where account_id = $1 and category = 'badge'`,
    [sara.id],
  )
  expect(rows).toEqual([{ data: { kind: 'badge' } }])
})

/** Returns for each notification of messages whether it is unread, newest first. */
const unreadMessages = async (person: Person) =>
  (await notificationsOf(person, 'message_new')).map(({ readAt }) => readAt === null)

test('CHAT-30 archiving a conversation reads its notification and no other', async () => {
  const there = await otherDevices(sara)
  const id = await conversationBetween(salem, sara)
  const other = await conversationBetween(await signUp(), sara)
  await sendMessageAs(salem, id)
  await sendMessageAs(salem, id)
  await sendMessageAs(sara, id)
  const before = await unreadCount(sara)
  const change = (body: object) => sara.patch(`/conversations/${id}`, body)
  await change({ archived: true, upToSeq: 1 }) // the second message was not seen
  await change({ muted: true })
  await change({ muted: false })
  expect(await unreadMessages(sara)).toEqual([true])
  await change({ archived: true, upToSeq: 3 })
  expect(await unreadMessages(sara)).toEqual([false])
  expect(await unreadCount(sara)).toBe(before - 1)
  await change({ archived: false })
  await change({ archived: true, upToSeq: 3 })
  await sara.post(`/conversations/${id}/read`)
  await sara.patch(`/conversations/${other}`, { archived: true, upToSeq: 0 })
  expect(await unreadMessages(sara)).toEqual([false])
  expect(await unreadMessages(salem)).toEqual([true])

  await sendMessageAs(salem, id)
  expect(await unreadMessages(sara)).toEqual([true, false])
  await change({ archived: true, muted: true, upToSeq: 4 })
  await sendMessageAs(salem, id)
  expect(await unreadMessages(sara)).toEqual([false, false])
  await there.hear([before - 1, before - 1])
})

test('CHAT-30 a block reads the notifications of all conversations with that account', async () => {
  const there = await otherDevices(sara)
  const theirs = await otherDevices(salem)
  const company = await insertOrganisation(salem.id)
  const office = await insertOrganisation(sara.id, 'office')
  const id = await conversationBetween(salem, sara)
  const atOffice = await conversationBetween(salem, { identityId: office })
  for (const one of [id, atOffice]) await sendMessageAs(salem, one)
  await salem.post('/auth/identity/switch', { identityId: company })
  await sendMessageAs(salem, await conversationBetween(salem, sara))
  await salem.post('/auth/identity/switch', { identityId: salem.identityId })
  await sendMessageAs(sara, id)
  const fahad = await signUp()
  await sendMessageAs(fahad, await conversationBetween(fahad, sara))
  const before = await unreadCount(sara)
  expect(await unreadMessages(sara)).toEqual([true, true, true, true])

  const block = (identityId: string) => sara.post(`/blocks/${identityId}`)
  expect((await block(company)).status).toBe(204)
  expect(await unreadMessages(sara)).toEqual([true, false, false, false])
  expect(await unreadCount(sara)).toBe(before - 3)
  await block(company)
  await block(salem.identityId)
  for (const one of [company, salem.identityId]) await sara.delete(`/blocks/${one}`)
  expect(await unreadMessages(sara)).toEqual([true, false, false, false])

  await sendMessageAs(salem, id)
  expect(await unreadCount(sara)).toBe(before - 2)
  await block(salem.identityId)
  await there.hear([before - 3, before - 3])
  expect(await unreadMessages(salem)).toEqual([true])
  const unread = await unreadCount(salem)
  await salem.post(`/notifications/${(await notificationsOf(salem, 'message_new'))[0].id}/read`)
  await theirs.hear([unread - 1])
})

test('CHAT-30 each identity says how many messages wait for it, whichever acts', async () => {
  const office = await insertOrganisation(sara.id, 'office')
  const unread = async () => {
    const { body: { identities, activeIdentity } } = await sara.get('/auth/me')
    const found = Object.fromEntries(
      identities.map((one: { id: string; unread: number }) => [one.id, one.unread]),
    )
    expect(activeIdentity).toEqual(
      identities.find(({ id }: { id: string }) => id === activeIdentity.id),
    )
    return [found[sara.identityId], found[office]]
  }
  expect(await unread()).toEqual([0, 0])
  const fahad = await signUp()
  const ids: string[] = []
  for (const by of [salem, fahad]) {
    ids.push(await conversationBetween(by, { identityId: office }))
    await sendMessageAs(by, ids.at(-1)!)
  }
  await sendMessageAs(salem, ids[0]!)
  await sendMessageAs(salem, await conversationBetween(salem, sara))
  expect(await unread()).toEqual([1, 3])
  const [me] = JSON.parse((await callDataApi(sara, 'get_me')).text)
  expect(me.activeIdentity).toMatchObject({ id: sara.identityId, unread: 1 })

  const { body } = await sara.post('/auth/identity/switch', { identityId: office })
  expect(body.activeIdentity).toMatchObject({ id: office, unread: 3 })
  expect((await sara.get('/conversations')).body.unreadTotal).toBe(3)
  await sara.patch(`/conversations/${ids[1]}`, { archived: true, upToSeq: 1 })
  expect((await sara.get('/conversations')).body.unreadTotal).toBe(2)
  expect(await unread()).toEqual([1, 2])

  const admin = await signUpAdmin()
  const status = (to: string) =>
    admin.patch(`/admin/identities/${office}/status`, { status: to, reason: 'ترخيص' })
  await sara.post('/auth/identity/switch', { identityId: sara.identityId })
  await status('suspended')
  expect(await unread()).toEqual([1, 0])
  await status('active')
  expect(await unread()).toEqual([1, 2])
})
