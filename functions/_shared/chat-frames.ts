/** What a client sends over a socket of the chat gateway, by event. */
import { z } from '@hono/zod-openapi'
import { NewMessage } from './chat-message.ts'
import type { Incoming, Ref } from './chat-protocol.ts'
import { schemaOf, schemasOf } from './schema-of.ts'

const ConversationId = z.uuid().toLowerCase()

export const frameData = schemasOf<Incoming>()({
  auth: z.strictObject({ accessToken: z.string().max(8192) }),
  join_conversation: z.strictObject({
    conversationId: ConversationId,
    afterSeq: z.int().min(0).optional(),
  }),
  leave_conversation: z.strictObject({ conversationId: ConversationId }),
  send_message: NewMessage.extend({ conversationId: ConversationId }),
  heartbeat: z.strictObject({}),
})

/** The client's own name of a frame: the answer to it carries it again. */
export const FrameRef = schemaOf<Ref>()(z.union([z.string().min(1).max(64), z.int()]))
