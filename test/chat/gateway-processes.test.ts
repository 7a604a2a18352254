import { describe, expect, test } from 'vitest'
import { ChatSocket, upTo } from '../support/chat-socket.ts'
import { hasStack, startFacade, testLocally } from '../support/facade.ts'
import { bulk } from '../support/nightly.ts'
import { type OwnGateway, startGateway } from '../support/own-gateway.ts'
import { expectWithin } from '../support/promised-times.ts'
import { waitUntil } from '../support/wait.ts'
import { startConversation, wholeHistory } from '../support/conversations.ts'
import { closeAfterTest, socketOf } from './sockets.ts'

const bodies = (socket: ChatSocket) => socket.messages().map(({ body }) => body)
const seqs = (socket: ChatSocket) => socket.messages().map(({ seq }) => seq)

describe.runIf(hasStack)('two gateways', () => {
  test('CHAT-03 everybody gets the same order', async () => {
    const { a, b, conversationId } = await startConversation()
    const gateways: OwnGateway[] = await Promise.all([startGateway(), startGateway()])
    const [left, right] = [await socketOf(a, gateways[0]!.url), await socketOf(b, gateways[1]!.url)]
    await Promise.all([left.join(conversationId), right.join(conversationId)])
    const each = bulk(500, 80)
    const say = async (socket: ChatSocket, who: string) => {
      for (const i of upTo(each)) {
        expect((await socket.sendMessage(conversationId, who + i)).event).toBe('ack')
      }
    }
    await Promise.all([say(left, 'أ'), say(right, 'ب')])
    for (const socket of [left, right]) {
      await waitUntil('all came', () => socket.messages().length >= 2 * each)
      expect(seqs(socket)).toEqual(upTo(2 * each))
    }
    expect(right.messages()).toEqual(left.messages())
    expect(await wholeHistory(a, conversationId)).toEqual(left.messages())
    for (const who of ['أ', 'ب']) {
      expect(bodies(left).filter((body) => body.startsWith(who)))
        .toEqual(upTo(each).map((i) => who + i))
    }
    await Promise.all(gateways.map((one) => one.terminate()))
  })

  test('CHAT-16 one of two gateways can be restarted', async () => {
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
    expectWithin('a message is with the other side', times.toSorted((x, y) => x - y)[37]!)

    const stopped = second.terminate()
    for (const i of upTo(20)) await left.sendMessage(conversationId, `في الأثناء${i}`)
    expect((await right.waitForClose()).code).toBe(1001)
    await stopped
    const again = await startGateway({}, { port: second.port })
    const back = await socketOf(b, again.url)
    await back.join(conversationId, { afterSeq: seqs(right).at(-1) })
    await waitUntil('nothing is missing', () => seqs(right).length + seqs(back).length === 60)
    expect([...seqs(right), ...seqs(back)]).toEqual(upTo(60))
    await Promise.all([first.terminate(), again.terminate()])
  })
})

testLocally("the edge function speaks the same protocol on the platform's sockets", async () => {
  const functions = await startFacade({ GATEWAY_MESSAGES: '0' }, 'chat')
  const url = functions.url.replace('http', 'ws')
  const { a, b, conversationId } = await startConversation()
  const left = new ChatSocket({ url, protocols: [`bearer.${a.accessToken}`] })
  closeAfterTest(left)
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
