// What the gateway and the client module believe of Realtime: that it hears when it says so, and
// nothing for long.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@supabase/supabase-js'
import { afterEach, describe, expect, test } from 'vitest'
import { chatClient, realtime as realtimeLink } from '../functions/chat/client.ts'
import type { Supabase } from '../functions/chat/client-channel.ts'
import type { ConversationUpdated, Message } from '../functions/chat/protocol.ts'
import { ChatSocket, converse, pair } from './chat-socket.ts'
import { baseUrl, type Person, projectUrl, publishableKey, signUp } from './client.ts'
import { countingProxy } from './counting-proxy.ts'
import { usualSettings } from './facade.ts'
import { testLocally } from './other-functions.ts'
import { startGateway } from './other-gateways.ts'
import { startOtherRealtime } from './realtime-server.ts'
import { until } from './until.ts'

const toEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end()
})

/** A gateway of one's own at a Realtime of one's own, and what it asks the database. */
async function ownGateway(ways: Parameters<typeof startOtherRealtime>[0] = {}) {
  const realtime = await startOtherRealtime(ways)
  toEnd.push(realtime.stop)
  const proxy = await countingProxy(usualSettings().FACADE_DB_URL!)
  toEnd.push(proxy.stop)
  const gateway = await startGateway({ ...realtime.settings, FACADE_DB_URL: proxy.url })
  toEnd.push(gateway.kill)
  const connect = async (person: Parameters<typeof ChatSocket.of>[0]) => {
    const socket = await ChatSocket.of(person, gateway.url)
    toEnd.push(() => socket.close())
    return socket
  }
  return { realtime, gateway, connect, asked: proxy.taken }
}

async function say(person: Person, conversationId: string, body = 'نص') {
  const message = { clientMessageId: randomUUID(), type: 'text', body }
  const { status } = await person.post(`/conversations/${conversationId}/messages`, message)
  if (status !== 201) throw new Error(`say: ${status}`)
}

describe('the gateway', () => {
  testLocally('lets one late join cost no more than the next one', async () => {
    let late = 12_000
    const { connect, asked } = await ownGateway({ lateBy: () => late })
    const { a, b, conversationId } = await pair()
    const socket = await connect(b)
    await sleep(500)
    late = 0
    await sleep(15_500)
    asked()
    await sleep(4000)
    // One look every 3 s.
    expect(asked().length).toBeLessThan(10)
    await say(a, conversationId)
    await until('it is heard', () => socket.events('conversation_updated').length === 1, 3000)
  }, 60_000)

  testLocally('takes nobody for joined before Realtime hears the database', async () => {
    const { realtime, connect } = await ownGateway()
    const letGo = realtime.tenant.hold()
    realtime.tenant.lose()
    await until('the stream is lost', () => !realtime.tenant.hears)
    const { a, b, conversationId } = await pair()
    const socket = await connect(b)
    await sleep(1000)
    await say(a, conversationId)
    await sleep(1000)
    expect(socket.events('conversation_updated')).toEqual([])
    letGo()
    // Heard of when it is joined, not at the next look.
    await until('Realtime hears', () => realtime.tenant.hears)
    await until('it is told', () => socket.events('conversation_updated').length === 1, 3000)
  }, 60_000)

  testLocally(
    'looks by itself: a stream that is lost without a word hides nothing for long',
    async () => {
      const { realtime, connect } = await ownGateway()
      const { a, b, conversationId } = await pair()
      const c = await signUp()
      const other = await converse(c, b)
      const socket = await connect(b)
      await until('it is joined', async () => {
        await say(c, other)
        await sleep(200)
        return socket.events('conversation_updated').length > 0
      })
      realtime.tenant.hold()
      realtime.tenant.lose()
      await until('the stream is lost', () => !realtime.tenant.hears)
      await say(a, conversationId)
      await b.post(`/conversations/${other}/read`)
      const told = (id: string, unread: number) =>
        socket.events('conversation_updated').some((update) =>
          update.conversationId === id && update.unread === unread
        )
      await until('the message is told of', () => told(conversationId, 1), 35_000)
      await until('and what was read elsewhere', () => told(other, 0), 35_000)
      expect(realtime.tenant.hears).toBe(false)
    },
    90_000,
  )
})

describe('the client module over Realtime', () => {
  /** A client of supabase-js to which Realtime brings nothing that the database sends. */
  function deaf(person: Person): Supabase {
    const accessToken = () => Promise.resolve(person.accessToken)
    const supabase = createClient(projectUrl, publishableKey, { accessToken })
    toEnd.push(() => supabase.realtime.disconnect())
    const channel = (topic: string, options: never) => {
      const real = supabase.channel(topic, options)
      const on = real.on.bind(real) as (...args: unknown[]) => unknown
      real.on =
        ((type: string, filter: unknown, listen: unknown) =>
          on(type, filter, type === 'broadcast' ? () => {} : listen)) as never
      return real
    }
    return {
      channel: channel as never,
      removeChannel: (one) => supabase.removeChannel(one),
      realtime: supabase.realtime,
    }
  }

  /** Somebody's app, what it showed and what it asked for. */
  function app(person: Person, visible: () => boolean) {
    const asked: string[] = []
    const chat = chatClient({
      api: {
        url: baseUrl,
        accessToken: () => person.accessToken,
        fetch: (input, init) => {
          asked.push(String(input).replace(baseUrl, ''))
          return fetch(input, init)
        },
      },
      link: realtimeLink(deaf(person), { visible }),
    })
    toEnd.push(() => chat.close())
    const messages: Message[] = []
    const updates: ConversationUpdated[] = []
    chat.on('new_message', ({ message }) => messages.push(message))
    chat.on('conversation_updated', (update) => updates.push(update))
    return { chat, messages, updates, asked }
  }

  test(
    'looks by itself while somebody looks at the app: one request when nothing was missed',
    async () => {
      const { a, b, conversationId } = await pair()
      const [c, d] = await Promise.all([signUp(), signUp()])
      const [other, read] = [await converse(c, b), await converse(d, b)]
      await say(d, read)
      let visible = true
      const { chat, messages, updates, asked } = app(b, () => visible)
      await chat.join(conversationId)
      await sleep(1000)
      await b.post(`/conversations/${read}/read`)
      for (const body of ['1', '2']) await say(a, conversationId, body)
      await say(c, other)
      const told = (id: string, unread: number) =>
        updates.some((update) => update.conversationId === id && update.unread === unread)
      await until('the messages are shown', () => messages.length === 2, 40_000)
      expect(messages.map(({ seq }) => seq)).toEqual([1, 2])
      await until(
        'all that changed is told of',
        () => told(conversationId, 2) && told(other, 1) && told(read, 0),
      )
      // Nothing new: one question more for the joined conversation, which is not the newest.
      asked.splice(0)
      await until('it looks again', () => asked.length === 2, 40_000)
      expect(asked).toEqual(['/conversations?limit=1', `/conversations/${conversationId}`])
      visible = false
      await sleep(26_000)
      expect(asked).toHaveLength(2)
      visible = true
      await until('it looks at once when somebody is back', () => asked.length > 2, 2000)
    },
    150_000,
  )
})
