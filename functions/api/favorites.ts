import { z } from '@hono/zod-openapi'
import { call } from '../_shared/database/db.ts'
import { acting, area, json, pageOf, PageQuery, route, send } from './http/route.ts'
import { Card, Fields, Property, Unavailable } from './properties/schemas.ts'

const OneProperty = z.strictObject({ propertyId: z.uuid().toLowerCase() })

const tags = ['favorites']

const toggle = route({
  ...acting,
  tags,
  operationId: 'toggle_favorite',
  method: 'post',
  path: '/{propertyId}',
  summary: 'Toggle a favorite',
  description:
    'Saves the listing, or takes it out again. Do not send it again blindly: a second toggle ' +
    'undoes the first. A listing that is no longer shown can be taken out, not saved. At most ' +
    '120 a minute.',
  errors: ['property_not_found'],
  request: { params: OneProperty },
  responses: {
    200: json(
      z.object({
        propertyId: z.uuid(),
        isFavorite: z.boolean().describe('Whether it is saved now.'),
      }).openapi('FavoriteState', { description: 'What a toggle led to.' }),
      'The new state.',
    ),
  },
})

const Saved = z.union([Unavailable, Card, Property]).openapi('SavedListing', {
  description: 'A saved listing as in other lists, or `UnavailableFavorite`, by its `status`.',
})

const list = route({
  ...acting,
  tags,
  operationId: 'list_favorites',
  method: 'get',
  path: '/',
  summary: 'List my favorites, newest first',
  description: 'Those that have been deleted since are gone; others that cannot be seen now are ' +
    '`unavailable`.',
  request: { query: PageQuery.extend({ fields: Fields }) },
  responses: {
    200: json(
      pageOf('FavoritePage', Saved),
      'Listings, and favorites that are not available at the moment.',
    ),
  },
})

const ids = route({
  ...acting,
  tags,
  operationId: 'list_favorite_ids',
  method: 'get',
  path: '/ids',
  summary: 'List the ids of my favorites',
  description: 'All of them at once, to mark hearts in lists that were loaded before.',
  responses: {
    200: json(
      z.object({ ids: z.array(z.uuid()).describe('Newest first.') })
        .openapi('FavoriteIds', { description: 'The ids of all saved listings.' }),
      'Newest first.',
    ),
  },
})

const check = route({
  ...acting,
  tags,
  operationId: 'check_favorite',
  method: 'get',
  path: '/check/{propertyId}',
  summary: 'Check whether a listing is one of my favorites',
  description: '`false` also for a listing that does not exist.',
  request: { params: OneProperty },
  responses: {
    200: json(z.boolean(), 'false also for a listing that does not exist.'),
  },
})

export const favorites = area()
  .openapi(list, async (c) => {
    const { cursor, limit, fields } = c.req.valid('query')
    const page = { pageCursor: cursor, pageSize: limit, fields }
    return send(c, await call(c, 'list_favorites', page, { isText: true }))
  })
  .openapi(ids, async (c) => send(c, await call(c, 'list_favorite_ids', {})))
  .openapi(check, async (c) => send(c, await call(c, 'check_favorite', c.req.valid('param'))))
  .openapi(toggle, async (c) => {
    const { propertyId } = c.req.valid('param')
    const isFavorite = await call(c, 'toggle_favorite', { propertyId }, { isText: true })
    return send(c, `{"propertyId":"${propertyId}","isFavorite":${isFavorite}}`)
  })
