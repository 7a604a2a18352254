/**
 * Chat against the limit of the same run: how long from sending to hearing, how many messages a
 * second 100 pairs exchange, how long until 1,000 sockets have heard one, how much memory a process
 * of the gateway takes for 1,000 sockets that are silent, and how many broadcasts an act costs.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Stack, startStack } from '../test/support/stack.ts'
import {
  bareWay,
  type Ear,
  gatewayWay,
  idleSockets,
  type Person,
  realtimeWay,
  type Talk,
  type Way,
} from './chat-transports.ts'
import { type Broadcasts, broadcasts } from './broadcast-counts.ts'
import { startFunctions } from './start-functions.ts'
import { percentile } from './load.ts'

export type ChatSizes = { pairs: number; sockets: number; messages: number; seconds: number }

export type ChatRow = {
  way: string
  /** One message after another between two people, as many a second by every way. */
  paced: Alone
  /** The same, each as soon as the last was heard and is known to be stored. */
  backToBack: Alone
  /** Many pairs at once, each back to back. */
  pairs: { perSecond: number; p50: number; p99: number }
  /** One message to many sockets. */
  fanOut?: { p50: number; p99: number; last: number }
}

/** `ofBare`: the p99, in p99s of the bare server. */
type Alone = { p50: number; p99: number; ofBare: number }

export type ChatResult = {
  ways: ChatRow[]
  idle: { sockets: number; megabytes: number }
  broadcasts: Broadcasts
}

