/** Properties: listings for sale, rent and exchange. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import {
  area,
  body,
  json,
  mine,
  pageOf,
  PageQuery,
  problems,
  route,
  send,
  sendNothing,
  sendTagged,
  slowlyChanged,
  Time,
} from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { property, tags } from './routes-actions.ts'
import { NewProperty, PropertyChanges } from './schemas-fields.ts'
import { Fields, Listed, OneProperty, Property, statuses } from './schemas.ts'

const page = json(pageOf(Property).openapi('PropertyPage'), 'A page.')

const create = route({
  ...mine,
  tags,
  operationId: 'create_property',
  method: 'post',
  path: '/',
  summary: 'Create a listing, as a draft or published at once',
  request: body(NewProperty),
  responses: {
    201: json(Property, 'The listing: draft, active or pending_review.'),
    ...problems(400, 401, 402, 403, 404, 409, 413, 415),
  },
})

const listMine = route({
  ...mine,
  tags,
  operationId: 'list_my_properties',
  method: 'get',
  path: '/mine',
  summary: 'List my own listings, newest first',
  request: { query: PageQuery.extend({ status: z.enum(statuses).optional() }) },
  responses: { 200: page, ...problems(401, 403) },
})

const read = route({
  tags,
  operationId: 'get_property',
  method: 'get',
  path: '/{id}',
  guestCache: 's-maxage=10',
  summary: 'Get a listing',
  request: { params: OneProperty },
  responses: {
    200: property,
    304: { description: 'A guest has it already: If-None-Match.' },
    ...problems(404),
  },
})

const update = route({
  ...mine,
  tags,
  operationId: 'update_property',
  method: 'patch',
  path: '/{id}',
  summary: 'Change my listing',
  request: {
    params: OneProperty,
    headers: z.object({
      'if-match': z.string().regex(/^("?)[0-9]{1,9}\1$/).optional().openapi({
        description: 'The version that the change is meant for.',
      }),
    }),
    ...body(PropertyChanges),
  },
  responses: { 200: property, ...problems(400, 401, 403, 404, 409, 413, 415) },
})

const remove = route({
  ...mine,
  tags,
  operationId: 'delete_property',
  method: 'delete',
  path: '/{id}',
  summary: 'Delete my listing',
  request: { params: OneProperty },
  responses: { 204: { description: 'It is gone.' }, ...problems(401, 403, 404) },
})

const prices = route({
  tags,
  operationId: 'list_price_history',
  method: 'get',
  path: '/{id}/price-history',
  guestCache: slowlyChanged,
  summary: 'List the prices of a listing since it was first published',
  request: { params: OneProperty, query: PageQuery },
  responses: {
    200: json(
      pageOf(z.object({ price: z.number().nullable(), changedAt: Time })).openapi('PriceHistory'),
      'Newest first.',
    ),
    ...problems(404),
  },
})

const similar = route({
  tags,
  operationId: 'list_similar_properties',
  method: 'get',
  path: '/{id}/similar',
  guestCache: slowlyChanged,
  summary: 'List similar listings, at most ten',
  request: { params: OneProperty, query: z.strictObject({ fields: Fields }) },
  responses: { 200: json(pageOf(Listed), 'The nearest in price first.'), ...problems(404) },
})

export const properties = area()
  .openapi(create, async (c) => {
    const { publish, uploadSessionId, ...fields } = c.req.valid('json')
    const args = { fields, publish, uploadSessionId }
    const created = await call(c, 'create_property', args, { idempotent: true })
    return send(c, created, 201)
  })
  .openapi(listMine, async (c) => {
    const { cursor, limit, status } = c.req.valid('query')
    const args = { status, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_my_properties', args))
  })
  .openapi(read, async (c) => {
    const args = { propertyId: c.req.valid('param').id }
    return sendTagged(c, await call(c, 'get_property', args, { isText: true }))
  })
  .openapi(update, async (c) => {
    const version = c.req.valid('header')['if-match']?.replaceAll('"', '')
    const changed = await call(c, 'update_property', {
      propertyId: c.req.valid('param').id,
      fields: c.req.valid('json'),
      expectedVersion: version === undefined ? undefined : Number(version),
    })
    return send(c, changed)
  })
  .openapi(remove, async (c) => {
    await call(c, 'delete_property', { propertyId: c.req.valid('param').id })
    return sendNothing(c)
  })
  .openapi(prices, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    const args = { propertyId: c.req.valid('param').id, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_price_history', args))
  })
  .openapi(similar, async (c) => {
    const args = { propertyId: c.req.valid('param').id, ...c.req.valid('query') }
    return send(c, await inSearchQueue(c, () => call(c, 'list_similar_properties', args)))
  })
