/** What a listing looks like on the wire. */
import { z } from '@hono/zod-openapi'
import { Money, MoneyOrNull, pageOf, Time } from '../http/route.ts'

export const Type = z.enum(['SALE', 'RENT', 'EXCHANGE'])

export const OneProperty = z.strictObject({ id: z.uuid() })

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

const RentCondition = z.object({ code: z.string(), textAr: z.string() })

const Expense = z.object({
  code: z.string(),
  labelAr: z.string(),
  amount: Money,
  period: z.enum(['month', 'year', 'once']),
})

const Location = z.object({
  lat: z.number(),
  lng: z.number(),
  precision: z.enum(['exact', 'block', 'area']),
})

const Media = z.object({
  id: z.uuid(),
  url: z.string(),
  width: z.int(),
  height: z.int(),
  position: z.int(),
})

const Owner = z
  .object({
    identityId: z.uuid(),
    type: z.enum(['individual', 'company', 'office']),
    displayName: z.string(),
    avatarUrl: z.string().nullable(),
    verified: z.boolean(),
  })
  .openapi('Owner')

const Auction = z
  .object({ startsAt: Time, endsAt: Time, startPrice: Money, minIncrement: Money })
  .openapi('Auction')

/** The whole record of a listing. */
export const Property = z
  .object({
    id: z.uuid(),
    refNo: z.string().openapi({ example: 'KW-104233' }),
    type: Type,
    kind: z.string().nullable(),
    usage: z.string().nullable(),
    titleAr: z.string().nullable(),
    titleEn: z.string().nullable(),
    descriptionAr: z.string().nullable(),
    descriptionEn: z.string().nullable(),
    price: MoneyOrNull,
    pricePeriod: z.enum(['month', 'once']).nullable(),
    priceLabel: z.string().openapi({ example: '650 د.ك / شهرياً' }),
    isNegotiable: z.boolean(),
    propertyIncome: MoneyOrNull.openapi({ description: 'null: no data.' }),
    requestYear: z.int().nullable(),
    requiredYear: z.int().nullable(),
    rentConditions: z.array(RentCondition),
    additionalExpenses: z.array(Expense),
    landAreaM2: z.number().nullable(),
    builtAreaM2: z.number().nullable(),
    bedrooms: z.int().nullable(),
    bathrooms: z.int().nullable(),
    floorNo: z.int().nullable(),
    buildingYear: z.int().nullable(),
    furnished: z.string().nullable(),
    plotPosition: z.string().nullable(),
    finishing: z.string().nullable(),
    amenities: z.array(z.string()),
    documentType: z.string().nullable(),
    isDirect: z.boolean(),
    governorateId: z.string().nullable(),
    areaId: z.string().nullable(),
    block: z.string().nullable(),
    street: z.string().nullable(),
    building: z.string().nullable(),
    paciNo: z.string().nullable(),
    location: Location.nullable().openapi({
      description: 'Within about 250 m unless precision is exact.',
    }),
    media: z.array(Media),
    owner: Owner,
    allowCall: z.boolean(),
    allowWhatsapp: z.boolean(),
    allowChat: z.boolean(),
    status: z.enum(statuses),
    isFavorite: z.boolean(),
    viewsCount: z.int(),
    favoritesCount: z.int(),
    createdAt: Time,
    publishedAt: Time.nullable(),
    confirmedAt: Time.nullable(),
    expiresAt: Time.nullable(),
    version: z.int(),
    wantedKinds: z.array(z.string()),
    wantedAreaIds: z.array(z.string()),
    auction: Auction.nullable(),
    deal: z.object({ dropPct: z.number(), until: Time }).nullable(),
    statusReason: z.string().nullable().openapi({ description: 'Shown to the owner only.' }),
    pendingChanges: z.record(z.string(), z.unknown()).nullable().openapi({
      description: 'Shown to the owner only: changes that await review.',
    }),
  })
  .openapi('Property')

export const PropertyPage = pageOf('PropertyPage', Property)

const shape = Property.shape

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
    picture: Media.pick({ url: true, width: true, height: true }).nullable().openapi({
      description: 'The first.',
    }),
    picturesCount: z.int(),
    owner: shape.owner,
    status: shape.status,
    isFavorite: shape.isFavorite,
    dropPct: z.number().nullable(),
    auctionEndsAt: Time.nullable(),
    publishedAt: shape.publishedAt,
    confirmedAt: shape.confirmedAt,
  })
  .openapi('Card')

/** A listing in a list: its card, or with fields=full its record. */
export const Listed = z.union([Card, Property])

/** Which of the two a list carries. */
export const Fields = z.enum(['card', 'full']).optional().openapi({
  description: 'card, which is the default, or full: whole records in place of cards.',
})

/** A saved listing that cannot be shown now. */
export const Unavailable = z
  .object({
    id: z.uuid(),
    status: z.literal('unavailable'),
    isFavorite: z.literal(true),
    available: z.literal(false),
    titleAr: z.string().optional(),
  })
  .openapi('UnavailableFavorite')
