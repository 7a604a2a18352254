import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { type Args, call } from '../../_shared/database/db.ts'
import {
  area,
  body,
  Count,
  Cursor,
  json,
  Limit,
  orNull,
  pageFields,
  route,
  send,
} from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { Fields, Listed } from '../properties/schemas.ts'
import { jsonFilters, queryFilters, unknownFilter } from './schemas-filters.ts'
import { literal, literalInQuery, Query, Understood } from './schemas-reading.ts'
import { filtersAndOrdersOfOne, Strategy, withStrategies } from './strategies.ts'

const common = {
  q: Query,
  cursor: Cursor.optional(),
  fields: Fields,
}

const sorts = ['newest', 'price_asc', 'price_desc', 'area_desc', 'distance'] as const

const Similar = z
  .object({
    from: Count.describe('The index on this page of the first listing of which it is true.'),
    changed: z.array(z.string()).describe(
      'What it does not meet: fields of `understood.found`, and `words`. Kinds, areas and prices are ' +
        'then others of the group, areas or places near those named, prices up to 15 % beyond.',
    ),
  })
  .openapi('SimilarPart', { description: 'From where on something of `q` is let go or widened.' })

const SearchPage = pageFields(Listed)
  .extend({
    similarFrom: Count.nullable().describe(
      'The index on this page of the first listing that does not meet all of `q`; null where all do.',
    ),
    similar: z.array(Similar).describe(
      'What the listings from `similarFrom` on do not meet, until the next entry; empty where all fit.',
    ),
    understood: orNull(Understood).describe(
      'What `q` was understood as: on the first page; null without `q`, and where it is literal.',
    ),
  })
  .openapi('SearchPage')

const page = json(SearchPage, 'A page.')

const advanced = route({
  tags: ['search'],
  unknownKey: 'filter_unknown',
  operationId: 'search',
  method: 'post',
  path: '/advanced',
  summary: 'Search by one of five strategies',
  description:
    'Strategies: `standard` finds what is for sale and rent, `exchange` exchanges, `auction` ' +
    'listings with an auction that is coming or running, `deal` prices that dropped by 5 to 50 % ' +
    'in the last 14 days, `company` listings of verified companies. A cursor belongs to its ' +
    'query: change anything else, and begin again without it. There is no total.',
  errors: ['range_invalid'],
  reads: true,
  request: body(
    z
      .strictObject({
        strategy: Strategy,
        ...common,
        literal,
        sort: z.enum([...sorts, 'drop_desc', 'ends_at']).optional().describe(
          'newest, but drop_desc of deals and ends_at of auctions, which are for them alone; ' +
            'distance needs near. A listing without a price is the last by price.',
        ),
        limit: z.int().min(1).max(50).default(20).describe('How many items a page has at most.'),
        ...jsonFilters,
      }, unknownFilter)
      .openapi('Search', {
        description: 'A strategy, words and filters; all of them have to fit.',
        ...filtersAndOrdersOfOne,
      }),
  ),
  responses: { 200: page },
})

const quick = route({
  tags: ['search'],
  unknownKey: 'filter_unknown',
  operationId: 'quick_search',
  method: 'get',
  path: '/',
  guestCache: 's-maxage=15, stale-while-revalidate=15',
  summary: 'Search by strategy standard, with filters in the query string',
  description:
    'The same listings in the same order as `POST /search/advanced` with strategy `standard`, ' +
    'but caches can keep it. Lists are separated by commas. A parameter that is given twice is ' +
    '422.',
  errors: ['range_invalid'],
  request: {
    query: z.strictObject({
      ...common,
      literal: literalInQuery,
      sort: z.enum(sorts).optional().describe('newest if omitted; distance needs near.'),
      limit: Limit,
      ...queryFilters,
    }, unknownFilter),
  },
  responses: { 200: page },
})

const find = (c: ApiContext, args: Args<'search'>) =>
  inSearchQueue(c, () => call(c, 'search', args, { isText: true }))

export const search = area()
  .openapi(advanced, async (c) => {
    const { strategy, q, literal, sort, cursor, limit, fields, ...filters } = c.req.valid('json')
    const args = {
      strategy,
      filters,
      q,
      sort,
      pageCursor: cursor,
      pageSize: limit,
      fields,
      literal,
    }
    return send(c, await find(c, args))
  }, withStrategies)
  .openapi(quick, async (c) => {
    const { q, literal, sort, cursor, limit, fields, ...filters } = c.req.valid('query')
    const args = {
      strategy: 'standard',
      filters,
      q,
      sort,
      pageCursor: cursor,
      pageSize: limit,
      fields,
      literal,
    }
    return send(c, await find(c, args))
  })
