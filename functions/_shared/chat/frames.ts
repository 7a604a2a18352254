import { z } from '@hono/zod-openapi'
import { schemaOf, schemasOf } from '../input/schema-of.ts'
import { NewMessage } from './message.ts'
import type { Incoming, Ref } from './protocol.ts'

const ConversationId = z.uuid().toLowerCase()

export const frameData = schemasOf<Incoming>()({
  auth: z.strictObject({ accessToken: z.string().max(8192).describe('Of the session.') }).describe(
    'Shows who the socket is of, within 10 s; later it renews the token of the same session.',
  ),
  join_conversation: z.strictObject({
    conversationId: ConversationId,
    afterSeq: z.int().min(0).optional().describe(
      'Messages after this one come first; without it only what comes from now on.',
    ),
    sharePresence: z.boolean().optional().describe(
      'Unless this is false the other side sees that the conversation is open here.',
    ),
  }).describe('Follows a conversation.'),
  leave_conversation: z.strictObject({ conversationId: ConversationId }).describe(
    'Follows it no longer.',
  ),
  send_message: NewMessage.extend({ conversationId: ConversationId }).describe('Sends a message.'),
  send_typing: z.strictObject({ conversationId: ConversationId }).describe(
    'Something is being written in a joined conversation: passed on at most every 2 s.',
  ),
  heartbeat: z.strictObject({}).describe('Asks whether the gateway is there.'),
})

export const FrameRef = schemaOf<Ref>()(z.union([z.string().min(1).max(64), z.int()])).describe(
  'The client’s own name of the frame: the answer to it carries it again.',
)
