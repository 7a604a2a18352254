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
import { ApiError, type ErrorCode } from '../errors.ts'

/** A transport; see gateway.ts and realtime.ts. */
export type Link = {
  start(client: Client, listener: LinkListener): void
  /** Resolves once all further events of the conversation are received. */
  join(conversationId: string): Promise<void>
  leave(conversationId: string): void
  send(message: NewMessage): Promise<Message>
  typing(conversationId: string): void
  close(): void
}

/** Receives a transport's events. */
export type LinkListener = {
  message(message: Message): void
  updated(update: ConversationUpdated): void
  read(read: MessageRead): void
  notified(notified: Notified): void
  notificationsChanged(changed: NotificationsChanged): void
  hidden(hidden: MessageHidden): void
  typing(conversationId: string): void
  presence(conversationId: string, here: boolean): void
  /** After an interruption, the events of the conversation are received again. */
  resumed(conversationId: string): void
  /** The user may no longer receive the events of the conversation. */
  removed(conversationId: string, error: ChatError): void
  error(error: ChatError): void
  /** The link has ended for good, because a retry would be refused too. */
  ended(error: ApiError): void
}

/** Turns off the retries of the HTTP client, because chat has its own. */
export const once = { retries: 0 }

export async function tokenOf(client: Client): Promise<string> {
  const token = await client.auth.accessToken()
  if (token) return token
  throw new ApiError({ code: 'token_missing', message: 'Nobody is signed in.' })
}

export const asApiError = ({ code, ...rest }: ChatError) =>
  new ApiError({ code: code as ErrorCode, ...rest })

export const asChatError = (error: unknown): ChatError =>
  error instanceof ApiError
    ? { code: error.code, message: error.message }
    : { code: 'internal', message: String((error as Error).message) }
