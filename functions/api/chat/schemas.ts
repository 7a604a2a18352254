/** What conversations and messages look like. */
import { z } from '@hono/zod-openapi'
import { messageTypes } from '../../_shared/chat-message.ts'
import { Time } from '../http/route.ts'
import { Party } from '../organisations/schemas.ts'

export const Message = z
  .object({
    id: z.uuid(),
    seq: z.int().openapi({ description: '1, 2, 3 … within the conversation, without a gap.' }),
    conversationId: z.uuid(),
    senderIdentityId: z.uuid(),
    type: z.enum(messageTypes),
    body: z.string().openapi({
      description:
        'The text; of an image its caption; of a location "lat,lng"; of a property its id.',
    }),
    mediaUrl: z.string().nullable(),
    replyToId: z.uuid().nullable(),
    clientMessageId: z.string(),
    createdAt: Time,
  })
  .openapi('Message')

export const Conversation = z
  .object({
    id: z.uuid(),
    liveTopic: z.string().openapi({
      description:
        'Name of the private Realtime channel of presence and typing, where clients send. Opaque, ' +
        'and not for ever: take it from answers and events.',
    }),
    property: z
      .object({
        id: z.uuid(),
        titleAr: z.string().nullable(),
        type: z.enum(['SALE', 'RENT', 'EXCHANGE']),
        priceLabel: z.string(),
        status: z.string(),
      })
      .nullable()
      .openapi({ description: 'null: about no listing, or one that is no longer visible.' }),
    peer: Party,
    lastMessage: z
      .object({
        id: z.uuid(),
        seq: z.int(),
        type: z.enum(messageTypes),
        preview: z.string(),
        mine: z.boolean(),
        createdAt: Time,
      })
      .nullable(),
    unread: z.int(),
    muted: z.boolean(),
    updatedAt: Time,
  })
  .openapi('Conversation')
