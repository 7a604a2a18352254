// The protocol of the chat gateway (contract, section 6). Frames are JSON text: `{"event","data","ref"?}`.
// The response to a frame has the same `ref`. This file contains only types, because the apps do not use zod.
// The schemas in frames.ts and api/chat fail to compile if they differ from these types.

import type { notificationKinds } from './notification-kinds.ts'

export type Message = {
  id: string
  /** The number of the message in its conversation: 1, 2, 3 … without gaps. */
  seq: number
  conversationId: string
  senderIdentityId: string
  type: MessageType
  body: string
  mediaUrl: string | null
  replyToId: string | null
  replyToSeq: number | null
  clientMessageId: string
  /** True if an administrator has hidden the message: `body` is then empty and `mediaUrl` null. */
  hidden?: boolean
  createdAt: string
}

export type MessageType = 'text' | 'image' | 'location' | 'property'

export type NewMessage = {
  conversationId: string
  /** The client creates this id and sends it with every retry, so that a message is stored only once. */
  clientMessageId: string
  type?: MessageType
  body?: string
  mediaId?: string
  replyToId?: string
}

export type MessageSummary = Pick<Message, 'id' | 'seq' | 'type' | 'hidden' | 'createdAt'> & {
  /** The beginning of the text, or the name of the message's type in the recipient's language. */
  preview: string
  mine: boolean
}

export type ConversationUpdated = {
  conversationId: string
  /** The account may have several identities. This one takes part in the conversation. */
  identityId?: string
  lastMessage: MessageSummary | null
  unread: number
  muted: boolean
  archived: boolean
  /**
   * The last `seq` that the other side has read. Null if either side hides read receipts or has blocked the
   * other.
   */
  peerReadSeq: number | null
  /** When this side's state last changed. If two states differ, the later one is current. */
  changedAt: string
  /** The Realtime channel for presence and typing. Only if this update was sent over Realtime. */
  liveTopic?: string
}

export type MessageRead = {
  conversationId: string
  identityId: string
  upToSeq: number
}

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
  /** The identity that the notification is for. Null if it concerns the account as a whole. */
  identityId: string | null
  notification: Notification
  unread: number
}

/** Sent when notifications were read or removed, on this device or another. */
export type NotificationsChanged = { unread: number }

/** An administrator has hidden this message; clients must stop showing it. */
export type MessageHidden = { conversationId: string; id: string; seq: number }

export type Typing = { conversationId: string; identityId: string }

export type Presence = { conversationId: string; identityId: string; here: boolean }

export type ChatError = {
  code: string
  /** In Arabic, or in English if the client sent `Accept-Language: en`. */
  message: string
  messageEn?: string
  /** Seconds to wait before retrying. */
  retryAfter?: number
  fields?: {
    path: string
    code: string
    min?: number
    max?: number
    format?: string
    message: string
  }[]
  /** The conversation that this socket has been removed from, if the error is not a response to a frame. */
  conversationId?: string
  [detail: string]: unknown
}

export type Ref = string | number

/** Frames that clients send: their data, by event. */
export type Incoming = {
  auth: { accessToken: string }
  /**
   * `afterSeq` requests the messages after this number. `sharePresence: false` hides this client's presence.
   */
  join_conversation: { conversationId: string; afterSeq?: number; sharePresence?: boolean }
  leave_conversation: { conversationId: string }
  send_message: NewMessage
  /** Only in a joined conversation. The gateway forwards it at most once every 2 s. */
  send_typing: { conversationId: string }
  heartbeat: Record<string, never>
}

/** Frames that the gateway sends: their data, by event. */
export type Outgoing = {
  new_message: { message: Message }
  conversation_updated: ConversationUpdated
  message_read: MessageRead
  notification: Notified
  notifications_changed: NotificationsChanged
  message_hidden: MessageHidden
  typing: Typing
  presence: Presence
  error: ChatError
  ack: unknown
}

/** The data of an `ack`, by the event that it acknowledges. */
export type Acked = {
  auth: { expiresAt: string }
  join_conversation: { conversationId: string; lastSeq: number }
  leave_conversation: { conversationId: string }
  send_message: { message: Message }
  send_typing: { conversationId: string }
  heartbeat: Record<string, never>
}
