import { z } from '@hono/zod-openapi'
import { normalized } from '../input/texts.ts'

export const messageType = z.enum(['text', 'image', 'location', 'property']).describe(
  'What `body` holds.',
)

/** The database checks the length after trimming. */
export const MessageText = normalized(4000, 'NFC', { tooLong: 'message_too_long' })

export const NewMessage = z.strictObject({
  clientMessageId: z.string().min(1).max(64).regex(/^[\x21-\x7e]+$/).openapi({
    example: 'b1e0b3a2-5c1f-4f0e-9d1c-0f4f5a6b7c8d',
    description: 'Made by the client, the same for every try: a message is stored once.',
  }),
  type: messageType.default('text'),
  body: MessageText.optional().describe(
    'The text; of an image its caption, of a location "lat,lng", of a property its id.',
  ),
  mediaId: z.uuid().optional().describe('An uploaded picture, for image.'),
  replyToId: z.uuid().optional().describe('A message of the same conversation.'),
})
