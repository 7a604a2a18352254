import { z } from '@hono/zod-openapi'
import { call } from '../_shared/database/db.ts'
import { mailWorks, smsState } from '../_shared/outside/messages.ts'
import { env } from '../_shared/settings/env.ts'
import { variable } from '../_shared/settings/read-setting.ts'
import { missingInAccount } from '../_shared/settings/setting-kinds.ts'
import { paymentState } from '../payments/configured-providers.ts'
import { providers } from './accounts/social-tokens.ts'
import {
  area,
  Count,
  json,
  Latitude,
  Longitude,
  pageOf,
  rarelyChanged,
  route,
  sendTagged,
  Time,
} from './http/route.ts'
import { maxSize } from './media/upload-listings.ts'

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
    ownCache: 'max-age=300',
    responses: {
      200: json(schema, 'With an ETag, for If-None-Match.'),
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

const Version = z.string().nullable().describe('As `1.4.0`; null: any will do.')
const Said = z.string().nullable().describe('null where it is not said.')

const App = z
  .object({
    minVersion: z.object({ ios: Version, android: Version, web: Version }).describe(
      'An older app asks to be updated.',
    ),
    storeUrl: z.object({ ios: Said, android: Said }).describe('Where apps are installed.'),
    signIn: z.object({
      phone: z.boolean().describe('Codes by SMS arrive.'),
      email: z.boolean().describe('Codes by mail arrive.'),
      google: z.boolean().describe('`POST /auth/google` is there.'),
      apple: z.boolean().describe('`POST /auth/apple` is there.'),
    }).describe('Ways to sign in that are configured.'),
    payments: z.boolean().describe('Whether something can be paid for.'),
    push: z.boolean().describe('Whether pushes are sent.'),
    shareUrl: z.string().nullable().describe(
      'Where a listing is passed on, with `{refNo}` in it; null where that is not configured.',
    ),
    picture: z.object({
      url: z.string().nullable().describe(
        'Where a picture is in a width, with `{w}` and `{path}` in it; null: nowhere, show the original.',
      ),
      files: z.url().describe(
        'Addresses of pictures begin with it; what follows is `{path}`. Others are shown as they are.',
      ),
    }).describe('Pictures in sizes.'),
    terms: z.object({
      version: z.string().describe('Which they are.'),
      url: z.string().describe('Where they are read.'),
      requiredFrom: Time.describe(
        'From when on who has not accepted them (`POST /auth/me/terms`) neither publishes nor writes.',
      ),
    }).nullable().describe('null: there are none to accept.'),
    privacyUrl: Said.describe('Where the privacy policy is read; null where it is not said.'),
    support: z.object({ phone: Said, email: Said, whatsapp: Said }).describe(
      'Where people ask for help.',
    ),
    limits: z.object({
      pictureBytes: Count.describe('Of one picture of a listing.'),
      picturesPerListing: Count.describe('At most; `photosPerListing` of a plan may be less.'),
      messageLength: Count.describe('Characters of a message.'),
    }).describe('What the service takes at most.'),
  })
  .openapi('App', { description: 'What an app asks before anything else.' })

const app = route({
  tags: ['meta'],
  operationId: 'get_app',
  method: 'get',
  path: '/app',
  summary: 'Get what an app asks before anything else',
  description:
    'The oldest version that still works, where to update, what is configured, whom to ask. The ' +
    "server's time is the header `Date`.",
  request: {},
  guestCache: 'max-age=60, s-maxage=60',
  ownCache: 'max-age=60',
  responses: {
    200: json(App, 'With an ETag, for If-None-Match.'),
    304: { description: 'The client has it already.' },
  },
})

const configured = {
  signIn: {
    phone: smsState !== 'off',
    email: mailWorks,
    google: providers.google.clientIds.length > 0,
    apple: providers.apple.clientIds.length > 0,
  },
  payments: paymentState !== 'off',
  push: missingInAccount(variable('FCM_SERVICE_ACCOUNT') ?? '').length === 0,
  shareUrl: env.shareUrl ?? null,
  picture: { url: env.pictureUrl ?? null, files: `${env.filesUrl}/` },
  limits: { pictureBytes: maxSize, picturesPerListing: 40, messageLength: 4000 },
}

export const meta = area()
  .openapi(app, async (c) => {
    const { minVersion, storeUrl, terms, privacyUrl, support } = JSON.parse(
      await call(c, 'get_app', {}),
    )
    const { signIn, payments, push, shareUrl, picture, limits } = configured
    const answer: z.infer<typeof App> = {
      minVersion,
      storeUrl,
      signIn,
      payments,
      push,
      shareUrl,
      picture,
      terms,
      privacyUrl,
      support,
      limits,
    }
    return sendTagged(c, JSON.stringify(answer))
  })
  .openapi(governorates, async (c) => sendTagged(c, await call(c, 'list_governorates', {})))
  .openapi(areas, async (c) => sendTagged(c, await call(c, 'list_areas', {})))
  .openapi(kinds, async (c) => sendTagged(c, await call(c, 'list_kinds', {})))
  .openapi(amenities, async (c) => sendTagged(c, await call(c, 'list_amenities', {})))
  .openapi(enums, async (c) => sendTagged(c, await call(c, 'list_enums', {})))
