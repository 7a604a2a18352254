// The gateway limits the Realtime channels per connection and joins them one after another, none of them
// twice. After a connection breaks, it joins only the channels that are still needed.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect } from 'vitest'
import { startOtherRealtime } from '../../local/realtime/support/client.ts'
import type { Times } from '../../functions/chat/server/times.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { type Person, signIn, signUp } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { defaultSettings, testLocally } from '../support/facade.ts'
import { startGateway } from '../support/own-gateway.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { conversationBetween, sendMessageAs } from '../support/conversations.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Starts a proxy to Realtime whose connections a test can cut or freeze. */
async function wayTo(url: string) {
  const connections = new Map<Socket, Socket>()
  let shut = false
  let opened = 0
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(url).port), '127.0.0.1')
    client.on('error', () => {}).on('close', () => upstream.destroy())
    upstream.on('error', () => {}).on('close', () => client.destroy())
    // A keep-alive connection may carry other requests before it becomes a WebSocket.
    client.on('data', (part: Buffer) => {
      if (!part.includes('/realtime/v1/websocket')) return
      if (shut) return client.destroy()
      opened++
      connections.set(client, upstream)
      client.once('close', () => connections.delete(client))
    })
    client.pipe(upstream).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    server.close()
    connections.forEach((_, client) => client.destroy())
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections.size,
    opened: () => opened,
    cut: () => {
      shut = true
      connections.forEach((_, client) => client.destroy())
    },
    mend: () => (shut = false),
    freeze: () =>
      connections.forEach((upstream, client) => client.unpipe(upstream) && upstream.unpipe(client)),
  }
}

/**
 * Starts a gateway with its own Realtime. A join takes `joinTime` or, if this is a promise, waits for it.
 */
async function ownGateway(
  { joinTime = 0, times }: { joinTime?: number | Promise<number>; times?: Partial<Times> } = {},
) {
  let joins = 0
  const joinDelay = () => {
    joins++
    return joinTime
  }
  const realtime = await startOtherRealtime({ joinDelay, failedJoinDelay: 100 })
  ends.push(realtime.stop)
  const way = await wayTo(realtime.url)
  const proxy = await startCountingProxy(defaultSettings().FACADE_DB_URL!)
  ends.push(proxy.stop)
  const gateway = await startGateway({
    ...realtime.settings,
    SUPABASE_URL: way.url,
    FACADE_DB_URL: proxy.url,
  }, { times })
  ends.push(gateway.kill)
  const statements: string[] = []
  return {
    way,
    realtime,
    joins: () => joins,
    calls: (name: string) => {
      statements.push(...proxy.takeMessages())
      return statements.filter((text) => text.includes(name)).length
    },
    connect: async (person: Person) => {
      const socket = await ChatSocket.connect(person, gateway.url)
      ends.push(() => socket.close())
      return socket
    },
  }
}

const people = (count: number) => Promise.all(Array.from({ length: count }, () => signUp()))

