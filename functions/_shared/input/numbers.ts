// Accepts a number only if JavaScript represents it exactly, or if it is almost a whole number of fils: some
// clients send 2.9 as 2.8999999999999995904.
import { z } from '@hono/zod-openapi'
import { asciiDigits } from './texts.ts'

function isExact(value: number, source: string): boolean {
  // No number of ours needs so many digits, and stripping the zeros of a long run takes quadratic time.
  if (!Number.isFinite(value) || source.length > 100) return false
  const digits = (number: string) =>
    number.replace(/[eE].*$/, '').replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
  return digits(source) === digits(String(value))
}

/**
 * Rounds a number with more than three decimals to fils. Undefined if that would change it by more than 1e-9.
 */
function nearestFils(source: string): number | undefined {
  const [, sign, whole, decimals] = /^(-?)(\d{1,12})\.(\d{4,80})$/.exec(source) ?? []
  if (whole === undefined) return undefined
  const exact = BigInt(whole + decimals.padEnd(12, '0').slice(0, 12))
  const fils = (exact + 500_000_000n) / 1_000_000_000n
  const off = exact - fils * 1_000_000_000n
  return off >= -1000n && off <= 1000n ? Number(`${sign}${fils}e-3`) : undefined
}

/** Returns the number that the source text stands for. NaN if JavaScript cannot represent it. */
export const numberIn = (value: number, source: string): number =>
  isExact(value, source) ? value : nearestFils(source) ?? NaN

const plain = /^-?[0-9]{1,20}(\.[0-9]{1,20})?$/

/**
 * Parses a plain decimal number. Accepts Arabic and Persian digits, as Arabic apps send them. Returns NaN for
 * spellings that Number() would also accept, such as 0x10, 1e3 or spaces.
 */
export function parseDecimal(text: string): number {
  const decimal = text.length > 42 ? '' : asciiDigits(text).replace('\u066B', '.')
  return plain.test(decimal) ? numberIn(Number(decimal), decimal) : NaN
}

export const inQuery = <T extends z.ZodType>(schema: T) =>
  z.preprocess((given) => (typeof given === 'string' ? parseDecimal(given) : given), schema)
