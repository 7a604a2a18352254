/** What the parts of the gateway know of one another, so that no two import each other. */
import type { Refusal } from '../../_shared/refusal.ts'
import type { Caller } from '../../_shared/tokens.ts'
import type {
  ConversationUpdated,
  Message,
  MessageHidden,
  MessageRead,
  Notified,
  Outgoing,
} from '../protocol.ts'

/** A socket that was let in, as its account and the access check see it. */
export interface OpenSession {
  readonly credentials: { readonly caller?: Caller; sessionId: string; expires: number }
  readonly account?: FollowedAccount
  readonly conversations: ReadonlyMap<string, JoinedConversation>
  /** A message of a conversation of its account: sent if it has joined that one. */
  messageStored(message: Message): void
  conversationUpdated(update: ConversationUpdated): void
  messageRead(read: MessageRead): void
  notified(notified: Notified): void
  messageHidden(hidden: MessageHidden): void
  /** Ends when the key of its token does not count any more. */
  checkToken(): Promise<void>
  /** Its rights ended. */
  end(refusal: Refusal): void
  close(code: number, reason: string): void
}

/** An account with open sessions, as the access check sees it. */
export interface FollowedAccount {
  readonly topic: string
  /** Asks the database for the topic of now, and whether there is still a right to it. */
  checkTopic(): Promise<void>
  /** What the database needs to find the updates of so many seconds that were missed. */
  missedUpdatesQuery(seconds: number): MissedUpdatesQuery
  /** Follows the live channel of a conversation until it is told to leave it. */
  listen(
    listener: LiveListener,
    conversation: LiveConversation,
    options: { token: string; share: boolean },
  ): Live
  leave(listener: LiveListener, conversationId: string): void
  conversationUpdated(update: ConversationUpdated): void
}

export type MissedUpdatesQuery = { accountId?: string; seconds: number; openedAt: string }

/** What the database says to a good token; `openedAt` by its own clock. */
export type Opened = { realtimeTopic: string; openedAt: string }

/** A conversation that a session has joined, as the access check sees it. */
export interface JoinedConversation {
  readonly id: string
  /** Number of the last message that was sent. */
  readonly lastSeq: number
  /** The name of its live channel, as far as known. */
  readonly liveTopic: string
  /** There are messages up to this one: those that do not come are read in a moment. */
  reaches(seq: number): void
  /** Asks the database whether it may still be heard, and what is newest. */
  check(): Promise<void>
}

/** The session of a joined conversation. */
export interface ConversationOwner {
  readonly credentials: { readonly caller?: Caller }
  readonly account?: FollowedAccount
  send<Event extends keyof Outgoing>(event: Event, data: Outgoing[Event]): void
  /** Settled when the client has taken most of what it was sent. */
  drained(): Promise<void>
  /** It takes no part in the conversation any more. */
  removeFrom(conversationId: string, refusal: Refusal): void
}

/** A conversation and its live channel, as one of its sides finds them. */
export type LiveConversation = {
  conversationId: string
  identityId: string
  peerId: string
  liveTopic: string
}

/** Who hears what the other side of a conversation does. */
export interface LiveListener {
  typing(identityId: string): void
  presence(identityId: string, here: boolean): void
}

/** The live channel of a conversation, as those that have joined it use it. */
export interface Live {
  /** Goes on under this name, with a token that is good now. */
  follow(topic: string, token: string): void
  readonly topic: string
  typing(): void
}
