/**
 * Chat for apps: JavaScript and React Native, with nothing but what both have. The same over both
 * transports, the chat gateway and Supabase Realtime:
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
 * It connects again by itself, later each time. The messages of a joined conversation come each once
 * and in order of `seq`, also those that were sent while there was no connection. A message is sent
 * until the server has answered, always under the same `clientMessageId`, one after another. Names
 * of Realtime's channels are followed when they change, and what Realtime did not deliver is fetched
 * every 25 s while somebody looks at the app. `typing` and `presence` come over Realtime only.
 * `accessToken` is called again and again and should give the token of the moment, as
 * `supabase.auth.getSession()` has it. After `leave` no event of that conversation comes any more,
 * `conversation_updated` included.
 */
import { api, type ApiOptions, ChatFailure, wait } from './api.ts'
import { lastSeqOf } from '../conversation-states.ts'
import { MessageFeed, type Page } from '../message-feed.ts'
import type { ChatError, ConversationUpdated, Message, NewMessage } from '../protocol.ts'
import type { Link } from './link.ts'

export { gateway } from './gateway.ts'
export { realtime } from './realtime.ts'
export { ChatFailure } from './api.ts'
export type { Link, LinkListener } from './link.ts'
export type * from '../protocol.ts'

/** What an app can listen for. */
export type Events = {
  new_message: { message: Message }
  conversation_updated: ConversationUpdated
  /** The other side is writing. */
  typing: { conversationId: string }
  /** Whether the other side has the conversation open. */
  presence: { conversationId: string; here: boolean }
  error: ChatError
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
  /** Returns what ends the listening. */
  on<Event extends keyof Events>(event: Event, listen: (data: Events[Event]) => void): () => void
  close(): void
}

export function chatClient(options: { api: ApiOptions; link: Link }): ChatClient {
  const { link } = options
  const rest = api(options.api)
  const listeners = new Map<keyof Events, Set<(data: never) => void>>()
  const feeds = new Map<string, MessageFeed>()
  const left = new Set<string>()
  let outbox: Promise<unknown> = Promise.resolve()
  let closed = false

  function emit<Event extends keyof Events>(event: Event, data: Events[Event]) {
    for (const listen of [...listeners.get(event) ?? []]) listen(data as never)
  }

  link.start(rest, {
    message: (message) => feeds.get(message.conversationId)?.take(message),
    updated: (update) => {
      if (left.has(update.conversationId)) return
      emit('conversation_updated', update)
      feeds.get(update.conversationId)?.reaches(lastSeqOf(update))
    },
    typing: (conversationId) => {
      if (feeds.has(conversationId)) emit('typing', { conversationId })
    },
    presence: (conversationId, here) => {
      if (feeds.has(conversationId)) emit('presence', { conversationId, here })
    },
    resumed: (conversationId) => void feeds.get(conversationId)?.fill(),
    removed: (conversationId, error) => {
      feeds.get(conversationId)?.stop()
      feeds.delete(conversationId)
      emit('error', { ...error, conversationId })
    },
    error: (error) => emit('error', error),
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
      deliver: (message) => emit('new_message', { message }),
      failed: (error) => {
        emit('error', asError(error))
        // In case the link does not break and resume, one more try.
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
        if (closed || !(failure instanceof ChatFailure) || !failure.temporary) throw error
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
