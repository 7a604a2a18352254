import { afterEach, expect, test } from 'vitest'
import type { Person } from '../support/client.ts'
import { closeClients, joinAs, topicOf } from '../support/channels.ts'
import {
  listEntry,
  postMessage,
  sendMessageAs,
  startConversation,
} from '../support/conversations.ts'
import { waitUntil } from '../support/wait.ts'
import { socketOf } from './sockets.ts'

afterEach(closeClients)

const read = (person: Person, id: string, upToSeq?: number) =>
  person.post(`/conversations/${id}/read`, { upToSeq })
const shows = (person: Person, readReceipts: boolean) =>
  person.patch('/settings', { privacy: { readReceipts } })
const changedAt = async (person: Person) =>
  (await person.get('/conversations?limit=1')).body.changedAt

async function written(count: number) {
  const conversation = await startConversation()
  const { a, b, conversationId: id } = conversation
  for (let n = 0; n < count; n++) await sendMessageAs(a, id)
  const position = async (person: Person) => (await listEntry(person, id)).peerReadSeq
  return { a, b, id, position }
}

test('CHAT-19 the writer finds how far the other side has read, as a change of its own', async () => {
  const { a, b, id, position } = await written(3)
  expect([await position(a), await position(b)]).toEqual([0, 0])
  const before = await changedAt(a)
  await read(b, id, 2)
  const entry = await listEntry(a, id)
  expect(entry).toMatchObject({ peerReadSeq: 2, changedAt: await changedAt(a) })
  expect(entry.changedAt > before).toBe(true)
  expect((await a.get(`/conversations/${id}`)).body).toEqual(entry)
  for (const upToSeq of [2, 1]) await read(b, id, upToSeq)
  expect(await listEntry(a, id)).toEqual(entry)
  await read(b, id)
  expect([await position(a), await position(b)]).toEqual([3, 0])
})

test('CHAT-19 what is read while either shows it to nobody is not shown later', async () => {
  const { a, b, id, position } = await written(1)
  await read(b, id)
  for (const person of [a, b]) {
    await shows(person, false)
    expect([await position(a), await position(b)]).toEqual([null, null])
    const before = await changedAt(a)
    await sendMessageAs(a, id)
    const sent = await changedAt(a)
    await read(b, id)
    expect(await changedAt(a)).toBe(sent)
    expect(sent > before).toBe(true)
    await shows(person, true)
    await read(b, id)
    expect([await position(a), await position(b)]).toEqual([1, 0])
  }
  await sendMessageAs(a, id)
  await read(b, id)
  expect(await position(a)).toBe(4)
})

test('CHAT-19 reading across a block is shown to neither side, what was shown stays', async () => {
  const { a, b, id, position } = await written(2)
  await read(b, id, 1)
  for (const [one, other] of [[a, b], [b, a]] as const) {
    await one.post(`/blocks/${other.identityId}`)
    await read(b, id)
    expect(await position(a)).toBe(1)
    await one.delete(`/blocks/${other.identityId}`)
    await sendMessageAs(a, id)
  }
  await read(b, id)
  expect(await position(a)).toBe(4)
})

test('CHAT-19 every event carries the position: over Realtime, by the gateway, with messages', async () => {
  const { a, b, id, position } = await written(1)
  const atA = await joinAs(a, await topicOf(a))
  const socket = await socketOf(a)
  await read(b, id)
  const [heard] = await atA.waitFor('message_read')
  const { changedAt } = await listEntry(a, id)
  expect(heard).toMatchObject({ upToSeq: 1, peerReadSeq: 1, changedAt })
  await postMessage(b, id)
  const [message] = await atA.waitFor('new_message')
  expect(message.conversation.peerReadSeq).toBe(await position(a))
  const updates = () => socket.events('conversation_updated')
  await waitUntil('the message', () => updates().at(-1)?.lastMessage.mine === false)
  const states = updates().map(({ peerReadSeq, lastMessage: { mine } }) => `${peerReadSeq} ${mine}`)
  // If the change comes before the gateway receives the account's events, the gateway sends the
  // current state but not the event.
  expect([['1 true', '1 false'], ['1 false']]).toContainEqual([...new Set(states)])
  const live = { conversationId: id, identityId: a.identityId, upToSeq: 1 }
  expect([[], [live]]).toContainEqual(socket.events('message_read'))
})
