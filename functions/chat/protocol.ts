/**
 * What clients and the chat gateway say to one another (contract, section 6). Frames are JSON text:
 * `{"event","data","ref"?}`. `ref` is the client's own; the answer to a frame carries it again.
 */

/** A message as history, answers and events show it. */
export type Message = {
  id: string
  /** Its place in the conversation: 1, 2, 3 … without a gap. */
  seq: number
  conversationId: string
  senderIdentityId: string
  type: MessageType
  body: string
  mediaUrl?: string | null
  replyToId?: string | null
  clientMessageId: string
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
export type MessageSummary = Pick<Message, 'id' | 'seq' | 'type' | 'createdAt'> & {
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
}

export type ChatError = {
  code: string
  /** In Arabic, or in English for a client that sent `Accept-Language: en`. */
  message: string
  messageEn?: string
  /** Seconds to wait before the next try. */
  retryAfter?: number
  fields?: { path: string; code: string; message: string }[]
  /** The conversation that the socket is out of, when it was not an answer. */
  conversationId?: string
  ref?: Ref
}

export type Ref = string | number

/** What a client sends, by event. */
export type Incoming = {
  auth: { accessToken: string }
  /** With `afterSeq` the messages after it come first; without it only what comes from now on. */
  join_conversation: { conversationId: string; afterSeq?: number }
  leave_conversation: { conversationId: string }
  send_message: NewMessage
  heartbeat: Record<string, never>
}

/** What the gateway sends, by event. */
export type Outgoing = {
  new_message: { message: Message }
  conversation_updated: ConversationUpdated
  error: ChatError
  ack: unknown
}

/** Data of the `ack` to each event. */
export type Acked = {
  auth: { expiresAt: string }
  join_conversation: { conversationId: string; lastSeq: number }
  leave_conversation: { conversationId: string }
  send_message: { message: Message }
  heartbeat: Record<string, never>
}

/** The subprotocol; a token comes beside it as `bearer.<token>`. */
export const subprotocol = 'chat'
export const tokenPrefix = 'bearer.'

/** Why a socket was closed. */
export const closeCodes = {
  stopping: 1001,
  binary: 1003,
  notText: 1007,
  refused: 1008,
  tooBig: 1009,
  tooOld: 1012,
  unavailable: 1013,
  tokenInQuery: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  tooMany: 4429,
} as const

/** Limits of one socket; a client that keeps them meets no refusal. */
export const limits = {
  /** A body of 4000 characters in any script fits. */
  frameBytes: 64 * 1024,
  /** Until a socket must have shown its token. */
  authSeconds: 10,
  /** Messages at once after a pause; GATEWAY_MESSAGES says how many a second. */
  messageBurst: 20,
  /** Frames of any kind, and how many at once after a pause. */
  framesPerSecond: 50,
  frameBurst: 200,
  /** Refusals for haste within a minute that end the socket. */
  offences: 3,
  /** Conversations that a socket may have joined. */
  conversations: 50,
  /** What may wait for a client that does not read. */
  bufferedBytes: 1024 * 1024,
} as const
