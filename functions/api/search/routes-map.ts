import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { inQuery, parseDecimal } from '../../_shared/input/numbers.ts'
import {
  area,
  Count,
  json,
  Latitude,
  Longitude,
  MoneyOrNull,
  orNull,
  pageOf,
  route,
  send,
} from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { Property, Type } from '../properties/schemas.ts'
import { code, numbersPattern, queryFilters, unknownFilter } from './schemas-filters.ts'
import { literalInQuery, Query, Understood } from './schemas-reading.ts'

const invalid = { error: 'bbox_invalid' }

const bbox = z
  .preprocess(
    (given) => typeof given === 'string' ? given.split(',').map(parseDecimal) : given,
    z.array(z.number(invalid), invalid).length(4, invalid),
  )
  .openapi({
    type: 'string',
    pattern: numbersPattern(4),
    description: 'The box: minLng,minLat,maxLng,maxLat; cut to Kuwait. What lies on a maximum is ' +
      'outside it, so that boxes beside each other have nothing twice.',
    example: '47.95,29.3,48.1,29.4',
    param: { required: true },
  })

const zoom = inQuery(z.int().min(0).max(20)).openapi({
  type: 'integer',
  minimum: 0,
  maximum: 20,
  description: 'As maps count it: 0 is the whole world. Points from 15 on.',
  param: { required: true },
})

const minPrice = MoneyOrNull.describe(
  'Their lowest price, in dinars; null where none has one, and where counts are approximate.',
)
const LowestPrice = z.object({ minPrice }).openapi('LowestPrice', {
  description: 'Of listings of one type.',
})

const Cluster = z
  .object({
    lat: Latitude,
    lng: Longitude,
    count: Count.describe('How many listings it stands for.'),
    minPrice: minPrice.describe(
      'Their lowest price, in dinars, where one type is asked for, by `type` or `q`; null where none has ' +
        'one, and where counts are approximate.',
    ),
    sale: LowestPrice,
    rent: LowestPrice,
    bbox: z.array(z.number()).length(4).describe(
      'A box with all its listings: minLng, minLat, maxLng, maxLat. What lies on a maximum would be ' +
        'outside, so each is up to 0.000001 further.',
    ),
  })
  .openapi('MapCluster', { description: 'Listings that lie near one another.' })

const { type, price, priceLabel } = Property.shape

const Point = z
  .object({
    id: z.uuid(),
    lat: Latitude,
    lng: Longitude,
    count: Count.describe(
      'How many of these points have exactly this place, itself included: the flats of a tower.',
    ),
    type,
    kind: z.string().describe('A code of `GET /meta/kinds`.'),
    price,
    priceLabel,
  })
  .openapi('MapPoint', { description: 'A listing on the map.' })

const understood = orNull(Understood).describe(
  'What `q` was understood as; null without it, and where it is literal.',
)

const Clusters = z
  .object({
    clusters: z.array(Cluster).describe('Largest first, at most 5,000.'),
    approximate: z.boolean().describe(
      'Counted from a sample: a cell with less than a thousandth of all may be missing.',
    ),
    understood,
  })
  .openapi('MapClusters', { description: 'What a map shows below zoom 15.' })

const Points = z
  .object({
    points: z.array(Point).describe('Newest first, at most 500.'),
    truncated: z.boolean().describe('Whether there are more than are shown.'),
    understood,
  })
  .openapi('MapPoints', { description: 'What a map shows from zoom 15 on.' })

const MapListings = z.union([Clusters, Points]).openapi('MapListings', {
  description: 'What a map shows: `MapClusters` below zoom 15, `MapPoints` from there on.',
})

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
    'is 422 `bbox_invalid`. Of `q` only what fits is shown: nothing is left out or guessed.',
  errors: ['range_invalid'],
  request: {
    query: z.strictObject(
      { ...queryFilters, bbox, zoom, q: Query, literal: literalInQuery },
      unknownFilter,
    ),
  },
  responses: {
    200: json(MapListings, 'Each listing at its public location.'),
  },
})

