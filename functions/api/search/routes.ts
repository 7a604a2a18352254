/** Search: five strategies, one set of filters. */
import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/context.ts'
import { type Args, call } from '../../_shared/db.ts'
import { invalid, problem } from '../http/problem.ts'
import { area, body, Cursor, json, Limit, pageOf, problems, route, send } from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { Fields, Listed } from '../properties/schemas.ts'
import { jsonFilters, queryFilters, unknownFilter } from './schemas-filters.ts'

const strategies = ['standard', 'exchange', 'auction', 'deal', 'company'] as const

const common = {
  // A character has at most two UTF-16 units; the database counts characters, up to 200.
  q: z.string().max(400).optional().openapi({
    description:
      'Words in any order; what looks like them follows where fewer than 5 of the strategy ' +
      'have them, before any filter.',
    example: 'شقة السالمية',
  }),
  sort: z
    .enum(['newest', 'price_asc', 'price_desc', 'area_desc', 'drop_desc', 'ends_at', 'distance'])
    .optional(),
  cursor: Cursor.optional(),
  fields: Fields,
}

const page = json(pageOf(Listed).openapi('SearchPage'), 'A page.')

const advanced = route({
  tags: ['search'],
  unknownKey: 'filter_unknown',
  operationId: 'search',
  method: 'post',
  path: '/advanced',
  summary: 'Search by one of five strategies',
  'x-read': true,
  request: body(
    z
      .strictObject({
        strategy: z.enum(strategies, { error: 'search_strategy_unknown' }),
        ...common,
        limit: z.int().min(1).max(50).default(20),
        ...jsonFilters,
      }, unknownFilter)
      .openapi('Search'),
  ),
  responses: { 200: page, ...problems(400, 413, 415) },
})

const quick = route({
  tags: ['search'],
  unknownKey: 'filter_unknown',
  operationId: 'quick_search',
  method: 'get',
  path: '/',
  guestCache: 's-maxage=15, stale-while-revalidate=15',
  summary: 'Search by strategy standard, with filters in the query string',
  request: { query: z.strictObject({ ...common, limit: Limit, ...queryFilters }, unknownFilter) },
  responses: { 200: page, ...problems() },
})

/** An unknown strategy is refused with the list of those that exist. */
type Result = { success: true } | { success: false; error: z.ZodError }
function withStrategies(result: Result, c: ApiContext): undefined {
  if (result.success) return
  const code = 'search_strategy_unknown'
  if (!result.error.issues.some(({ message }) => message === code)) {
    return invalid(c, result.error) as never
  }
  return problem(c, code, { fields: [{ path: 'strategy', code }], allowed: strategies }) as never
}

const find = (c: ApiContext, args: Args<'search_listings'>) =>
  inSearchQueue(c, () => call(c, 'search_listings', args, { isText: true }))

export const search = area()
  .openapi(advanced, async (c) => {
    const { strategy, q, sort, cursor, limit, fields, ...filters } = c.req.valid('json')
    const args = { strategy, filters, q, sort, pageCursor: cursor, pageSize: limit, fields }
    return send(c, await find(c, args))
  }, withStrategies)
  .openapi(quick, async (c) => {
    const { q, sort, cursor, limit, fields, ...filters } = c.req.valid('query')
    const strategy = 'standard'
    const args = { strategy, filters, q, sort, pageCursor: cursor, pageSize: limit, fields }
    return send(c, await find(c, args))
  })
