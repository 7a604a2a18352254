import { expect, test } from 'vitest'
import { fillGateway, type SignedIn, signedInPeople } from './crowd.ts'
import { ChatSocket, upTo } from '../support/chat-socket.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { startGateway } from '../support/own-gateway.ts'
import { expectWithin, within } from '../support/promised-times.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import {
  type Conversation,
  conversationBetween,
  startConversation,
} from '../support/conversations.ts'

const subject = 'time is the subject'

type Talk = { left: ChatSocket; right: ChatSocket; id: string }

async function talk(url: string, a: SignedIn, b: SignedIn): Promise<Talk> {
  const id = await conversationBetween(a, b)
  const [left, right] = await Promise.all([ChatSocket.connect(a, url), ChatSocket.connect(b, url)])
  await right.join(id)
  return { left, right, id }
}

/** Sends a message and returns the milliseconds until the other side has received it. */
async function heard({ left, right, id }: Talk, body: string): Promise<number> {
  const began = performance.now()
  const came = new Promise<void>((resolve) => {
    const listen = (data: unknown) => {
      if (!String(data).includes(body)) return
      right.socket.off('message', listen)
      resolve()
    }
    right.socket.on('message', listen)
  })
  left.socket.send(JSON.stringify({
    event: 'send_message',
    data: { conversationId: id, clientMessageId: body, type: 'text', body },
  }))
  await came
  return performance.now() - began
}

/**
 * Sends one message per second in each conversation, and returns the 95th percentile of the delivery times.
 */
async function p95(talks: Talk[], seconds: number, what: string): Promise<number> {
  const times = await Promise.all(talks.map(async (one, who) => {
    await pause(1000 * who / talks.length, subject)
    const own: number[] = []
    for (const second of upTo(seconds)) {
      const [time] = await Promise.all([
        heard(one, `${what}-${who}-${second}.`),
        pause(1000, subject),
      ])
      own.push(time)
    }
    return own
  }))
  const sorted = times.flat().sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.95)]!
}

/**
 * Sends a thousand messages at once and then twenty a second. Opens a new socket
 * whenever the last one was closed.
 */
async function flood(url: string, person: SignedIn, id: string, seconds: number) {
  const sockets: ChatSocket[] = []
  let sent = 0
  const current = async () => {
    const last = sockets.at(-1)
    if (last && !last.closed) return last
    const next = await ChatSocket.connect(person, url).catch(() => undefined)
    if (next) sockets.push(next)
    return next
  }
  const send = (socket: ChatSocket | undefined) =>
    socket?.socket.send(JSON.stringify({
      event: 'send_message',
      data: { conversationId: id, clientMessageId: `flood-${++sent}`, type: 'text', body: 'فيض' },
      ref: sent,
    }))
  const first = await current()
  for (let i = 0; i < 1000; i++) send(first)
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    send(await current())
    await pause(50, subject)
  }
  await pause(1000, subject)
  const acknowledged = sockets.flatMap(({ frames }) => frames)
    .filter(({ event, data }) => event === 'ack' && data.message).length
  const closed = sockets.filter((one) => one.closed?.code === 1008).length
  sockets.forEach((socket) => socket.close())
  return { acknowledged, closed }
}

test('CHAT-08 fifty conversations go on beside a flood of messages', async () => {
  const gateway = await startGateway({ GATEWAY_MESSAGES: '5', GATEWAY_JOINS: '1000' })
  const all = await signedInPeople(102)
  const talks = await Promise.all(
    upTo(50).map((i) => talk(gateway.url, all[2 * i]!, all[2 * i + 1]!)),
  )
  const id = await conversationBetween(all[0]!, all[1]!)
  await p95(talks, 5, 'warm')
  const before = await p95(talks, 30, 'before')
  const [during, { acknowledged, closed }] = await Promise.all([
    p95(talks, 60, 'during'),
    flood(gateway.url, all[0]!, id, 60),
  ])
  const { rows } = await database().query(
    'select count(*)::integer as stored from public.messages where conversation_id = $1',
    [id],
  )
  console.log(
    `p95 ${before.toFixed(1)} ms before, ${during.toFixed(1)} ms beside the flood; ` +
      `${acknowledged} acknowledged, ${closed} sockets closed`,
  )
  expect(rows[0].stored).toBe(acknowledged)
  expect(closed).toBeGreaterThan(0)
  expect(during).toBeLessThan(2 * before)
  talks.forEach(({ left, right }) => [left, right].forEach((socket) => socket.close()))
  await gateway.terminate()
})

test('CHAT-10 a well-behaved client is let in within a second, whatever else is open', async () => {
  const gateway = await startGateway({ GATEWAY_JOINS: '1000' })
  const person = await signUp()
  const { close } = await fillGateway(gateway.url, true)
  const good = await within(
    'a good client of the gateway is let in',
    () => ChatSocket.connect(person, gateway.url),
  )
  good.close()
  close()
  await gateway.terminate()
})

test('AUTH-12 AUTH-13 AUTH-17 rights that end close a socket within five seconds', async () => {
  const ends = {
    suspended: ({ id }: Person) =>
      database().query(
        `update public.accounts set status = 'suspended', status_reason = 'تجربة' where id = $1`,
        [id],
      ),
    'signed out': (person: Person) => person.post('/auth/logout', {}),
    deleted: ({ id }: Person) => database().query('delete from auth.users where id = $1', [id]),
  }
  for (const [what, end] of Object.entries(ends)) {
    const person = await signUp()
    const socket = await ChatSocket.connect(person)
    const began = performance.now()
    await end(person)
    await socket.waitForClose()
    expectSoon(`${what}: closed`, began)
  }
})

test('losing access to a conversation is reported within five seconds', async () => {
  const ends = {
    blocked: ({ a, b }: Conversation) => a.post(`/blocks/${b.identityId}`),
    'acts as another': async ({ b }: Conversation) => {
      const identityId = await insertOrganisation(b.id, 'company')
      return await b.post('/auth/identity/switch', { identityId })
    },
  }
  for (const [what, end] of Object.entries(ends)) {
    const people = await startConversation()
    const socket = await ChatSocket.connect(people.b)
    await socket.join(people.conversationId)
    const began = performance.now()
    await end(people)
    await waitUntil('it gets the error', () => socket.events('error').length > 0)
    expectSoon(`${what}: error received`, began)
    socket.close()
  }
})

function expectSoon(what: string, began: number) {
  const took = performance.now() - began
  console.log(`${what} after ${took.toFixed(0)} ms`)
  expectWithin('a lost right closes what is open', took)
}
