// The chat gateway's protocol (contract, section 6). Frames are JSON text: `{"event","data","ref"?}`. The
// answer to a frame repeats its `ref`. Only types are here, because apps have no zod; the schemas in
// frames.ts and api/chat do not compile unless they match.

import type { notificationKinds } from './notification-kinds.ts'

export type Message = {
  id: string
  /** The number of the message in its conversation: 1, 2, 3 … without a gap. */
  seq: number
  conversationId: string
  senderIdentityId: string
  type: MessageType
  body: string
  mediaUrl: string | null
  replyToId: string | null
  replyToSeq: number | null
  clientMessageId: string
  /** True once an administrator has hidden the message: `body` is then empty and `mediaUrl` null. */
  hidden?: boolean
  createdAt: string
}

export type MessageType = 'text' | 'image' | 'location' | 'property'

export type NewMessage = {
  conversationId: string
  /** The client makes this id and repeats it with every try, so that a message is stored once. */
  clientMessageId: string
  type?: MessageType
  body?: string
  mediaId?: string
  replyToId?: string
}

export type MessageSummary = Pick<Message, 'id' | 'seq' | 'type' | 'hidden' | 'createdAt'> & {
  /** The beginning of the text, or the name of the message's type in the reader's language. */
  preview: string
  mine: boolean
}

export type ConversationUpdated = {
  conversationId: string
  /** The account's identity that takes part in the conversation; an account may have several. */
  identityId?: string
  lastMessage: MessageSummary | null
  unread: number
  muted: boolean
  archived: boolean
  /** The `seq` up to which the other side has read; null if either side hides that or blocks the other. */
  peerReadSeq: number | null
  /** When this side's state last changed. Of two states, the one with the later time is the newer. */
  changedAt: string
  /** The Realtime channel for presence and typing, if this update came over Realtime. */
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
  /** The identity that the notification is for; null if it concerns the account itself. */
  identityId: string | null
  notification: Notification
  unread: number
}

/** Unread notifications were read or removed, on this device or another. */
export type NotificationsChanged = { unread: number }

/** An administrator has hidden this message, so clients must stop showing it. */
export type MessageHidden = { conversationId: string; id: string; seq: number }

export type Typing = { conversationId: string; identityId: string }

export type Presence = { conversationId: string; identityId: string; here: boolean }

export type ChatError = {
  code: string
  /** In Arabic, or in English for a client that sent `Accept-Language: en`. */
  message: string
  messageEn?: string
  /** Seconds to wait before the next try. */
  retryAfter?: number
  fields?: {
    path: string
    code: string
    min?: number
    max?: number
    format?: string
    message: string
  }[]
  /** The conversation that the socket has left, if this error does not answer a frame. */
  conversationId?: string
  [detail: string]: unknown
}

export type Ref = string | number

/** Data of the frames that a client sends, by event. */
export type Incoming = {
  auth: { accessToken: string }
  /** `afterSeq` asks for the messages after it. `sharePresence: false` hides this client's presence. */
  join_conversation: { conversationId: string; afterSeq?: number; sharePresence?: boolean }
  leave_conversation: { conversationId: string }
  send_message: NewMessage
  /** Requires a joined conversation. The gateway passes it on at most once in 2 s. */
  send_typing: { conversationId: string }
  heartbeat: Record<string, never>
}

/** Data of the frames that the gateway sends, by event. */
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

/** Data of the `ack` to each event. */
export type Acked = {
  auth: { expiresAt: string }
  join_conversation: { conversationId: string; lastSeq: number }
  leave_conversation: { conversationId: string }
  send_message: { message: Message }
  send_typing: { conversationId: string }
  heartbeat: Record<string, never>
}
