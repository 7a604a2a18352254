/** Favorites: the properties that the acting identity has saved. */
import { z } from '@hono/zod-openapi'
import { call } from '../_shared/db.ts'
import { area, json, mine, pageOf, PageQuery, problems, route, send } from './http/route.ts'
import { Card, Fields, Property, Unavailable } from './properties/schemas.ts'

const OneProperty = z.strictObject({ propertyId: z.uuid() })

const tags = ['favorites']

const toggle = route({
  ...mine,
  tags,
  operationId: 'toggle_favorite',
  method: 'post',
  path: '/{propertyId}',
  summary: 'Toggle a favorite',
  request: { params: OneProperty },
  responses: {
    200: json(
      z.object({ propertyId: z.uuid(), isFavorite: z.boolean() }).openapi('FavoriteState'),
      'The new state.',
    ),
    ...problems(401, 403, 404),
  },
})

const list = route({
  ...mine,
  tags,
  operationId: 'list_favorites',
  method: 'get',
  path: '/',
  summary: 'List my favorites, newest first',
  request: { query: PageQuery.extend({ fields: Fields }) },
  responses: {
    200: json(
      pageOf(z.union([Unavailable, Card, Property])).openapi('FavoritePage'),
      'Listings, and favorites that are not available at the moment.',
    ),
    ...problems(401, 403),
  },
})

const ids = route({
  ...mine,
  tags,
  operationId: 'list_favorite_ids',
  method: 'get',
  path: '/ids',
  summary: 'List the ids of my favorites',
  responses: {
    200: json(z.object({ ids: z.array(z.uuid()) }).openapi('FavoriteIds'), 'Newest first.'),
    ...problems(401, 403),
  },
})

const check = route({
  ...mine,
  tags,
  operationId: 'check_favorite',
  method: 'get',
  path: '/check/{propertyId}',
  summary: 'Check whether a listing is one of my favorites',
  request: { params: OneProperty },
  responses: {
    200: json(z.boolean(), 'false also for a listing that does not exist.'),
    ...problems(401, 403),
  },
})

export const favorites = area()
  .openapi(list, async (c) => {
    const { cursor, limit, fields } = c.req.valid('query')
    const page = { pageCursor: cursor, pageSize: limit, fields }
    return send(c, await call(c, 'favorites_page', page, { isText: true }))
  })
  .openapi(ids, async (c) => send(c, await call(c, 'list_favorite_ids', {})))
  .openapi(check, async (c) => send(c, await call(c, 'check_favorite', c.req.valid('param'))))
  .openapi(toggle, async (c) => {
    const { propertyId } = c.req.valid('param')
    const isFavorite = JSON.parse(await call(c, 'toggle_favorite', { propertyId }))
    return send(c, JSON.stringify({ propertyId, isFavorite }))
  })
