/**
 * Compares chat with a minimal server in the same run: latency from sending to receiving, messages per second
 * between 100 pairs of people, and the time until 1,000 sockets have received a message. Also measures the
 * memory of a gateway process with 1,000 idle sockets, and the number of broadcasts per action.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Stack, startStack } from '../test/support/stack.ts'
import {
  bareTransport,
  chatGatewayTransport,
  type Conversation,
  idleSockets,
  type Person,
  realtimeTransport,
  type Receiver,
  type Transport,
} from './chat-transports.ts'
import { type Broadcasts, broadcasts } from './broadcast-counts.ts'
import { startFunctions } from './start-functions.ts'
import { percentile } from './http-load.ts'
import { post, signUp } from './client.ts'
import { processOf } from './processes.ts'

type ChatSizes = { pairs: number; sockets: number; messages: number; seconds: number }

type ChatRow = {
  transport: string
  /** Latency between two people who send at a fixed rate, the same for every transport. */
  paced: Latency
  /** Latency between two people who send each message once the previous one is received and stored. */
  backToBack: Latency
  /** Many pairs at once, all sending back to back. */
  pairs: { perSecond: number; p50: number; p99: number }
  fanOut?: { p50: number; p99: number; last: number }
}

/** `ofBare` is the p99 divided by the p99 of the minimal server. */
type Latency = { p50: number; p99: number; ofBare: number }

type ChatResult = {
  transports: ChatRow[]
  idle: { sockets: number; megabytes: number }
  broadcasts: Broadcasts
}

async function person(stack: Stack): Promise<Person> {
  const { accessToken: token, activeIdentity, realtimeTopic: topic } = await signUp(stack)
  return { token, identityId: activeIdentity.id, topic }
}