describe('the gateway at Realtime', () => {
  testLocally('puts at most eleven channels on one connection', async () => {
    const all = await people(23)
    const { way, joins, connect } = await ownGateway()
    await Promise.all(all.map(connect))
    await waitUntil('all have joined', () => joins() === 23)
    expect(way.connections()).toBe(3)
  })

  testLocally(
    'waits for a join as long as those before it take, and repeats none',
    async () => {
      const all = await people(6)
      let goOn!: (delay: number) => void
      const joinTime = new Promise<number>((resolve) => (goOn = resolve))
      const times = { heartbeatEvery: 500, silenceLimit: 2000 }
      const { way, realtime, joins, connect } = await ownGateway({ joinTime, times })
      await Promise.all(all.map(connect))
      await waitUntil('the first joins', () => joins() === 1)
      // The gateway would give up a silent connection within this time.
      await pause(2.5 * times.silenceLimit, 'time is the subject')
      expect([joins(), way.opened()]).toEqual([1, 1])
      goOn(0)
      await waitUntil('all are joined', () => realtime.channels() === 6)
      expect([joins(), way.opened()]).toEqual([6, 1])
    },
  )

  testLocally(
    'asks once after a disconnect what is still joined, and joins nothing else',
    async () => {
      const all = await people(6)
      const { way, realtime, joins, connect, calls } = await ownGateway()
      const sockets = await Promise.all(all.map(connect))
      await waitUntil('all have joined', () => joins() === 6)
      const others = await Promise.all(
        all.slice(0, 3).map(({ identifier, password }) => signIn(identifier, password)),
      )
      way.cut()
      // When a session of an account ends, the account's channel gets a new name.
      await Promise.all(others.map((other) => other.post('/auth/logout', {})))
      way.mend()
      // Realtime refuses a join before it answers later ones on the same connection, so
      // no refusal is outstanding.
      await waitUntil('all are joined again', () => joins() >= 12 && realtime.channels() === 6)
      expect(joins()).toBe(12)
      expect(calls('current_topics')).toBe(1)
      const [first, , , last] = all as [Person, Person, Person, Person]
      await last.post(`/conversations/${await conversationBetween(last, first)}/messages`, {
        clientMessageId: 'after-the-break',
        type: 'text',
        body: 'عدنا',
      })
      await waitUntil(
        'the update arrives',
        () => sockets[0]!.events('conversation_updated').some(({ lastMessage }) => lastMessage),
      )
    },
  )

  testLocally('leaves a channel that nobody needs any more, also one not joined yet', async () => {
    const all = await people(7)
    const { realtime, joins, connect } = await ownGateway({ joinTime: 200 })
    await connect(all[0]!)
    await waitUntil('it has joined', () => realtime.channels() === 1)
    for (const person of all.slice(1, 3)) {
      const socket = await connect(person)
      await waitUntil('it has joined', () => realtime.channels() === 2)
      socket.close()
      await waitUntil('its channel is left', () => realtime.channels() === 1)
    }
    const early = await Promise.all(all.slice(3, 6).map(connect))
    await waitUntil('one is joining', () => joins() > 3)
    early.forEach((socket) => socket.close())
    // A channel that is joined later on the same connection receives events once the earlier joins are over.
    const last = await connect(all[6]!)
    const conversationId = await conversationBetween(all[0]!, all[6]!)
    await waitUntil('it hears', async () => {
      await sendMessageAs(all[0]!, conversationId)
      return last.events('conversation_updated').length > 0
    })
    await waitUntil('they are left, too', () => realtime.channels() === 2)
  })

  testLocally('gives a connection up on which it may join no more', async () => {
    const all = await people(3) as [Person, Person, Person]
    const { way, realtime, joins, connect } = await ownGateway()
    const sockets = await Promise.all(all.slice(0, 2).map(connect))
    await waitUntil('both have joined', () => joins() === 2)
    realtime.limits.channelsPerConnection = 2
    sockets.push(await connect(all[2]))
    await waitUntil('there is another connection', () => way.opened() > 1)
    realtime.limits.channelsPerConnection = 100
    await waitUntil('all are joined on it', () => realtime.channels() === 3)
    expect(way.connections()).toBe(1)
    const [a, b, c] = all
    await c.post(`/conversations/${await conversationBetween(c, a)}/messages`, {
      clientMessageId: randomUUID(),
      type: 'text',
      body: 'مرحبا',
    })
    await b.post(`/conversations/${await conversationBetween(b, c)}/messages`, {
      clientMessageId: randomUUID(),
      type: 'text',
      body: 'مرحبا',
    })
    for (const socket of [sockets[0]!, sockets[2]!]) {
      await waitUntil(
        'it hears',
        () => socket.events('conversation_updated').some(({ unread }) => unread === 1),
      )
    }
  })

  testLocally('drops a connection that has gone silent', async () => {
    const [a, b] = await people(2) as [Person, Person]
    const times = { heartbeatEvery: 500, silenceLimit: 2000 }
    const { way, realtime, joins, connect } = await ownGateway({ times })
    const socket = await connect(a)
    await waitUntil('it has joined', () => realtime.channels() === 1)
    way.freeze()
    await waitUntil('it has joined again', () => joins() > 1)
    expect(way.opened()).toBeGreaterThan(1)
    const conversationId = await conversationBetween(b, a)
    // Events are lost while Realtime's own connection restarts, so the test keeps sending messages.
    await waitUntil('an update arrives', async () => {
      await sendMessageAs(b, conversationId, 'عدنا')
      return socket.events('conversation_updated').length > 0
    })
  })
})
