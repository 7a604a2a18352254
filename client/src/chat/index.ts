/**
 * Chat. It works in the same way over either transport, the chat gateway or Supabase Realtime:
 *
 * ```ts
 * import { createChat, realtime } from 'kuwait-property-client/chat'
 *
 * const chat = createChat(client)
 * // or, recommended on hosted projects, with a client of supabase-js:
 * // const chat = createChat(client, { link: realtime(supabase) })
 * chat.on('new_message', ({ message }) => show(message))
 * chat.on('conversation_updated', ({ conversationId, unread }) => badge(conversationId, unread))
 * chat.on('error', ({ code, message }) => console.warn(code, message))
 *
 * await chat.join(conversationId, { afterSeq: 41 }) // 41: the newest message on the screen
 * const message = await chat.send({ conversationId, type: 'text', body: 'مرحباً' })
 * chat.on('typing', ({ conversationId }) => showDots(conversationId))
 * chat.on('presence', ({ conversationId, here }) => showDot(conversationId, here))
 * chat.typing(conversationId) // on every keystroke
 * chat.leave(conversationId)
 * chat.close()
 * ```
 *
 * It reconnects by itself, more slowly after each failure. A joined conversation's messages arrive once
 * each and in order of `seq`, including those sent while there was no connection. Messages are sent one
 * after another, each under one `clientMessageId` until the server has stored it or refused it for good;
 * waiting ones are stored and sent after the app's next start. When the service renames a Realtime
 * channel, the chat joins the new one. While the app is visible, the chat fetches events that Realtime did
 * not deliver every 25 s and then rejoins the channel; without a connection it fetches them every 3 s. A
 * chat ends with its session, and when the service closes it for good: `error` then says why, unsent
 * messages fail with that code, and nothing is sent or received until the app makes a new chat. After
 * `leave` no event of that conversation arrives, not even `conversation_updated`, until it is joined again.
 */
import { lastSeqOf } from '../../../functions/chat/conversation-states.ts'
import { MessageFeed } from '../../../functions/chat/message-feed.ts'
import type {
  ChatError,
  ConversationUpdated,
  Message,
  MessageHidden,
  MessageRead,
  NewMessage,
  NotificationsChanged,
  Notified,
} from '../../../functions/chat/protocol.ts'
import type { Client } from '../client.ts'
import { ApiError, connectionError } from '../errors.ts'
import { newId } from '../id.ts'
import { type Session, sessionOf } from '../session.ts'
import { wait } from '../wait.ts'
import { gateway } from './gateway.ts'
import { asChatError, type Link, once } from './link.ts'
import { Outbox } from './outbox.ts'

export { gateway } from './gateway.ts'
export { realtime } from './realtime.ts'
export type { Supabase } from './channel.ts'
export type { Link, LinkListener } from './link.ts'
export type * from '../../../functions/chat/protocol.ts'

/** The events that an app can listen for. */
export type Events = {
  new_message: { message: Message }
  /** The current state of a conversation, joined or not, or of a new one. */
  conversation_updated: ConversationUpdated
  /** The other side has read a conversation. A missed event is not repeated; see `peerReadSeq`. */
  message_read: MessageRead
  /** A notification is new or has grown. Messages have none. Missed ones are at `GET /notifications`. */
  notification: Notified
  /** Notifications were read or are gone, on whatever device. Missed ones: `GET /notifications/unread-count`. */
  notifications_changed: NotificationsChanged
  /** An administrator has hidden a message, so stop showing it. */
  message_hidden: MessageHidden
  typing: { conversationId: string }
  presence: { conversationId: string; here: boolean }
  /** A message was refused for good; it may date from before the app's start. */
  refused: { message: NewMessage; error: ChatError }
  error: ChatError
}

export type Chat = {
  /** Follows a conversation. `afterSeq` is the `seq` of the newest message that the app has. */
  join(conversationId: string, options?: { afterSeq?: number }): Promise<void>
  leave(conversationId: string): void
  /**
   * Retries until the server has stored the message or refused it for good, or until the chat ends.
   * Returns the stored message or throws an ApiError.
   */
  send(
    message: Omit<NewMessage, 'clientMessageId'> & { clientMessageId?: string },
  ): Promise<Message>
  /** Returns the unsent messages, oldest first. */
  unsent(): Promise<NewMessage[]>
  /** Shows the other side of a joined conversation that the user is typing. */
  typing(conversationId: string): void
  /** Listens for an event. Returns a function that stops listening. */
  on<Event extends keyof Events>(event: Event, listen: (data: Events[Event]) => void): () => void
  /** Ends the chat, as the end of its session does. Unsent messages stay stored for the same account. */
  close(): void
}

