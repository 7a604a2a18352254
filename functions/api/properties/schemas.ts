/** What a listing looks like on the wire. */
import { z } from '@hono/zod-openapi'
import { typedDigits } from '../../_shared/identifiers.ts'
import { displayName, identityType } from '../accounts/schemas.ts'
import {
  Count,
  Latitude,
  Longitude,
  Money,
  MoneyOrNull,
  orNull,
  pageOf,
  Picture,
  Time,
} from '../http/route.ts'

export const Type = z.enum(['SALE', 'RENT', 'EXCHANGE']).describe(
  'What is offered; fixed once published.',
)

export const OneProperty = z.strictObject({ id: z.uuid() })

/** An id, or KW- and a number with any digits; as the database takes them. */
export const OnePropertyOrNumber = z.strictObject({
  id: z.union([
    z.uuid(),
    typedDigits(18).regex(/^kw-[0-9]{1,15}$/i)
      .transform((refNo) => Number(refNo.slice('KW-'.length))),
  ]).openapi({
    type: 'string',
    description: 'Its id, or its `refNo` in any case and digits.',
    example: '0f8a1c3e-5b7d-4e9f-8a2b-6c4d8e0f1a3b',
  }),
})

export const statuses = [
  'draft',
  'pending_review',
  'active',
  'rejected',
  'paused',
  'sold',
  'rented',
  'exchanged',
  'expired',
  'archived',
  'suspended',
] as const
/** Also what counts and old records speak of. */
export const everyStatus = [...statuses, 'deleted'] as const

/** What says which vocabulary a code is of. */
export const codeOf = (vocabulary: string) => `A code of \`${vocabulary}\` at \`GET /meta/enums\`.`

const text = z.string().nullable()
const textLike = (example: string) => text.openapi({ example })
const code = (vocabulary: string, example: string) => textLike(example).describe(codeOf(vocabulary))
const year = z.int().min(1950)
const size = z.number().min(1).max(10_000_000)
const rooms = Count.max(100)

const RentCondition = z.object({
  code: z.string().describe(codeOf('rentCondition')),
  textAr: z.string().describe('The condition in Arabic, in the words of the owner or of the code.'),
  text: z.string().describe('The owner’s own words, else those of the code by Accept-Language.'),
})

const Expense = z.object({
  code: z.string().describe(codeOf('expense')),
  labelAr: z.string().describe('Its name in Arabic, in the words of the owner or of the code.'),
  label: z.string().describe('The owner’s own words, else those of the code by Accept-Language.'),
  amount: Money,
  period: z.enum(['month', 'year', 'once']).describe('How often it is paid.'),
})

const Location = z
  .object({
    lat: Latitude,
    lng: Longitude,
    precision: z.enum(['exact', 'block', 'area']).describe(
      'How exactly the owner shows it: only `exact` is the very place.',
    ),
  }).openapi('Location', { description: 'A place on the map.' })

export const Media = z.object({
  id: z.uuid(),
  url: z.url().describe('Address of the picture.'),
  width: z.int().min(1).describe('In pixels, as it is stored.'),
  height: z.int().min(1).describe('In pixels, as it is stored.'),
  position: Count.describe(
    'Its position among the pictures; the first is the one that lists show.',
  ),
})

const Owner = z
  .object({
    identityId: z.uuid(),
    type: identityType,
    displayName,
    avatarUrl: Picture,
    verified: z.boolean().describe('Whether it is a company or office with a checked licence.'),
  })
  .openapi('Owner', { description: 'The identity that offers the listing.' })

export const Auction = z
  .object({
    startsAt: Time.describe('When bidding begins.'),
    endsAt: Time.describe('When bidding ends.'),
    startPrice: Money.openapi({ description: 'The lowest first bid, in dinars.' }),
    minIncrement: Money.openapi({ description: 'The least step between bids, in dinars.' }),
  })
  .openapi('Auction', { description: 'The auction of a listing for sale.' })

const dropPct = z.number().min(0).max(100).describe(
  'By how many percent the price is below the lowest of the 30 days before.',
)

const Deal = z
  .object({
    dropPct,
    until: Time.describe('Until when it counts as a deal.'),
  })
  .openapi('Deal', { description: 'A price that has dropped.' })

