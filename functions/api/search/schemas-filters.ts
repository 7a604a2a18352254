import { z } from '@hono/zod-openapi'
import { inQuery, parseDecimal } from '../../_shared/input/numbers.ts'
import { asciiDigits, text } from '../../_shared/input/texts.ts'
import { booleanInQuery, Latitude, likeCode, Longitude, Money, Time } from '../http/route.ts'
import { codeOf, Type } from '../properties/schemas.ts'

export const code = text(60).min(1).openapi(likeCode)
const bounds = { minimum: 0, maximum: 99_999_999_999.999 }
const money = Money.min(bounds.minimum).max(bounds.maximum).openapi(bounds)
const size = z.number().min(0).max(10_000_000)
const rooms = z.int().min(0).max(100)
const floor = z.int().min(-10).max(200)
const year = z.int().min(1950).max(2100)

const Near = z.strictObject({
  lat: Latitude,
  lng: Longitude,
  km: z.number().gt(0).max(50).describe('How far away at most, in kilometres.'),
})
const Box = z.tuple([z.number(), z.number(), z.number(), z.number()], { error: 'bbox_invalid' })
const BoxNumbers = z.array(z.number({ error: 'bbox_invalid' }), { error: 'bbox_invalid' }).pipe(Box)

const about = {
  kinds: 'Any of these kinds: codes of `GET /meta/kinds`.',
  governorateIds: 'In any of these governorates: ids of `GET /meta/governorates`.',
  areaIds: 'In any of these areas: ids of `GET /meta/areas`.',
  notKinds: 'Of none of these kinds, also where `kinds` has them.',
  notGovernorateIds: 'In none of these governorates, also where `governorateIds` has them.',
  notAreaIds: 'In none of these areas, also where `areaIds` has them.',
  priceMin:
    'At least this price, in dinars, a rent or a price of sale where no `type` is given. Listings ' +
    'without a price are left out.',
  priceMax:
    'At most this price, in dinars, a rent or a price of sale where no `type` is given. Listings ' +
    'without a price are left out.',
  areaM2Min: 'At least this area in square metres: the plot, or else the built area.',
  areaM2Max: 'At most this area in square metres: the plot, or else the built area.',
  bedroomsMin: 'At least so many bedrooms.',
  bathroomsMin: 'At least so many bathrooms.',
  furnished: 'Furnished so, or so: codes of `furnished` in `GET /meta/enums`.',
  floorMin: 'On this floor or higher; 0 is the ground floor.',
  floorMax: 'On this floor or lower; 0 is the ground floor.',
  plotPosition: 'A plot that lies so, or so: codes of `plotPosition` in `GET /meta/enums`.',
  amenities: 'With all of these: codes of `GET /meta/amenities`.',
  isDirect: 'true: from owners without a broker; false: all others.',
  verifiedOnly: 'true: of verified companies and offices only.',
  near: 'Within a distance of a place.',
}

const common = {
  type: Type.optional().describe('What is offered.'),
  usage: code.optional().describe(codeOf('usage')),
  ownerId: z.uuid().optional().describe(
    'Of this identity, as `GET /identities/{id}` shows it; one that is not shown has none.',
  ),
  block: text(30).min(1).optional().describe(
    'In this block, as it is written or said: 5 is ٥ and قطعة 5.',
  ),
  postedSince: z.preprocess(
    (given) => typeof given === 'string' && given.length < 100 ? asciiDigits(given) : given,
    z.iso.date().or(Time),
  ).optional().openapi({
    type: 'string',
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T.+)?$',
    description: 'First published since a point in time, or a date: from its beginning in Kuwait.',
    example: '2026-11-01',
  }),
}

