import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { createClient } from '@supabase/supabase-js'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Chat, createChat, gateway, type Link, realtime } from '../../client/src/chat/index.ts'
import { createClient as createApp } from '../../client/src/index.ts'
import { MessageFeed, type Page } from '../../functions/chat/message-feed.ts'
import type { ConversationUpdated, Message } from '../../functions/chat/protocol.ts'
import { chatUrl, upTo } from '../support/chat-socket.ts'
import { type Person, projectUrl, publishableKey, signUp } from '../support/client.ts'
import { startGateway } from '../support/own-gateway.ts'
import { pause, waitUntil } from '../support/wait.ts'
import {
  conversationBetween,
  sendMessageAs,
  startConversation,
  wholeHistory,
} from '../support/conversations.ts'
import { testLocally } from '../support/facade.ts'

const open: { close: () => unknown }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

const links: Record<string, (person: Person) => Link> = {
  gateway: () => gateway({ url: chatUrl }),
  Realtime: (person) => {
    const accessToken = () => Promise.resolve(person.accessToken)
    const supabase = createClient(projectUrl, publishableKey, { accessToken })
    open.push({ close: () => supabase.removeAllChannels() })
    return realtime(supabase)
  },
}

function app(person: Person, way: (person: Person) => Link) {
  const link = way(person)
  const client = createApp({ url: projectUrl, accessToken: () => person.accessToken })
  const chat = createChat(client, { link })
  open.push(chat)
  const shown = {
    messages: [] as Message[],
    updates: [] as ConversationUpdated[],
    errors: [] as string[],
  }
  chat.on('new_message', ({ message }) => shown.messages.push(message))
  chat.on('conversation_updated', (update) => shown.updates.push(update))
  chat.on('error', ({ code }) => shown.errors.push(code))
  return { chat, shown }
}

const seqs = (messages: Message[]) => messages.map(({ seq }) => seq)

