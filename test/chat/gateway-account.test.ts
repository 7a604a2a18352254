import { afterEach, expect, test } from 'vitest'
import { ChatSocket, toldAll, upTo } from '../support/chat-socket.ts'
import { asCaller, signIn, signUp } from '../support/client.ts'
import { closeClients, joinAs, topicOf } from '../support/channels.ts'
import { mintToken, testWithKey } from '../support/tokens.ts'
import { waitUntil } from '../support/wait.ts'
import { conversationBetween, startConversation } from '../support/conversations.ts'
import { shortSocketOf, socketOf } from './sockets.ts'

afterEach(closeClients)

/** Returns the numbers of the messages and updates that a socket received, such as "m1" and "u1". */
const story = ({ frames }: ChatSocket) =>
  frames.flatMap(({ event, data }) => {
    if (event === 'new_message') return [`m${data.message.seq}`]
    if (event === 'conversation_updated') return [`u${data.lastMessage?.seq ?? 0}`]
    return []
  })

test('one event becomes new_message, then conversation_updated, for each socket', async () => {
  const { a, b, conversationId } = await startConversation()
  const sender = await socketOf(a)
  const [joined, only, own] = [await socketOf(b), await socketOf(b), await socketOf(a)]
  await joined.join(conversationId)
  await own.join(conversationId)
  // Until the gateway receives the account's events, it may send one update for several messages.
  await sender.sendMessage(conversationId, '1')
  await waitUntil(
    'the first came to all',
    () => story(joined).length === 2 && story(only).length === 1 && story(own).length === 1,
  )
  for (const i of upTo(30).slice(1)) await sender.sendMessage(conversationId, String(i))
  await waitUntil('all came', () => story(joined).length === 60 && story(only).length === 30)
  // An update comes after its message, but not necessarily before the next message.
  const events = story(joined)
  for (const kind of ['m', 'u']) {
    expect(events.filter((one) => one.startsWith(kind))).toEqual(upTo(30).map((i) => kind + i))
  }
  for (const i of upTo(30)) expect(events.indexOf(`m${i}`)).toBeLessThan(events.indexOf(`u${i}`))
  expect(story(only)).toEqual(upTo(30).map((i) => `u${i}`))
  await waitUntil('and to the sender', () => story(own).length === 30)
  expect(story(own)).toEqual(upTo(30).map((i) => `m${i}`))
  expect(joined.events('conversation_updated')[0]).toEqual({
    conversationId,
    identityId: b.identityId,
    lastMessage: expect.objectContaining({ seq: 1, mine: false }),
    unread: 1,
    muted: false,
    archived: false,
    peerReadSeq: 0,
    changedAt: expect.any(String),
  })
})

test('the order holds for a socket that is still reading the history', async () => {
  const { a, b, conversationId } = await startConversation()
  const sender = await socketOf(a)
  for (const i of upTo(120)) await sender.sendMessage(conversationId, String(i))
  const reader = await socketOf(b)
  const storm = (async () => {
    for (const i of upTo(60)) await sender.sendMessage(conversationId, `عاصفة ${i}`)
  })()
  await waitUntil('its events arrive', () => story(reader).length > 3)
  await reader.join(conversationId, { afterSeq: 0 })
  await storm
  await waitUntil('all came', () => reader.messages().length === 180)
  await toldAll(b, reader)
  const all = story(reader)
  expect(all.filter((one) => one.startsWith('m'))).toEqual(upTo(180).map((i) => `m${i}`))
  const states = all.filter((one) => one.startsWith('u')).map((one) => Number(one.slice(1)))
  expect(states).toEqual(states.toSorted((x, y) => x - y))
  expect(states.at(-1)).toBe(180)
  const from = reader.frames.findIndex(({ event, data }) => event === 'ack' && data.lastSeq)
  const after = story({ frames: reader.frames.slice(from) } as ChatSocket)
  for (const state of after.filter((one) => one.startsWith('u'))) {
    expect(after.indexOf(`m${state.slice(1)}`), state).toBeLessThan(after.indexOf(state))
  }
})

test('nobody but the database sends events: neither the other side nor the owner', async () => {
  const { a, b, conversationId } = await startConversation()
  const socket = await socketOf(b)
  await socket.join(conversationId)
  const topic = (await b.get('/auth/me')).body.realtimeTopic
  const payload = { message: { seq: 1, conversationId, body: 'مزورة' }, conversation: {} }
  for (const person of [a, b]) {
    await asCaller(person, async (client) => {
      await client.query(`select set_config('realtime.topic', $1, true)`, [topic])
      await client.query(`select realtime.send($1, 'new_message', $2)`, [payload, topic])
    })
  }
  await toldAll(b, socket)
  expect(socket.messages()).toEqual([])
  expect(await conversationBetween(a, b)).toBe(conversationId)
})

test('a session that ends closes its sockets, and the others go on with one channel', async () => {
  const { a, b, conversationId } = await startConversation()
  const sessions = [
    b,
    await signIn(b.identifier, b.password),
    await signIn(b.identifier, b.password),
  ]
  const sockets = await Promise.all(sessions.map((person) => socketOf(person)))
  for (const socket of sockets) await socket.join(conversationId)
  const sender = await socketOf(a)
  for (const [i, session] of sessions.slice(0, 2).entries()) {
    expect((await session.post('/auth/logout', {})).status).toBe(204)
    await sender.sendMessage(conversationId, String(i + 1))
    expect((await sockets[i]!.waitForClose()).code).toBe(4401)
    const rest = sockets.slice(i + 1)
    await waitUntil('the others hear', () => rest.every((each) => each.messages().length === i + 1))
    expect(sockets[i]!.messages().length).toBe(i)
    expect(rest.map(({ closed }) => closed)).toEqual(rest.map(() => undefined))
  }
})

testWithKey('a channel outlives the token by which it was joined', async () => {
  const { a, b, conversationId } = await startConversation()
  const { socket: short, accessToken } = await shortSocketOf(b)
  const [long, sender] = [await socketOf(b), await socketOf(a)]
  await long.join(conversationId)
  expect((await short.waitForClose()).code).toBe(4401)
  // For comparison: Realtime ends a channel whose token is not renewed.
  const ended = await joinAs({ accessToken }, await topicOf(b))
  await waitUntil('such a channel has ended', () => ended.channel.state !== 'joined')
  await sender.sendMessage(conversationId, 'بعد')
  await waitUntil('it receives', () => long.messages().length === 1)
  // Now the socket with the newest token closes.
  const last = await socketOf({
    accessToken: mintToken(b.accessToken, { exp: Math.floor(Date.now() / 1000) + 7200 }),
  })
  last.close()
  await sender.sendMessage(conversationId, 'وبعد')
  await waitUntil('it receives again', () => long.messages().length === 2)
})

test("sockets over the account's limit close the oldest, and the rest receive", async () => {
  const [a, b] = await Promise.all([signUp(), signUp()])
  const id = await conversationBetween(a, b)
  const sockets: ChatSocket[] = []
  for (const _ of upTo(11)) sockets.push(await socketOf(b))
  expect((await sockets[0]!.waitForClose()).code).toBe(4429)
  const sender = await socketOf(a)
  await sender.sendMessage(id, 'إلى الجميع')
  await waitUntil('all hear', () => sockets.slice(1).every((each) => story(each).join() === 'u1'))
})
