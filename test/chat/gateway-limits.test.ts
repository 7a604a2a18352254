// Clients that send too fast, connect too often or do not read harm only themselves.
import { afterEach, describe, expect, test } from 'vitest'
import { fillGateway } from './crowd.ts'
import { ChatSocket, upTo } from '../support/chat-socket.ts'
import { signUp } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { type OwnGateway, startGateway } from '../support/own-gateway.ts'
import { frame, RawSocket } from '../support/raw-socket.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { startConversation, wholeHistory } from '../support/conversations.ts'

const started: OwnGateway[] = []
const open: ChatSocket[] = []
afterEach(async () => {
  open.splice(0).forEach((socket) => socket.close())
  await Promise.all(started.splice(0).map((gateway) => gateway.terminate()))
})

async function gatewayWith(...given: Parameters<typeof startGateway>) {
  const gateway = await startGateway(...given)
  started.push(gateway)
  return gateway
}

const text = (event: string, data: unknown, ref?: unknown) => JSON.stringify({ event, data, ref })

describe.runIf(hasStack)('limits of the gateway', () => {
  test('CHAT-08 a flood is rate limited and then closed; what was acknowledged is stored', async () => {
    const { a, b, conversationId } = await startConversation()
    const gateway = await gatewayWith({ GATEWAY_MESSAGES: '5' }, { times: { offence: 100 } })
    const began = performance.now()
    const flood = await ChatSocket.connect(a, gateway.url)
    const other = await ChatSocket.connect(b, gateway.url)
    open.push(flood, other)
    await other.join(conversationId)
    const send = (i: number) =>
      flood.socket.send(text('send_message', {
        conversationId,
        clientMessageId: `flood-${i}`,
        type: 'text',
        body: String(i),
      }, i))
    for (const i of upTo(1000)) send(i)
    await waitUntil('it is rate limited', () => flood.events('error').length > 0)
    expect(flood.events('error')[0]).toMatchObject({ code: 'rate_limited', retryAfter: 1 })
    for (let i = 1001; !flood.closed; i++) {
      send(i)
      await pause(5, 'any moment is right')
    }
    expect(flood.closed).toMatchObject({ code: 1008 })
    const seconds = (performance.now() - began) / 1000
    const acknowledged = flood.frames.filter(({ event }) => event === 'ack').length - 1
    expect(acknowledged).toBeGreaterThanOrEqual(20)
    expect(acknowledged).toBeLessThanOrEqual(20 + 5 * seconds)
    expect((await wholeHistory(a, conversationId)).length).toBe(acknowledged)
    await waitUntil('the other has them all', () => other.messages().length === acknowledged)
    expect((await other.sendMessage(conversationId, 'هادئ')).event).toBe('ack')
  })

  test('five messages a second are never rate limited', async () => {
    const { a, conversationId } = await startConversation()
    const gateway = await gatewayWith({ GATEWAY_MESSAGES: '5' })
    const socket = await ChatSocket.connect(a, gateway.url)
    open.push(socket)
    for (const i of upTo(20)) {
      expect((await socket.sendMessage(conversationId, String(i))).event).toBe('ack')
    }
    for (const i of upTo(10)) {
      await pause(210, 'time is the subject')
      expect((await socket.sendMessage(conversationId, `ثم${i}`)).event).toBe('ack')
    }
  })

  test('a flood of frames of any kind is closed too', async () => {
    const { accessToken } = await signUp()
    const gateway = await gatewayWith({ GATEWAY_MESSAGES: '5' })
    const raw = await RawSocket.open(gateway.url, { authorization: `Bearer ${accessToken}` })
    raw.write(Buffer.concat(upTo(5000).map(() => frame(text('heartbeat', {})))))
    expect(await raw.closeCode()).toBe(1008)
    raw.destroy()
  })

  test('CHAT-10 many sockets: the newest ten of an account stay, idle ones live', async () => {
    const gateway = await gatewayWith({ GATEWAY_JOINS: '1000' })
    const { idle, same, silent, slow, close } = await fillGateway(gateway.url)
    const good = await ChatSocket.connect(await signUp(), gateway.url)
    open.push(good)
    expect((await good.ask('heartbeat', {})).event).toBe('ack')

    const older = same.length - 10
    await waitUntil(
      'the others are closed',
      () => same.filter(({ closed }) => closed).length === older,
    )
    expect(new Set(same.map(({ closed }) => closed?.code))).toEqual(new Set([4429, undefined]))
    expect(same.slice(older).every(({ closed }) => !closed)).toBe(true)
    const codes = await Promise.all(silent.map((socket) => socket.closeCode()))
    expect(new Set(codes)).toEqual(new Set([4401]))
    await waitUntil('heads without an end are cut off', () => slow.every(({ ended }) => ended))

    expect(idle.filter(({ closed }) => closed)).toEqual([])
    expect((await idle.at(-1)!.ask('heartbeat', {})).event).toBe('ack')
    expect((await good.ask('heartbeat', {})).event).toBe('ack')
    close()
  })

  test('PR-22 a client that does not read is closed, one that reads gets everything', async () => {
    const { a, b, conversationId } = await startConversation()
    const gateway = await gatewayWith()
    const reader = await ChatSocket.connect(b, gateway.url)
    const writer = await ChatSocket.connect(a, gateway.url)
    open.push(reader, writer)
    await reader.join(conversationId)
    const deaf = await RawSocket.open(gateway.url, { authorization: `Bearer ${b.accessToken}` })
    deaf.write(frame(text('join_conversation', { conversationId }, 'join')))
    await waitUntil('it has joined', () => deaf.texts().some(({ ref }) => ref === 'join'))
    deaf.socket.pause()
    const body = 'ا'.repeat(4000)
    let count = 0
    // Sends messages until the network's buffers, and then the gateway's own buffer, are full. On a slow
    // machine the gateway closes the socket earlier, because the client does not answer pings.
    const isClosed = () =>
      gateway.output().split('\n')
        .some((line) => line.includes('"closed"') && line.includes(`"${b.id}"`))
    for (; !isClosed(); count += 10) {
      const answers = await Promise.all(
        upTo(10).map(() => writer.sendMessage(conversationId, body)),
      )
      expect(new Set(answers.map(({ event }) => event))).toEqual(new Set(['ack']))
    }
    await waitUntil('who reads has all', () => reader.messages().length === count)
    deaf.destroy()
  })

  test('GATEWAY_MAX_AGE closes with 1012, and the next socket continues from there', async () => {
    const { a, b, conversationId } = await startConversation()
    const gateway = await gatewayWith({ GATEWAY_MAX_AGE: '2' })
    const old = new ChatSocket({ url: gateway.url })
    await old.opened()
    // The gateway may close the socket before or after it has accepted the token.
    void old.ask('auth', { accessToken: b.accessToken }).then(() => old.join(conversationId))
    expect((await old.waitForClose()).code).toBe(1012)
    const [writer, next] = [await ChatSocket.connect(a), await ChatSocket.connect(b)]
    await writer.sendMessage(conversationId, 'في الأثناء')
    open.push(writer, next)
    await next.join(conversationId, { afterSeq: 0 })
    await waitUntil('it is there', () => next.messages().length === 1)
  })

  test('no log of the gateway has a token or message text', async () => {
    const { a, conversationId } = await startConversation()
    const gateway = await gatewayWith()
    const socket = await ChatSocket.connect(a, gateway.url)
    await socket.join(conversationId)
    await socket.sendMessage(conversationId, 'كلام بيننا')
    socket.close()
    const queried = new ChatSocket({ url: `${gateway.url}?token=${a.accessToken}` })
    expect((await queried.waitForClose()).code).toBe(4400)
    await waitUntil('it is in the log', () => gateway.output().includes('"closed"'))
    expect(gateway.output()).not.toContain(a.accessToken)
    expect(gateway.output()).not.toContain('كلام')
  })
})
