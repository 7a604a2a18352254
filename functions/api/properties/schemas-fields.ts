/**
 * What an owner writes of a listing. The rules are the database's (sql/06_properties/2_rules_fields.sql);
 * here they describe the API and refuse early. Codes are looked up in the database.
 */
import { z } from '@hono/zod-openapi'
import { Time } from '../http/route.ts'
import { Type } from './schemas.ts'

const maybe = <T extends z.ZodType>(schema: T) => schema.nullable().optional()

// Joiners and direction marks belong to many scripts, but show as nothing.
const zeroWidth = /[\u061C\u200B-\u200F\u2060-\u2064]/g
const control = /(?![\t\n\r])\p{Cc}/u
const directional = /[\u2028-\u202E\u2066-\u2069\uFEFF]/

/** Counted in characters as people count them, after normalization. */
function sized(schema: z.ZodString, min: number, max: number, forbidden: RegExp[]) {
  return schema
    .check(({ value, issues }) => {
      const wrong = { input: value, origin: 'string' } as const
      if ([...value.replace(zeroWidth, '')].length < min) {
        issues.push({ ...wrong, code: 'too_small', minimum: min })
      } else if ([...value].length > max) {
        issues.push({ ...wrong, code: 'too_big', maximum: max })
      } else if (forbidden.some((pattern) => pattern.test(value))) {
        issues.push({ ...wrong, code: 'custom' })
      }
    })
    .openapi({ minLength: min, maxLength: max })
}

// To Postgres a byte order mark is no white space, so it is none here.
const line = (min: number, max: number) =>
  sized(
    z.string().normalize('NFKC').overwrite((text) =>
      text.replace(/[^\S\uFEFF]+/g, ' ').replace(/^ | $/g, '')
    ),
    min,
    max,
    [control, directional],
  )

const text = (max: number) =>
  sized(
    z.string().normalize('NFKC').overwrite((text) => text.replace(/\r\n/g, '\n').trim()),
    1,
    max,
    [control],
  )

/** At most three decimals; nothing is rounded. */
const decimal = (min: number, max: number) =>
  z.number().min(min).max(max).refine((value) => Number(value.toFixed(3)) === value)

const Money = decimal(0, 99_999_999_999.999).openapi({ description: 'KWD, three decimals.' })
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
  .strictObject({ code, textAr: maybe(line(1, 300)) })
  .openapi('RentConditionInput')

const Expense = z
  .strictObject({
    code,
    labelAr: maybe(line(1, 300)),
    amount: Money,
    period: z.enum(['month', 'year', 'once']),
  })
  .openapi('ExpenseInput')

const Location = z.strictObject({
  lat: z.number().min(28.45).max(30.15),
  lng: z.number().min(46.5).max(48.8),
  precision: z.enum(['exact', 'block', 'area']).default('block'),
})

const fields = {
  kind: maybe(code),
  usage: maybe(code),
  titleAr: maybe(line(5, 120)),
  titleEn: maybe(line(5, 120)),
  descriptionAr: maybe(text(4000)),
  descriptionEn: maybe(text(4000)),
  price: maybe(Money),
  isNegotiable: maybe(z.boolean()),
  propertyIncome: maybe(Money),
  requestYear: maybe(year(1950)).openapi({ description: 'EXCHANGE only.' }),
  requiredYear: maybe(year(1950)).openapi({ description: 'EXCHANGE only.' }),
  rentConditions: maybe(z.array(RentCondition).max(20)).openapi({ description: 'RENT only.' }),
  additionalExpenses: maybe(z.array(Expense).max(20)).openapi({ description: 'RENT only.' }),
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
  isDirect: maybe(z.boolean()).openapi({ description: 'Individuals only.' }),
  governorateId: maybe(code).openapi({ description: 'Derived from areaId if omitted.' }),
  areaId: maybe(code),
  block: maybe(line(1, 30)),
  street: maybe(line(1, 120)),
  building: maybe(line(1, 60)),
  paciNo: maybe(
    z.string().normalize('NFKC').trim().regex(/^[0-9\u0660-\u0669\u06F0-\u06F9]{8}$/),
  ),
  location: maybe(Location),
  allowCall: maybe(z.boolean()),
  allowWhatsapp: maybe(z.boolean()),
  allowChat: maybe(z.boolean()),
  wantedKinds: maybe(codes).openapi({ description: 'EXCHANGE only.' }),
  wantedAreaIds: maybe(codes).openapi({ description: 'EXCHANGE only.' }),
}

export const NewProperty = z
  .strictObject({
    type: Type,
    ...fields,
    publish: z.boolean().optional().openapi({ description: 'Publishes at once.' }),
    uploadSessionId: z.uuid().optional().openapi({
      description: 'Its pictures are attached to the listing, in order.',
    }),
  })
  .openapi('NewProperty')

export const PropertyChanges = z
  .strictObject({ type: Type.optional(), ...fields })
  .openapi('PropertyChanges', { description: 'Omitted fields stay, null clears.' })

export const NewAuction = z
  .strictObject({
    startsAt: Time,
    endsAt: Time,
    startPrice: Money,
    minIncrement: decimal(0.001, 99_999_999_999.999),
  })
  .openapi('NewAuction', {
    description: 'Starts in the future, lasts at least an hour, ends within 90 days.',
  })