export const jsonFilters = {
  ...common,
  companyId: z.uuid().optional().describe('Strategy company only: of this company.'),
  kinds: z.array(code).max(200).optional().describe(about.kinds),
  governorateIds: z.array(code).max(200).optional().describe(about.governorateIds),
  areaIds: z.array(code).max(200).optional().describe(about.areaIds),
  notKinds: z.array(code).max(200).optional().describe(about.notKinds),
  notGovernorateIds: z.array(code).max(200).optional().describe(about.notGovernorateIds),
  notAreaIds: z.array(code).max(200).optional().describe(about.notAreaIds),
  priceMin: money.optional().openapi({ description: about.priceMin }),
  priceMax: money.optional().openapi({ description: about.priceMax }),
  areaM2Min: size.optional().describe(about.areaM2Min),
  areaM2Max: size.optional().describe(about.areaM2Max),
  bedroomsMin: rooms.optional().describe(about.bedroomsMin),
  bathroomsMin: rooms.optional().describe(about.bathroomsMin),
  furnished: z.preprocess(
    (given) => typeof given === 'string' ? [given] : given,
    z.array(code).max(200),
  ).optional().openapi({
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 60, ...likeCode },
    maxItems: 200,
    description: `${about.furnished} A single code is taken as well.`,
  }),
  floorMin: floor.optional().describe(about.floorMin),
  floorMax: floor.optional().describe(about.floorMax),
  plotPosition: z.array(code).max(200).optional().describe(about.plotPosition),
  amenities: z.array(code).max(200).optional().describe(about.amenities),
  isDirect: z.boolean().optional().describe(about.isDirect),
  verifiedOnly: z.boolean().optional().describe(about.verifiedOnly),
  bbox: BoxNumbers.optional().openapi({ minItems: 4, maxItems: 4 }).describe(
    'In a box: minLng, minLat, maxLng, maxLat; cut to Kuwait. What lies on a maximum is outside.',
  ),
  near: Near.optional().describe(about.near),
  requestYearMin: year.optional().describe('Strategy exchange only: `requestYear` from this on.'),
  requestYearMax: year.optional().describe('Strategy exchange only: `requestYear` up to this.'),
}

// A repeated parameter arrives as an array. It becomes null, which the schema refuses.
const commas = (given: unknown) => (typeof given === 'string' ? given.split(',') : null)
const numbers = (given: unknown) =>
  typeof given === 'string' ? given.split(',').map(parseDecimal) : given

const commaSeparated = (one: string, least: number, most = least) =>
  `^${one}(,${one}){${least - 1},${most - 1}}$`
const decimal = '-?[0-9]{1,20}(\\.[0-9]{1,20})?'
export const numbersPattern = (count: number) => commaSeparated(decimal, count)

export const listInQuery = <T extends z.ZodType>(
  list: T,
  one: string,
  most: number,
  about: string,
) =>
  z.preprocess(commas, list).optional().openapi({
    type: 'string',
    pattern: commaSeparated(one, 1, most),
    description: `${about} Separated by commas.`,
  })
const codesInQuery = (about: string) =>
  listInQuery(z.array(code).max(200), '[A-Za-z0-9_-]{1,60}', 200, about)
const numberInQuery = (schema: z.ZodNumber, description: string) =>
  inQuery(schema).optional().openapi({ description })

/** The filters in query strings, except those that only one strategy has. */
export const queryFilters = {
  ...common,
  kinds: codesInQuery(about.kinds),
  governorateIds: codesInQuery(about.governorateIds),
  areaIds: codesInQuery(about.areaIds),
  notKinds: codesInQuery(about.notKinds),
  notGovernorateIds: codesInQuery(about.notGovernorateIds),
  notAreaIds: codesInQuery(about.notAreaIds),
  priceMin: numberInQuery(money, about.priceMin),
  priceMax: numberInQuery(money, about.priceMax),
  areaM2Min: numberInQuery(size, about.areaM2Min),
  areaM2Max: numberInQuery(size, about.areaM2Max),
  bedroomsMin: numberInQuery(rooms, about.bedroomsMin),
  bathroomsMin: numberInQuery(rooms, about.bathroomsMin),
  furnished: codesInQuery(about.furnished),
  floorMin: numberInQuery(floor, about.floorMin),
  floorMax: numberInQuery(floor, about.floorMax),
  plotPosition: codesInQuery(about.plotPosition),
  amenities: codesInQuery(about.amenities),
  isDirect: booleanInQuery(about.isDirect),
  verifiedOnly: booleanInQuery(about.verifiedOnly),
  bbox: z.preprocess(numbers, BoxNumbers).optional().openapi({
    type: 'string',
    pattern: numbersPattern(4),
    description:
      'In a box: minLng,minLat,maxLng,maxLat; cut to Kuwait. What lies on a maximum is outside.',
    example: '47.95,29.3,48.1,29.4',
  }),
  near: z
    .preprocess((given) => {
      const [lat, lng, km, ...more] = numbers(given) as unknown[]
      return more.length ? given : { lat, lng, km }
    }, Near)
    .optional()
    .openapi({
      type: 'string',
      pattern: numbersPattern(3),
      description: `${about.near} lat,lng,km; km is at most 50.`,
      example: '29.33,48.07,3',
    }),
}

/** Gives unknown filters their own error code. */
export const unknownFilter = {
  error: ({ code }: { code?: string }) =>
    code === 'unrecognized_keys' ? 'filter_unknown' : undefined,
}
