// LOAD-05: the rate limit on an account's messages through the facade, the Data API and the gateway.
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { ChatSocket } from '../support/chat-socket.ts'
import { signUp } from '../support/client.ts'
import {
  openConversation,
  postMessage,
  startConversation,
  textMessage,
} from '../support/conversations.ts'
import { hitsOf, plantHits } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { callDataApi } from '../support/data-api.ts'
import { expectRateLimited, rateLimitOf } from '../support/rate-limits.ts'

withRates({ messages: 60, messages_day: 2000 })

const open: ChatSocket[] = []

afterEach(() => open.splice(0).forEach((socket) => socket.close()))

describe('LOAD-05 messages', () => {
  test('60 a minute over facade, Data API and gateway together', async () => {
    const { a, b, conversationId: id } = await startConversation()
    await plantHits('messages', a.id, 57)
    const socket = await ChatSocket.connect(a)
    open.push(socket)
    const atDataApi = () =>
      callDataApi(a, 'send_message', {
        conversation_id: id,
        client_message_id: randomUUID(),
        type: 'text',
        body: 'مرحبا',
      })
    const first = await postMessage(a, id)
    expect(first.status).toBe(201)
    expect(rateLimitOf(first).slice(0, 2)).toEqual([60, 2])
    expect((await atDataApi()).status).toBe(200)
    expect((await socket.sendMessage(id, 'مرحبا')).event).toBe('ack')
    expectRateLimited(await postMessage(a, id), 60, 60, await atDataApi())
    expect(await socket.sendMessage(id, 'مرحبا')).toMatchObject({
      event: 'error',
      data: { code: 'rate_limited' },
    })
    const opening = await a.post('/conversations', { identityId: b.identityId, message: 'مرحبا' })
    expectRateLimited(
      opening,
      60,
      60,
      await callDataApi(a, 'create_conversation', {
        identity_id: b.identityId,
      }),
    )
    expect((await postMessage(b, id)).status).toBe(201)
  })

  test('asking again for a message that is stored, or a conversation, costs nothing', async () => {
    const { a, b, conversationId: id } = await startConversation()
    const before = await hitsOf('messages', a.id)
    const message = textMessage('مرحبا')
    expect((await postMessage(a, id, message)).status).toBe(201)
    for (let again = 0; again < 3; again++) {
      expect((await postMessage(a, id, message)).status).toBe(200)
    }
    for (let again = 0; again < 3; again++) await openConversation(a, { identityId: b.identityId })
    expect((await postMessage(a, id, { ...message, body: 'غير ذلك' })).status).toBe(422)
    expect((await postMessage(a, randomUUID())).status).toBe(404)
    expect(await hitsOf('messages', a.id)).toBe(before + 1)
  })

  test('the same message eight times at once is one message and one hit', async () => {
    const { a, conversationId: id } = await startConversation()
    const before = await hitsOf('messages', a.id)
    const message = textMessage('مرحبا')
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await postMessage(a, id, message)).status),
    )
    expect(statuses.sort()).toEqual([...Array(7).fill(200), 201])
    expect(await hitsOf('messages', a.id)).toBe(before + 1)
  })

  test('a conversation that brings its first message counts as one', async () => {
    const [a, b] = await Promise.all([signUp(), signUp()])
    await openConversation(a, { identityId: b.identityId, message: 'مرحبا' })
    expect(await hitsOf('messages', a.id)).toBe(1)
  })
})
