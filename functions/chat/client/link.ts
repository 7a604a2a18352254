/** What a transport of the chat client is, whichever it is. */
import type { ChatError, ConversationUpdated, Message, NewMessage } from '../protocol.ts'
import type { Api } from './api.ts'

/** A transport; see gateway.ts and realtime.ts. */
export type Link = {
  start(api: Api, listener: LinkListener): void
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
  typing(conversationId: string): void
  presence(conversationId: string, here: boolean): void
  /** The conversation is heard again after a break. */
  resumed(conversationId: string): void
  /** There is no right to hear it any more. */
  removed(conversationId: string, error: ChatError): void
  error(error: ChatError): void
}