/** The whole record of a listing. */
export const Property = z
  .object({
    id: z.uuid(),
    refNo: z.string().describe('The number that people read out.').openapi({
      example: 'KW-104233',
    }),
    type: Type,
    kind: textLike('apartment').describe(
      'What it is: a code of `GET /meta/kinds`. A draft may have none.',
    ),
    usage: code('usage', 'investment'),
    titleAr: textLike('شقة للإيجار في السالمية').describe('A draft may have none.'),
    titleEn: text.describe('null: only the Arabic one.'),
    descriptionAr: text,
    descriptionEn: text,
    price: MoneyOrNull.describe('In dinars; of RENT for a month. null: not disclosed.'),
    pricePeriod: z.enum(['month', 'once']).nullable().describe(
      'What the price is for: `month` of RENT, `once` of SALE, null of EXCHANGE.',
    ),
    priceLabel: z.string().describe(
      'The text of the price in the language of Accept-Language, to be shown as it is.',
    ).openapi({
      example: '650 د.ك / شهرياً',
    }),
    isNegotiable: z.boolean().describe('Whether the price can be negotiated.'),
    propertyIncome: MoneyOrNull.describe(
      'What it earns in a month, in dinars. 0 is nothing; null: not known.',
    ),
    requestYear: year.nullable().describe(
      'EXCHANGE only: the year that the offered property is compared by (طلب), up to this one.',
    ),
    requiredYear: year.nullable().describe(
      'EXCHANGE only: the year that the wanted property is compared by (مع), up to this one.',
    ),
    rentConditions: z.array(RentCondition).describe('RENT only: what the owner asks of tenants.'),
    additionalExpenses: z.array(Expense).describe('RENT only: what is paid beside the rent.'),
    landAreaM2: size.nullable().describe('Area of the plot in square metres.'),
    builtAreaM2: size.nullable().describe('Built area in square metres.'),
    bedrooms: rooms.nullable(),
    bathrooms: rooms.nullable(),
    floorNo: z.int().min(-10).max(200).nullable().describe(
      '0 is the ground floor, below it are basements.',
    ),
    buildingYear: z.int().min(1900).nullable().describe(
      'When it was built, or will be: at most five years ahead.',
    ),
    furnished: code('furnished', 'none'),
    plotPosition: code('plotPosition', 'corner'),
    finishing: code('finishing', 'super_deluxe'),
    amenities: z.array(z.string()).openapi({ example: ['elevator'] }).describe(
      'Codes of `GET /meta/amenities`.',
    ),
    documentType: code('documentType', 'free_deed'),
    isDirect: z.boolean().describe('From the owner without a broker; individuals only.'),
    governorateId: textLike('hawalli').describe('An id of `GET /meta/governorates`.'),
    areaId: textLike('salmiya').describe('An id of `GET /meta/areas`.'),
    block: textLike('10').describe('The block of the area (قطعة).'),
    street: text.describe('Name or number of the street.'),
    building: text.describe('Name or number of the building.'),
    paciNo: textLike('12345678').describe('The PACI number of the address: eight digits.'),
    location: orNull(Location).describe(
      'To others within about 250 m unless precision is exact; null: not given.',
    ),
    media: z.array(Media).describe('Its pictures, in order.'),
    owner: Owner,
    allowCall: z.boolean().describe(
      'Whether the owner gives a phone to whoever asks: to others only while there is one to give, ' +
        'to the owner what was chosen.',
    ),
    allowWhatsapp: z.boolean().describe(
      'Whether the owner can be asked by WhatsApp: to others and the owner as `allowCall`.',
    ),
    allowChat: z.boolean().describe('Whether the owner can be asked by chat.'),
    status: z.enum(statuses).describe('Everybody sees `active` ones; the states are in the guide.'),
    isFavorite: z.boolean().describe('Whether the acting identity has saved it; false to guests.'),
    viewsCount: Count.describe('How many looked at it, each once a day; guests are not counted.'),
    favoritesCount: Count.describe('How many identities have saved it.'),
    createdAt: Time,
    publishedAt: Time.nullable().describe(
      'When it was first published; renewing does not move it. null: never.',
    ),
    confirmedAt: Time.nullable().describe(
      'When the owner last confirmed that it is available; null: never.',
    ),
    expiresAt: Time.nullable().describe('When it ends unless it is renewed; null: not published.'),
    version: z.int().min(1).describe('Grows with every change by the owner: for `If-Match`.'),
    wantedKinds: z.array(z.string()).describe(
      'EXCHANGE only: what is wanted in return, codes of `GET /meta/kinds`.',
    ),
    wantedAreaIds: z.array(z.string()).describe(
      'EXCHANGE only: where it is wanted, ids of `GET /meta/areas`.',
    ),
    auction: orNull(Auction).describe('null: none was set.'),
    deal: orNull(Deal).describe(
      'A price that dropped by 5 to 50 % in the last 14 days; else null.',
    ),
    shareUrl: z.url().nullable().openapi({
      description: 'Where it can be passed on; null while strangers may not see it, or where the ' +
        'service has no such address.',
      example: 'https://market.example/p/KW-104233',
    }),
    statusReason: text.describe('Why it was rejected or suspended. Shown to the owner only.'),
    pauseReason: z.enum(['unproven_past']).nullable().describe(
      'Shown to the owner only. unproven_past: the email of the account was proven only after this ' +
        'was published; resume it. null: paused by the owner or by the quota of a plan, or not paused.',
    ),
    pendingChanges: z.record(z.string(), z.unknown()).nullable().describe(
      'Shown to the owner only: changes that await review.',
    ),
    contactMissing: z.array(z.enum(['call', 'whatsapp'])).nullable().describe(
      'Shown to the owner only: the ways that were chosen and have no number to give.',
    ),
  })
  .openapi('Property', { description: 'The whole record of a listing.' })

