import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { typed } from '../../_shared/input/texts.ts'
import { acting, area, body, json, mine, pageOf, PageQuery, route, send } from '../http/route.ts'
import { part, Report, ReportFields } from './schemas.ts'

const add = route({
  ...acting,
  tags: ['reports'],
  operationId: 'add_report',
  method: 'post',
  path: '/',
  summary: 'Report a listing, advertiser, message or review to the admins',
  description:
    'What is reported is kept as it stands then. Administrators decide; who was reported does not learn ' +
    'by whom. A thing is reported again once that is decided: after a dismissal when it has changed, a ' +
    'person also after 7 days, a message never. A listing that one asked or talked about can be reported ' +
    'when it is paused or gone. At most 30 a day.',
  errors: ['not_found', 'property_not_found', 'identity_not_found', 'report_exists'],
  idempotent: true,
  request: body(
    ReportFields.extend({
      note: typed(1000).optional().describe(
        'What is wrong, in the words of the reporter.',
      ),
      part: part.optional().describe('Of a message: its picture alone is reported.'),
    }),
  ),
  responses: { 201: json(Report, 'Reported.') },
})

const MyReport = z.object({
  ...Report.omit({ part: true, note: true, status: true }).shape,
  state: z.enum(['open', 'decided']).describe('What was decided is not said.'),
}).openapi('MyReport', { description: 'What became of a report.' })

const list = route({
  ...mine,
  tags: ['reports'],
  operationId: 'list_my_reports',
  method: 'get',
  path: '/mine',
  summary: 'List what I reported, newest first',
  description: 'Of the account, whichever identity reported it.',
  request: { query: PageQuery },
  responses: { 200: json(pageOf('MyReportPage', MyReport), 'Of the account.') },
})

export const reports = area()
  .openapi(add, async (c) => {
    return send(c, await call(c, 'add_report', c.req.valid('json')), 201)
  })
  .openapi(list, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    return send(c, await call(c, 'list_my_reports', { pageCursor: cursor, pageSize: limit }))
  })