const medians = {
  medianPrice: MoneyOrNull.describe('In dinars; null for fewer than 5 prices or 3 accounts.'),
  medianPricePerM2: MoneyOrNull.describe(
    'In dinars for a square metre; null as the other is.',
  ),
}
const MedianPrices = z.object(medians).openapi('MedianPrices', {
  description: 'Of listings of one type.',
})

const AreaPrices = z
  .object({
    areaId: z.string().describe('An id of `GET /meta/areas`.'),
    governorateId: z.string().describe('The governorate that it lies in.'),
    nameAr: z.string(),
    nameEn: z.string(),
    lat: Latitude.nullable(),
    lng: Longitude.nullable(),
    count: Count.describe('How many listings it has.'),
    medianPrice: medians.medianPrice.describe(
      'In dinars; null without `type`, and for fewer than 5 prices or 3 accounts.',
    ),
    medianPricePerM2: medians.medianPricePerM2,
    sale: MedianPrices,
    rent: MedianPrices,
  })
  .openapi('AreaPrices', { description: 'What listings in an area cost.' })

const areas = route({
  tags: ['map'],
  unknownKey: 'filter_unknown',
  operationId: 'list_map_areas',
  method: 'get',
  path: '/areas',
  guestCache: 's-maxage=300, stale-while-revalidate=600',
  summary: 'Get the number of listings and the median prices of each area',
  description:
    'Every area of Kuwait, also those without a listing. A rent and a price of sale are never in one ' +
    'median. Without filters the figures may be five minutes old.',
  errors: ['range_invalid'],
  request: { query: z.strictObject(queryFilters, unknownFilter) },
  responses: {
    200: json(
      pageOf('AreaPricesPage', AreaPrices),
      'Every area of Kuwait; no median of fewer than 5 prices or 3 accounts.',
    ),
  },
})

const MonthOfPrices = z
  .object({
    month: z.string().regex(/^[0-9]{4}-[0-9]{2}$/).openapi({ example: '2026-11' })
      .describe('The month in Kuwait.'),
    count: Count.describe('How many listings there were on its last day, or are so far.'),
    ...medians,
  })
  .openapi('MonthOfPrices', { description: 'What listings of a type and kind in an area cost.' })

const months = route({
  tags: ['map'],
  operationId: 'list_area_price_history',
  method: 'get',
  path: '/areas/{areaId}/history',
  guestCache: 's-maxage=300, stale-while-revalidate=600',
  summary: 'Get the median prices of an area by month',
  description:
    'Of one type and kind, newest first. This month stands as it did within the last day; a month at ' +
    'whose end nothing was listed is left out.',
  request: {
    params: z.strictObject({
      areaId: code.openapi({ example: 'salmiya' }).describe('An id of `GET /meta/areas`.'),
    }),
    query: z.strictObject({
      type: Type.describe('What is offered.'),
      kind: code.openapi({ example: 'villa' }).describe('A code of `GET /meta/kinds`.'),
    }),
  },
  responses: {
    200: json(
      pageOf('AreaPriceHistory', MonthOfPrices),
      'Newest first, all in one page; no median of fewer than 5 prices or 3 accounts.',
    ),
  },
})

export const map = area()
  .openapi(listings, async (c) => {
    const { bbox, zoom, q, literal, ...filters } = c.req.valid('query')
    const args = { bbox, zoom, filters, q, literal }
    return send(c, await inSearchQueue(c, () => call(c, 'list_map_listings', args)))
  })
  .openapi(areas, async (c) => {
    const args = { filters: c.req.valid('query') }
    return send(c, await inSearchQueue(c, () => call(c, 'list_map_areas', args)))
  })
  .openapi(months, async (c) => {
    const args = { ...c.req.valid('param'), ...c.req.valid('query') }
    return send(c, await call(c, 'list_area_price_history', args))
  })