describe.each(Object.keys(links))('over %s', (way) => {
  const link = links[way]!

  test('another device mutes and archives: the app is told, and what a message makes of it', async () => {
    const { a, b, conversationId } = await startConversation()
    await sendMessageAs(a, conversationId)
    const { chat, shown } = app(b, link)
    await chat.join(conversationId)
    const now = () => shown.updates.at(-1)
    expect((await b.patch(`/conversations/${conversationId}`, { muted: true })).status).toBe(200)
    await waitUntil('it is muted', () => now()?.muted === true)
    const archived = { archived: true, upToSeq: 1 }
    expect((await b.patch(`/conversations/${conversationId}`, archived)).status).toBe(200)
    await waitUntil('it is archived', () => now()?.archived === true)
    await b.patch(`/conversations/${conversationId}`, { muted: false })
    await sendMessageAs(a, conversationId)
    await waitUntil('it is back', () => now()?.archived === false && now()?.unread === 2)
    expect(shown.errors).toEqual([])
  })

  test('two people chat: everything once and in order, answers are the stored messages', async () => {
    const { a, b, conversationId } = await startConversation()
    const [left, right] = [app(a, link), app(b, link)]
    await Promise.all([left.chat.join(conversationId), right.chat.join(conversationId)])
    const say = ({ chat }: { chat: Chat }, who: string) =>
      Promise.all(upTo(20).map((i) => chat.send({ conversationId, type: 'text', body: who + i })))
    const [sent] = await Promise.all([say(left, 'أ'), say(right, 'ب')])
    for (const { shown } of [left, right]) {
      await waitUntil('all 40 are shown', () => shown.messages.length === 40)
      expect(seqs(shown.messages)).toEqual(upTo(40))
    }
    expect(right.shown.messages).toEqual(left.shown.messages)
    expect(await wholeHistory(a, conversationId)).toEqual(left.shown.messages)
    expect(sent.map(({ body }) => body)).toEqual(upTo(20).map((i) => `أ${i}`))
    expect(seqs(sent)).toEqual(seqs(sent).toSorted((x, y) => x - y))
    await waitUntil(
      'the other party gets it',
      () => right.shown.updates.some(({ unread }) => unread === 20),
    )
    expect(left.shown.errors.concat(right.shown.errors)).toEqual([])
  })

  test('missed messages come first, from the last one on the screen', async () => {
    const { a, b, conversationId } = await startConversation()
    for (const i of upTo(60)) {
      await a.post(`/conversations/${conversationId}/messages`, {
        clientMessageId: randomUUID(),
        type: 'text',
        body: String(i),
      })
    }
    const { chat, shown } = app(b, link)
    await chat.join(conversationId, { afterSeq: 2 })
    await waitUntil('all are there', () => shown.messages.length === 58)
    expect(seqs(shown.messages)).toEqual(upTo(60).slice(2))
  })

  test('after leaving, nothing more of the conversation arrives', async () => {
    const { a, b, conversationId } = await startConversation()
    const [left, right] = [app(a, link), app(b, link)]
    await right.chat.join(conversationId)
    await left.chat.send({ conversationId, body: 'قبل' })
    await waitUntil('the first is shown', () => shown(right) === 1)
    // The update may arrive twice, because a client that joins an account's channel
    // also receives missed updates.
    await waitUntil('and its update arrives', () => right.shown.updates.length > 0)
    right.chat.leave(conversationId)
    const updates = [...right.shown.updates]
    expect(new Set(updates.map(({ lastMessage }) => lastMessage?.seq))).toEqual(new Set([1]))
    await left.chat.send({ conversationId, body: 'بعد' })
    const other = await signUp()
    const later = await conversationBetween(other, b)
    await sendMessageAs(other, later)
    await waitUntil(
      'the next is told',
      () => right.shown.updates.at(-1)?.conversationId === later,
    )
    expect(shown(right)).toBe(1)
    expect(right.shown.updates.filter(({ conversationId: id }) => id !== later)).toEqual(updates)
    await right.chat.join(conversationId, { afterSeq: 1 })
    await waitUntil('after joining again it is there', () => shown(right) === 2)
  })

  test('a stranger can neither join nor send', async () => {
    const { conversationId } = await startConversation()
    const { chat, shown } = app(await signUp(), link)
    const refused = /not_participant|conversation_not_found|لست طرفاً|غير موجودة/
    await expect(chat.join(conversationId)).rejects.toThrow(refused)
    await expect(chat.send({ conversationId, body: 'مرحباً' })).rejects.toThrow(refused)
    expect(shown.messages).toEqual([])
  })

  test('an invalid message is refused at once and delays no other', async () => {
    const { a, conversationId } = await startConversation()
    const { chat } = app(a, link)
    const empty = chat.send({ conversationId, type: 'text', body: ' ' })
    const good = chat.send({ conversationId, type: 'text', body: 'نص' })
    await expect(empty).rejects.toMatchObject({ code: 'message_empty' })
    expect(await good).toMatchObject({ seq: 1, body: 'نص' })
  })

  const shown = (one: ReturnType<typeof app>) => one.shown.messages.length
})

testLocally(
  'reconnects by itself: messages from meanwhile and its own are there once',
  async () => {
    const { a, b, conversationId } = await startConversation()
    const first = await startGateway()
    const there = app(b, () => gateway({ url: first.url }))
    const here = app(a, () => gateway({ url: first.url }))
    await Promise.all([there.chat.join(conversationId), here.chat.join(conversationId)])
    await here.chat.send({ conversationId, body: '1' })
    await first.kill()
    const sent = upTo(5).map((i) => here.chat.send({ conversationId, body: String(i + 1) }))
    await pause(300, 'any moment is right')
    const second = await startGateway({}, { port: first.port })
    expect((await Promise.all(sent)).map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6])
    await waitUntil(
      'both show all',
      () => there.shown.messages.length === 6 && here.shown.messages.length === 6,
    )
    expect(seqs(there.shown.messages)).toEqual(upTo(6))
    await second.terminate()
  },
)

const limited = {
  code: 'rate_limited',
  message: 'بعد قليل',
  messageEn: 'Later',
  requestId: randomUUID(),
}

