/**
 * Chat. It works the same over both transports, the chat gateway and Supabase Realtime:
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
 * It reconnects automatically, with a longer pause after each failure. The messages of a joined conversation
 * arrive exactly once and in order of `seq`, including messages that were sent while there was no connection.
 *
 * Messages are sent one after another. Each keeps its `clientMessageId` for all retries, until the server has
 * stored it or refused it for good. Unsent messages are kept in the storage and sent after the next start of
 * the app.
 *
 * When the service renames a Realtime channel, the chat joins the new one. While the app is visible, the chat
 * fetches missed events: every 25 s, and every 3 s without a connection. If Realtime missed an event, the
 * chat rejoins the channel.
 *
 * A chat ends with its session, or when the service closes it for good. Then `error` gives the reason, unsent
 * messages fail with its code, and nothing is sent or received until the app creates a new chat. After
 * `leave`, the app gets no events of the conversation, not even `conversation_updated`, until it joins again.
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
  /** The current state of any of the user's conversations, whether joined or not, including new ones. */
  conversation_updated: ConversationUpdated
  /** The other side has read a conversation. Missed events are not repeated; see `peerReadSeq`. */
  message_read: MessageRead
  /** A notification is new or counts another event; never for messages. Missed: `GET /notifications`. */
  notification: Notified
  /** Notifications were read or deleted on any device. Missed events: `GET /notifications/unread-count`. */
  notifications_changed: NotificationsChanged
  /** An administrator has hidden a message. The app must stop showing it. */
  message_hidden: MessageHidden
  typing: { conversationId: string }
  presence: { conversationId: string; here: boolean }
  /** A message was refused for good. It may have been written before the app was restarted. */
  refused: { message: NewMessage; error: ChatError }
  error: ChatError
}

export type Chat = {
  /** Follows a conversation. `afterSeq` is the `seq` of the newest message that the app has. */
  join(conversationId: string, options?: { afterSeq?: number }): Promise<void>
  leave(conversationId: string): void
  /**
   * Sends a message, with retries until the server has stored it or refused it for good, or the chat ends.
   * Returns the stored message or throws an ApiError.
   */
  send(
    message: Omit<NewMessage, 'clientMessageId'> & { clientMessageId?: string },
  ): Promise<Message>
  /** Returns the unsent messages, oldest first. */
  unsent(): Promise<NewMessage[]>
  /** Lets the other side of a joined conversation see that the user is typing. */
  typing(conversationId: string): void
  /** Listens for an event. Returns a function that stops listening. */
  on<Event extends keyof Events>(event: Event, listen: (data: Events[Event]) => void): () => void
  /** Ends the chat, as signing out does. Unsent messages are kept for the same account. */
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
        // Retries after a pause. Otherwise the feed would be filled only after the next reconnect.
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

  // A chat ends with its session, so that the next session receives none of its events.
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
