/** Meta: vocabularies and places, the same for everybody and seldom changed. SQL: sql/02_meta/8_api.sql. */
import { z } from '@hono/zod-openapi'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { ApiContext } from '../_shared/context.ts'
import { call } from '../_shared/db.ts'
import { area, json, pageOf, problems, route, send } from './http/route.ts'

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
    responses: {
      200: json(schema, 'With an ETag, for If-None-Match.'),
      304: { description: 'What the client has is still right.' },
      ...problems(),
    },
  })

const governorates = listed(
  'list_governorates',
  '/governorates',
  'The governorates of Kuwait',
  pageOf(Governorate),
)
const areas = listed('list_areas', '/areas', 'The areas of Kuwait', pageOf(Area))
const kinds = listed('list_kinds', '/kinds', 'Kinds of property', pageOf(Kind))
const amenities = listed('list_amenities', '/amenities', 'What a property may have', pageOf(Word))
const enums = listed(
  'list_enums',
  '/enums',
  'Every vocabulary by its name',
  z.record(z.string(), z.array(Word)).openapi('Enums'),
)

/** Sends what caches may keep; nothing at all to a client that has the very same. */
async function sendTagged(c: ApiContext, text: string) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  const tag = `"${bytesToHex(new Uint8Array(digest)).slice(0, 32)}"`
  c.header('ETag', tag)
  c.header('Cache-Control', 'public, max-age=300')
  const known = c.req.header('if-none-match') ?? ''
  const same = known.split(',').some((entry) =>
    ['*', tag].includes(entry.trim().replace(/^W\//, ''))
  )
  return same ? c.body(null, 304) as never : send(c, text)
}

export const meta = area()
  .openapi(governorates, async (c) => sendTagged(c, await call(c, 'list_governorates', {})))
  .openapi(areas, async (c) => sendTagged(c, await call(c, 'list_areas', {})))
  .openapi(kinds, async (c) => sendTagged(c, await call(c, 'list_kinds', {})))
  .openapi(amenities, async (c) => sendTagged(c, await call(c, 'list_amenities', {})))
  .openapi(enums, async (c) => sendTagged(c, await call(c, 'list_enums', {})))
