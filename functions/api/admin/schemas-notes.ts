import { z } from '@hono/zod-openapi'
import { typed } from '../../_shared/input/texts.ts'
import { User } from '../accounts/schemas.ts'
import { Cursor, Limit, sortBy, Time } from '../http/route.ts'

export const Administrator = z.object({ id: z.uuid(), fullName: User.shape.fullName })

const NoteTarget = z.strictObject({
  targetType: z.enum(['account', 'identity', 'property', 'report', 'duplicate', 'payout'])
    .describe('What kind of thing it is about.'),
  targetId: z.uuid().describe('The id of that thing, as the lists of administrators have it.'),
})

export const NewNote = NoteTarget.extend({
  text: typed(1000).describe('Read by administrators alone.'),
})

export const Note = z.object({
  id: z.uuid(),
  ...NoteTarget.shape,
  accountId: z.uuid().describe('The account that it is about.'),
  by: Administrator.describe('Who wrote it.'),
  text: z.string().describe('Read by administrators alone.'),
  createdAt: Time,
}).openapi('Note', { description: 'What an administrator noted for the others.' })

const { targetType, targetId } = NoteTarget.shape

export const NoteQuery = z.strictObject({
  targetType: targetType.optional().describe('Notes about this kind of thing.'),
  targetId: targetId.optional().describe('Notes about this thing.'),
  accountId: z.uuid().optional().describe('Notes about this account and all that is its own.'),
  sort: sortBy().default('newest').describe('The order of the page.'),
  cursor: Cursor.optional(),
  limit: Limit,
})
