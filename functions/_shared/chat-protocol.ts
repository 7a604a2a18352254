/**
 * What clients and the chat gateway say to one another (contract, section 6). Frames are JSON text:
 * `{"event","data","ref"?}`. `ref` is the client's own; the answer to a frame carries it again.
 *
 * Types alone, because apps have no zod; the schemas of the same things are in chat-frames.ts and
 * api/chat, and do not compile unless they are the same.
 */

import type { notificationKinds } from './notification-kinds.ts'

/** A message as history, answers and events show it. */
export type Message = {
  id: string
  /** Its number in the conversation: 1, 2, 3 … without a gap. */
  seq: number
  conversationId: string
  senderIdentityId: string
  type: MessageType
  body: string
  mediaUrl: string | null
  replyToId: string | null
  clientMessageId: string
  /** An administrator has hidden it: `body` is empty, `mediaUrl` null. */
  hidden?: boolean
  createdAt: string
}

export type MessageType = 'text' | 'image' | 'location' | 'property'

/** What a sender says; the rest of a message is the server's. */
export type NewMessage = {
  conversationId: string
  /** Made by the client, the same for every try: a message is stored once. */
  clientMessageId: string
  type?: MessageType
  body?: string
  mediaId?: string
  replyToId?: string
}

/** A message as a list of conversations shows it. */
export type MessageSummary = Pick<Message, 'id' | 'seq' | 'type' | 'hidden' | 'createdAt'> & {
  /** The beginning of its text, or its kind in Arabic. */
  preview: string
  mine: boolean
}

export type ConversationUpdated = {
  conversationId: string
  /** Whose conversation: an account may have several identities. */
  identityId?: string
  lastMessage: MessageSummary | null
  unread: number
  muted: boolean
  archived: boolean
  /** Up to where the other side has read, as far as that was shown; null: one of the two shows it to nobody. */
  peerReadSeq: number | null
  /** When this side of it last changed: of two states the later is newer. */
  changedAt: string
  /** Name of the Realtime channel of presence and typing, where it came over Realtime. */
  liveTopic?: string
}

/** The other side has read a conversation. */
export type MessageRead = {
  conversationId: string
  /** Whose conversation: an account may have several identities. */
  identityId: string
  /** The last message that was read. */
  upToSeq: number
}

/** What the owner of an account is told, as the list has it. */
export type Notification = {
  id: string
  identityId: string | null
  kind: typeof notificationKinds[number]
  titleAr: string
  bodyAr: string
  titleEn: string
  bodyEn: string
  data: { route: string; entityId: string | null }
  createdAt: string
  readAt: string | null
}

export type Notified = {
  /** Which identity of the account it is about; null: the account itself. */
  identityId: string | null
  notification: Notification
  /** How many notifications are unread now. */
  unread: number
}

/** A message that an administrator has hidden: nothing of it is to be shown any more. */
export type MessageHidden = { conversationId: string; id: string; seq: number }

/** The other side of a conversation is writing. */
export type Typing = { conversationId: string; identityId: string }

/** Whether the other side has the conversation open. */
export type Presence = { conversationId: string; identityId: string; here: boolean }

export type ChatError = {
  code: string
  /** In Arabic, or in English for a client that sent `Accept-Language: en`. */
  message: string
  messageEn?: string
  /** Seconds to wait before the next try. */
  retryAfter?: number
  fields?: { path: string; code: string; max?: number; message: string }[]
  /** The conversation that the socket is out of, when it was not an answer. */
  conversationId?: string
  /** Details that some codes add. */
  [detail: string]: unknown
}

export type Ref = string | number

/** What a client sends, by event. */
export type Incoming = {
  auth: { accessToken: string }
  /**
   * With `afterSeq` the messages after it come first; without it only what comes from now on. Unless
   * `sharePresence` is false the other side sees that one is there.
   */
  join_conversation: { conversationId: string; afterSeq?: number; sharePresence?: boolean }
  leave_conversation: { conversationId: string }
  send_message: NewMessage
  /** Of a joined conversation; more often than every 2 s it is not passed on. */
  send_typing: { conversationId: string }
  heartbeat: Record<string, never>
}

/** What the gateway sends, by event. */
export type Outgoing = {
  new_message: { message: Message }
  conversation_updated: ConversationUpdated
  message_read: MessageRead
  notification: Notified
  message_hidden: MessageHidden
  typing: Typing
  presence: Presence
  error: ChatError
  ack: unknown
}

/** Data of the `ack` to each event. */
export type Acked = {
  auth: { expiresAt: string }
  join_conversation: { conversationId: string; lastSeq: number }
  leave_conversation: { conversationId: string }
  send_message: { message: Message }
  send_typing: { conversationId: string }
  heartbeat: Record<string, never>
}
