/** The map: listings in a box, and prices by area. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { inQuery, parseDecimal } from '../../_shared/numbers.ts'
import { area, json, pageOf, route, send } from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { queryFilters, unknownFilter } from './schemas-filters.ts'

const invalid = { error: 'bbox_invalid' }

const bbox = z
  .preprocess(
    (given) => typeof given === 'string' ? given.split(',').map(parseDecimal) : given,
    z.array(z.number(invalid), invalid).length(4, invalid),
  )
  .openapi({
    type: 'string',
    description: 'minLng,minLat,maxLng,maxLat; cut to Kuwait.',
    example: '47.95,29.3,48.1,29.4',
    param: { required: true },
  })

const zoom = inQuery(z.int().min(0).max(20)).openapi({ type: 'integer', param: { required: true } })

const Cluster = z
  .object({
    lat: z.number(),
    lng: z.number(),
    count: z.int(),
    minPrice: z.number().nullable(),
    bbox: z.array(z.number()).length(4).openapi({
      description: 'The bounds of its listings: minLng, minLat, maxLng, maxLat.',
    }),
  })
  .openapi('MapCluster')

const Point = z
  .object({
    id: z.uuid(),
    lat: z.number(),
    lng: z.number(),
    type: z.enum(['SALE', 'RENT', 'EXCHANGE']),
    kind: z.string(),
    price: z.number().nullable(),
    priceLabel: z.string(),
  })
  .openapi('MapPoint')

const Clusters = z
  .object({
    clusters: z.array(Cluster).openapi({ description: 'Largest first, at most 5,000.' }),
    approximate: z.boolean().openapi({ description: 'Counted from a sample.' }),
  })
  .openapi('MapClusters')

const Points = z
  .object({
    points: z.array(Point).openapi({ description: 'Newest first, at most 500.' }),
    truncated: z.boolean(),
  })
  .openapi('MapPoints')

const listings = route({
  tags: ['map'],
  unknownKey: 'filter_unknown',
  operationId: 'list_map_listings',
  method: 'get',
  path: '/listings',
  guestCache: 's-maxage=15, stale-while-revalidate=15',
  summary: 'Get the listings in a box: clusters below zoom 15, points above',
  description:
    'Below zoom 15 clusters, from 15 on points. The box is cut to Kuwait; one that lies outside ' +
    'is 422 `bbox_invalid`.',
  errors: ['range_invalid'],
  request: { query: z.strictObject({ ...queryFilters, bbox, zoom }, unknownFilter) },
  responses: {
    200: json(z.union([Clusters, Points]), 'Each listing at its public location.'),
  },
})

const AreaPrices = z
  .object({
    areaId: z.string(),
    governorateId: z.string(),
    nameAr: z.string(),
    nameEn: z.string(),
    lat: z.number().nullable(),
    lng: z.number().nullable(),
    count: z.int(),
    medianPrice: z.number().nullable(),
    medianPricePerM2: z.number().nullable(),
  })
  .openapi('AreaPrices')

const areas = route({
  tags: ['map'],
  unknownKey: 'filter_unknown',
  operationId: 'list_map_areas',
  method: 'get',
  path: '/areas',
  guestCache: 's-maxage=300, stale-while-revalidate=600',
  summary: 'Get the number of listings and the median prices of each area',
  description:
    'Every area of Kuwait, also those without a listing. Without filters the figures may be ' +
    'five minutes old.',
  errors: ['range_invalid'],
  request: { query: z.strictObject(queryFilters, unknownFilter) },
  responses: {
    200: json(
      pageOf('AreaPricesPage', AreaPrices),
      'Every area of Kuwait; no median of fewer than 5 prices.',
    ),
  },
})

export const map = area()
  .openapi(listings, async (c) => {
    const { bbox, zoom, ...filters } = c.req.valid('query')
    const args = { bbox, zoom, filters }
    return send(c, await inSearchQueue(c, () => call(c, 'list_map_listings', args)))
  })
  .openapi(areas, async (c) => {
    const args = { filters: c.req.valid('query') }
    return send(c, await inSearchQueue(c, () => call(c, 'list_map_areas', args)))
  })
