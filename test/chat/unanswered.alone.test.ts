// CHAT-21: the limit on messages that one side may send before the other side
// answers, for every way of sending.
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { type Chat, createChat, gateway } from '../../client/src/chat/index.ts'
import { ChatSocket, chatUrl } from '../support/chat-socket.ts'
import { database, type Person, signUp } from '../support/client.ts'
import {
  messagesPage,
  postMessage,
  sendMessageAs,
  startConversation,
  textMessage,
} from '../support/conversations.ts'
import { statusAndCode } from '../support/problems.ts'
import { bearer, race } from '../support/races.ts'
import { callDataApi } from '../support/data-api.ts'
import { withRates } from '../support/own-rates.ts'
import { waitUntil } from '../support/wait.ts'
import { signedIn } from '../client/support.ts'

withRates({ messages_unanswered: 5 })

const open: { close: () => void }[] = []
afterEach(() => open.splice(0).forEach((one) => one.close()))

const awaiting = [409, 'awaiting_answer']

async function writeAll(person: Person, conversationId: string, count = 5) {
  for (let nth = 0; nth < count; nth++) await sendMessageAs(person, conversationId)
}

test('five messages, then none at any door until the other side has answered once', async () => {
  const { a, b, conversationId } = await startConversation()
  const fifth = textMessage('خامسة')
  await writeAll(a, conversationId, 4)
  expect((await postMessage(a, conversationId, fifth)).status).toBe(201)

  const reason = async (person: Person) =>
    (await person.get(`/conversations/${conversationId}`)).body.cannotWriteReason
  expect([await reason(a), await reason(b)]).toEqual(['awaiting_answer', null])
  expect(statusAndCode(await postMessage(a, conversationId))).toEqual(awaiting)
  const opening = await a.post('/conversations', { identityId: b.identityId, message: 'مرحبا' })
  expect(statusAndCode(opening)).toEqual(awaiting)
  const atDataApi = await callDataApi(a, 'send_message', {
    conversation_id: conversationId,
    client_message_id: randomUUID(),
    type: 'text',
    body: 'مرحبا',
  })
  expect([atDataApi.status, JSON.parse(atDataApi.text).message]).toEqual(awaiting)
  const socket = await ChatSocket.connect(a)
  open.push(socket)
  expect(await socket.sendMessage(conversationId, 'مرحبا')).toMatchObject({
    event: 'error',
    data: { code: 'awaiting_answer' },
  })
  expect((await postMessage(a, conversationId, fifth)).status).toBe(200)
  expect((await postMessage(a, conversationId, { ...fifth, body: 'غيرها' })).body.error.code)
    .toBe('idempotency_mismatch')
  expect((await messagesPage(b, conversationId)).items).toHaveLength(5)

  await sendMessageAs(b, conversationId)
  expect(await reason(a)).toBe(null)
  await writeAll(a, conversationId, 12)
  await writeAll(b, conversationId, 8)
})

test('a block is told before it, and another conversation has five of its own', async () => {
  const { a, b, conversationId } = await startConversation()
  await writeAll(a, conversationId)
  await b.post(`/blocks/${a.identityId}`)
  expect(statusAndCode(await postMessage(a, conversationId))).toEqual([403, 'blocked'])
  await b.delete(`/blocks/${a.identityId}`)
  expect(statusAndCode(await postMessage(a, conversationId))).toEqual(awaiting)
  const third = await signUp()
  const { body: other } = await a.post('/conversations', {
    identityId: third.identityId,
    message: 'مرحبا',
  })
  await writeAll(a, other.id, 4)
  expect(statusAndCode(await postMessage(a, other.id))).toEqual(awaiting)
})

test('of twenty at once, and of batches of many people, exactly five are stored each', async () => {
  const all = await Promise.all(Array.from({ length: 4 }, () => startConversation()))
  const replies = await race(
    Array.from({ length: 10 }, () =>
      all.map(({ a, conversationId }) => ({
        path: `/conversations/${conversationId}/messages`,
        body: textMessage('مرحبا'),
        headers: [bearer(a)],
      }))).flat(),
  )
  for (const [nth, { b, conversationId }] of all.entries()) {
    const own = replies.filter((_, index) => index % all.length === nth)
    expect(own.filter(({ status }) => status === 201)).toHaveLength(5)
    const refused = own.filter(({ status }) => status !== 201).map(statusAndCode)
    expect(refused).toEqual(Array(5).fill(awaiting))
    expect((await messagesPage(b, conversationId)).items).toHaveLength(5)
  }
})

/** Makes all messages so far look as if they had been sent before the service counted messages. */
const forgetCounts = (conversationId: string) =>
  database().query('update public.participants set written = 0 where conversation_id = $1', [
    conversationId,
  ])

test('counting begins with the release, and an answer of before is one', async () => {
  const { a, b, conversationId } = await startConversation()
  await writeAll(a, conversationId)
  await forgetCounts(conversationId)
  await writeAll(a, conversationId)
  expect(statusAndCode(await postMessage(a, conversationId))).toEqual(awaiting)
  await sendMessageAs(b, conversationId)
  await forgetCounts(conversationId)
  await writeAll(a, conversationId, 7)
})

test('the client module tells of it and does not send again by itself', async () => {
  const { a, b, conversationId } = await startConversation()
  await writeAll(a, conversationId)
  const { client } = await signedIn(a)
  const chat: Chat = createChat(client, { link: gateway({ url: chatUrl }) })
  open.push(chat)
  const refused: string[] = []
  chat.on('refused', ({ error }) => refused.push(error.code))
  await expect(chat.send({ conversationId, body: 'سادسة' })).rejects.toMatchObject({
    code: 'awaiting_answer',
  })
  await waitUntil('nothing waits', async () => (await chat.unsent()).length === 0)
  await sendMessageAs(b, conversationId)
  await chat.send({ conversationId, body: 'سابعة' })
  expect((await messagesPage(b, conversationId)).items.map(({ body }: { body: string }) => body))
    .not.toContain('سادسة')
  expect(refused).toEqual(['awaiting_answer'])
})
