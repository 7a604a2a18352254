import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { afterEach, expect } from 'vitest'
import { startOtherRealtime } from '../../local/realtime/support/client.ts'
import { createChat, gateway, type Link, realtime } from '../../client/src/chat/index.ts'
import { createClient as createApp } from '../../client/src/index.ts'
import type { ConversationUpdated } from '../../functions/chat/protocol.ts'
import { type Person, projectUrl, publishableKey, signUp } from '../support/client.ts'
import { conversationBetween, sendMessageAs, startConversation } from '../support/conversations.ts'
import { testLocally } from '../support/facade.ts'
import { never, withCheckTimes } from '../support/check-times.ts'
import { startGateway } from '../support/own-gateway.ts'
import { waitUntil } from '../support/wait.ts'

const toEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end()
})

// A working link never polls in these tests.
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

  // A change just before the socket returns is not missed either.
  await sendMessageAs(d, quiet)
  const second = await startGateway({}, { port: first.port })
  toEnd.push(second.kill)
  await waitUntil('it is found', () => updated(quiet))
  await sendMessageAs(a, conversationId, '3')
  await waitUntil('messages come', () => shown.length === 3)
  expect([shown, errors]).toEqual([['1', '2', '3'], []])
})
