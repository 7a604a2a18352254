import { call } from '../../_shared/database/db.ts'
import { typed } from '../../_shared/input/texts.ts'
import { acting, area, body, json, route, send } from '../http/route.ts'
import { Report, ReportFields } from './schemas.ts'

const add = route({
  ...acting,
  tags: ['reports'],
  operationId: 'add_report',
  method: 'post',
  path: '/',
  summary: 'Report a listing, advertiser, message or review to the admins',
  description:
    'Once for each thing. Administrators decide; who was reported does not learn by whom. At ' +
    'most 30 a day.',
  errors: ['not_found', 'property_not_found', 'identity_not_found', 'report_exists'],
  idempotent: true,
  request: body(
    ReportFields.extend({
      note: typed(1000).optional().describe(
        'What is wrong, in the words of the reporter.',
      ),
    }),
  ),
  responses: { 201: json(Report, 'Reported.') },
})

export const reports = area()
  .openapi(add, async (c) => {
    return send(c, await call(c, 'add_report', c.req.valid('json')), 201)
  })
