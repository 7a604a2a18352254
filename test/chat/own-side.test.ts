import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { asCaller, database, guest, type Person, signUp } from '../support/client.ts'
import { closeClients, joinAs, topicOf } from '../support/channels.ts'
import {
  conversationBetween,
  listEntry,
  postMessage,
  sendMessageAs,
  startConversation,
} from '../support/conversations.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { statusAndCode, unknownId } from '../support/problems.ts'
import { waitUntil } from '../support/wait.ts'
import { socketOf } from './sockets.ts'

let a: Person
let b: Person
let id: string

beforeEach(async () => {
  ;({ a, b, conversationId: id } = await startConversation())
})

afterAll(closeClients)

async function change(person: Person, body: object) {
  const reply = await person.patch(`/conversations/${id}`, body)
  expect(reply.status).toBe(200)
  return reply.body
}
const archive = (person: Person, upToSeq: number) => change(person, { archived: true, upToSeq })
const page = async (person: Person, query = '') => (await person.get(`/conversations${query}`)).body
const idsOf = async (person: Person, query = '') =>
  (await page(person, query)).items.map((item: { id: string }) => item.id)

test('what is archived is in its own list only, and not among what is unread in all', async () => {
  await sendMessageAs(a, id)
  const other = await conversationBetween(b, await signUp())
  const before = await listEntry(b, id)
  const archived = await archive(b, 1)
  expect(archived).toEqual({ ...before, archived: true, changedAt: archived.changedAt })
  expect((await b.get(`/conversations/${id}`)).body).toEqual(archived)
  expect(await page(b)).toMatchObject({ items: [{ id: other }], unreadTotal: 0 })
  expect(await page(b, '?archived=false')).toMatchObject({ items: [{ id: other }] })
  expect(await page(b, '?archived=true')).toMatchObject({ items: [archived], unreadTotal: 0 })
  const { archived: is, changedAt } = await change(b, { archived: false })
  expect([is, changedAt > archived.changedAt]).toEqual([false, true])
  expect(await page(b)).toMatchObject({ items: [{ id: other }, { id }], unreadTotal: 1 })
  expect(await idsOf(b, '?archived=true')).toEqual([])
})

test('pages of the archived join; a cursor belongs to its list', async () => {
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    id = await conversationBetween(b, await signUp())
    await archive(b, 0)
    ids.unshift(id)
  }
  const first = await page(b, '?archived=true&limit=2')
  const cursor = encodeURIComponent(first.nextCursor)
  const rest = await page(b, `?archived=true&cursor=${cursor}`)
  expect([...first.items, ...rest.items].map((item) => item.id)).toEqual(ids)
  expect(statusAndCode(await b.get(`/conversations?cursor=${cursor}`)))
    .toEqual([422, 'cursor_invalid'])
  expect((await b.get('/conversations?archived=1')).status).toBe(422)
})

test('who has not seen the newest message does not archive it away; one of theirs does not matter', async () => {
  await sendMessageAs(a, id)
  await sendMessageAs(a, id)
  const seen = await listEntry(b, id)
  expect(await archive(b, 1)).toEqual(seen)
  await sendMessageAs(b, id)
  expect(await archive(b, 2)).toMatchObject({ archived: true, lastMessage: { seq: 3, mine: true } })
})

test('any message brings it back, one that is muted as well only a message of one’s own', async () => {
  await archive(b, 0)
  await sendMessageAs(a, id)
  expect(await listEntry(b, id)).toMatchObject({ archived: false, unread: 1 })
  await archive(b, 1)
  await sendMessageAs(b, id)
  expect((await listEntry(b, id)).archived).toBe(false)

  expect(await change(b, { muted: true, archived: true, upToSeq: 2 }))
    .toMatchObject({ muted: true, archived: true })
  await sendMessageAs(a, id)
  expect(await page(b)).toMatchObject({ items: [], unreadTotal: 0 })
  const [hidden] = (await page(b, '?archived=true')).items
  expect(hidden).toMatchObject({ id, unread: 2, muted: true, lastMessage: { seq: 3 } })
  await sendMessageAs(b, id)
  expect(await listEntry(b, id)).toMatchObject({ archived: false, muted: true, unread: 2 })
  // The conversation is no longer archived, so it stays in the list and its unread messages count.
  await sendMessageAs(a, id)
  expect(await page(b)).toMatchObject({ items: [{ id, unread: 3 }], unreadTotal: 3 })
})

