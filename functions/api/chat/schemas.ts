import { z } from '@hono/zod-openapi'
import { messageType } from '../../_shared/chat/message.ts'
import type { Message as MessageOnTheWire, MessageSummary } from '../../_shared/chat/protocol.ts'
import { schemaOf } from '../../_shared/input/schema-of.ts'
import { Count, orNull, Time } from '../http/route.ts'
import { Party } from '../organisations/schemas.ts'
import { everyStatus, Property } from '../properties/schemas.ts'

const hidden = z.boolean().optional().describe(
  'There and true: an administrator has hidden it from both sides, and nothing says what it was.',
)

export const Message = schemaOf<MessageOnTheWire>()(
  z
    .object({
      id: z.uuid(),
      seq: z.int().min(1).describe('1, 2, 3 … within the conversation, without a gap.'),
      conversationId: z.uuid(),
      senderIdentityId: z.uuid().describe('The identity that sent it.'),
      type: messageType,
      body: z.string().describe(
        'The text; of an image its caption; of a location "lat,lng"; of a property its id.',
      ),
      mediaUrl: z.url().nullable().describe('Of an image its address; else null.'),
      replyToId: z.uuid().nullable().describe('The message that it answers; null: none.'),
      replyToSeq: z.int().min(1).nullable().describe(
        'The `seq` of that message, by which its part of the history is read; null: none.',
      ),
      clientMessageId: z.string().describe('As its sender made it.'),
      hidden,
      createdAt: Time,
    })
    .openapi('Message', { description: 'A message; the same for both sides.' }),
)

const LastMessage = schemaOf<MessageSummary>()(z.object({
  id: z.uuid(),
  seq: z.int().min(1).describe('Its number in the conversation.'),
  type: messageType,
  preview: z.string().describe(
    'The beginning of its text, or its kind in words, with the title of a listing: of an answer in the language of ' +
      'Accept-Language, of an event in that of the account.',
  ),
  mine: z.boolean().describe('Whether this side sent it.'),
  hidden,
  createdAt: Time,
}))

const { id, titleAr, type, priceLabel } = Property.shape

const ConversationListing = z.union([
  z.object({
    id,
    titleAr,
    type,
    priceLabel,
    status: z.enum(everyStatus).describe('As it is now.'),
  }),
  z.object({
    id,
    status: z.literal('unavailable').describe('In place of the status of the listing.'),
    available: z.literal(false).describe('It cannot be shown now.'),
    titleAr: z.string().optional().describe(
      'Only where its owner closed, paused, archived or deleted it or it expired.',
    ),
  }),
]).openapi('ConversationListing', {
  description: 'The listing that a conversation is about, also where it cannot be shown now.',
})

export const Conversation = z
  .object({
    id: z.uuid(),
    liveTopic: z.string().describe(
      'Name of the private Realtime channel of presence and typing, where clients send. Opaque, ' +
        'and not for ever: take it from answers and events.',
    ),
    property: orNull(ConversationListing).describe('null: about no listing.'),
    peer: Party,
    lastMessage: LastMessage.nullable().describe('null: nothing has been written yet.'),
    unread: Count.describe('How many messages this side has not read.'),
    muted: z.boolean().describe('Whether its pushes are off.'),
    archived: z.boolean().describe(
      'Whether it is out of the list: until the next message, where it is muted as well until one of ' +
        'one’s own.',
    ),
    peerReadSeq: Count.nullable().describe(
      'Up to where the other side has read, as far as that was shown: 0 before anything was; null ' +
        'while one of the two lets nobody see what it has read.',
    ),
    cannotWriteReason: z.enum([
      'blocked',
      'awaiting_answer',
      'recipient_proven_only',
      'unavailable',
    ]).nullable().describe(
      'Why this side cannot write now: it has blocked the other; it waits for a first answer; the ' +
        'other takes messages of people with a proven phone or email alone; or the other cannot be ' +
        'written to. null: it can. Of changes on the other side no event tells.',
    ),
    updatedAt: Time.describe('When the last message came; lists are in this order.'),
    changedAt: Time.describe(
      'When this side of it last changed, also by reading, muting or archiving, or since the other ' +
        'side has read: of two states the later is newer.',
    ),
  })
  .openapi('Conversation', { description: 'A conversation, as one of its two sides sees it.' })
