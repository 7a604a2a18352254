// Accepts a number only if JavaScript represents it exactly as it was written.
import { z } from '@hono/zod-openapi'

export function isExact(value: number, source: string): boolean {
  // Our numbers never need so many digits, and stripping zeros from a long run takes quadratic time.
  if (!Number.isFinite(value) || source.length > 100) return false
  const digits = (number: string) =>
    number.replace(/[eE].*$/, '').replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
  return digits(source) === digits(String(value))
}

const plain = /^-?[0-9]{1,20}(\.[0-9]{1,20})?$/

/** Parses a plain decimal. Returns NaN for text that Number() would guess at: 0x10, 1e3, blanks. */
export function parseDecimal(text: string): number {
  const value = plain.test(text) ? Number(text) : NaN
  return isExact(value, text) ? value : NaN
}

export const inQuery = <T extends z.ZodType>(schema: T) =>
  z.preprocess((given) => (typeof given === 'string' ? parseDecimal(given) : given), schema)
