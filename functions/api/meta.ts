/** Vocabularies and places: the same for everybody, and rarely changed. */
import { z } from '@hono/zod-openapi'
import { call } from '../_shared/db.ts'
import {
  area,
  json,
  Latitude,
  Longitude,
  pageOf,
  rarelyChanged,
  route,
  sendTagged,
} from './http/route.ts'

const Word = z
  .object({
    code: z.string().describe('What records and requests carry.'),
    textAr: z.string().describe('What people read.'),
    textEn: z.string().describe('The same in English.'),
  })
  .openapi('Word', { description: 'A word of a vocabulary.' })

const Kind = Word.extend({
  usualTypes: z.array(z.string()).describe('A hint for clients, not a rule.'),
}).openapi('Kind', { description: 'A kind of property.' })

const Governorate = z
  .object({
    id: z.string().describe('A short name in Latin letters.').openapi({ example: 'hawalli' }),
    nameAr: z.string(),
    nameEn: z.string(),
    lat: Latitude,
    lng: Longitude,
  })
  .openapi('Governorate', { description: 'A governorate of Kuwait, with its centroid.' })

const Area = z
  .object({
    id: z.string().describe('A short name in Latin letters.').openapi({ example: 'salmiya' }),
    governorateId: z.string().describe('The governorate that it lies in.'),
    nameAr: z.string(),
    nameEn: z.string(),
    aliasAr: z.string().nullable().describe('Another name, which searches find too; else null.'),
    lat: Latitude.nullable(),
    lng: Longitude.nullable(),
    approximate: z.boolean().describe('The centroid is a fall-back for the map.'),
  })
  .openapi('Area', { description: 'An area of Kuwait; its centroid is null where none is known.' })

const listed = <Name extends string, T extends z.ZodType>(
  operationId: Name,
  path: string,
  summary: string,
  description: string,
  schema: T,
) =>
  route({
    tags: ['meta'],
    operationId,
    method: 'get',
    path,
    summary,
    description: `${description} Rarely changes: keep it, and ask again with If-None-Match.`,
    request: {},
    guestCache: rarelyChanged,
    responses: {
      200: json(schema, 'With an ETag for guests, for If-None-Match.'),
      304: { description: 'The client has it already.' },
    },
  })

const governorates = listed(
  'list_governorates',
  '/governorates',
  'List the governorates of Kuwait',
  'The values of `governorateId`.',
  pageOf('GovernoratePage', Governorate),
)
const areas = listed(
  'list_areas',
  '/areas',
  'List the areas of Kuwait',
  'The values of `areaId`, each in its governorate.',
  pageOf('AreaPage', Area),
)
const kinds = listed(
  'list_kinds',
  '/kinds',
  'List the kinds of property',
  'The values of `kind` of a listing.',
  pageOf('KindPage', Kind),
)
const amenities = listed(
  'list_amenities',
  '/amenities',
  'List the amenities of properties',
  'The values of `amenities` of a listing.',
  pageOf('AmenityPage', Word),
)
const enums = listed(
  'list_enums',
  '/enums',
  'Get all vocabularies by name',
  'Of codes that stand in records, each with its Arabic and English text.',
  z.record(z.string(), z.array(Word)).openapi('Enums', {
    description: 'The words of each vocabulary, by its name.',
  }),
)

export const meta = area()
  .openapi(governorates, async (c) => sendTagged(c, await call(c, 'list_governorates', {})))
  .openapi(areas, async (c) => sendTagged(c, await call(c, 'list_areas', {})))
  .openapi(kinds, async (c) => sendTagged(c, await call(c, 'list_kinds', {})))
  .openapi(amenities, async (c) => sendTagged(c, await call(c, 'list_amenities', {})))
  .openapi(enums, async (c) => sendTagged(c, await call(c, 'list_enums', {})))
