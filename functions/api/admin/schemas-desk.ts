import { z } from '@hono/zod-openapi'
import { Invoice } from '../billing/schemas.ts'
import { orNull } from '../http/route.ts'
import { everyStatus, Property } from '../properties/schemas.ts'
import { AdminUserPage, AuditEntry, claimedBy, ModerationItem, Report } from './schemas.ts'
import { Note } from './schemas-notes.ts'

export const Claim = z.object({
  id: z.uuid().describe('Of the item.'),
  waits: z.boolean().describe('Whether it still awaits a decision.'),
  claimedBy,
  lastDecision: orNull(AuditEntry).describe(
    'What was last decided about it, or of a report about the same; null: nothing yet.',
  ),
  item: orNull(ModerationItem).describe('It, as it stands now; null: it does not wait.'),
}).openapi('Claim', { description: 'Who looks at an item of the moderation list.' })

const { id, refNo, type, kind, titleAr, price, createdAt, publishedAt } = Property.shape

export const UserHistory = z.object({
  ...AdminUserPage.shape,
  newestListings: z.array(z.object({
    id,
    refNo,
    identityId: z.uuid().describe('Whose it is.'),
    type,
    kind,
    titleAr,
    price,
    status: z.enum(everyStatus).describe('Where it stands in its life.'),
    statusReason: z.string().nullable().describe('Why it was rejected or suspended; else null.'),
    createdAt,
    publishedAt,
  })).describe('Also deleted ones, as long as they are kept.'),
  reports: z.object({
    made: z.array(Report).describe('By the account.'),
    about: z.array(Report).describe('About what is its own.'),
  }).describe('Open and decided.'),
  invoices: z.array(Invoice).describe('With their payments and what was refunded.'),
  audit: z.array(AuditEntry).describe(
    'What administrators did to it, its identities and listings, and decided of reports about it.',
  ),
  notes: z.array(Note).describe('What administrators noted about it and what is its own.'),
}).openapi('UserHistory', {
  description: 'A person on one page: the newest 50 of each list, newest first.',
})
