import { createClient } from '@supabase/supabase-js'
import { afterEach, describe, expect, test } from 'vitest'
import { createChat, realtime as realtimeLink, type Supabase } from '../../client/src/chat/index.ts'
import { createClient as createApp } from '../../client/src/index.ts'
import type { ConversationUpdated, Message } from '../../functions/chat/protocol.ts'
import { baseUrl, type Person, projectUrl, publishableKey, signUp } from '../support/client.ts'
import { withCheckTimes } from '../support/check-times.ts'
import { waitUntil } from '../support/wait.ts'
import {
  conversationBetween,
  messagesPage,
  sendMessageAs,
  startConversation,
} from '../support/conversations.ts'
import { act, why } from '../admin/studio.ts'

const toEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end()
})

describe('the client module over Realtime', () => {
  withCheckTimes({ whole: 1000 })

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

  function app(person: Person) {
    const requests: string[] = []
    const shown = { visible: true, looked: 0 }
    const client = createApp({
      url: projectUrl,
      accessToken: () => person.accessToken,
      fetch: (input, init) => {
        requests.push(String(input).replace(baseUrl, ''))
        return fetch(input, init)
      },
    })
    const visible = () => {
      shown.looked++
      return shown.visible
    }
    const chat = createChat(client, { link: realtimeLink(deaf(person), { visible }) })
    toEnd.push(() => chat.close())
    const messages: Message[] = []
    const updates: ConversationUpdated[] = []
    chat.on('new_message', ({ message }) => messages.push(message))
    chat.on('conversation_updated', (update) => updates.push(update))
    return { chat, shown, messages, updates, requests }
  }

  test(
    'polls while the app is open: one request when nothing was missed',
    async () => {
      const { a, b, conversationId } = await startConversation()
      const [c, d] = await Promise.all([signUp(), signUp()])
      const [other, read] = [await conversationBetween(c, b), await conversationBetween(d, b)]
      const quiet = await conversationBetween(b, await signUp())
      await sendMessageAs(d, read)
      const { chat, shown, messages, updates, requests } = app(b)
      await chat.join(conversationId)
      await b.post(`/conversations/${read}/read`)
      await b.patch(`/conversations/${quiet}`, { muted: true, archived: true, upToSeq: 0 })
      for (const body of ['1', '2']) await sendMessageAs(a, conversationId, body)
      await sendMessageAs(c, other)
      const updated = (id: string, unread: number) =>
        updates.some((update) => update.conversationId === id && update.unread === unread)
      await waitUntil('the messages are shown', () => messages.length === 2)
      expect(messages.map(({ seq }) => seq)).toEqual([1, 2])
      await waitUntil(
        'all changes have arrived',
        () =>
          updated(conversationId, 2) && updated(other, 1) && updated(read, 0) &&
          updates.some((update) => update.conversationId === quiet && update.archived),
      )
      // Even if nothing has changed, each poll needs a second request for the joined conversation, because
      // the newest conversation is another one.
      const poll = ['/conversations?limit=1', `/conversations/${conversationId}`]
      const twice = [...poll, ...poll].join()
      await waitUntil('two polls ask for no more', () => requests.slice(-4).join() === twice)
      shown.visible = false
      const whenDue = async () => {
        const { looked } = shown
        await waitUntil('looks are due', () => shown.looked > looked + 2)
      }
      await waitUntil('it polls no more', async () => {
        const { length } = requests
        await whenDue()
        return requests.length === length
      })
      const { length } = requests
      shown.visible = true
      await waitUntil('it polls again when the app is back', () => requests.length > length)
      // A change to an old conversation is visible only in its changedAt.
      await b.patch(`/conversations/${quiet}`, { archived: false })
      await waitUntil(
        'the change of an old one has arrived',
        () =>
          updates.some(({ conversationId: id, archived, muted }) =>
            id === quiet && !archived && muted
          ),
      )
    },
  )

  test('CHAT-28 a look finds what was hidden, though no event came', async () => {
    const { a, b, conversationId } = await startConversation()
    for (const body of ['1', '2']) await sendMessageAs(a, conversationId, body)
    const { items: [first], changedAt } = await messagesPage(b, conversationId)
    const { chat, updates, requests } = app(b)
    await chat.join(conversationId, { afterSeq: 2 })
    const looks = () => requests.filter((request) => request === '/conversations?limit=1').length
    await waitUntil('it has looked once', () => looks() > 1)
    await act({ act: 'hide_message', target: first.id, reason: why })
    await waitUntil(
      'it is found',
      () => updates.some((one) => one.changedAt > changedAt && one.unread === 1),
    )
    const page = await messagesPage(b, conversationId, `?changedSince=${changedAt}`)
    expect(page.items).toMatchObject([{ id: first.id, body: '', hidden: true }])
  })
})