async function createConversations(stack: Stack, pairs: number): Promise<Conversation[]> {
  const conversations: Conversation[] = []
  const worker = async () => {
    while (conversations.length < pairs) {
      const [from, to] = [await person(stack), await person(stack)]
      const { identityId } = to
      const made = await post(stack, '/conversations', { identityId }, from.token)
      if (conversations.length < pairs) conversations.push({ id: made.id, from, to })
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  return conversations
}

const sorted = (times: number[]) => times.toSorted((left, right) => left - right)

/** Sends a message once the previous one is received and stored, but not earlier than `pause` ms after it. */
async function exchange(
  transport: Transport,
  conversation: Conversation,
  go: (received: number) => boolean,
  pause = 0,
) {
  const [receiver, { send, close }] = await Promise.all([
    transport.openReceiver(conversation),
    transport.openSender(conversation),
  ])
  return {
    run: async () => {
      const times: number[] = []
      while (go(times.length)) {
        const body = `${randomUUID()} السلام عليكم`
        const began = performance.now()
        const received = new Promise<void>((resolve, reject) => {
          const late = setTimeout(
            () => reject(new Error(`${transport.name}: not received in 10 s`)),
            10_000,
          )
          receiver.onBody = (came) => {
            if (came !== body) return
            clearTimeout(late)
            resolve()
          }
        })
        const stored = send(body)
        await received
        times.push(performance.now() - began)
        await stored
        if (pause) await sleep(Math.max(0, began + pause - performance.now()))
      }
      return times
    },
    close: () => {
      receiver.close()
      close()
    },
  }
}

// Rounds are short, so that a temporary slowdown of the machine affects all transports equally.
const rounds = 12
const warmUp = 100
/** Milliseconds between paced messages. Percentiles are comparable only at the same rate. */
const pace = 5

async function onePair(
  transport: Transport,
  conversation: Conversation,
  messages: number,
  pause = 0,
) {
  const pair = await exchange(
    transport,
    conversation,
    (received) => received < messages + warmUp,
    pause,
  )
  const times = (await pair.run()).slice(warmUp)
  pair.close()
  return times
}

/** Returns the figures of one transport. Transport 0 is the minimal server. */
function summary(times: number[][], transport: number): Latency {
  const [bare, own] = [sorted(times[0]!), sorted(times[transport]!)]
  const p99 = percentile(own, 0.99)
  return { p50: percentile(own, 0.5), p99, ofBare: p99 / percentile(bare, 0.99) }
}

async function manyPairs(transport: Transport, conversations: Conversation[], seconds: number) {
  let end = Infinity
  const pairs = await Promise.all(
    conversations.map((conversation) =>
      exchange(transport, conversation, () => performance.now() < end)
    ),
  )
  end = performance.now() + seconds * 1000
  const times = sorted((await Promise.all(pairs.map(({ run }) => run()))).flat())
  for (const { close } of pairs) close()
  return {
    perSecond: Math.round(times.length / seconds),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  }
}

const fanOutMessages = 10

async function fanOut(transport: Transport, conversation: Conversation, sockets: number) {
  const receivers: Receiver[] = []
  while (receivers.length < sockets) {
    const some = Math.min(20, sockets - receivers.length)
    receivers.push(
      ...await Promise.all(
        Array.from({ length: some }, () => transport.openReceiver(conversation)),
      ),
    )
  }
  const { send, close } = await transport.openSender(conversation)
  const times: number[] = []
  const lasts: number[] = []
  for (let n = 0; n <= fanOutMessages; n++) {
    const body = randomUUID()
    const began = performance.now()
    const all = Promise.all(receivers.map((receiver) =>
      new Promise<number>((resolve) => {
        receiver.onBody = (came) => came === body && resolve(performance.now() - began)
      })
    ))
    const stored = send(body)
    const late = sleep(20_000, undefined, { ref: false }).then(() => {
      throw new Error(`${transport.name}: some of ${sockets} sockets received nothing in 20 s`)
    })
    const received = await Promise.race([all, late])
    await stored
    // The first message is the warm-up.
    if (n === 0) continue
    times.push(...received)
    lasts.push(Math.max(...received))
  }
  for (const receiver of receivers) receiver.close()
  close()
  const all = sorted(times)
  return { p50: percentile(all, 0.5), p99: percentile(all, 0.99), last: Math.max(...lasts) }
}

export async function benchChat(
  say: (line: string) => void,
  sizes: ChatSizes,
): Promise<ChatResult> {
  const { pairs, sockets, messages, seconds } = sizes
  say('starting a stack of its own')
  const stack = await startStack({
    RATES: 'off',
    WORKER_LIFE: '0',
    GATEWAYS: '1',
    GATEWAY_JOINS: '1000',
  })
  const bare = await bareTransport(stack)
  const functions = await startFunctions(stack)
  try {
    say(`introducing ${pairs} pairs`)
    const conversations = await createConversations(stack, pairs)
    const people = conversations.flatMap(({ from, to }) => [from, to])
    const both = [false, true]
    const transports = [
      bare,
      realtimeTransport(stack, `${functions.url}/api`),
      realtimeTransport(stack),
      ...both.map((viaGateway) => chatGatewayTransport(stack, viaGateway)),
    ]

    // An account may open at most ten sockets. Memory is measured first, because a process does not release
    // memory that it needed under load.
    const silent = Math.min(sockets, people.length * 10)
    say(`${silent} silent sockets at the gateway`)
    const close = await idleSockets(stack.url, people, silent)
    await sleep(10_000)
    const megabytes = processOf(stack, `chat.ts ${new URL(stack.chatUrls[0]!).port}`).megabytes
    close()
    await sleep(5000)

    say('one pair: until compilers and heaps have settled')
    for (const transport of transports) await onePair(transport, conversations[0]!, 2000)
    say(`one pair, every way in turns: a message every ${pace} ms, and back to back`)
    const paced = transports.map((): number[] => [])
    const backToBack = transports.map((): number[] => [])
    for (let round = 0; round < rounds; round++) {
      say(`round ${round + 1} of ${rounds}`)
      for (const [each, transport] of transports.entries()) {
        paced[each]!.push(
          ...await onePair(transport, conversations[round]!, messages / rounds, pace),
        )
        backToBack[each]!.push(
          ...await onePair(transport, conversations[round]!, messages / rounds),
        )
      }
    }
    const rows: ChatRow[] = []
    for (const [each, transport] of transports.entries()) {
      say(`${transport.name}: ${pairs} pairs${transport.toMany ? `, ${sockets} sockets` : ''}`)
      rows.push({
        transport: transport.name,
        paced: summary(paced, each),
        backToBack: summary(backToBack, each),
        pairs: await manyPairs(transport, conversations, seconds),
        ...(transport.toMany && { fanOut: await fanOut(transport, conversations[0]!, sockets) }),
      })
    }

    say('broadcasts')
    const counted = await broadcasts(stack, people)
    return { transports: rows, idle: { sockets: silent, megabytes }, broadcasts: counted }
  } finally {
    bare.stop()
    await functions.stop()
    await stack.stop()
  }
}

export function chatTable({ transports, broadcasts }: ChatResult): string[][] {
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const onePair = ({ p50, p99, ofBare }: Latency) => [ms(p50), ms(p99), `${ofBare.toFixed(1)} ×`]
  return [
    ['', `every ${pace} ms: p50`, 'p99', 'of bare', 'back to back: p50', 'p99', 'of bare'],
    ...transports.map((
      { transport, paced, backToBack },
    ) => [transport, ...onePair(paced), ...onePair(backToBack)]),
    ['', 'pairs/s', 'p50', 'p99', 'to all: p50', 'p99', 'last'],
    ...transports.map(({ transport, pairs, fanOut }) => [
      transport,
      String(pairs.perSecond),
      ms(pairs.p50),
      ms(pairs.p99),
      ...(fanOut ? [ms(fanOut.p50), ms(fanOut.p99), ms(fanOut.last)] : ['', '', '']),
    ]),
    ['broadcasts', ...Object.keys(broadcasts)],
    ['', ...Object.values(broadcasts).map(String)],
  ]
}