export const PropertyPage = pageOf('PropertyPage', Property)

const shape = Property.shape

/** What strangers who know its number see of a listing that was closed. */
export const ClosedProperty = z
  .object({
    id: shape.id,
    refNo: shape.refNo,
    status: z.enum(['sold', 'rented', 'exchanged']).describe('How it was closed.'),
    titleAr: shape.titleAr,
    available: z.literal(false).describe('It is not offered any more.'),
  })
  .openapi('ClosedProperty', {
    description: 'What strangers see, by its number, of a listing that was closed.',
  })

export const FoundProperty = z.union([Property, ClosedProperty]).openapi('FoundProperty', {
  description: 'A listing by its id or number: `Property`, or `ClosedProperty`.',
})

const FirstPicture = Media.pick({ url: true, width: true, height: true }).openapi('FirstPicture', {
  description: 'The picture that lists show.',
})

/** What lists carry of a listing: fields of its record with the same names and meanings. */
export const Card = z
  .object({
    id: shape.id,
    refNo: shape.refNo,
    type: shape.type,
    kind: shape.kind,
    usage: shape.usage,
    titleAr: shape.titleAr,
    titleEn: shape.titleEn,
    price: shape.price,
    pricePeriod: shape.pricePeriod,
    priceLabel: shape.priceLabel,
    isNegotiable: shape.isNegotiable,
    requestYear: shape.requestYear,
    requiredYear: shape.requiredYear,
    landAreaM2: shape.landAreaM2,
    builtAreaM2: shape.builtAreaM2,
    bedrooms: shape.bedrooms,
    bathrooms: shape.bathrooms,
    furnished: shape.furnished,
    isDirect: shape.isDirect,
    governorateId: shape.governorateId,
    areaId: shape.areaId,
    block: shape.block,
    location: shape.location,
    picture: orNull(FirstPicture).describe(
      'The first picture; null without one.',
    ),
    picturesCount: Count.describe('How many pictures it has.'),
    owner: shape.owner,
    status: shape.status,
    isFavorite: shape.isFavorite,
    dropPct: dropPct.nullable().describe(
      'Of a deal: by how many percent the price dropped; else null.',
    ),
    auctionEndsAt: Time.nullable().describe('When its auction ends; null without one.'),
    publishedAt: shape.publishedAt,
    confirmedAt: shape.confirmedAt,
  })
  .openapi('Card', { description: 'A listing in a list: fields of its record.' })

/** A listing in a list: its card, or with fields=full its record. */
export const Listed = z.union([Card, Property]).openapi('Listed', {
  description: 'A listing in a list: its card, or with `fields=full` its record, which has no ' +
    '`picture`, `picturesCount`, `dropPct` and `auctionEndsAt`.',
})

/** Which of the two a list carries. */
export const Fields = z.enum(['card', 'full']).optional().describe(
  'card, which is the default, or full: whole records in place of cards.',
)

/** A saved listing that cannot be shown now. */
export const Unavailable = z
  .object({
    id: z.uuid(),
    status: z.literal('unavailable').describe('In place of the status of the listing.'),
    isFavorite: z.literal(true).describe('It is still saved.'),
    available: z.literal(false).describe('It cannot be shown now.'),
    titleAr: z.string().optional().describe(
      'Only where the owner ended, paused or archived it, or it expired.',
    ),
  })
  .openapi('UnavailableFavorite', { description: 'A saved listing that cannot be shown now.' })
