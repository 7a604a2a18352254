import { afterEach, expect, test } from 'vitest'
import { type Chat, createChat, gateway } from '../../client/src/chat/index.ts'
import { memoryStorage } from '../../client/src/index.ts'
import { chatUrl } from '../support/chat-socket.ts'
import type { Person } from '../support/client.ts'
import { startConversation, wholeHistory } from '../support/conversations.ts'
import { waitUntil } from '../support/wait.ts'
import { signedIn, watchedClient } from './support.ts'

const open: Chat[] = []
afterEach(() => open.splice(0).forEach((chat) => chat.close()))

const nowhere = 'ws://127.0.0.1:9/chat'

/** Opens the chat of the person whose session is in the storage; `url` is the address of the gateway. */
function chatOf(storage: ReturnType<typeof memoryStorage>, url = chatUrl) {
  const { client } = watchedClient({ storage })
  const chat = createChat(client, { link: gateway({ url }) })
  open.push(chat)
  const refused: [string | undefined, string][] = []
  chat.on('refused', ({ message, error }) => refused.push([message.body, error.code]))
  return { client, chat, refused }
}

async function storageOf(person: Person) {
  const storage = memoryStorage()
  await signedIn(person, { storage })
  return storage
}

const bodies = (messages: { body?: string }[]) => messages.map(({ body }) => body)

test('what was written offline is sent after the next start of the app, once and in order', async () => {
  const { a, b, conversationId } = await startConversation()
  const storage = await storageOf(a)
  const offline = chatOf(storage, nowhere)
  const written = ['1', '2', '3']
  const sending = written.map((body) => offline.chat.send({ conversationId, body }))
  const given = sending.map((one) => one.catch(({ code }) => code))
  await waitUntil('all wait', async () => (await offline.chat.unsent()).length === 3)
  const stored = await offline.chat.unsent()
  offline.chat.close()
  expect(await Promise.all(given)).toEqual(['connection', 'connection', 'connection'])

  const online = chatOf(storage)
  expect(await online.chat.unsent()).toEqual(stored)
  await online.chat.send({ conversationId, body: '4' })
  expect(await online.chat.unsent()).toEqual([])
  const history = await wholeHistory(b, conversationId)
  expect(bodies(history)).toEqual([...written, '4'])
  expect(history.slice(0, 3).map(({ clientMessageId }) => clientMessageId))
    .toEqual(stored.map(({ clientMessageId }) => clientMessageId))
  expect(online.refused).toEqual([])

  const later = chatOf(storage)
  expect(await later.chat.unsent()).toEqual([])
})

test('two tabs that find the same messages store each once', async () => {
  const { a, b, conversationId } = await startConversation()
  const storage = await storageOf(a)
  const offline = chatOf(storage, nowhere)
  for (const body of ['1', '2']) offline.chat.send({ conversationId, body }).catch(() => {})
  await waitUntil('both wait', async () => (await offline.chat.unsent()).length === 2)
  offline.chat.close()
  const tabs = [chatOf(storage), chatOf(storage)]
  for (const { chat } of tabs) {
    await waitUntil('all is sent', async () => (await chat.unsent()).length === 0)
  }
  expect(bodies(await wholeHistory(b, conversationId))).toEqual(['1', '2'])
  expect(tabs.flatMap(({ refused }) => refused)).toEqual([])
})

test('what the service refuses is told, also after a start, and delays no other', async () => {
  const { a, b, conversationId } = await startConversation()
  const storage = await storageOf(a)
  const offline = chatOf(storage, nowhere)
  for (const body of [' ', 'نص']) offline.chat.send({ conversationId, body }).catch(() => {})
  await waitUntil('both wait', async () => (await offline.chat.unsent()).length === 2)
  offline.chat.close()
  const { chat, refused } = chatOf(storage)
  await waitUntil('all is sent', async () => (await chat.unsent()).length === 0)
  expect(refused).toEqual([[' ', 'message_empty']])
  expect(bodies(await wholeHistory(b, conversationId))).toEqual(['نص'])
})

test('what one account has not sent another never sends', async () => {
  const { a, b, conversationId } = await startConversation()
  const storage = await storageOf(a)
  const offline = chatOf(storage, nowhere)
  offline.chat.send({ conversationId, body: 'لي' }).catch(() => {})
  await waitUntil('it waits', async () => (await offline.chat.unsent()).length === 1)
  await offline.client.auth.signOut()
  await expect(offline.chat.send({ conversationId, body: 'بعد' })).rejects.toMatchObject({
    code: 'connection',
  })
  await signedIn(b, { storage })
  expect(await chatOf(storage).chat.unsent()).toEqual([])
  await signedIn(a, { storage })
  const back = chatOf(storage)
  await waitUntil('it is sent', async () => (await back.chat.unsent()).length === 0)
  const history = await wholeHistory(b, conversationId)
  expect(history).toEqual([expect.objectContaining({ body: 'لي', senderIdentityId: a.identityId })])
})
