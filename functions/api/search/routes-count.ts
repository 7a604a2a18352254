import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { type Args, call } from '../../_shared/database/db.ts'
import { env } from '../../_shared/settings/env.ts'
import { area, body, json, route, send } from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { limitCounts } from '../http/worker-rates.ts'
import { jsonFilters, queryFilters, unknownFilter } from './schemas-filters.ts'
import { literal, literalInQuery, Query } from './schemas-reading.ts'
import { Strategy, withStrategies } from './strategies.ts'

/** The time limit in the database, in milliseconds. After that the count is null. */
const time = 30 * env.patience

const ListingCount = z
  .object({
    count: z.int().min(0).max(1000).nullable().describe(
      'How many, exact up to 1,000; 1000 where there are more; null where counting took too long.',
    ),
    capped: z.boolean().describe('Whether there are, or may be, more than `count` says.'),
    similar: z.literal(true).optional().describe(
      'Beside 0 only: the search shows listings for which something of `q` is left out or guessed.',
    ),
  })
  .openapi('ListingCount', { description: 'How many listings fit a search.' })

const about =
  'What the search lists, without what fits only where something of `q` is left out or guessed. Exact ' +
  'up to 1,000, and `null` after 30 ms of work: show “many” then.'

const count = route({
  tags: ['search'],
  unknownKey: 'filter_unknown',
  operationId: 'count_listings',
  method: 'post',
  path: '/count',
  summary: 'Count the listings of a search',
  description: about,
  errors: ['range_invalid'],
  reads: true,
  limit: limitCounts,
  request: body(
    z
      .strictObject({ strategy: Strategy, q: Query, literal, ...jsonFilters }, unknownFilter)
      .openapi('Count', { description: 'A search without its order and its pages.' }),
    { strategy: 'standard', type: 'RENT', areaIds: ['salmiya'], priceMax: 800 },
  ),
  responses: { 200: json(ListingCount, 'How many.') },
})

const quick = route({
  tags: ['search'],
  unknownKey: 'filter_unknown',
  operationId: 'quick_count_listings',
  method: 'get',
  path: '/count',
  guestCache: 's-maxage=15, stale-while-revalidate=15',
  summary: 'Count by strategy standard, with filters in the query string',
  description: about,
  errors: ['range_invalid'],
  limit: limitCounts,
  request: {
    query: z.strictObject({ q: Query, literal: literalInQuery, ...queryFilters }, unknownFilter),
  },
  responses: { 200: json(ListingCount, 'How many.') },
})

const find = (c: ApiContext, args: Args<'count_listings'>) =>
  inSearchQueue(c, () =>
    call(c, 'count_listings', args, { time }).catch((error) => {
      if (error.code !== '57014') throw error // query_canceled: the time limit
      return '{"count":null,"capped":true}'
    }))

export const counts = area()
  .openapi(count, async (c) => {
    const { strategy, q, literal, ...filters } = c.req.valid('json')
    return send(c, await find(c, { strategy, filters, q, literal }))
  }, withStrategies)
  .openapi(quick, async (c) => {
    const { q, literal, ...filters } = c.req.valid('query')
    return send(c, await find(c, { strategy: 'standard', filters, q, literal }))
  })
