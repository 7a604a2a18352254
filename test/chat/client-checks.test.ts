import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { afterEach, expect, test } from 'vitest'
import { startOtherRealtime } from '../../local/realtime/support/client.ts'
import { createChat, gateway, type Link, realtime } from '../../client/src/chat/index.ts'
import { createClient as createApp } from '../../client/src/index.ts'
import type { ConversationUpdated } from '../../functions/chat/protocol.ts'
import { type Person, projectUrl, publishableKey, signUp } from '../support/client.ts'
import {
  conversationBetween,
  messagesPage,
  sendMessageAs,
  startConversation,
} from '../support/conversations.ts'
import { testLocally } from '../support/facade.ts'
import { chatUrl } from '../support/chat-socket.ts'
import { never, withCheckTimes } from '../support/check-times.ts'
import { startGateway } from '../support/own-gateway.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { act, why } from '../admin/studio.ts'

const toEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end()
})

// In these tests the client never polls while its link works.
withCheckTimes({ whole: never, broken: 300 })

function app(person: Person, link: Link, url = projectUrl) {
  const chat = createChat(createApp({ url, accessToken: () => person.accessToken }), { link })
  toEnd.push(() => chat.close())
  const [shown, errors] = [[] as string[], [] as string[]]
  const updates: ConversationUpdated[] = []
  chat.on('new_message', ({ message }) => shown.push(message.body))
  chat.on('conversation_updated', (update) => updates.push(update))
  chat.on('error', ({ code }) => errors.push(code))
  return { chat, shown, updates, errors }
}

testLocally('over Realtime while the channel does not hear the database yet', async () => {
  const other = await startOtherRealtime({ reconnectDelays: { min: 100, max: 100 } })
  toEnd.push(other.stop)
  const letGo = other.tenant.holdStream()
  other.tenant.breakStream()
  await waitUntil('the stream is lost', () => !other.tenant.streaming)
  const { a, b, conversationId } = await startConversation()
  const supabase = createClient(other.url, publishableKey, {
    accessToken: () => Promise.resolve(b.accessToken),
    auth: { storageKey: randomUUID() },
  })
  toEnd.push(() => supabase.realtime.disconnect())
  const { chat, shown, errors } = app(b, realtime(supabase), other.url)
  await chat.join(conversationId)
  await sendMessageAs(a, conversationId, '1')
  await waitUntil('a look finds it', () => shown.length === 1)
  expect(other.tenant.streaming).toBe(false)
  letGo()
  await waitUntil('it hears', () => other.tenant.streaming)
  await sendMessageAs(a, conversationId, '2')
  await waitUntil('it is shown', () => shown.length === 2)
  expect([shown, errors]).toEqual([['1', '2'], []])
})

testLocally('through the gateway while there is no socket', async () => {
  const first = await startGateway()
  toEnd.push(first.kill)
  const { a, b, conversationId } = await startConversation()
  const [c, d] = [await signUp(), await signUp()]
  const [open, quiet] = [await conversationBetween(c, b), await conversationBetween(d, b)]
  const { chat, shown, updates, errors } = app(b, gateway({ url: first.url }))
  await chat.join(conversationId)
  await sendMessageAs(a, conversationId, '1')
  await waitUntil('it is shown', () => shown.length === 1)

  await first.kill()
  await sendMessageAs(a, conversationId, '2')
  await waitUntil('a look finds it', () => shown.length === 2)
  await sendMessageAs(c, open)
  const updated = (id: string) => updates.some((update) => update.conversationId === id)
  await waitUntil('and what is not joined', () => updated(open))

  const { items: [hidden], changedAt } = await messagesPage(b, conversationId)
  await act({ act: 'hide_message', target: hidden.id, reason: why })
  await waitUntil(
    'and what was hidden',
    () => updates.some((one) => one.conversationId === conversationId && one.changedAt > changedAt),
  )
  const changed = await messagesPage(b, conversationId, `?changedSince=${changedAt}`)
  expect(changed.items).toMatchObject([{ id: hidden.id, body: '', hidden: true }])

  // A change just before the socket reconnects is not missed either.
  await sendMessageAs(d, quiet)
  const second = await startGateway({}, { port: first.port })
  toEnd.push(second.kill)
  await waitUntil('it is found', () => updated(quiet))
  await sendMessageAs(a, conversationId, '3')
  await waitUntil('messages come', () => shown.length === 3)
  expect([shown, errors]).toEqual([['1', '2', '3'], []])
})