test('CHAT-18 the other side never learns of it, and nothing of it moves the order of lists', async () => {
  await sendMessageAs(b, id)
  const whole = async () => [await page(a), (await a.get(`/conversations/${id}`)).body]
  const before = await whole()
  const { updatedAt } = await listEntry(b, id)
  for (
    const body of [{ muted: true }, { archived: true, upToSeq: 1 }, { muted: false }, {
      archived: false,
    }]
  ) expect((await change(b, body)).updatedAt).toBe(updatedAt)
  expect(await whole()).toEqual(before)
})

test('changedAt is that of the newest change of one’s own side, archived ones included', async () => {
  const other = await conversationBetween(b, await signUp())
  const changedAt = async () => (await page(b, '?limit=1')).changedAt
  const times = [await changedAt()]
  const moved = async (conversation: string) => {
    const now = await changedAt()
    expect(now > times.at(-1)!).toBe(true)
    expect((await b.get(`/conversations/${conversation}`)).body.changedAt).toBe(now)
    times.push(now)
  }
  await sendMessageAs(a, id)
  await moved(id)
  await sendMessageAs(b, other)
  await moved(other)
  await b.post(`/conversations/${id}/read`)
  await moved(id)
  await change(b, { muted: true })
  await moved(id)
  await archive(b, 1)
  await moved(id)
  await sendMessageAs(a, id) // the conversation is still archived
  expect(await idsOf(b, '?archived=true')).toEqual([id])
  await moved(id)
  await change(b, {})
  await change(b, { muted: true })
  await change(b, { archived: true, upToSeq: 2 })
  await a.patch(`/conversations/${id}`, { muted: true })
  await b.post(`/conversations/${id}/read`, { upToSeq: 1 })
  await a.patch('/settings', { privacy: { readReceipts: false } })
  await a.post(`/conversations/${id}/read`)
  expect(await changedAt()).toBe(times.at(-1))
  expect((await page(await signUp())).changedAt).toBe(null)
})

test('another’s or an unknown one is not found, and a wrong body is refused', async () => {
  const stranger = await signUp()
  for (const [person, one] of [[stranger, id], [b, unknownId]] as const) {
    expect(statusAndCode(await person.patch(`/conversations/${one}`, { muted: true })))
      .toEqual([404, 'conversation_not_found'])
  }
  expect((await guest.patch(`/conversations/${id}`, { muted: true })).status).toBe(401)
  for (
    const body of [
      { archived: true },
      { archived: false, upToSeq: 1 },
      { upToSeq: 1 },
      { archived: true, upToSeq: -1 },
      { muted: 'true' },
      { unread: 0 },
    ]
  ) expect([body, (await b.patch(`/conversations/${id}`, body)).status]).toEqual([body, 422])
  for (const call of ['archived => true', 'up_to_seq => 1', 'archived => false, up_to_seq => 1']) {
    const update = asCaller(
      b,
      (client) => client.query(`select api.update_conversation($1, ${call})`, [id]),
    )
    await expect(update).rejects.toThrow('validation_failed')
  }
  const company = await insertOrganisation(b.id)
  await b.post('/auth/identity/switch', { identityId: company })
  expect((await b.patch(`/conversations/${id}`, { muted: true })).status).toBe(404)
})

test('CHAT-18 across a block and with who is gone both work, and own devices hear of it', async () => {
  await sendMessageAs(a, id)
  for (const [blocker, blocked] of [[a, b], [b, a]] as const) {
    await blocker.post(`/blocks/${blocked.identityId}`)
    for (const person of [a, b]) {
      const device = await joinAs(person, await topicOf(person))
      const answers = [
        await change(person, { muted: true }),
        await archive(person, 1),
        await change(person, { muted: false, archived: false }),
      ]
      // Ignores the events of the message and of the block, which may arrive at any moment.
      const own = answers.map(({ changedAt }) => changedAt)
      const heard = () =>
        device.payloads('conversation_updated')
          .filter(({ changedAt }) => own.includes(changedAt))
          .map(({ muted, archived }) => [muted, archived])
      await expect.poll(heard)
        .toEqual([[true, false], [true, true], [false, false]])
    }
    await blocker.delete(`/blocks/${blocked.identityId}`)
  }
  await database().query('select private.anonymise_account($1)', [a.id])
  expect(await change(b, { muted: true, archived: true, upToSeq: 1 }))
    .toMatchObject({ muted: true, archived: true })
})

