// Interfaces between the gateway's parts, so that no two import each other.
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

/** An admitted socket, as its account and the access check see it. */
export interface OpenSession {
  readonly credentials: { readonly caller?: Caller; sessionId: string; expires: number }
  readonly account?: FollowedAccount
  readonly conversations: ReadonlyMap<string, JoinedConversation>
  /** Sends a message if this socket has joined its conversation. */
  messageStored(message: Message): void
  conversationUpdated(update: ConversationUpdated): void
  messageRead(read: MessageRead): void
  notified(notified: Notified): void
  notificationsChanged(changed: NotificationsChanged): void
  messageHidden(hidden: MessageHidden): void
  /** Ends the session if the key of its token has been revoked. */
  checkToken(): Promise<void>
  end(refusal: Refusal): void
  close(code: number, reason: string): void
}

export interface FollowedAccount {
  readonly topic: string
  checkTopic(): Promise<void>
  missedUpdatesQuery(seconds: number): MissedUpdatesQuery
  /** Follows a conversation's live channel until the listener leaves. */
  listen(
    listener: LiveListener,
    conversation: LiveConversation,
    options: { token: string; share: boolean },
  ): Live
  leave(listener: LiveListener, conversationId: string): void
  /** Returns whether the update is news. */
  conversationUpdated(update: ConversationUpdated): boolean
}

export type MissedUpdatesQuery = { accountId?: string; seconds: number; openedAt: string }

/** The database's answer to a valid token; `openedAt` is by the database's clock. */
export type Opened = { realtimeTopic: string; openedAt: string }

export interface JoinedConversation {
  readonly id: string
  readonly lastSeq: number
  /** The last known name of its live channel. */
  readonly liveTopic: string
  reaches(seq: number): void
  /** Checks in the database whether the right remains and which message is the newest. */
  check(): Promise<void>
}

export interface ConversationOwner {
  readonly credentials: { readonly caller?: Caller }
  readonly account?: FollowedAccount
  send<Event extends keyof Outgoing>(event: Event, data: Outgoing[Event]): void
  drained(): Promise<void>
  removeFrom(conversationId: string, refusal: Refusal): void
}

/** A conversation and its live channel, as one side sees them. */
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
  /** Switches to this channel with a valid token. */
  follow(topic: string, token: string): void
  readonly topic: string
  typing(): void
}
