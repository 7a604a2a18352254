import { z } from '@hono/zod-openapi'
import { typedPlainly } from '../../_shared/input/texts.ts'
import { displayName, identityType } from '../accounts/schemas.ts'
import { Count, Money, orNull, pageOf, Picture, Time } from '../http/route.ts'
import { cardOf, details, offer, recordOf, wanted, ways } from './schemas-fields.ts'

export { codeOf } from './values.ts'

export const Type = z.enum(['SALE', 'RENT', 'EXCHANGE']).describe(
  'What is offered; fixed once published.',
)

export const OneProperty = z.strictObject({ id: z.uuid() })

/** A listing number as people type it, such as KW-104233. It is converted to a plain number. */
export const RefNo = typedPlainly(18).regex(/^kw[ -]?[0-9]{1,15}$/i)
  .transform((refNo) => Number(refNo.replace(/^kw[ -]?/i, '')))

export const OnePropertyOrNumber = z.strictObject({
  id: z.union([
    z.uuid(),
    RefNo,
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
/** Includes `deleted`, which occurs only where a listing is counted or referred to, for example by a lead. */
export const everyStatus = [...statuses, 'deleted'] as const

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

export const Property = z
  .object({
    id: z.uuid(),
    refNo: z.string().describe('The number that people read out.').openapi({
      example: 'KW-104233',
    }),
    type: Type,
    ...recordOf(offer),
    pricePeriod: z.enum(['month', 'once']).nullable().describe(
      'What the price is for: `month` of RENT, `once` of SALE, null of EXCHANGE.',
    ),
    priceLabel: z.string().describe(
      'The text of the price in the language of Accept-Language, to be shown as it is.',
    ).openapi({
      example: '650 د.ك / شهرياً',
    }),
    ...recordOf(details),
    media: z.array(Media).describe('Its pictures, in order.'),
    owner: Owner,
    ...recordOf(ways),
    status: z.enum(statuses).describe('Everybody sees `active` ones; the states are in the guide.'),
    isFavorite: z.boolean().describe('Whether the acting identity has saved it; false to guests.'),
    viewsCount: Count.describe('How many looked at it, each once a day; guests are not counted.'),
    favoritesCount: Count.describe('How many identities that may act have saved it.'),
    createdAt: Time,
    publishedAt: Time.nullable().describe(
      'When it was first published; renewing does not move it. null: never.',
    ),
    confirmedAt: Time.nullable().describe(
      'When the owner last confirmed that it is available; null: never.',
    ),
    expiresAt: Time.nullable().describe('When it ends unless it is renewed; null: not published.'),
    version: z.int().min(1).describe('Grows with every change by the owner: for `If-Match`.'),
    ...recordOf(wanted),
    auction: orNull(Auction).describe('null: none was set.'),
    deal: orNull(Deal).describe(
      'A price that dropped by 5 to 50 % in the last 14 days; else null.',
    ),
    shareUrl: z.url().nullable().openapi({
      description: 'Where it can be passed on; null while strangers may not see it, or where the ' +
        'service has no such address.',
      example: 'https://market.example/p/KW-104233',
    }),
    statusReason: z.string().nullable().describe(
      'Why it was rejected or suspended. Shown to the owner only.',
    ),
    pauseReason: z.enum(['unproven_past', 'plan']).nullable().describe(
      'Shown to the owner only. unproven_past: the email of the account was proven only after this ' +
        'was published; resume it. plan: the plan had no room for it; it comes back by itself when one ' +
        'with room is paid within 90 days. null: paused by the owner, or not paused.',
    ),
    hiddenBy: z.enum(['licence', 'administrator']).nullable().describe(
      'Shown to the owner only. licence: that of its company or office has ended; administrator: it or ' +
        'its owner was suspended. null: neither hides it.',
    ),
    pendingChanges: z.record(z.string(), z.unknown()).nullable().describe(
      'Shown to the owner only: changes that await review.',
    ),
    contactMissing: z.array(z.enum(['call', 'whatsapp'])).nullable().describe(
      'Shown to the owner only: the ways that were chosen and have no number to give.',
    ),
    locationMissing: z.boolean().nullable().describe(
      'Shown to the owner only: whether it has no pin, so that others see and find it at the point ' +
        'of its area, and no search by distance finds it.',
    ),
  })
  .openapi('Property', { description: 'The whole record of a listing.' })

export const PropertyPage = pageOf('PropertyPage', Property)

const shape = Property.shape

/** A closed listing as shown to strangers who know its number. */
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

/** A listing as shown in lists. Fields that `Property` also has have the same names and meanings there. */
export const Card = z
  .object({
    id: shape.id,
    refNo: shape.refNo,
    type: shape.type,
    ...cardOf(offer),
    pricePeriod: shape.pricePeriod,
    priceLabel: shape.priceLabel,
    ...cardOf(details),
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

export const Listed = z.union([Card, Property]).openapi('Listed', {
  description: 'A listing in a list: its card, or with `fields=full` its record, which has no ' +
    '`picture`, `picturesCount`, `dropPct` and `auctionEndsAt`.',
})

export const Fields = z.enum(['card', 'full']).optional().describe(
  'card, which is the default, or full: whole records in place of cards.',
)

/** A saved listing that currently cannot be shown. */
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
