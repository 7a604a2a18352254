import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { ChatSocket, toldAll, upTo } from '../support/chat-socket.ts'
import { database, signUp } from '../support/client.ts'
import { bulk } from '../support/nightly.ts'
import { waitUntil } from '../support/wait.ts'
import { startConversation, wholeHistory } from '../support/conversations.ts'
import { closeAfterTest, socketOf } from './sockets.ts'

const bodies = (socket: ChatSocket) => socket.messages().map(({ body }) => body)
const seqs = (socket: ChatSocket) => socket.messages().map(({ seq }) => seq)

const updatedSeqs = (socket: ChatSocket): number[] =>
  socket.events('conversation_updated').map(({ lastMessage }) => lastMessage.seq)

test('a message reaches the other party as new_message and conversation_updated', async () => {
  const { a, b, conversationId } = await startConversation()
  const [left, right] = [await socketOf(a), await socketOf(b)]
  expect(await right.join(conversationId)).toMatchObject({
    event: 'ack',
    data: { conversationId, lastSeq: 0 },
  })
  await left.join(conversationId)
  const clientMessageId = randomUUID()
  const { event, data } = await left.sendMessage(conversationId, 'هل العقار متاح؟', {
    clientMessageId,
  })
  expect(event).toBe('ack')
  expect(data.message).toEqual({
    id: expect.any(String),
    seq: 1,
    conversationId,
    senderIdentityId: a.identityId,
    type: 'text',
    body: 'هل العقار متاح؟',
    mediaUrl: null,
    replyToId: null,
    replyToSeq: null,
    clientMessageId,
    createdAt: expect.any(String),
  })
  await waitUntil('it comes', () => right.messages().length === 1)
  await waitUntil('it comes back', () => left.messages().length === 1)
  expect(right.messages()).toEqual([data.message])
  expect(left.messages()).toEqual([data.message])
  await waitUntil('the update arrives', () => right.events('conversation_updated').length > 0)
  await toldAll(b, right)
  expect(right.events('conversation_updated')).toMatchObject([{
    conversationId,
    identityId: b.identityId,
    unread: 1,
    lastMessage: { id: data.message.id, seq: 1, mine: false },
  }])
  expect(await wholeHistory(b, conversationId)).toEqual([data.message])
})

test('CHAT-01 strangers can neither join nor send', async () => {
  const { a, b, conversationId } = await startConversation()
  const c = await signUp()
  const stranger = await socketOf(c)
  const [left, right] = [await socketOf(a), await socketOf(b)]
  await Promise.all([left.join(conversationId), right.join(conversationId)])

  const plain = ({ event, data }: Awaited<ReturnType<ChatSocket['join']>>) => {
    const { requestId: _number, ref: _ref, ...rest } = data
    return { event, data: rest }
  }
  const unknown = randomUUID()
  expect(plain(await stranger.join(conversationId)))
    .toMatchObject({ event: 'error', data: { code: 'not_participant' } })
  expect(plain(await stranger.join(unknown))).toEqual(plain(await stranger.join(conversationId)))
  expect(plain(await stranger.sendMessage(unknown, 'x')))
    .toEqual(plain(await stranger.sendMessage(conversationId, 'x')))
  for (
    const data of [
      { conversationId: [conversationId] },
      { conversationId, senderId: b.id },
      { conversationId, sender_id: b.identityId },
    ]
  ) {
    expect(await stranger.ask('join_conversation', data))
      .toMatchObject({ event: 'error', data: { code: 'validation_failed' } })
    expect(
      await stranger.ask('send_message', { clientMessageId: randomUUID(), body: 'x', ...data }),
    )
      .toMatchObject({ event: 'error', data: { code: 'validation_failed' } })
  }
  for (const i of upTo(50)) {
    await Promise.all([
      left.sendMessage(conversationId, `أ${i}`),
      right.sendMessage(conversationId, `ب${i}`),
    ])
  }
  for (const socket of [left, right]) {
    await waitUntil('all came', () => socket.messages().length === 100)
    expect(seqs(socket)).toEqual(upTo(100))
  }
  expect(stranger.messages()).toEqual([])
  expect(stranger.events('conversation_updated')).toEqual([])
  const { rows } = await database().query(
    'select count(*)::int from public.messages where conversation_id = $1 and sender_identity_id = $2',
    [conversationId, c.identityId],
  )
  expect(rows).toEqual([{ count: 0 }])
})

