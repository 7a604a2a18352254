import { call } from '../../_shared/database/db.ts'
import { acting, area, json, route, send } from '../http/route.ts'
import { tags } from './routes-actions.ts'
import { Insights, InsightsQuery } from './schemas-insights.ts'
import { OneProperty } from './schemas.ts'

const insights = route({
  ...acting,
  tags,
  operationId: 'get_property_insights',
  method: 'get',
  path: '/{id}/insights',
  summary: 'Get the figures of my listing by day, and where its price stands',
  description:
    'Views, favorites and contacts of each of the last days in Kuwait, and what others of its type, ' +
    'kind and area cost. Views are counted within a minute or so.',
  errors: ['property_not_found'],
  request: { params: OneProperty, query: InsightsQuery },
  responses: { 200: json(Insights, 'The figures as they are now.') },
})

export const propertyInsights = area()
  .openapi(insights, async (c) => {
    const args = { propertyId: c.req.valid('param').id, ...c.req.valid('query') }
    return send(c, await call(c, 'get_property_insights', args))
  })
