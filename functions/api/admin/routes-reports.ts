/** Reports: what people tell the admins. Rules: sql/11_admin/2_rules_reports.sql. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { area, body, json, mine, problems, route, send } from '../http/route.ts'
import { Time } from '../properties/schemas.ts'

export const reportTargets = ['property', 'identity', 'message', 'review'] as const
export const reportReasons = [
  'spam',
  'fraud',
  'wrong_price',
  'not_available',
  'duplicate',
  'offensive',
  'impersonation',
  'illegal',
  'other',
] as const

const facts = {
  targetType: z.enum(reportTargets),
  targetId: z.uuid(),
  reason: z.enum(reportReasons),
}

const Report = z
  .object({
    id: z.uuid(),
    ...facts,
    note: z.string().nullable(),
    status: z.enum(['open', 'upheld', 'dismissed']),
    createdAt: Time,
  })
  .openapi('Report')

const add = route({
  ...mine,
  tags: ['reports'],
  operationId: 'add_report',
  method: 'post',
  path: '/',
  summary: 'Report a listing, advertiser, message or review to the admins',
  request: body(z.strictObject({ ...facts, note: z.string().max(1000).optional() })),
  responses: { 201: json(Report, 'Reported.'), ...problems(401, 403, 404, 409) },
})

export const reports = area()
  .openapi(add, async (c) => {
    return send(c, await call(c, 'add_report', c.req.valid('json')), 201)
  })