test('CHAT-02 only joined sockets receive messages', async () => {
  const { a, b, conversationId } = await startConversation()
  const sender = await socketOf(a)
  const [joined, only, left] = [await socketOf(b), await socketOf(b), await socketOf(b)]
  await joined.join(conversationId)
  await left.join(conversationId)
  await left.leave(conversationId)
  await sender.sendMessage(conversationId, '1')
  await waitUntil(
    'the socket that has not joined gets an update',
    () => updatedSeqs(only).length === 1,
  )
  for (const i of upTo(99)) await sender.sendMessage(conversationId, String(i + 1))
  await waitUntil('the joined one has all', () => joined.messages().length === 100)
  await toldAll(b, only, left)
  expect(seqs(joined)).toEqual(upTo(100))
  expect(only.messages()).toEqual([])
  expect(updatedSeqs(only)).toEqual(upTo(100))
  expect(left.frames.filter(({ event }) => event !== 'ack' && event !== 'presence')).toEqual([])

  // Even under load, nothing about a conversation arrives after the response to leave_conversation.
  await left.join(conversationId)
  const count = bulk(1000, 150)
  const storm = (async () => {
    for (const i of upTo(count / 10)) {
      await Promise.all(upTo(10).map((n) => sender.sendMessage(conversationId, `عاصفة${i}${n}`)))
    }
  })()
  await waitUntil('it is in the middle of it', () => left.messages().length > 50)
  const { ref } = await left.leave(conversationId)
  await storm
  await toldAll(b, left)
  const at = left.frames.findIndex((frame) => frame.ref === ref)
  expect(left.frames.slice(at + 1)).toEqual([])
  await waitUntil('the joined one has all', () => joined.messages().length === 100 + count)
  expect(seqs(joined)).toEqual(upTo(100 + count))
})

test('a socket opened in the middle of a chat gets each update once, in order', async () => {
  const { a, b, conversationId } = await startConversation()
  const sender = await socketOf(a)
  let [opening, sent] = [true, 0]
  const talk = (async () => {
    while (opening) await sender.sendMessage(conversationId, String(++sent))
  })()
  const listeners: ChatSocket[] = []
  try {
    for (const _ of upTo(8)) {
      const from = sent
      const listener = await socketOf(b)
      listeners.push(listener)
      await waitUntil('some updates arrive', () => updatedSeqs(listener).length > 5)
      await waitUntil('there are some more', () => sent > from + 3)
    }
  } finally {
    opening = false
    await talk
  }
  for (const listener of listeners) {
    await waitUntil('the last update arrives', () => updatedSeqs(listener).at(-1) === sent)
    expect(updatedSeqs(listener)).toEqual(upTo(sent).slice(updatedSeqs(listener)[0]! - 1))
  }
})

test('CHAT-04 a resent message is stored once', async () => {
  const { a, b, conversationId } = await startConversation()
  const clientMessageId = randomUUID()
  const frame = { conversationId, clientMessageId, type: 'text', body: 'مرة واحدة' }
  const cut = await socketOf(a)
  cut.socket.send(JSON.stringify({ event: 'send_message', data: frame }))
  cut.close()
  const sockets = [await socketOf(a), await socketOf(a)]
  const answers = await Promise.all(
    upTo(10).map((i) => sockets[i % 2]!.ask('send_message', frame)),
  )
  expect(new Set(answers.map(({ data }) => JSON.stringify(data))).size).toBe(1)
  expect(answers[0]).toMatchObject({ event: 'ack', data: { message: { seq: 1, clientMessageId } } })
  expect(await sockets[0]!.ask('send_message', { ...frame, body: 'نص آخر' }))
    .toMatchObject({ event: 'error', data: { code: 'idempotency_mismatch' } })
  const other = await socketOf(b)
  expect(await other.ask('send_message', frame))
    .toMatchObject({ event: 'ack', data: { message: { seq: 2, senderIdentityId: b.identityId } } })
  expect((await wholeHistory(a, conversationId)).length).toBe(2)
})

test('CHAT-05 the history has what was acknowledged', async () => {
  const pairs = await Promise.all(upTo(5).map(startConversation))
  await Promise.all(pairs.map(async ({ a, b, conversationId }) => {
    const socket = await socketOf(a)
    for (const i of upTo(100)) {
      const { data } = await socket.sendMessage(conversationId, String(i))
      const { body } = await b.get(`/conversations/${conversationId}/messages?limit=1`)
      expect(body.items).toEqual([data.message])
    }
  }))
})

