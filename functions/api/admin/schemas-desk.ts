import { z } from '@hono/zod-openapi'
import { orNull } from '../http/route.ts'
import { AuditEntry, claimedBy } from './schemas.ts'

export const Claim = z.object({
  id: z.uuid().describe('Of the item.'),
  waits: z.boolean().describe('Whether it still awaits a decision.'),
  claimedBy,
  lastDecision: orNull(AuditEntry).describe(
    'What was last decided about it, or of a report about the same; null: nothing yet.',
  ),
}).openapi('Claim', { description: 'Who looks at an item of the moderation list.' })
