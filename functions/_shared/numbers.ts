/** Numbers are taken exactly as they were written, or not at all. */
import { z } from '@hono/zod-openapi'

/** Whether the number is the one that was written, digit for digit. */
export function isExact(value: number, source: string): boolean {
  // No number of ours needs so many digits, and to find zeros at the end of many is quadratic.
  if (!Number.isFinite(value) || source.length > 100) return false
  const digits = (number: string) =>
    number.replace(/[eE].*$/, '').replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
  return digits(source) === digits(String(value))
}

const plain = /^-?[0-9]{1,20}(\.[0-9]{1,20})?$/

/** The number of a plain decimal; NaN for what Number() would guess at: 0x10, 1e3, blanks, nothing. */
export function parseDecimal(text: string): number {
  const value = plain.test(text) ? Number(text) : NaN
  return isExact(value, text) ? value : NaN
}

/** A number in a query string, under the rules of a schema. */
export const inQuery = <T extends z.ZodType>(schema: T) =>
  z.preprocess((given) => (typeof given === 'string' ? parseDecimal(given) : given), schema)
