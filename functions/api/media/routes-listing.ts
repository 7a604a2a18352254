import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { acting, area, body, route, send, sendNothing } from '../http/route.ts'
import { property, tags } from '../properties/routes-actions.ts'
import { OneProperty } from '../properties/schemas.ts'

const order = route({
  ...acting,
  tags,
  operationId: 'order_property_media',
  method: 'put',
  path: '/{id}/media/order',
  summary: 'Reorder the pictures of my listing',
  description:
    'All of them, each once, in the order that they shall have; the first is the one that lists ' +
    'show.',
  errors: ['property_not_found', 'not_found', 'property_state_conflict'],
  request: {
    params: OneProperty,
    ...body(
      z.strictObject({
        mediaIds: z.array(z.uuid()).max(100).describe('All of them, each once.'),
      }).openapi('MediaOrder', { description: 'The pictures in their new order.' }),
    ),
  },
  responses: { 200: property },
})

const remove = route({
  ...acting,
  tags,
  operationId: 'delete_property_media',
  method: 'delete',
  path: '/{id}/media/{mediaId}',
  summary: 'Remove a picture from my listing',
  description: 'The others close up.',
  errors: ['property_not_found', 'not_found', 'property_state_conflict'],
  request: { params: OneProperty.extend({ mediaId: z.uuid() }) },
  responses: { 204: { description: 'It is gone.' } },
})

export const propertyMedia = area()
  .openapi(order, async (c) => {
    const { mediaIds } = c.req.valid('json')
    const args = { propertyId: c.req.valid('param').id, mediaIds }
    return send(c, await call(c, 'order_property_media', args))
  })
  .openapi(remove, async (c) => {
    const { id: propertyId, mediaId } = c.req.valid('param')
    await call(c, 'delete_property_media', { propertyId, mediaId })
    return sendNothing(c)
  })