describe('its devices', () => {
  test('hear of it over Realtime and over the gateway, and nobody else does', async () => {
    const [phone, tablet] = [await joinAs(b, await topicOf(b)), await joinAs(b, await topicOf(b))]
    const others = await joinAs(a, await topicOf(a))
    const [socket, otherSocket] = [await socketOf(b), await socketOf(a)]
    await sendMessageAs(a, id)
    await Promise.all([phone, tablet, others].map((device) => device.waitFor('new_message')))
    const event = (
      { lastMessage, unread, muted, archived, peerReadSeq, changedAt }: Record<string, unknown>,
    ) => ({
      conversationId: id,
      identityId: b.identityId,
      lastMessage,
      unread,
      muted,
      archived,
      peerReadSeq,
      changedAt,
    })
    const notified = [event(await change(b, { muted: true })), event(await archive(b, 1))]
    for (const device of [phone, tablet]) {
      const heard = await device.waitFor('conversation_updated', 2)
      expect(heard.map(event)).toEqual(notified)
    }
    const frames = () => socket.events('conversation_updated')
    await waitUntil('the gateway tells it', () => frames().some(({ archived }) => archived))
    expect(frames().at(-1)).toEqual(notified[1])
    await sendMessageAs(a, id)
    const [message] = (await phone.waitFor('new_message', 2)).slice(-1)
    expect(message.conversation)
      .toMatchObject({ muted: true, archived: true, changedAt: message.message.createdAt })
    await sendMessageAs(b, id)
    const own = (await phone.waitFor('new_message', 3)).at(-1)
    expect(own.conversation).toMatchObject({ muted: true, archived: false })
    await waitUntil('the gateway tells that it is back', () => frames().at(-1).archived === false)

    expect(others.payloads('conversation_updated')).toEqual([])
    for (const { conversation } of await others.waitFor('new_message', 3)) {
      expect(conversation).toMatchObject({ muted: false, archived: false })
    }
    expect(
      otherSocket.events('conversation_updated').map(({ muted, archived }) => muted || archived),
    )
      .not.toContain(true)
  })
})

describe('two at once', () => {
  test('CHAT-18 a message that comes while it is archived is never hidden', async () => {
    for (let seq = 1; seq <= 20; seq++) {
      const [archived, sent] = await Promise.all([archive(b, seq - 1), postMessage(a, id)])
      expect(sent.status).toBe(201)
      // The response may show the state before the message or after it, when the
      // conversation is no longer archived.
      expect(archived.archived).toBe(archived.lastMessage?.seq !== seq)
      expect(await listEntry(b, id)).toMatchObject({ archived: false, lastMessage: { seq } })
    }
  })

  test('CHAT-18 two devices end as the newest event says', async () => {
    await sendMessageAs(a, id)
    const device = await joinAs(b, await topicOf(b))
    for (let round = 1; round <= 10; round++) {
      await Promise.all([
        change(b, { muted: true }),
        archive(b, 1),
        change(b, { muted: false }),
        change(b, { archived: false }),
        b.post(`/conversations/${id}/read`),
      ])
    }
    const { muted, archived, changedAt, unread } = (await b.get(`/conversations/${id}`)).body
    const heard = () => device.payloads('conversation_updated')
    await waitUntil('the last event', () => heard().some((event) => event.changedAt === changedAt))
    const times = heard().map((event) => event.changedAt)
    expect(new Set(times).size).toBe(times.length)
    expect(times.toSorted().at(-1)).toBe(changedAt)
    expect(heard().find((event) => event.changedAt === changedAt))
      .toMatchObject({ muted, archived, unread })
    expect((await page(b)).changedAt).toBe(changedAt)
  })
})
