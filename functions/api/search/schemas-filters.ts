/** Filters of searches and of the map, as JSON and as query strings. */
import { z } from '@hono/zod-openapi'
import { inQuery, parseDecimal } from '../../_shared/numbers.ts'
import { Time } from '../http/route.ts'

const code = z.string().min(1).max(60)
const money = z.number().min(0).max(99_999_999_999.999)
const size = z.number().min(0).max(10_000_000)
const rooms = z.int().min(0).max(100)
const year = z.int().min(1950).max(2100)

const Near = z.strictObject({
  lat: z.number().min(-90).max(90),
  lng: z.number().min(-180).max(180),
  km: z.number().gt(0).max(50),
})
const Box = z.tuple([z.number(), z.number(), z.number(), z.number()], { error: 'bbox_invalid' })
const BoxNumbers = z.array(z.number({ error: 'bbox_invalid' }), { error: 'bbox_invalid' }).pipe(Box)

/** What is the same in both. */
const common = {
  type: z.enum(['SALE', 'RENT', 'EXCHANGE']).optional(),
  usage: code.optional(),
  furnished: code.optional(),
  postedSince: z.iso.date().or(Time).optional().openapi({
    description: 'A point in time, or a date: then from its beginning in Kuwait.',
    example: '2026-11-01',
  }),
}

export const jsonFilters = {
  ...common,
  companyId: z.uuid().optional().openapi({ description: 'Strategy company only.' }),
  kinds: z.array(code).max(200).optional(),
  governorateIds: z.array(code).max(200).optional(),
  areaIds: z.array(code).max(200).optional(),
  priceMin: money.optional(),
  priceMax: money.optional(),
  areaM2Min: size.optional(),
  areaM2Max: size.optional(),
  bedroomsMin: rooms.optional(),
  bathroomsMin: rooms.optional(),
  isDirect: z.boolean().optional(),
  verifiedOnly: z.boolean().optional(),
  bbox: BoxNumbers.optional().openapi({
    description: 'minLng, minLat, maxLng, maxLat; cut to Kuwait.',
  }),
  near: Near.optional(),
  requestYearMin: year.optional().openapi({ description: 'Strategy exchange only.' }),
  requestYearMax: year.optional().openapi({ description: 'Strategy exchange only.' }),
}

// A key that is given twice comes as an array, which is invalid here: so is null.
const commas = (given: unknown) => (typeof given === 'string' ? given.split(',') : null)
const numbers = (given: unknown) =>
  typeof given === 'string' ? given.split(',').map(parseDecimal) : given

const codesInQuery = z.preprocess(commas, z.array(code).max(200)).optional().openapi({
  type: 'string',
  description: 'Comma-separated codes.',
})
const booleanInQuery = z
  .enum(['true', 'false'])
  .transform((given) => given === 'true')
  .optional()
  .openapi({ type: 'boolean' })

/** Those of one strategy alone have no meaning in a query string. */
export const queryFilters = {
  ...common,
  kinds: codesInQuery,
  governorateIds: codesInQuery,
  areaIds: codesInQuery,
  priceMin: inQuery(money).optional(),
  priceMax: inQuery(money).optional(),
  areaM2Min: inQuery(size).optional(),
  areaM2Max: inQuery(size).optional(),
  bedroomsMin: inQuery(rooms).optional(),
  bathroomsMin: inQuery(rooms).optional(),
  isDirect: booleanInQuery,
  verifiedOnly: booleanInQuery,
  bbox: z.preprocess(numbers, BoxNumbers).optional().openapi({
    type: 'string',
    description: 'minLng,minLat,maxLng,maxLat; cut to Kuwait.',
    example: '47.95,29.3,48.1,29.4',
  }),
  near: z
    .preprocess((given) => {
      const [lat, lng, km, ...more] = numbers(given) as unknown[]
      return more.length ? given : { lat, lng, km }
    }, Near)
    .optional()
    .openapi({ type: 'string', description: 'lat,lng,km', example: '29.33,48.07,3' }),
}

/** An unknown key has a code of its own. */
export const unknownFilter = {
  error: ({ code }: { code?: string }) =>
    code === 'unrecognized_keys' ? 'filter_unknown' : undefined,
}
