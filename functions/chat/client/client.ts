/**
 * Chat for apps: JavaScript and React Native, with nothing but what both have. One face over the
 * two ways in, the chat gateway and Supabase Realtime:
 *
 * ```ts
 * import { chatClient, gateway, realtime } from './client.ts'
 *
 * const chat = chatClient({
 *   api: { url: `${project}/functions/v1/api`, accessToken: () => session.accessToken },
 *   link: gateway({ url: `${project.replace('http', 'ws')}/functions/v1/chat`, WebSocket }),
 *   // or, recommended on hosted projects, with a client that is signed in or has `accessToken`:
 *   // link: realtime(supabase, { visible: () => AppState.currentState === 'active' })
 * })
 * chat.on('new_message', ({ message }) => show(message))
 * chat.on('conversation_updated', ({ conversationId, unread }) => badge(conversationId, unread))
 * chat.on('error', ({ code, message }) => console.warn(code, message))
 *
 * await chat.join(conversationId, { afterSeq: 41 }) // 41: the newest that the screen shows
 * const message = await chat.send({ conversationId, type: 'text', body: 'مرحباً' })
 * chat.on('typing', ({ conversationId }) => showDots(conversationId))
 * chat.on('presence', ({ conversationId, here }) => showDot(conversationId, here))
 * chat.typing(conversationId) // at every key
 * chat.leave(conversationId)
 * chat.close()
 * ```
 *
 * What it sees to: it connects again, later each time; a joined conversation's messages come each
 * once and in order of `seq`, also those that were sent while there was no connection; a message is
 * sent until the server has answered, always under the same `clientMessageId`, one after another;
 * names of Realtime's channels are followed when they change, and what it did not bring is looked for
 * every 25 s while somebody looks at the app. `typing` and `presence` come over
 * Realtime only. `accessToken` is asked again and again and
 * should give the token of the moment, as `supabase.auth.getSession()` has it. After `leave`
 * nothing of that conversation is told any more, `conversation_updated` included.
 */
import { type Api, api, ChatFailure, type Choice as ApiChoice, wait } from './api.ts'
import { MessageFeed, type Page } from '../message-feed.ts'
import type { ChatError, ConversationUpdated, Message, NewMessage } from '../protocol.ts'

export { gateway } from './gateway.ts'
export { realtime } from './realtime.ts'
export { ChatFailure } from './api.ts'
export type * from '../protocol.ts'

/** What a client tells. */
export type Events = {
  new_message: { message: Message }
  conversation_updated: ConversationUpdated
  /** The other side is writing. */
  typing: { conversationId: string }
  /** Whether the other side has the conversation open. */
  presence: { conversationId: string; here: boolean }
  error: ChatError
}

/** A way to the service; see gateway.ts and realtime.ts. */
export type Link = {
  start(api: Api, told: Told): void
  /** Settled when everything that is sent from then on will be told. */
  join(conversationId: string): Promise<void>
  leave(conversationId: string): void
  send(message: NewMessage): Promise<Message>
  typing(conversationId: string): void
  close(): void
}

export type Told = {
  message(message: Message): void
  updated(update: ConversationUpdated): void
  typing(conversationId: string): void
  present(conversationId: string, here: boolean): void
  /** The conversation is heard again after a break. */
  back(conversationId: string): void
  /** There is no right to hear it any more. */
  lost(conversationId: string, error: ChatError): void
  error(error: ChatError): void
}

export type ChatClient = {
  /** Follows a conversation; `afterSeq` is the newest message that is there already. */
  join(conversationId: string, options?: { afterSeq?: number }): Promise<void>
  leave(conversationId: string): void
  /** Sends until the server has answered; gives the stored message or throws a ChatFailure. */
  send(
    message: Omit<NewMessage, 'clientMessageId'> & { clientMessageId?: string },
  ): Promise<Message>
  /** Lets the other side of a joined conversation see that something is being written. */
  typing(conversationId: string): void
  /** Gives back what ends the listening. */
  on<Event extends keyof Events>(event: Event, listen: (data: Events[Event]) => void): () => void
  close(): void
}