test('resends under the same id until answered, and respects Retry-After', async () => {
  const tries: { clientMessageId: string }[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    request.on('data', (part) => (text += part)).on('end', () => {
      if (request.method !== 'POST') return response.writeHead(503).end()
      tries.push(JSON.parse(text))
      if (tries.length === 1) return request.socket.destroy()
      const answer = tries.length === 2
        ? [429, { error: { ...limited, retryAfter: 1 } }] as const
        : [201, { seq: 1, ...tries[0] }] as const
      response.writeHead(answer[0], { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer[1]))
    })
  }).listen(0, '127.0.0.1')
  open.push({ close: () => server.close() && server.closeAllConnections() })
  await waitUntil('it listens', () => server.listening)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const link = links.Realtime!({ accessToken: 'a.b.c' } as Person)
  const chat = createChat(createApp({ url, accessToken: () => 'a.b.c' }), { link })
  open.push(chat)
  const began = Date.now()
  await chat.send({ conversationId: randomUUID(), body: 'مرة واحدة' })
  expect(Date.now() - began).toBeGreaterThan(1000)
  expect(tries.length).toBe(3)
  expect(new Set(tries.map(({ clientMessageId }) => clientMessageId)).size).toBe(1)
})

describe('a feed', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  /** Advances the time by more than a feed ever waits. */
  const later = () => vi.advanceTimersByTimeAsync(60_000)

  const message = (seq: number) => ({ seq }) as Message

  function feed(stored: () => number, look = async () => {}) {
    const delivered: number[] = []
    const errors: unknown[] = []
    const history = async (after: number): Promise<Page> => {
      await look()
      const rest = upTo(stored()).slice(after)
      return { items: rest.slice(0, 3).map(message), hasMore: rest.length > 3 }
    }
    const deliver = ({ seq }: Message) => delivered.push(seq)
    const failed = (error: unknown) => errors.push(error)
    return { feed: new MessageFeed({ after: 2, history, deliver, failed }), delivered, errors }
  }

  test('delivers each message once, in order, whatever is duplicated, late or lost', async () => {
    let stored = 5
    const { feed: one, delivered } = feed(() => stored)
    for (const seq of [1, 2, 3, 3, 2]) one.take(message(seq))
    expect(delivered).toEqual([3])
    one.take(message(5))
    one.take(message(4))
    stored = 12
    one.take(message(12))
    await later()
    expect(delivered).toHaveLength(10)
    for (const seq of [12, 11, 3]) one.take(message(seq))
    one.take(message(13))
    expect(delivered).toEqual(upTo(13).slice(2))
  })

  test('waits a moment for what a later message overtook, and asks for no history', async () => {
    let requests = 0
    const { feed: one, delivered } = feed(() => 8, () => {
      requests++
      return Promise.resolve()
    })
    for (const seq of [4, 6, 3, 5]) one.take(message(seq))
    expect(delivered).toEqual([3, 4, 5, 6])
    one.take(message(8))
    one.reaches(8)
    one.take(message(7))
    expect(delivered).toEqual(upTo(8).slice(2))
    await later()
    expect(requests).toBe(0)
  })

  test('what comes while the history is read needs no second look', async () => {
    let requests = 0
    let answer!: () => void
    const answered = new Promise<void>((resolve) => (answer = resolve))
    const { feed: one, delivered } = feed(() => 4, () => {
      requests++
      return answered
    })
    const filled = one.fill()
    for (const seq of [6, 5, 4]) one.take(message(seq))
    answer()
    await filled
    expect(delivered).toEqual([3, 4, 5, 6])
    await later()
    expect(requests).toBe(1)
  })

  test('a number that the history does not have is looked for once', async () => {
    let requests = 0
    const { feed: one, delivered } = feed(() => 3, () => {
      requests++
      return Promise.resolve()
    })
    one.reaches(9)
    await later()
    expect([requests, delivered]).toEqual([1, [3]])
  })

  test('a failed history request loses nothing: the next one has it', async () => {
    let down = true
    const { feed: one, delivered, errors } = feed(() => 6, () => {
      if (down) throw new Error('down')
      return Promise.resolve()
    })
    one.take(message(6))
    await later()
    expect(errors).toHaveLength(1)
    down = false
    one.reaches(6)
    await later()
    expect(delivered).toEqual([3, 4, 5, 6])
  })

  test('stopping stops, even in the middle of a request', async () => {
    let answer!: () => void
    const answered = new Promise<void>((resolve) => (answer = resolve))
    const { feed: one, delivered } = feed(() => 9, () => answered)
    const filled = one.fill()
    one.stop()
    one.take(message(3))
    answer()
    await filled
    await later()
    expect(delivered).toEqual([])
  })
})