async function post(stack: Stack, path: string, body: unknown, token?: string) {
  const response = await fetch(stack.baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return await response.json()
}

async function person(stack: Stack): Promise<Person> {
  const identifier = `${randomUUID()}@example.com`
  const password = randomUUID()
  await post(stack, '/auth/register', { identifier, password })
  const session = await post(stack, '/auth/login', { identifier, password })
  const { accessToken: token, activeIdentity, realtimeTopic: topic } = session
  return { token, identityId: activeIdentity.id, topic }
}

/** Pairs who have a conversation. */
async function introduce(stack: Stack, pairs: number): Promise<Talk[]> {
  const talks: Talk[] = []
  const worker = async () => {
    while (talks.length < pairs) {
      const [from, to] = [await person(stack), await person(stack)]
      const { identityId } = to
      const made = await post(stack, '/conversations', { identityId }, from.token)
      if (talks.length < pairs) talks.push({ id: made.id, from, to })
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  return talks
}

const sorted = (times: number[]) => times.toSorted((left, right) => left - right)

/**
 * Sends one after another until `go` says no, each when the last was heard and its sender knows that
 * it is stored, as an app does, and no sooner than `pause` milliseconds after the last. The time is
 * that from sending to hearing.
 */
async function exchange(way: Way, talk: Talk, go: (heard: number) => boolean, pause = 0) {
  const [ear, { say, close }] = await Promise.all([way.hear(talk), way.mouth(talk)])
  return {
    run: async () => {
      const times: number[] = []
      while (go(times.length)) {
        const body = `${randomUUID()} السلام عليكم`
        const began = performance.now()
        const heard = new Promise<void>((resolve, reject) => {
          const late = setTimeout(() => reject(new Error(`${way.name}: not heard in 10 s`)), 10_000)
          ear.onBody = (came) => {
            if (came !== body) return
            clearTimeout(late)
            resolve()
          }
        })
        const stored = say(body)
        await heard
        times.push(performance.now() - began)
        await stored
        if (pause) await sleep(Math.max(0, began + pause - performance.now()))
      }
      return times
    },
    close: () => {
      ear.close()
      close()
    },
  }
}

// Short ones: a moment at which the machine is slow falls on every way.
const rounds = 12
const warmUp = 100
/**
 * Milliseconds from one message of a pair to the next, where all ways send as many a second. Back to
 * back the faster one sends more, and what stops the machine now and then hits fewer of them: two
 * percentiles are of one measure only at one rate.
 */
const pace = 5

async function alone(way: Way, talk: Talk, messages: number, pause = 0) {
  const pair = await exchange(way, talk, (heard) => heard < messages + warmUp, pause)
  const times = (await pair.run()).slice(warmUp)
  pair.close()
  return times
}

/** Of one way; the first is the bare server. */
function summary(times: number[][], way: number): Alone {
  const [bare, own] = [sorted(times[0]!), sorted(times[way]!)]
  const p99 = percentile(own, 0.99)
  return { p50: percentile(own, 0.5), p99, ofBare: p99 / percentile(bare, 0.99) }
}

async function together(way: Way, talks: Talk[], seconds: number) {
  let end = Infinity
  const pairs = await Promise.all(
    talks.map((talk) => exchange(way, talk, () => performance.now() < end)),
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

/** When each of many sockets of one conversation has heard a message. */
async function fanOut(way: Way, talk: Talk, sockets: number) {
  const ears: Ear[] = []
  while (ears.length < sockets) {
    const some = Math.min(20, sockets - ears.length)
    ears.push(...await Promise.all(Array.from({ length: some }, () => way.hear(talk))))
  }
  const { say, close } = await way.mouth(talk)
  const times: number[] = []
  const lasts: number[] = []
  for (let n = 0; n <= fanOutMessages; n++) {
    const body = randomUUID()
    const began = performance.now()
    const all = Promise.all(ears.map((ear) =>
      new Promise<number>((resolve) => {
        ear.onBody = (came) => came === body && resolve(performance.now() - began)
      })
    ))
    const stored = say(body)
    const late = sleep(20_000, undefined, { ref: false }).then(() => {
      throw new Error(`${way.name}: some of ${sockets} sockets heard nothing in 20 s`)
    })
    const heard = await Promise.race([all, late])
    await stored
    // The first one is the warm-up.
    if (n === 0) continue
    times.push(...heard)
    lasts.push(Math.max(...heard))
  }
  for (const ear of ears) ear.close()
  close()
  const all = sorted(times)
  return { p50: percentile(all, 0.5), p99: percentile(all, 0.99), last: Math.max(...lasts) }
}

/** What the process that serves this port takes, in megabytes. */
function memoryOf(port: string): number {
  const lines = execFileSync('ps', ['-eo', 'rss=,args=']).toString().split('\n')
  const line = lines.find((each) => each.includes(`chat.ts ${port}`))
  if (!line) throw new Error(`no process of the gateway on port ${port}`)
  return Number(line.trim().split(/\s+/)[0]) / 1024
}

/** Measures everything on a stack of its own. */
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
  const bare = await bareWay(stack)
  const functions = await startFunctions(stack)
  try {
    say(`introducing ${pairs} pairs`)
    const talks = await introduce(stack, pairs)
    const people = talks.flatMap(({ from, to }) => [from, to])
    const both = [false, true]
    const ways = [
      bare,
      realtimeWay(stack, `${functions.url}/api`),
      realtimeWay(stack),
      ...both.map((byDoor) => gatewayWay(stack, byDoor)),
    ]

    // At most ten of an account. Before all else: what a process grew to under load it keeps.
    const silent = Math.min(sockets, people.length * 10)
    say(`${silent} silent sockets at the gateway`)
    const close = await idleSockets(stack.url, people, silent)
    await sleep(10_000)
    const megabytes = Math.round(memoryOf(new URL(stack.chatUrls[0]!).port))
    close()
    // What is left of them is gone by then.
    await sleep(5000)

    say('one pair: until compilers and heaps have settled')
    for (const way of ways) await alone(way, talks[0]!, 2000)
    say(`one pair, every way in turns: a message every ${pace} ms, and back to back`)
    const paced = ways.map((): number[] => [])
    const backToBack = ways.map((): number[] => [])
    for (let round = 0; round < rounds; round++) {
      say(`round ${round + 1} of ${rounds}`)
      for (const [each, way] of ways.entries()) {
        paced[each]!.push(...await alone(way, talks[round]!, messages / rounds, pace))
        backToBack[each]!.push(...await alone(way, talks[round]!, messages / rounds))
      }
    }
    const rows: ChatRow[] = []
    for (const [each, way] of ways.entries()) {
      say(`${way.name}: ${pairs} pairs${way.toMany ? `, ${sockets} sockets` : ''}`)
      rows.push({
        way: way.name,
        paced: summary(paced, each),
        backToBack: summary(backToBack, each),
        pairs: await together(way, talks, seconds),
        ...(way.toMany && { fanOut: await fanOut(way, talks[0]!, sockets) }),
      })
    }

    say('broadcasts')
    const counted = await broadcasts(stack, people)
    return { ways: rows, idle: { sockets: silent, megabytes }, broadcasts: counted }
  } finally {
    bare.stop()
    await functions.stop()
    await stack.stop()
  }
}

/** For printing. */
export function chatTable({ ways, broadcasts }: ChatResult): string[][] {
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const alone = ({ p50, p99, ofBare }: Alone) => [ms(p50), ms(p99), `${ofBare.toFixed(1)} ×`]
  return [
    ['', `every ${pace} ms: p50`, 'p99', 'of bare', 'back to back: p50', 'p99', 'of bare'],
    ...ways.map(({ way, paced, backToBack }) => [way, ...alone(paced), ...alone(backToBack)]),
    ['', 'pairs/s', 'p50', 'p99', 'to all: p50', 'p99', 'last'],
    ...ways.map(({ way, pairs, fanOut }) => [
      way,
      String(pairs.perSecond),
      ms(pairs.p50),
      ms(pairs.p99),
      ...(fanOut ? [ms(fanOut.p50), ms(fanOut.p99), ms(fanOut.last)] : ['', '', '']),
    ]),
    ['broadcasts', ...Object.keys(broadcasts)],
    ['', ...Object.values(broadcasts).map(String)],
  ]
}
