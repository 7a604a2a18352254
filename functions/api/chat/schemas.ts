/** What conversations and messages look like, and what a sender says. */
import { z } from '@hono/zod-openapi'
import { Party } from '../organisations/schemas.ts'

const time = z.iso.datetime({ offset: true })

export const messageTypes = ['text', 'image', 'location', 'property'] as const

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
    createdAt: time,
  })
  .openapi('Message')

/** What a sender says; the rest of a message is the server's. */
export const NewMessage = z.strictObject({
  clientMessageId: z.string().regex(/^[\x21-\x7e]{1,64}$/).openapi({
    example: 'b1e0b3a2-5c1f-4f0e-9d1c-0f4f5a6b7c8d',
    description: 'Made by the client, the same for every try: a message is stored once.',
  }),
  type: z.enum(messageTypes).default('text'),
  body: z.string().max(20_000, { error: 'message_too_long' }).optional().openapi({
    description: 'At most 4000 characters.',
  }),
  mediaId: z.uuid().optional().openapi({ description: 'An uploaded picture, for image.' }),
  replyToId: z.uuid().optional().openapi({ description: 'A message of the same conversation.' }),
})

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
      .openapi({ description: 'null: about none, or one that cannot be seen any more.' }),
    peer: Party,
    lastMessage: z
      .object({
        id: z.uuid(),
        seq: z.int(),
        type: z.enum(messageTypes),
        preview: z.string(),
        mine: z.boolean(),
        createdAt: time,
      })
      .nullable(),
    unread: z.int(),
    muted: z.boolean(),
    updatedAt: time,
  })
  .openapi('Conversation')
