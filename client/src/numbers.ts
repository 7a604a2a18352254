/** The typed number, or the reason why the text is not a number. */
export type TypedNumber =
  | { value: number; reason?: never; readings?: never }
  | { value: null; reason: 'empty' | 'too_long' | 'not_a_number'; readings?: never }
  | { value: null; reason: 'ambiguous'; readings: [withDecimals: number, grouped: number] }

/** With more digits, a JavaScript number may differ from what was typed. */
const mostDigits = 15

// Direction marks, joiners and other invisible characters, which keyboards and copied text add.
const hidden = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g
const blanks = /[\u00a0\u2007\u2009\u202f]/g
const foreignDigits = /[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g

const shape = new RegExp(
  // Groups of three digits with the same separator. A single dot is matched by the decimal mark below.
  "^(?:(?!\\d+\\.\\d{3}$)([1-9]\\d{0,2}([,\u066c' .])\\d{3}(?:\\2\\d{3})*)|(\\d*))" +
    '(?:([.,\u066b])(\\d+))?$',
)

/**
 * Reads a number as people type or paste it, such as `350`, `٣٥٠`, `1,200`, `١٬٢٠٠٫٥`, `1 200`, `100.5` and `100,5`.
 *
 * A comma is a thousands separator if exactly three digits follow, and otherwise a decimal separator. A dot
 * is usually a decimal separator, but some people use it as a thousands separator: `350.000` is a rent with
 * fils, or the price of a house. Such a text is `ambiguous`, with both readings, unless a thousands separator
 * is impossible there (`0.500`, `1200.500`, `1,200.500`). The function never guesses.
 */
export function readNumber(typed: string): TypedNumber {
  if (typed.length > 100) return { value: null, reason: 'too_long' }
  const text = typed.replace(hidden, '').replace(blanks, ' ').trim()
    .replace(foreignDigits, (digit) => String(digit.charCodeAt(0) & 0xf))
    .replace(/\u060c/g, ',').replace(/\u2019/g, "'")
  if (!text) return { value: null, reason: 'empty' }
  const [found, grouped, group, plain = '', mark, decimals = ''] = shape.exec(text) ?? []
  if (!found || group && group === mark) return { value: null, reason: 'not_a_number' }
  const whole = grouped?.replace(/\D/g, '') ?? plain
  if (whole.length + decimals.length > mostDigits) return { value: null, reason: 'too_long' }
  const value = Number(`${whole}.${decimals}`)
  const mayGroup = mark === '.'
    ? /^0*[1-9]\d{0,2}$/.test(plain)
    : mark === ',' && !/^0+$/.test(whole)
  if (decimals.length === 3 && mayGroup) {
    return { value: null, reason: 'ambiguous', readings: [value, Number(whole + decimals)] }
  }
  return { value }
}
