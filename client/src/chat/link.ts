/** What a transport of the chat client is, whichever it is. */
import type {
  ChatError,
  ConversationUpdated,
  Message,
  MessageHidden,
  MessageRead,
  NewMessage,
  Notified,
} from '../../../functions/chat/protocol.ts'
import type { Client } from '../client.ts'
import { ApiError, type ErrorCode } from '../errors.ts'

/** A transport; see gateway.ts and realtime.ts. */
export type Link = {
  start(client: Client, listener: LinkListener): void
  /** Settled when everything that is sent from then on will be heard. */
  join(conversationId: string): Promise<void>
  leave(conversationId: string): void
  send(message: NewMessage): Promise<Message>
  typing(conversationId: string): void
  close(): void
}

/** What a transport hears. */
export type LinkListener = {
  message(message: Message): void
  updated(update: ConversationUpdated): void
  read(read: MessageRead): void
  notified(notified: Notified): void
  hidden(hidden: MessageHidden): void
  typing(conversationId: string): void
  presence(conversationId: string, here: boolean): void
  /** The conversation is heard again after a break. */
  resumed(conversationId: string): void
  /** There is no right to hear it any more. */
  removed(conversationId: string, error: ChatError): void
  error(error: ChatError): void
}

/** Chat tries again by itself, in its own time. */
export const once = { retries: 0 }

export async function tokenOf(client: Client): Promise<string> {
  const token = await client.auth.accessToken()
  if (token) return token
  throw new ApiError({ code: 'token_missing', message: 'Nobody is signed in.' })
}

/** An error of a frame as the API's own. */
export const asApiError = ({ code, ...rest }: ChatError) =>
  new ApiError({ code: code as ErrorCode, ...rest })

/** Anything thrown as an event shows it. */
export const asChatError = (error: unknown): ChatError =>
  error instanceof ApiError
    ? { code: error.code, message: error.message }
    : { code: 'internal', message: String((error as Error).message) }