/** Returns a WebSocket class that holds back received frames until a test releases those of an event. */
function held() {
  const frames: { event: string; pass: () => void }[] = []
  class Held extends WebSocket {
    override set onmessage(listen: (event: MessageEvent) => void) {
      this.addEventListener('message', (message) => {
        const { event } = JSON.parse(String(message.data))
        frames.push({ event, pass: () => listen(message) })
      })
    }
  }
  const has = (event: string) => frames.some((frame) => frame.event === event)
  const letGo = (event: string) =>
    frames.filter((frame) => frame.event === event).forEach(({ pass }) => pass())
  return { Held, has, letGo }
}

testLocally('an event is told though the first look at the list came before it', async () => {
  const { a, b, conversationId } = await startConversation()
  const { Held, has, letGo } = held()
  let looks = 0
  const counted: typeof fetch = async (...input) => {
    const answer = await fetch(...input)
    await answer.clone().text()
    looks++
    return answer
  }
  const client = createApp({ url: projectUrl, accessToken: () => b.accessToken, fetch: counted })
  const chat = createChat(client, { link: gateway({ url: chatUrl, WebSocket: Held }) })
  toEnd.push(() => chat.close())
  const updates: ConversationUpdated[] = []
  chat.on('conversation_updated', (update) => updates.push(update))
  await waitUntil('the token is accepted', () => has('ack'))
  await sendMessageAs(a, conversationId, '1')
  await waitUntil('its event is on its way', () => has('conversation_updated'))
  letGo('ack')
  await waitUntil('the list is read', () => looks > 0)
  await pause(50, 'any moment is right')
  expect(updates).toEqual([])
  letGo('conversation_updated')
  letGo('conversation_updated')
  expect(updates).toMatchObject([{ conversationId, unread: 1 }])
})

const tooMany = { code: 'chat_ended', temporary: false }

testLocally('CHAT-25 the oldest of too many sockets is told, and what it sends fails', async () => {
  const own = await startGateway({ GATEWAY_SOCKETS: '1' })
  toEnd.push(own.kill)
  const { b, conversationId } = await startConversation()
  const oldest = app(b, gateway({ url: own.url }))
  await oldest.chat.join(conversationId)
  const newest = app(b, gateway({ url: own.url }))
  await newest.chat.join(conversationId)
  await waitUntil('it is told', () => oldest.errors.length > 0)
  expect(oldest.errors).toEqual(['chat_ended'])
  const message = { conversationId, body: 'نص' }
  await expect(oldest.chat.send(message)).rejects.toMatchObject(tooMany)
  await expect(oldest.chat.join(conversationId)).rejects.toMatchObject(tooMany)
  expect((await newest.chat.send(message)).body).toBe('نص')
  expect(newest.errors).toEqual([])
})

/**
 * Returns a WebSocket class that simulates a gateway: it accepts the token and closes the
 * socket at the first message.
 */
function closingAt(code: number, reason: string) {
  return class {
    onopen?: () => void
    onmessage?: (event: { data: string }) => void
    onclose?: (event: { code: number; reason: string }) => void
    onerror?: () => void

    constructor() {
      queueMicrotask(() => this.onopen?.())
    }

    send(text: string) {
      const { event, ref } = JSON.parse(text)
      if (event === 'send_message') return this.onclose?.({ code, reason })
      const data = JSON.stringify({ event: 'ack', ref, data: {} })
      queueMicrotask(() => this.onmessage?.({ data }))
    }

    close() {}
  }
}

test('CHAT-25 what is on its way, and what waits behind it, fails at a final close', async () => {
  const { b, conversationId } = await startConversation()
  for (
    const [code, reason, failure] of [
      [4429, 'rate_limited', tooMany],
      [4429, '', tooMany],
      [4400, 'token_in_query', tooMany],
      [4403, 'account_suspended', { code: 'account_suspended', temporary: false }],
    ] as const
  ) {
    const { chat, errors } = app(b, gateway({ WebSocket: closingAt(code, reason) }))
    const sent = await Promise.allSettled(
      [1, 2, 3].map((nth) => chat.send({ conversationId, body: `${nth}` })),
    )
    expect(sent, reason).toMatchObject(sent.map(() => ({ status: 'rejected', reason: failure })))
    expect(errors).toEqual([failure.code])
    await expect(chat.unsent()).resolves.toEqual([])
  }
})
