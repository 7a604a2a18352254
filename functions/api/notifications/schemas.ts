/** What a notification looks like. */
import { z } from '@hono/zod-openapi'
import { Time } from '../http/route.ts'

const kinds = [
  'message_new',
  'lead_new',
  'favorite_price_drop',
  'favorite_unavailable',
  'listing_expiring',
  'listing_approved',
  'listing_rejected',
  'invoice_paid',
  'invoice_failed',
  'refund',
  'plan_expiring',
  'identity_verified',
  'identity_rejected',
  'review_new',
  'security_login',
  'security_password',
  'system',
] as const

export const Notification = z.object({
  id: z.uuid(),
  identityId: z.uuid().nullable().openapi({
    description: 'The identity that it is about; null: the account itself.',
  }),
  kind: z.enum(kinds),
  titleAr: z.string(),
  bodyAr: z.string(),
  titleEn: z.string(),
  bodyEn: z.string(),
  data: z.object({
    route: z.string().openapi({ description: 'The screen to open, for entityId.' }),
    entityId: z.uuid().nullable(),
  }),
  createdAt: Time.openapi({ description: 'Of the latest event that it summarizes.' }),
  readAt: Time.nullable(),
}).openapi('Notification')