test('CHAT-14 markup is text, and links are not fetched', async () => {
  const requests: string[] = []
  const listener = createServer((request, response) => {
    requests.push(request.url!)
    response.end()
  }).listen(0, '127.0.0.1')
  await waitUntil('it listens', () => listener.listening)
  const { port } = listener.address() as AddressInfo
  const { a, b, conversationId } = await startConversation()
  const [left, right] = [await socketOf(a), await socketOf(b)]
  await right.join(conversationId)
  const texts = [
    '<script>alert(1)</script>',
    `<img src="http://127.0.0.1:${port}/img" onerror="alert(1)">`,
    'javascript:alert(1)',
    `[link](http://127.0.0.1:${port}/markdown) **bold**`,
    `http://127.0.0.1:${port}/preview`,
    'ا'.repeat(4000),
    '\u202eمقلوب',
    '"}],"event":"error"',
    '👩‍👩‍👧',
  ]
  for (const text of texts) {
    expect((await left.sendMessage(conversationId, text)).data.message.body).toBe(text)
  }
  await waitUntil('all came', () => right.messages().length === texts.length)
  expect(bodies(right)).toEqual(texts)
  expect((await wholeHistory(b, conversationId)).map(({ body }) => body)).toEqual(texts)
  expect(requests).toEqual([])
  // The server records this request, so it would have recorded earlier ones, too.
  await fetch(`http://127.0.0.1:${port}/`)
  expect(requests).toEqual(['/'])
  listener.close()
})

test("CHAT-15 the server's own fields are never taken from the client", async () => {
  const { a, b, conversationId } = await startConversation()
  const socket = await socketOf(a)
  for (
    const own of [
      { id: randomUUID() },
      { seq: 99 },
      { createdAt: '2020-01-01T00:00:00Z' },
      { senderId: b.id },
      { senderIdentityId: b.identityId },
      { read: true },
      { type: 'system' },
      { type: ['text'] },
    ]
  ) {
    expect(await socket.sendMessage(conversationId, 'x', own))
      .toMatchObject({ event: 'error', data: { code: 'validation_failed' } })
  }
  expect(await wholeHistory(a, conversationId)).toEqual([])
})

test('CHAT-09 an invalid text is an error with the code of the contract', async () => {
  const { a, conversationId } = await startConversation()
  const socket = await socketOf(a)
  for (
    const [body, code] of [
      ['', 'message_empty'],
      [' \n\t ', 'message_empty'],
      ['ا'.repeat(4001), 'message_too_long'],
      ['\u0000', 'validation_failed'],
      ['\ud800', 'validation_failed'],
    ] as const
  ) {
    expect(await socket.sendMessage(conversationId, body)).toMatchObject({
      event: 'error',
      data: { code },
    })
  }
  expect((await socket.sendMessage(conversationId, '𐍈'.repeat(4000))).event).toBe('ack')
})

test('joining again with afterSeq gives what was missed, and nothing twice', async () => {
  const { a, b, conversationId } = await startConversation()
  const [left, right] = [await socketOf(a), await socketOf(b)]
  for (const i of upTo(120)) await left.sendMessage(conversationId, String(i))
  await right.join(conversationId)
  await right.join(conversationId)
  await left.sendMessage(conversationId, '121')
  await waitUntil('it comes', () => right.messages().length === 1)
  expect(seqs(right)).toEqual([121])
  const late = await socketOf(b)
  expect((await late.join(conversationId, { afterSeq: 0 })).data.lastSeq).toBe(121)
  await waitUntil('all come', () => late.messages().length === 121)
  expect(seqs(late)).toEqual(upTo(121))
  const ahead = await socketOf(b)
  await ahead.join(conversationId, { afterSeq: 5000 })
  await left.sendMessage(conversationId, '122')
  await waitUntil('it comes', () => ahead.messages().length === 1)
})

test('errors are in English for clients that ask for it', async () => {
  const { accessToken } = await signUp()
  const socket = new ChatSocket({
    headers: { authorization: `Bearer ${accessToken}`, 'accept-language': 'en-GB' },
  })
  closeAfterTest(socket)
  await socket.opened()
  expect((await socket.join(randomUUID())).data.message)
    .toBe('You are not part of this conversation')
})
