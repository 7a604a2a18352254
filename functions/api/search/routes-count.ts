import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { type Args, call } from '../../_shared/database/db.ts'
import { env } from '../../_shared/settings/env.ts'
import { area, body, Count, json, Money, route, send } from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { limitCounts } from '../http/worker-rates.ts'
import { jsonFilters, listInQuery, queryFilters, unknownFilter } from './schemas-filters.ts'
import { literal, literalInQuery, Query } from './schemas-reading.ts'
import { filtersOfOne, Strategy, withStrategies } from './strategies.ts'

/** Statement timeouts in milliseconds. If a count or facet takes longer, its value is null. */
const timeOfCount = 30
const timeWithFacets = 60

const facets = [
  'type',
  'kinds',
  'areaIds',
  'governorateIds',
  'bedrooms',
  'furnished',
  'amenities',
  'price',
] as const
const By = z.array(z.enum(facets)).max(3)
const aboutBy = 'What to count by: up to three, each without its own filter.'

const counted = {
  count: Count.describe('How many listings; rounded where it is approximate.'),
  approximate: z.literal(true).optional().describe(
    'The count is rounded to two digits: it is above 10,000, or of a sample.',
  ),
}
const Codes = z
  .array(
    z.object({ value: z.string().describe('What the filter takes.'), ...counted }).openapi(
      'CountOfCode',
      { description: 'Listings of one value.' },
    ),
  )
  .nullable()
const Facets = z
  .object({
    type: Codes,
    kinds: Codes,
    areaIds: Codes,
    governorateIds: Codes,
    furnished: Codes,
    amenities: Codes,
    bedrooms: z
      .array(
        z.object({ value: Count.describe('What `bedroomsMin` takes.'), ...counted }).openapi(
          'CountOfBedrooms',
          { description: 'Listings with so many bedrooms or more.' },
        ),
      )
      .nullable(),
    price: z
      .array(
        z.object({
          from: Money.describe('What `priceMin` takes.'),
          to: Money.nullable().describe('What `priceMax` takes; null in the last.'),
          ...counted,
        }).openapi('CountOfPrices', { description: 'Listings in a range of prices.' }),
      )
      .nullable(),
  })
  .partial()
  .openapi('Facets', {
    description:
      'How many listings there are by what was asked for: the most first, numbers in order. Values ' +
      'without any are left out. null where 60 ms of work were not enough, and of prices without one type.',
  })

const ListingCount = z
  .object({
    count: z.int().min(0).max(1000).nullable().describe(
      'How many, exact up to 1,000; 1000 where there are more; null where counting took too long.',
    ),
    capped: z.boolean().describe('Whether there are, or may be, more than `count` says.'),
    similar: z.literal(true).optional().describe(
      'Beside 0 only: the search shows listings for which something of `q` is left out or guessed.',
    ),
    facets: Facets.optional(),
  })
  .openapi('ListingCount', { description: 'How many listings fit a search.' })

const about =
  'What the search lists, without what fits only where something of `q` is left out or guessed. Exact ' +
  'up to 1,000, and `null` after 30 ms of work (60 with `by`): show “many” then.'

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
      .strictObject({
        strategy: Strategy,
        q: Query,
        literal,
        by: By.optional().describe(aboutBy),
        ...jsonFilters,
      }, unknownFilter)
      .openapi('Count', {
        description: 'A search without its order and its pages.',
        ...filtersOfOne,
      }),
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
    query: z.strictObject({
      q: Query,
      literal: literalInQuery,
      by: listInQuery(By, `(${facets.join('|')})`, 3, aboutBy),
      ...queryFilters,
    }, unknownFilter),
  },
  responses: { 200: json(ListingCount, 'How many.') },
})

type By = z.infer<typeof By>

const find = (c: ApiContext, args: Args<'count_listings'>, by?: By) =>
  inSearchQueue(c, () =>
    call(c, 'count_listings', { ...args, facets: by }, {
      time: (by ? timeWithFacets : timeOfCount) * env.patience,
    }).catch((error) => {
      if (error.code !== '57014') throw error // query_canceled
      const facets = by && Object.fromEntries(by.map((name) => [name, null]))
      return JSON.stringify({ count: null, capped: true, facets })
    }))

export const counts = area()
  .openapi(count, async (c) => {
    const { strategy, q, literal, by, ...filters } = c.req.valid('json')
    return send(c, await find(c, { strategy, filters, q, literal }, by))
  }, withStrategies)
  .openapi(quick, async (c) => {
    const { q, literal, by, ...filters } = c.req.valid('query')
    return send(c, await find(c, { strategy: 'standard', filters, q, literal }, by))
  })
