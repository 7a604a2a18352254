import { afterEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createChat, gateway } from '../../client/src/chat/index.ts'
import { createClient, memoryStorage } from '../../client/src/index.ts'
import { chatUrl } from '../support/chat-socket.ts'
import { startConversation, wholeHistory } from '../support/conversations.ts'
import { waitUntil } from '../support/wait.ts'
import { signedIn, watchedClient } from './support.ts'
import { credentials, twoTabs } from './two-tabs.ts'

const ends: (() => void)[] = []
afterEach(() => {
  ends.splice(0).forEach((end) => end())
  vi.unstubAllGlobals()
})

test('a chat ends with its session; what it has not sent is never sent by somebody else', async () => {
  // The next user of the app is the other participant of the conversation.
  const { a, b, conversationId } = await startConversation()
  const storage = memoryStorage()
  await signedIn(a, { storage })
  const { client } = watchedClient({ storage })
  let url = 'ws://127.0.0.1:9/chat'
  const link = () => gateway({ url })
  const chat = createChat(client, { link: link() })
  ends.push(() => chat.close())
  const given = chat.send({ conversationId, body: 'لي' }).catch(({ code }) => code)
  await waitUntil('it waits', async () => (await chat.unsent()).length === 1)

  url = chatUrl
  await watchedClient({ storage }).client.auth.signIn(credentials(b))
  await client.auth.session()
  expect(await given).toBe('connection')
  const next = createChat(client, { link: link() })
  ends.push(() => next.close())
  expect(await next.unsent()).toEqual([])
  await next.send({ conversationId, body: 'لك' })
  expect((await wholeHistory(b, conversationId)).map(({ body }) => body))
    .toEqual(['لك'])

  await client.auth.signIn(credentials(a))
  const back = createChat(client, { link: link() })
  ends.push(() => back.close())
  await waitUntil('it is sent', async () => (await back.unsent()).length === 0)
  expect((await wholeHistory(b, conversationId)).at(-1))
    .toMatchObject({ body: 'لي', senderIdentityId: a.identityId })
})

test('a chat that ends while it connects shows no token', async () => {
  const { b, here, comes } = await twoTabs()
  const sockets: Socket[] = []
  const sent: string[] = []
  class Socket {
    onopen = () => {}
    closed = false
    constructor() {
      sockets.push(this)
    }
    send(text: string) {
      sent.push(text)
    }
    close() {
      this.closed = true
    }
  }
  const chat = createChat(here.client, {
    link: gateway({ WebSocket: Socket }),
  })
  ends.push(() => chat.close())
  await here.client.auth.session()
  await waitUntil('it connects', () => sockets.length === 1)
  await comes(b)
  await here.client.auth.session()
  sockets[0]!.onopen()
  await waitUntil('it is closed', () => sockets[0]!.closed)
  expect(sent).toEqual([])
})

test("a chat ends when the tokens that something else keeps are another person's", async () => {
  const { a, b, conversationId } = await startConversation()
  let token = a.accessToken
  const { client } = watchedClient({ accessToken: () => token })
  let url = 'ws://127.0.0.1:9/chat'
  class Later extends WebSocket {
    constructor(_url: string, protocols?: string[]) {
      super(url, protocols)
    }
  }
  const chat = createChat(client, { link: gateway({ WebSocket: Later }) })
  ends.push(() => chat.close())
  expect((await client.get('/auth/me')).user.id).toBe(a.id)
  const given = chat.send({ conversationId, body: 'لي' }).catch(({ code }) => code)
  token = b.accessToken
  url = chatUrl
  expect(await given).toBe('connection')
  expect(await wholeHistory(b, conversationId)).toEqual([])
})

test('where there is no WebSocket, as in Node 20, it says so at once; one can be given', async () => {
  vi.stubGlobal('WebSocket', undefined)
  const { a, b, conversationId } = await startConversation()
  const { client } = await signedIn(a, { region: 'eu-central-1' })
  expect(() => createChat(client)).toThrow(
    /There is no WebSocket.*package ws.*gateway\(\{ WebSocket/,
  )
  const chat = createChat(client, { link: gateway({ WebSocket }) })
  ends.push(() => chat.close())
  await chat.join(conversationId)
  const message = await chat.send({ conversationId, body: 'من بعيد' })
  expect(await wholeHistory(b, conversationId)).toEqual([message])
})

test('its socket opens in the region of the client', () => {
  const opened: string[] = []
  class Socket {
    constructor(url: string) {
      opened.push(url)
    }
    close() {}
  }
  for (const region of [undefined, 'eu-central-1']) {
    const client = createClient({ url: 'https://abc.supabase.co', ...(region && { region }) })
    const chat = createChat(client, { link: gateway({ WebSocket: Socket }) })
    ends.push(() => chat.close())
  }
  expect(opened).toEqual([
    'wss://abc.supabase.co/functions/v1/chat',
    'wss://abc.supabase.co/functions/v1/chat?forceFunctionRegion=eu-central-1',
  ])
})
