/** Reports of listings, advertisers, messages and reviews to the admins. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { area, body, json, mine, problems, route, send } from '../http/route.ts'
import { Report, ReportFields } from './schemas.ts'

const add = route({
  ...mine,
  tags: ['reports'],
  operationId: 'add_report',
  method: 'post',
  path: '/',
  summary: 'Report a listing, advertiser, message or review to the admins',
  request: body(ReportFields.extend({ note: z.string().max(1000).optional() })),
  responses: { 201: json(Report, 'Reported.'), ...problems(401, 403, 404, 409) },
})

export const reports = area()
  .openapi(add, async (c) => {
    return send(c, await call(c, 'add_report', c.req.valid('json')), 201)
  })