export type ChatOptions = {
  /** The transport: `gateway()`, the default, or `realtime(supabase)`. */
  link?: Link
}

export function createChat(client: Client, { link = gateway() }: ChatOptions = {}): Chat {
  const listeners = new Map<keyof Events, Set<(data: never) => void>>()
  const feeds = new Map<string, MessageFeed>()
  const left = new Set<string>()
  let ended: ApiError | undefined

  function emit<Event extends keyof Events>(event: Event, data: Events[Event]) {
    for (const listen of [...listeners.get(event) ?? []]) listen(data as never)
  }

  link.start(client, {
    message: (message) => feeds.get(message.conversationId)?.take(message),
    updated: (update) => {
      if (left.has(update.conversationId)) return
      emit('conversation_updated', update)
      feeds.get(update.conversationId)?.reaches(lastSeqOf(update))
    },
    read: (read) => {
      if (!left.has(read.conversationId)) emit('message_read', read)
    },
    notified: (notified) => emit('notification', notified),
    notificationsChanged: (changed) => emit('notifications_changed', changed),
    hidden: (hidden) => {
      if (!left.has(hidden.conversationId)) emit('message_hidden', hidden)
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
    ended: (failure) => {
      end(failure)
      emit('error', asChatError(failure))
    },
  })

  const history = (id: string, query: { limit: number; afterSeq?: number }) =>
    client.get('/conversations/{id}/messages', { ...once, path: { id }, query })

  async function join(given: string, { afterSeq }: { afterSeq?: number } = {}) {
    const conversationId = given.toLowerCase()
    if (ended) throw ended
    left.delete(conversationId)
    if (feeds.has(conversationId)) return
    const after = afterSeq ?? (await history(conversationId, { limit: 1 })).items.at(-1)?.seq ?? 0
    const feed = new MessageFeed({
      after,
      history: (seq) => history(conversationId, { afterSeq: seq, limit: 50 }),
      deliver: (message) => emit('new_message', { message }),
      failed: (error) => {
        emit('error', asChatError(error))
        // Retries after a pause. Otherwise only a link that breaks and resumes would fill the feed.
        wait(2000).then(() => feed.fill())
      },
    })
    feeds.set(conversationId, feed)
    try {
      await link.join(conversationId)
      if (ended) throw ended
    } catch (error) {
      feeds.delete(conversationId)
      feed.stop()
      throw ended ?? error
    }
    await feed.fill()
  }

  async function deliver(message: NewMessage): Promise<Message> {
    for (let tries = 0;; tries++) {
      try {
        return await link.send(message)
      } catch (error) {
        if (ended || !(error instanceof ApiError) || !error.temporary) throw ended ?? error
        const { retryAfter } = error
        await wait(retryAfter ? retryAfter * 1000 : Math.min(5000, 200 * 2 ** tries))
        if (ended) throw ended
      }
    }
  }

  const outbox = new Outbox({
    client,
    deliver,
    refused: (message, error) => emit('refused', { message, error: asChatError(error) }),
  })

  const close = () => end(connectionError('closed'))

  function end(failure: ApiError) {
    if (ended) return
    ended = failure
    stopListening()
    outbox.close(failure)
    feeds.forEach((feed) => feed.stop())
    feeds.clear()
    link.close()
  }

  // A chat ends with its session, so that none of its events reach the next session.
  let own: string | undefined
  function follow(session: Session | undefined) {
    const now = session && sessionOf(session.accessToken)
    own ??= now
    if (!now || now !== own) close()
  }
  const stopListening = client.auth.onChange(follow)
  void client.auth.session().then((session) => session && follow(session))

  return {
    join,
    leave(given) {
      const conversationId = given.toLowerCase()
      feeds.get(conversationId)?.stop()
      if (feeds.delete(conversationId)) left.add(conversationId)
      link.leave(conversationId)
    },
    send: (message) => outbox.send({ clientMessageId: newId(), ...message }),
    unsent: () => outbox.unsent(),
    typing: (conversationId) => link.typing(conversationId.toLowerCase()),
    on(event, listen) {
      const set = listeners.get(event) ?? new Set()
      listeners.set(event, set.add(listen))
      return () => set.delete(listen)
    },
    close,
  }
}
