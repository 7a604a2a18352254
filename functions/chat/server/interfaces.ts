// Interfaces between the parts of the gateway, which avoid circular imports.
import type { Caller } from '../../_shared/caller/context.ts'
import type { Refusal } from '../../_shared/errors/refusal.ts'
import type {
  ConversationUpdated,
  Message,
  MessageHidden,
  MessageRead,
  NotificationsChanged,
  Notified,
  Outgoing,
} from '../protocol.ts'

/** An admitted socket, as seen by its account and by the access check. */
export interface OpenSession {
  readonly credentials: { readonly caller?: Caller; sessionId: string; expires: number }
  readonly account?: FollowedAccount
  readonly conversations: ReadonlyMap<string, JoinedConversation>
  /** Sends the message if this socket has joined its conversation. */
  messageStored(message: Message): void
  conversationUpdated(update: ConversationUpdated): void
  messageRead(read: MessageRead): void
  notified(notified: Notified): void
  notificationsChanged(changed: NotificationsChanged): void
  messageHidden(hidden: MessageHidden): void
  /** Ends the session if the key that signed its token has been revoked. */
  checkToken(): Promise<void>
  end(refusal: Refusal): void
  close(code: number, reason: string): void
}

export interface FollowedAccount {
  readonly topic: string
  checkTopic(): Promise<void>
  missedUpdatesQuery(seconds: number): MissedUpdatesQuery
  /** Adds a listener to the live channel of a conversation, until the listener leaves. */
  listen(
    listener: LiveListener,
    conversation: LiveConversation,
    options: { token: string; share: boolean },
  ): Live
  leave(listener: LiveListener, conversationId: string): void
  /** Returns true if the update is newer than the known state. */
  conversationUpdated(update: ConversationUpdated): boolean
}

export type MissedUpdatesQuery = { accountId?: string; seconds: number; openedAt: string }

/** The database's response when a socket is admitted. `openedAt` is the database's time. */
export type Opened = { realtimeTopic: string; openedAt: string }

export interface JoinedConversation {
  readonly id: string
  readonly lastSeq: number
  /** The last known topic of its live channel. */
  readonly liveTopic: string
  reaches(seq: number): void
  /** Checks in the database whether the account still takes part, and which message is the latest. */
  check(): Promise<void>
}

export interface ConversationOwner {
  readonly credentials: { readonly caller?: Caller }
  readonly account?: FollowedAccount
  send<Event extends keyof Outgoing>(event: Event, data: Outgoing[Event]): void
  drained(): Promise<void>
  removeFrom(conversationId: string, refusal: Refusal): void
}

/** A conversation and its live channel, from the point of view of one participant. */
export type LiveConversation = {
  conversationId: string
  identityId: string
  peerId: string
  liveTopic: string
}

export interface LiveListener {
  typing(identityId: string): void
  presence(identityId: string, here: boolean): void
}

export interface Live {
  /** Switches to the channel with this topic, using a valid token. */
  follow(topic: string, token: string): void
  readonly topic: string
  typing(): void
}