export function chatClient(choice: { api: ApiChoice; link: Link }): ChatClient {
  const { link } = choice
  const rest = api(choice.api)
  const listeners = new Map<keyof Events, Set<(data: never) => void>>()
  const feeds = new Map<string, MessageFeed>()
  const left = new Set<string>()
  let outbox: Promise<unknown> = Promise.resolve()
  let closed = false

  function tell<Event extends keyof Events>(event: Event, data: Events[Event]) {
    for (const listen of [...listeners.get(event) ?? []]) listen(data as never)
  }

  const seqOf = (update: ConversationUpdated) => update.lastMessage?.seq ?? 0

  link.start(rest, {
    message: (message) => feeds.get(message.conversationId)?.take(message),
    updated: (update) => {
      if (left.has(update.conversationId)) return
      tell('conversation_updated', update)
      feeds.get(update.conversationId)?.reaches(seqOf(update))
    },
    typing: (conversationId) => {
      if (feeds.has(conversationId)) tell('typing', { conversationId })
    },
    present: (conversationId, here) => {
      if (feeds.has(conversationId)) tell('presence', { conversationId, here })
    },
    back: (conversationId) => void feeds.get(conversationId)?.fill(),
    lost: (conversationId, error) => {
      feeds.get(conversationId)?.stop()
      feeds.delete(conversationId)
      tell('error', { ...error, conversationId })
    },
    error: (error) => tell('error', error),
  })

  const history = (conversationId: string, query: string) =>
    rest.get<Page>(`/conversations/${conversationId}/messages?${query}`)

  async function join(conversationId: string, { afterSeq }: { afterSeq?: number } = {}) {
    left.delete(conversationId)
    if (feeds.has(conversationId)) return
    const after = afterSeq ?? (await history(conversationId, 'limit=1')).items.at(-1)?.seq ?? 0
    const feed = new MessageFeed({
      after,
      history: (seq) => history(conversationId, `afterSeq=${seq}&limit=50`),
      deliver: (message) => tell('new_message', { message }),
      failed: (error) => {
        tell('error', asError(error))
        // Until the link tells of its next return, one look more.
        wait(2000).then(() => feed.fill())
      },
    })
    feeds.set(conversationId, feed)
    try {
      await link.join(conversationId)
    } catch (error) {
      feeds.delete(conversationId)
      feed.stop()
      throw error
    }
    await feed.fill()
  }

  async function deliver(message: NewMessage): Promise<Message> {
    for (let tries = 0;; tries++) {
      try {
        return await link.send(message)
      } catch (error) {
        const failure = error as ChatFailure
        if (closed || !(failure instanceof ChatFailure) || !failure.passes) throw error
        await wait(
          failure.retryAfter ? failure.retryAfter * 1000 : Math.min(5000, 200 * 2 ** tries),
        )
      }
    }
  }

  return {
    join,
    leave(conversationId) {
      feeds.get(conversationId)?.stop()
      if (feeds.delete(conversationId)) left.add(conversationId)
      link.leave(conversationId)
    },
    send(message) {
      const complete = { clientMessageId: newId(), ...message }
      // One after another, so that they are stored in the order in which they were written.
      const sent = outbox.then(() => deliver(complete))
      outbox = sent.catch(() => {})
      return sent
    },
    typing: (conversationId) => link.typing(conversationId),
    on(event, listen) {
      const set = listeners.get(event) ?? new Set()
      listeners.set(event, set.add(listen))
      return () => set.delete(listen)
    },
    close() {
      closed = true
      feeds.forEach((feed) => feed.stop())
      feeds.clear()
      link.close()
    },
  }
}

const asError = (error: unknown): ChatError =>
  error instanceof ChatFailure
    ? { code: error.code, message: error.message }
    : { code: 'internal', message: String((error as Error).message) }

/** A version 4 uuid; React Native may have no crypto. It names a message and protects nothing. */
function newId(): string {
  const { crypto } = globalThis as { crypto?: { randomUUID?: () => string } }
  if (crypto?.randomUUID) return crypto.randomUUID()
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(
    /x/g,
    () => Math.floor(Math.random() * 16).toString(16),
  )
}
