// Schemas for the values that an owner sends. They describe the API and reject wrong values early. The
// database has the full rules and looks up the codes (sql/06_properties/2_rules_fields.sql).
import { z } from '@hono/zod-openapi'
import { normalForm, normalized, upTo } from '../../_shared/input/texts.ts'
import { Money } from '../http/route.ts'

export const codeOf = (vocabulary: string) => `A code of \`${vocabulary}\` at \`GET /meta/enums\`.`

export const maybe = <T extends z.ZodType>(schema: T) => schema.nullable().optional()

// Joiners and direction marks, which many scripts need. They do not count towards the minimum length.
const zeroWidth = /[\u061C\u200B-\u200F\u2060-\u2064]/g
const control = /(?![\t\n\r])\p{Cc}/u
const directional = /[\u2028-\u202E\u2066-\u2069\uFEFF]/

// Postgres does not treat a byte order mark as white space, so neither do we.
const tidyLine = (text: string) => text.replace(/[^\S\uFEFF]+/g, ' ').replace(/^ | $/g, '')
const tidyText = (text: string) => text.replace(/\r\n/g, '\n').trim()

/**
 * Normalizes and tidies a text. Its length is checked both in the given form and in NFKC, its characters only
 * in NFKC.
 */
function tidied(
  form: 'NFC' | 'NFKC',
  tidy: (text: string) => string,
  [min, max]: [number, number],
  forbidden: RegExp[],
) {
  return normalized(max, form).overwrite(tidy)
    .check(upTo(max))
    .check(({ value, issues }) => {
      const wrong = { input: value, origin: 'string' } as const
      const judged = tidy(normalForm(value, 'NFKC', max) ?? '\u0000'.repeat(min))
      const visible = [...judged.replace(zeroWidth, '')].length
      if (Math.min(visible, [...value].length) < min) {
        issues.push({ ...wrong, code: 'too_small', minimum: min })
      } else if ([...judged].length > max) {
        issues.push({ ...wrong, code: 'too_big', maximum: max })
      } else if (forbidden.some((pattern) => pattern.test(judged))) {
        issues.push({ ...wrong, code: 'custom' })
      }
    })
    .openapi({ minLength: min })
}

/** Text on a single line, stored as the owner typed it. */
export const line = (min: number, max: number) =>
  tidied('NFC', tidyLine, [min, max], [control, directional])

/** A name, for example a street name. */
export const name = (max: number) => tidied('NFKC', tidyLine, [1, max], [control, directional])

export const text = (max: number) => tidied('NFC', tidyText, [1, max], [control])

/** A number with at most three decimals. Numbers with more are refused, not rounded. */
export const decimal = (min: number, max: number, number = z.number()) =>
  number.min(min).max(max).refine((value) => Number(value.toFixed(3)) === value)
    .openapi({ minimum: min, maximum: max })

export const price = (min: number) => decimal(min, 99_999_999_999.999, Money)
export const maybePrice = maybe(price(0))
export const whole = (min: number, max: number) => z.int().min(min).max(max)
export const code = z.string().regex(/^[a-z0-9_-]{1,40}$/)
export const codes = z.array(code).max(20)

// The current year in Kuwait, which is three hours ahead of UTC.
const thisYear = () => new Date(Date.now() + 3 * 3600 * 1000).getUTCFullYear()
export const year = (min: number, ahead = 0) =>
  z.int().min(min).check(({ value, issues }) => {
    const maximum = thisYear() + ahead
    if (value > maximum) {
      issues.push({ code: 'too_big', origin: 'int', maximum, input: value })
    }
  }).openapi({ maximum: thisYear() + ahead })

export const RentConditionInput = z
  .strictObject({
    code: code.describe(codeOf('rentCondition')),
    textAr: maybe(line(1, 300)).describe('In the words of the owner; else the text of the code.'),
    text: z.string().max(1200).optional().describe('As records show it; it changes nothing.'),
  })
  .openapi('RentConditionInput', { description: 'Something that the owner asks of tenants.' })

export const ExpenseInput = z
  .strictObject({
    code: code.describe(codeOf('expense')),
    labelAr: maybe(line(1, 300)).describe('In the words of the owner; else the text of the code.'),
    label: z.string().max(1200).optional().describe('As records show it; it changes nothing.'),
    amount: price(0),
    period: z.enum(['month', 'year', 'once']).describe('How often it is paid.'),
  })
  .openapi('ExpenseInput', { description: 'Something that is paid beside the rent.' })

export const LocationInput = z
  .strictObject({
    lat: z.number().min(28.45).max(30.15).describe('Degrees north.'),
    lng: z.number().min(46.5).max(48.8).describe('Degrees east.'),
    precision: z.enum(['exact', 'block', 'area']).default('block').describe(
      'Others see the very place if it is `exact`, within about 250 m if it is `block`, and the point ' +
        'of the area if it is `area`.',
    ),
  }).openapi('LocationInput', { description: 'A place on the map.' })
