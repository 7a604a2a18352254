// The chat gateway for bare WebSockets: who joins, who sends, what comes.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { ChatSocket, chatUrl, upTo, waitUntilQuiet } from '../support/chat-socket.ts'
import { database, signUp } from '../support/client.ts'
import { hasStack, startFacade, testLocally } from '../support/facade.ts'
import { type OwnGateway, startGateway } from '../support/own-gateway.ts'
import { waitUntil } from '../support/wait.ts'
import { startConversation, wholeHistory } from '../support/conversations.ts'

const open: ChatSocket[] = []
afterEach(() => open.splice(0).forEach((socket) => socket.close()))

async function socketOf(...args: Parameters<typeof ChatSocket.connect>) {
  const socket = await ChatSocket.connect(...args)
  open.push(socket)
  return socket
}

const bodies = (socket: ChatSocket) => socket.messages().map(({ body }) => body)
const seqs = (socket: ChatSocket) => socket.messages().map(({ seq }) => seq)
/** Numbers of the last messages that it was told of as conversation_updated. */
const told = (socket: ChatSocket): number[] =>
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
    clientMessageId,
    createdAt: expect.any(String),
  })
  await waitUntil('it comes', () => right.messages().length === 1)
  await waitUntil('it comes back', () => left.messages().length === 1)
  expect(right.messages()).toEqual([data.message])
  expect(left.messages()).toEqual([data.message])
  await waitUntil('it is told of', () => right.events('conversation_updated').length > 0)
  await waitUntilQuiet(right)
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

test('CHAT-02 joined, not joined, left', async () => {
  const { a, b, conversationId } = await startConversation()
  const sender = await socketOf(a)
  const [joined, only, left] = [await socketOf(b), await socketOf(b), await socketOf(b)]
  await joined.join(conversationId)
  await left.join(conversationId)
  await left.leave(conversationId)
  await sender.sendMessage(conversationId, '1')
  await waitUntil('the one that has not joined hears', () => told(only).length === 1)
  for (const i of upTo(99)) await sender.sendMessage(conversationId, String(i + 1))
  await waitUntil('the joined one has all', () => joined.messages().length === 100)
  await waitUntilQuiet(only)
  expect(seqs(joined)).toEqual(upTo(100))
  expect(only.messages()).toEqual([])
  expect(told(only)).toEqual(upTo(100))
  expect(left.frames.filter(({ event }) => event !== 'ack')).toEqual([])

  // And in the middle of a storm: after the answer to leave, nothing.
  await left.join(conversationId)
  const storm = (async () => {
    for (const i of upTo(1000)) await sender.sendMessage(conversationId, `عاصفة${i}`)
  })()
  await waitUntil('it is in the middle of it', () => left.messages().length > 50)
  const { ref } = await left.leave(conversationId)
  await storm
  await waitUntilQuiet(left)
  const at = left.frames.findIndex((frame) => frame.ref === ref)
  expect(left.frames.slice(at + 1)).toEqual([])
  await waitUntil('the joined one has all', () => joined.messages().length === 1100)
  expect(seqs(joined)).toEqual(upTo(1100))
})

describe.runIf(hasStack)('two gateways', () => {
  test('CHAT-03 one order for all', async () => {
    const { a, b, conversationId } = await startConversation()
    const gateways: OwnGateway[] = await Promise.all([startGateway(), startGateway()])
    const [left, right] = [await socketOf(a, gateways[0]!.url), await socketOf(b, gateways[1]!.url)]
    await Promise.all([left.join(conversationId), right.join(conversationId)])
    const say = async (socket: ChatSocket, who: string) => {
      for (const i of upTo(500)) {
        expect((await socket.sendMessage(conversationId, who + i)).event).toBe('ack')
      }
    }
    await Promise.all([say(left, 'أ'), say(right, 'ب')])
    for (const socket of [left, right]) {
      await waitUntil('all came', () => socket.messages().length >= 1000)
      expect(seqs(socket)).toEqual(upTo(1000))
    }
    expect(right.messages()).toEqual(left.messages())
    expect(await wholeHistory(a, conversationId)).toEqual(left.messages())
    for (const who of ['أ', 'ب']) {
      expect(bodies(left).filter((body) => body.startsWith(who)))
        .toEqual(upTo(500).map((i) => who + i))
    }
    await Promise.all(gateways.map((one) => one.terminate()))
  })

  test('CHAT-16 one of two gateways is stopped and started', async () => {
    const { a, b, conversationId } = await startConversation()
    const [first, second] = await Promise.all([startGateway(), startGateway()])
    const left = await socketOf(a, first.url)
    const right = await socketOf(b, second.url)
    await right.join(conversationId)
    const times: number[] = []
    for (const i of upTo(40)) {
      const began = performance.now()
      await left.sendMessage(conversationId, String(i))
      await waitUntil('it comes', () => right.messages().length === i)
      times.push(performance.now() - began)
    }
    expect(times.toSorted((x, y) => x - y)[37]).toBeLessThan(500)

    const stopped = second.terminate()
    for (const i of upTo(20)) await left.sendMessage(conversationId, `في الأثناء${i}`)
    expect((await right.waitForClose()).code).toBe(1001)
    await stopped
    const again = await startGateway({}, second.port)
    const back = await socketOf(b, again.url)
    await back.join(conversationId, { afterSeq: seqs(right).at(-1) })
    await waitUntil('nothing is missing', () => seqs(right).length + seqs(back).length === 60)
    expect([...seqs(right), ...seqs(back)]).toEqual(upTo(60))
    await Promise.all([first.terminate(), again.terminate()])
  })
})

