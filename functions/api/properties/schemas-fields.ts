/**
 * What an owner writes of a listing. The rules are the database's (sql/06_properties/2_rules_fields.sql);
 * here they describe the API and refuse early. Codes are looked up in the database.
 */
import { z } from '@hono/zod-openapi'
import { normalized, upTo } from '../../_shared/texts.ts'
import { describedAs, Money, orNull } from '../http/route.ts'
import { Auction, codeOf, Property, Type } from './schemas.ts'

const maybe = <T extends z.ZodType>(schema: T) => schema.nullable().optional()

// Joiners and direction marks belong to many scripts, but show as nothing.
const zeroWidth = /[\u061C\u200B-\u200F\u2060-\u2064]/g
const control = /(?![\t\n\r])\p{Cc}/u
const directional = /[\u2028-\u202E\u2066-\u2069\uFEFF]/

/** Counted in characters as people count them, after normalization. */
function sized(schema: z.ZodString, min: number, max: number, forbidden: RegExp[]) {
  return schema
    .check(upTo(max))
    .check(({ value, issues }) => {
      const wrong = { input: value, origin: 'string' } as const
      if ([...value.replace(zeroWidth, '')].length < min) {
        issues.push({ ...wrong, code: 'too_small', minimum: min })
      } else if (forbidden.some((pattern) => pattern.test(value))) {
        issues.push({ ...wrong, code: 'custom' })
      }
    })
    .openapi({ minLength: min })
}

// To Postgres a byte order mark is no white space, so it is none here.
const line = (min: number, max: number) =>
  sized(
    normalized(max).overwrite((text) => text.replace(/[^\S\uFEFF]+/g, ' ').replace(/^ | $/g, '')),
    min,
    max,
    [control, directional],
  )

const text = (max: number) =>
  sized(
    normalized(max).overwrite((text) => text.replace(/\r\n/g, '\n').trim()),
    1,
    max,
    [control],
  )

/** At most three decimals; nothing is rounded. */
const decimal = (min: number, max: number, number = z.number()) =>
  number.min(min).max(max).refine((value) => Number(value.toFixed(3)) === value)
    .openapi({ minimum: min, maximum: max })

const price = (min: number) => decimal(min, 99_999_999_999.999, Money)
const maybePrice = maybe(price(0))
const whole = (min: number, max: number) => z.int().min(min).max(max)
const code = z.string().regex(/^[a-z0-9_-]{1,40}$/)
const codes = z.array(code).max(20)

// The current year in Kuwait, which is three hours ahead of UTC.
const thisYear = () => new Date(Date.now() + 3 * 3600 * 1000).getUTCFullYear()
const year = (min: number, ahead = 0) =>
  z.int().min(min).check(({ value, issues }) => {
    const maximum = thisYear() + ahead
    if (value > maximum) {
      issues.push({ code: 'too_big', origin: 'int', maximum, input: value })
    }
  })

const RentCondition = z
  .strictObject({
    code: code.describe(codeOf('rentCondition')),
    textAr: maybe(line(1, 300)).describe('In the words of the owner; else the text of the code.'),
    text: z.string().max(1200).optional().describe('As records show it; it changes nothing.'),
  })
  .openapi('RentConditionInput', { description: 'Something that the owner asks of tenants.' })

const Expense = z
  .strictObject({
    code: code.describe(codeOf('expense')),
    labelAr: maybe(line(1, 300)).describe('In the words of the owner; else the text of the code.'),
    label: z.string().max(1200).optional().describe('As records show it; it changes nothing.'),
    amount: price(0),
    period: z.enum(['month', 'year', 'once']).describe('How often it is paid.'),
  })
  .openapi('ExpenseInput', { description: 'Something that is paid beside the rent.' })

const Location = z
  .strictObject({
    lat: z.number().min(28.45).max(30.15).describe('Degrees north.'),
    lng: z.number().min(46.5).max(48.8).describe('Degrees east.'),
    precision: z.enum(['exact', 'block', 'area']).default('block').describe(
      'Others see the place within about 250 m unless it is `exact`.',
    ),
  }).openapi('LocationInput', { description: 'A place on the map.' })

const fields = describedAs(Property.shape, {
  kind: maybe(code),
  usage: maybe(code),
  titleAr: maybe(line(5, 120)),
  titleEn: maybe(line(5, 120)),
  descriptionAr: maybe(text(4000)),
  descriptionEn: maybe(text(4000)),
  price: maybePrice,
  isNegotiable: maybe(z.boolean()),
  propertyIncome: maybePrice,
  requestYear: maybe(year(1950)),
  requiredYear: maybe(year(1950)),
  rentConditions: maybe(z.array(RentCondition).max(20)),
  additionalExpenses: maybe(z.array(Expense).max(20)),
  landAreaM2: maybe(decimal(1, 10_000_000)),
  builtAreaM2: maybe(decimal(1, 10_000_000)),
  bedrooms: maybe(whole(0, 100)),
  bathrooms: maybe(whole(0, 100)),
  floorNo: maybe(whole(-10, 200)),
  buildingYear: maybe(year(1900, 5)),
  furnished: maybe(code),
  plotPosition: maybe(code),
  finishing: maybe(code),
  amenities: maybe(codes),
  documentType: maybe(code),
  isDirect: maybe(z.boolean()),
  governorateId: maybe(code).describe(
    'An id of `GET /meta/governorates`; without it that of the area.',
  ),
  areaId: maybe(code),
  block: maybe(line(1, 30)),
  street: maybe(line(1, 120)),
  building: maybe(line(1, 60)),
  paciNo: maybe(
    normalized(8).trim().regex(/^[0-9\u0660-\u0669\u06F0-\u06F9]{8}$/),
  ),
  location: orNull(Location).optional().describe(
    'The place as it is; precision says how it is shown.',
  ),
  allowCall: maybe(z.boolean()),
  allowWhatsapp: maybe(z.boolean()),
  allowChat: maybe(z.boolean()),
  wantedKinds: maybe(codes),
  wantedAreaIds: maybe(codes),
})

export const NewProperty = z
  .strictObject({
    type: Type,
    ...fields,
    publish: z.boolean().optional().describe('Publishes at once.'),
    uploadSessionId: z.uuid().optional().describe(
      'Its pictures are attached to the listing, in order.',
    ),
  })
  .openapi('NewProperty', { description: 'A new listing; what publishing needs is said above.' })

export const PropertyChanges = z
  .strictObject({ type: Type.optional(), ...fields })
  .openapi('PropertyChanges', { description: 'Omitted fields stay, null clears.' })

export const NewAuction = z
  .strictObject({
    startsAt: Auction.shape.startsAt,
    endsAt: Auction.shape.endsAt,
    startPrice: price(0).openapi({ description: 'The lowest first bid, in dinars.' }),
    minIncrement: price(0.001).openapi({ description: 'The least step between bids, in dinars.' }),
  })
  .openapi('NewAuction', {
    description: 'Starts in the future, lasts at least an hour, ends within 90 days.',
  })
