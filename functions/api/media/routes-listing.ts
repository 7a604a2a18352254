/** The pictures of a listing once they are there: their order, and taking one out. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { area, body, mine, problems, route, send, sendNothing } from '../http/route.ts'
import { property, tags } from '../properties/routes-actions.ts'
import { OneProperty } from '../properties/schemas.ts'

const order = route({
  ...mine,
  tags,
  operationId: 'order_property_media',
  method: 'put',
  path: '/{id}/media/order',
  summary: 'Reorder the pictures of my listing',
  request: {
    params: OneProperty,
    ...body(
      z.strictObject({
        mediaIds: z.array(z.uuid()).max(100).openapi({ description: 'All of them, each once.' }),
      }).openapi('MediaOrder'),
    ),
  },
  responses: { 200: property, ...problems(404) },
})

const remove = route({
  ...mine,
  tags,
  operationId: 'delete_property_media',
  method: 'delete',
  path: '/{id}/media/{mediaId}',
  summary: 'Remove a picture from my listing',
  request: { params: OneProperty.extend({ mediaId: z.uuid() }) },
  responses: { 204: { description: 'It is gone.' }, ...problems(404) },
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
