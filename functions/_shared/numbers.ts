/** Numbers are taken exactly as they were written, or not at all. */
import { z } from '@hono/zod-openapi'

/** Whether the number is the one that was written, digit for digit. */
export function exact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false
  const digits = (number: string) =>
    number.replace(/[eE].*$/, '').replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
  return digits(source) === digits(String(value))
}

const plain = /^-?[0-9]{1,20}(\.[0-9]{1,20})?$/

/** A plain decimal as its number; NaN for what Number() would guess at: 0x10, 1e3, blanks, nothing. */
export function plainNumber(text: string): number {
  const value = plain.test(text) ? Number(text) : NaN
  return exact(value, text) ? value : NaN
}

/** A number in a query string: the schema's rules for what the text says. */
export const inQuery = <T extends z.ZodType>(schema: T) =>
  z.preprocess((given) => (typeof given === 'string' ? plainNumber(given) : given), schema)
