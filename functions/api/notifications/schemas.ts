import { z } from '@hono/zod-openapi'
import { notificationKinds } from '../../_shared/chat/notification-kinds.ts'
import type { Notification as NotificationOnTheWire } from '../../_shared/chat/protocol.ts'
import { schemaOf } from '../../_shared/input/schema-of.ts'
import { Time } from '../http/route.ts'

export const Notification = schemaOf<NotificationOnTheWire>()(
  z.object({
    id: z.uuid(),
    identityId: z.uuid().nullable().describe(
      'The identity that it is about; null: the account itself.',
    ),
    kind: z.enum(notificationKinds).describe('What happened. New kinds may come.'),
    titleAr: z.string(),
    bodyAr: z.string().describe('One or two sentences in Arabic.'),
    titleEn: z.string(),
    bodyEn: z.string().describe('The same in English.'),
    data: z.object({
      route: z.string().describe('The screen to open, for entityId.'),
      entityId: z.uuid().nullable().describe(
        'The conversation, listing, invoice, identity, review or session that it is about.',
      ),
    }).describe('Where a tap on it leads.'),
    createdAt: Time.describe('Of the latest event that it summarizes.'),
    readAt: Time.nullable().describe('null: unread.'),
  }).openapi('Notification', { description: 'What the owner of an account is told.' }),
)