test('a socket that opens in the middle of a talk is told of each state once, in order', async () => {
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
      await waitUntil('it is told some', () => told(listener).length > 5)
      await waitUntil('there are some more', () => sent > from + 3)
    }
  } finally {
    opening = false
    await talk
  }
  for (const listener of listeners) {
    await waitUntil('it is told the last', () => told(listener).at(-1) === sent)
    expect(told(listener)).toEqual(upTo(sent).slice(told(listener)[0]! - 1))
  }
})

test('CHAT-04 sent again is stored once', async () => {
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

test('CHAT-05 history has what was acknowledged', async () => {
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

test('CHAT-14 markup is text, and nobody opens links', async () => {
  const asked: string[] = []
  const listener = createServer((request, response) => {
    asked.push(request.url!)
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
  await sleep(300)
  expect(asked).toEqual([])
  listener.close()
})

test('CHAT-15 the server decides: nothing of its own is taken from the client', async () => {
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

test('CHAT-09 texts that cannot be: an error with the code of the contract', async () => {
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

test('joining again with afterSeq gives what was missed, joining twice gives nothing twice', async () => {
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
  // A client cannot be ahead of what there is.
  const ahead = await socketOf(b)
  await ahead.join(conversationId, { afterSeq: 5000 })
  await left.sendMessage(conversationId, '122')
  await waitUntil('it comes', () => ahead.messages().length === 1)
})

describe('a token', () => {
  test('in the header, in the subprotocol or in the first frame lets in', async () => {
    const { a, conversationId } = await startConversation()
    const byHeader = new ChatSocket({ headers: { authorization: `bEaReR ${a.accessToken}` } })
    const byProtocol = new ChatSocket({ protocols: ['chat', `bearer.${a.accessToken}`] })
    const alone = new ChatSocket({ protocols: [`bearer.${a.accessToken}`] })
    open.push(byHeader, byProtocol, alone)
    for (const socket of [byHeader, byProtocol, alone]) {
      await socket.opened()
      expect((await socket.join(conversationId)).event).toBe('ack')
    }
    // The token comes back only to who offered nothing else.
    expect(byProtocol.socket.protocol).toBe('chat')
    const silent = new ChatSocket()
    open.push(silent)
    await silent.opened()
    expect(await silent.join(conversationId))
      .toMatchObject({ event: 'error', data: { code: 'token_missing' } })
    const { event, data } = await silent.ask('auth', { accessToken: a.accessToken })
    expect(event).toBe('ack')
    expect(Date.parse(data.expiresAt)).toBeGreaterThan(Date.now())
  })

  test('AUTH-10 is taken nowhere else', async () => {
    const { accessToken } = await signUp()
    for (const name of ['access_token', 'token', 'jwt', 'x', 'apikey', 'Authorization']) {
      const socket = new ChatSocket({ url: `${chatUrl}?${name}=${accessToken}` })
      expect(await socket.waitForClose()).toMatchObject({ code: 4400 })
      expect(socket.frames).toEqual([])
    }
    // Also beside a good one.
    const both = new ChatSocket({
      url: `${chatUrl}?token=${accessToken}`,
      headers: { authorization: `Bearer ${accessToken}` },
    })
    expect((await both.waitForClose()).code).toBe(4400)
    for (const scheme of ['Basic', 'Token', 'JWT', 'Bearer Bearer', '']) {
      const socket = new ChatSocket({
        headers: { authorization: `${scheme} ${accessToken}`.trim() },
      })
      expect((await socket.waitForClose()).code).toBe(4401)
      expect(socket.events('error')).toMatchObject([{ code: 'token_invalid' }])
    }
    for (
      const headers of [{ cookie: `access_token=${accessToken}` }, {
        'x-access-token': accessToken,
      }]
    ) {
      const socket = new ChatSocket({ headers: headers as unknown as Record<string, string> })
      open.push(socket)
      await socket.opened()
      expect(await socket.ask('heartbeat', {}))
        .toMatchObject({ event: 'error', data: { code: 'token_missing' } })
    }
  })

  test('that is no good is told and closed with 4401', async () => {
    const { accessToken } = await signUp()
    for (const token of ['x', 'a.b.c', `${accessToken.slice(0, -4)}AAAA`, 'a'.repeat(9000)]) {
      const socket = new ChatSocket()
      await socket.opened()
      const answer = await socket.ask('auth', { accessToken: token })
      expect(answer.event).toBe('error')
      if (answer.data.code === 'validation_failed') socket.close()
      else expect((await socket.waitForClose()).code).toBe(4401)
    }
  })
})

describe('CHAT-11 upgrades from other sites', () => {
  test('a foreign origin is refused, whatever else is right', async () => {
    const { accessToken } = await signUp()
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1']) {
      const socket = new ChatSocket({
        headers: { origin, authorization: `Bearer ${accessToken}`, cookie: 'a=b' },
      })
      let status = 0
      socket.socket.on(
        'unexpected-response',
        (_request, response) => (status = response.statusCode!),
      )
      await waitUntil('it is refused', () => status !== 0)
      expect(status).toBe(422)
    }
  })

  testLocally('an origin of the list is let in', async () => {
    const app = 'https://app.example'
    const own = await startGateway({ CORS_ORIGINS: `https://other.example,${app}` })
    const { accessToken } = await signUp()
    const socket = new ChatSocket({
      url: own.url,
      headers: { origin: app, authorization: `Bearer ${accessToken}` },
    })
    open.push(socket)
    await socket.opened()
    expect((await socket.ask('heartbeat', {})).event).toBe('ack')
    await own.terminate()
    expect(own.output()).not.toContain(accessToken)
  })
})

test('English texts for who asks for them', async () => {
  const { accessToken } = await signUp()
  const socket = new ChatSocket({
    headers: { authorization: `Bearer ${accessToken}`, 'accept-language': 'en-GB' },
  })
  open.push(socket)
  await socket.opened()
  expect((await socket.join(randomUUID())).data.message)
    .toBe('You are not part of this conversation')
})

testLocally('the edge function speaks the same, on the sockets of the platform', async () => {
  const functions = await startFacade({ GATEWAY_MESSAGES: '0' }, 'chat')
  const url = functions.url.replace('http', 'ws')
  const { a, b, conversationId } = await startConversation()
  const left = new ChatSocket({ url, protocols: [`bearer.${a.accessToken}`] })
  open.push(left)
  await left.opened()
  const right = await socketOf(b, url)
  await right.join(conversationId)
  for (const i of upTo(30)) {
    expect((await left.sendMessage(conversationId, String(i))).event).toBe('ack')
  }
  await waitUntil('all come', () => right.messages().length === 30)
  expect(seqs(right)).toEqual(upTo(30))
  for (
    const [data, code] of [
      [Buffer.from([1, 2]), 1003],
      ['{"event"', 1007],
      [JSON.stringify({ event: 'heartbeat', data: {}, ref: 'ا'.repeat(40_000) }), 1009],
    ] as const
  ) {
    const wrong = await socketOf(a, url)
    wrong.socket.send(data)
    expect((await wrong.waitForClose()).code).toBe(code)
  }
  const guest = new ChatSocket({ url: `${url}?token=${a.accessToken}` })
  expect((await guest.waitForClose()).code).toBe(4400)
  expect((await fetch(functions.url)).status).toBe(426)
  expect(right.closed).toBeUndefined()
  await functions.stop()
  for (const socket of [left, right]) expect((await socket.waitForClose()).code).toBe(1012)
})
