/** Vocabularies and places: the same for everybody, and rarely changed. */
import { z } from '@hono/zod-openapi'
import { call } from '../_shared/db.ts'
import { area, json, pageOf, problems, rarelyChanged, route, sendTagged } from './http/route.ts'

const Word = z.object({ code: z.string(), textAr: z.string(), textEn: z.string() }).openapi('Word')

const Kind = Word.extend({
  usualTypes: z.array(z.string()).openapi({ description: 'A hint for clients, not a rule.' }),
}).openapi('Kind')

const Governorate = z
  .object({
    id: z.string(),
    nameAr: z.string(),
    nameEn: z.string(),
    lat: z.number(),
    lng: z.number(),
  })
  .openapi('Governorate')

const Area = z
  .object({
    id: z.string(),
    governorateId: z.string(),
    nameAr: z.string(),
    nameEn: z.string(),
    aliasAr: z.string().nullable(),
    lat: z.number().nullable(),
    lng: z.number().nullable(),
    approximate: z.boolean().openapi({ description: 'The centroid is a fall-back for the map.' }),
  })
  .openapi('Area')

const listed = <Name extends string, T extends z.ZodType>(
  operationId: Name,
  path: string,
  summary: string,
  schema: T,
) =>
  route({
    tags: ['meta'],
    operationId,
    method: 'get',
    path,
    summary,
    request: {},
    guestCache: rarelyChanged,
    responses: {
      200: json(schema, 'With an ETag for guests, for If-None-Match.'),
      304: { description: 'The client has it already.' },
      ...problems(),
    },
  })

const governorates = listed(
  'list_governorates',
  '/governorates',
  'List the governorates of Kuwait',
  pageOf(Governorate),
)
const areas = listed('list_areas', '/areas', 'List the areas of Kuwait', pageOf(Area))
const kinds = listed('list_kinds', '/kinds', 'List the kinds of property', pageOf(Kind))
const amenities = listed(
  'list_amenities',
  '/amenities',
  'List the amenities of properties',
  pageOf(Word),
)
const enums = listed(
  'list_enums',
  '/enums',
  'Get all vocabularies by name',
  z.record(z.string(), z.array(Word)).openapi('Enums'),
)

export const meta = area()
  .openapi(governorates, async (c) => sendTagged(c, await call(c, 'list_governorates', {})))
  .openapi(areas, async (c) => sendTagged(c, await call(c, 'list_areas', {})))
  .openapi(kinds, async (c) => sendTagged(c, await call(c, 'list_kinds', {})))
  .openapi(amenities, async (c) => sendTagged(c, await call(c, 'list_amenities', {})))
  .openapi(enums, async (c) => sendTagged(c, await call(c, 'list_enums', {})))
