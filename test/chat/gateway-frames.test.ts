import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ChatSocket } from '../support/chat-socket.ts'
import { hasStack } from '../support/facade.ts'
import { type OwnGateway, startGateway } from '../support/own-gateway.ts'
import { frame, RawSocket, upgradeHead } from '../support/raw-socket.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { type Conversation, postMessage, startConversation } from '../support/conversations.ts'

describe.runIf(hasStack)('CHAT-09 bad frames', () => {
  let gateway: OwnGateway
  let people: Conversation
  let good: ChatSocket
  let raw: RawSocket

  const megabytes = () =>
    Number(readFileSync(`/proc/${gateway.pid}/statm`, 'utf8').split(' ')[1]) * 4096 / 1_048_576

  beforeAll(async () => {
    gateway = await startGateway()
    people = await startConversation()
    good = await ChatSocket.connect(people.b, gateway.url)
    await good.join(people.conversationId)
  })

  afterAll(async () => {
    expect(good.closed).toBeUndefined()
    const { event } = await good.sendMessage(people.conversationId, 'ما زلت هنا')
    expect(event).toBe('ack')
    await gateway.terminate()
  })

  beforeEach(async () => {
    raw = await RawSocket.open(gateway.url, { authorization: `Bearer ${people.a.accessToken}` })
    expect(raw.status).toBe(101)
    return () => raw.destroy()
  })

  const text = (value: unknown) => frame(JSON.stringify(value))

  test.each([
    ['a frame of 1 MB', () => frame('a'.repeat(1_000_000)), 1009],
    ['a frame of 16 MB', () => frame('a'.repeat(16_000_000)), 1009],
    ['a frame that says it is as long as can be', () => frame('a', { length: 2 ** 53 }), 1009],
    ['a binary frame', () => frame('{}', { opcode: 2 }), 1003],
    ['bytes that are no UTF-8', () => frame(Buffer.from([0x22, 0xff, 0xfe, 0x22])), 1007],
    ['a surrogate in UTF-8', () => frame(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 1007],
    ['text that is no JSON', () => frame('join_conversation'), 1007],
    ['an empty frame', () => frame(''), 1007],
    ['a frame without a mask', () => frame('{}', { masked: false }), 1008],
    ['a compressed frame', () => frame('abc', { reserved: 4 }), 1008],
    ['an unknown kind of frame', () => frame('{}', { opcode: 5 }), 1008],
    ['a rest without a beginning', () => frame('{}', { opcode: 0 }), 1008],
    ['a long ping', () => frame('a'.repeat(200), { opcode: 9 }), 1008],
    ['a ping in two parts', () => frame('a', { opcode: 9, last: false }), 1008],
  ])('%s closes the socket with a code', async (_what, bytes, code) => {
    raw.write(bytes())
    expect(await raw.closeCode()).toBe(code)
  })

  test('endless fragments are not buffered', async () => {
    const before = megabytes()
    raw.write(frame('a'.repeat(1000), { last: false }))
    for (let i = 0; i < 200 && !raw.ended; i++) {
      raw.write(frame('a'.repeat(100_000), { opcode: 0, last: false }))
      await new Promise(setImmediate)
    }
    expect(await raw.closeCode()).toBe(1009)
    expect(megabytes() - before).toBeLessThan(20)
  })

  test('too many empty fragments are refused', async () => {
    raw.write(frame('{', { last: false }))
    raw.write(
      Buffer.concat(Array.from({ length: 1000 }, () => frame('', { opcode: 0, last: false }))),
    )
    expect(await raw.closeCode()).toBe(1009)
  })

  test('a message in fragments, with a ping between them, is one message', async () => {
    const whole = JSON.stringify({ event: 'heartbeat', data: {}, ref: 'جزء' })
    const bytes = Buffer.from(whole)
    raw.write(frame(bytes.subarray(0, 10), { last: false }))
    raw.write(frame('still there?', { opcode: 9 }))
    raw.write(frame(bytes.subarray(10, bytes.length - 3), { opcode: 0, last: false }))
    raw.write(frame(bytes.subarray(bytes.length - 3), { opcode: 0 }))
    await waitUntil('it is answered', () => raw.texts().length > 0)
    expect(raw.texts()).toEqual([{ event: 'ack', ref: 'جزء', data: {} }])
    const pong = raw.frames().find(({ opcode }) => opcode === 10)
    expect(pong?.payload.toString()).toBe('still there?')
  })

  test.each([
    ['an array', '[]'],
    ['null', 'null'],
    ['a number', '1'],
    ['an unknown event', '{"event":"delete_everything","data":{}}'],
    ['an event of the server', '{"event":"new_message","data":{}}'],
    ['no event', '{"data":{}}'],
    ['missing fields', '{"event":"join_conversation"}'],
    ['an unknown field beside event', '{"event":"heartbeat","data":{},"to":1}'],
    ['an unknown field in data', '{"event":"heartbeat","data":{"a":1}}'],
    ['ids in an array', '{"event":"join_conversation","data":{"conversationId":["a"]}}'],
    ['nesting of 10,000', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['a lone surrogate', '{"event":"heartbeat","data":{},"ref":"\\ud800"}'],
    ['a NUL', '{"event":"heartbeat","data":{},"ref":"\\u0000"}'],
    ['a number without its last digits', '{"event":"heartbeat","data":{},"ref":9007199254740993}'],
    ['__proto__', '{"event":"__proto__","data":{}}'],
  ])('%s is an error and the socket stays', async (_what, sent) => {
    raw.write(frame(sent))
    raw.write(text({ event: 'heartbeat', data: {}, ref: 'after' }))
    await waitUntil('both are answered', () => raw.texts().length === 2)
    const [error, ack] = raw.texts()
    expect(error.event).toBe('error')
    expect(error.data).toMatchObject({
      code: 'validation_failed',
      message: 'يرجى التحقق من البيانات المدخلة',
    })
    expect(ack).toEqual({ event: 'ack', ref: 'after', data: {} })
  })

  test.each([
    '{"event":"heartbeat","ref":8}',
    '{"event":"heartbeat","data":null,"ref":8}',
    '{"event":"heartbeat","data":{"at":null},"ref":8}',
  ])('INP-24 %s is answered', async (sent) => {
    raw.write(frame(sent))
    await waitUntil('it is answered', () => raw.texts().length > 0)
    expect(raw.texts()).toEqual([{ event: 'ack', ref: 8, data: {} }])
  })

  test('INP-25 ids in capitals are taken, and CHAT-24 a place with eight decimals', async () => {
    const { b, conversationId } = people
    const { body: quoted } = await postMessage(b, conversationId)
    const inCapitals = { conversationId: conversationId.toUpperCase() }
    const clientMessageId = randomUUID().toUpperCase()
    const data = {
      ...inCapitals,
      clientMessageId,
      replyToId: quoted.id.toUpperCase(),
      type: 'location',
      body: '29.37591234, 47.97741299',
    }
    raw.write(text({ event: 'join_conversation', data: inCapitals, ref: 1 }))
    raw.write(text({ event: 'send_message', data, ref: 2 }))
    const answers = () => raw.texts().filter(({ ref }) => ref)
    await waitUntil('both are answered', () => answers().length === 2)
    expect(answers()).toMatchObject([
      { event: 'ack', data: { conversationId } },
      {
        event: 'ack',
        data: {
          message: {
            conversationId,
            clientMessageId, // the client's own id, unchanged
            replyToId: quoted.id,
            body: '29.375912,47.977413',
          },
        },
      },
    ])
  })

  test('an error names the frame that it answers and what is wrong with it', async () => {
    raw.write(text({ event: 'join_conversation', data: { conversationId: 'x', more: 1 }, ref: 7 }))
    await waitUntil('it is answered', () => raw.texts().length > 0)
    const [error] = raw.texts()
    expect(error).toMatchObject({ event: 'error', ref: 7, data: { ref: 7 } })
    expect(error.data.fields.map(({ path }: { path: string }) => path).sort())
      .toEqual(['data.conversationId', 'data.more'])
  })

  test('a closing client gets a close frame; a half-closed one is dropped', async () => {
    raw.write(frame(Buffer.from([0x03, 0xe8]), { opcode: 8 }))
    expect(await raw.closeCode()).toBe(1000)
    const half = await RawSocket.open(gateway.url)
    half.socket.end()
    await waitUntil('the other half is closed', () => half.ended)
  })

  test('a flood of pings ends the socket that sends it', async () => {
    raw.write(Buffer.concat(Array.from({ length: 1000 }, () => frame('', { opcode: 9 }))))
    expect(await raw.closeCode()).toBe(1008)
  })

  test('after all of it the memory is released', async () => {
    const large = frame('a'.repeat(4_000_000))
    const storm = async () => {
      const sockets = await Promise.all(
        Array.from({ length: 20 }, () => RawSocket.open(gateway.url)),
      )
      for (const socket of sockets) socket.write(large)
      await Promise.all(sockets.map((socket) => socket.closeCode()))
      sockets.forEach((socket) => socket.destroy())
    }
    await storm()
    const before = megabytes()
    for (let i = 0; i < 5; i++) await storm()
    // After 60 storms Node retains about 15 MB; further storms add nothing.
    await waitUntil('of 400 MB received less than 60 stay', () => megabytes() < before + 60)
  })
})

describe.runIf(hasStack)('upgrades that are none', () => {
  let gateway: OwnGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.terminate())

  const http = (path = '', init: RequestInit = {}) =>
    fetch(gateway.url.replace('ws:', 'http:') + path, init)

  test('a plain request is 426, another path is 404', async () => {
    const plain = await http()
    expect(plain.status).toBe(426)
    expect(plain.headers.get('upgrade')).toBe('websocket')
    expect(await plain.json()).toMatchObject({ error: { code: 'validation_failed' } })
    expect((await http('/other')).status).toBe(404)
  })

  test.each([
    ['another version', (head: string) => head.replace('Version: 13', 'Version: 8'), 426],
    ['a short key', (head: string) => head.replace(/Key: .*/, 'Key: abc='), 426],
    ['no key', (head: string) => head.replace(/Sec-WebSocket-Key: .*\r\n/, ''), 426],
    ['POST', (head: string) => head.replace('GET', 'POST'), 426],
    ['HTTP/1.0', (head: string) => head.replace('HTTP/1.1', 'HTTP/1.0'), 422],
    ['a header without a name', (head: string) => head.replace('Host: chat', ': chat'), 422],
    ['rubbish', () => '\0\0\0\0\r\n\r\n', 422],
  ])('%s is refused', async (_what, change, status) => {
    const raw = new RawSocket(gateway.url)
    let read = ''
    raw.socket.on('data', (part) => (read += part))
    raw.socket.write(change(upgradeHead('/chat')))
    await waitUntil('it is answered and ended', () => raw.ended)
    expect(Number(read.slice(9, 12))).toBe(status)
  })

  test('CHAT-10 an endless request head is not waited for', async () => {
    const hasty = await startGateway({}, { times: { headTime: 1000 } })
    const slow = new RawSocket(hasty.url)
    // Sending the whole head takes ten times as long as allowed.
    const head = upgradeHead('/chat')
    for (let sent = 0; !slow.ended; sent++) {
      slow.write(Buffer.from(head.slice(sent, sent + 1)))
      await pause(10 * 1000 / head.length, 'time is the subject')
    }
    await hasty.kill()
    // A head that is too long gets a response; one that takes too long does not.
    const long = new RawSocket(gateway.url)
    let read = ''
    long.socket.on('data', (part) => (read += part))
    long.socket.write(`GET /chat HTTP/1.1\r\nX-Long: ${'a'.repeat(70_000)}`)
    await waitUntil('a long one is cut off', () => long.ended)
    expect(read).toMatch(/^HTTP\/1\.1 422 /)
  })
})
