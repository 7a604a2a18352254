import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readNumber } from '../../client/src/index.ts'

test.each<[string, number]>([
  // Latin, Arabic, Persian and full-width digits, also mixed.
  ['350', 350],
  ['٣٥٠', 350],
  ['۳۵۰', 350],
  ['３５０', 350],
  ['٣5۰', 350],
  ['0', 0],
  ['٠', 0],
  ['007', 7],
  ['999999999999.999', 999_999_999_999.999],
  // A comma before exactly three digits separates groups; so does the Arabic comma.
  ['1,200', 1200],
  ['١,٢٠٠', 1200],
  ['٣٥٠،٠٠٠', 350_000],
  ['1,200,500', 1_200_500],
  ['12,345,678', 12_345_678],
  // Any other comma is the decimal mark.
  ['100,5', 100.5],
  ['١٠٠،٥', 100.5],
  ['100,50', 100.5],
  ['1,2005', 1.2005],
  [',5', 0.5],
  // A comma after a leading zero is the decimal mark.
  ['0,500', 0.5],
  ['0,075', 0.075],
  ['0,000', 0],
  // A dot that cannot separate groups is the decimal mark.
  ['100.5', 100.5],
  ['٦٥٠.٥', 650.5],
  ['100.50', 100.5],
  ['1.2005', 1.2005],
  ['.5', 0.5],
  ['.500', 0.5],
  ['0.500', 0.5],
  ['1200.500', 1200.5],
  ['350000.000', 350_000],
  // A dot that occurs twice, or before a decimal mark, separates groups.
  ['1.200.500', 1_200_500],
  ['1.200,5', 1200.5],
  ['1.200,50', 1200.5],
  ['1.200.500,25', 1_200_500.25],
  ['1.200٫5', 1200.5],
  // In Unicode, ٫ is the Arabic decimal separator and ٬ the Arabic thousands separator.
  ['٦٥٠٫٥', 650.5],
  ['١٫٢٠٠', 1.2],
  ['٣٥٠٫٠٠٠', 350],
  ['٫٥', 0.5],
  ['1٫5', 1.5],
  ['١٬٢٠٠', 1200],
  ['1٬200', 1200],
  ['١٬٢٠٠٬٥٠٠', 1_200_500],
  ['١٬٢٠٠٫٥', 1200.5],
  ['۱٬۲۰۰٫۷۵۰', 1200.75],
  // Groups with one separator, then another character as the decimal mark.
  ['1,200.5', 1200.5],
  ['1,200.500', 1200.5],
  ['1,200,500.250', 1_200_500.25],
  ['1,200٫500', 1200.5],
  ['١٬٢٠٠.٥', 1200.5],
  // Spaces (normal, no-break, narrow, figure, thin) and apostrophes separate groups, too.
  ['350 000', 350_000],
  ['350\u00a0000', 350_000],
  ['350\u202f000', 350_000],
  ['350\u2007000', 350_000],
  ['350\u2009000', 350_000],
  ['1 200 500,5', 1_200_500.5],
  ['1 200.500', 1200.5],
  ["1'200", 1200],
  ['1’200’500', 1_200_500],
  ["1'200.500", 1200.5],
  // Keyboards and copied text add spaces at the ends, direction marks, a zero-width space or a BOM.
  [' 350 ', 350],
  ['\t350\r\n', 350],
  ['\u00a0٣٥٠', 350],
  ['\u200f٣٥٠', 350],
  ['\u200e1,200\u200e', 1200],
  ['\u061c١٬٢٠٠', 1200],
  ['\u202b٣٥٠\u202c', 350],
  ['\u2067٣٥٠\u2069', 350],
  ['\ufeff350', 350],
  ['1\u200b200', 1200],
  ['\u200f \u200e350', 350],
])('%j is %d', (typed, value) => {
  expect(readNumber(typed)).toEqual({ value })
})

test.each<[string, [number, number]]>([
  ['1.200', [1.2, 1200]],
  ['١.٢٠٠', [1.2, 1200]],
  ['350.000', [350, 350_000]],
  ['4.500', [4.5, 4500]],
  ['012.345', [12.345, 12_345]],
  // The digits before this comma cannot be the first group of a number.
  ['1200,500', [1200.5, 1_200_500]],
  ['012,345', [12.345, 12_345]],
  [',500', [0.5, 500]],
  // This comma follows groups with another separator, as a decimal mark would.
  ['1.200,500', [1200.5, 1_200_500]],
  ['1 200,500', [1200.5, 1_200_500]],
  ["1'200,500", [1200.5, 1_200_500]],
  ['١٬٢٠٠،٥٠٠', [1200.5, 1_200_500]],
])('%j may be either of %j', (typed, readings) => {
  expect(readNumber(typed)).toEqual({ value: null, reason: 'ambiguous', readings })
})

test.each([
  // Groups of another size, with two separators, or after a decimal mark; a second decimal mark.
  ...['1,25,000', '1,20,5', '1,200,50', '1٬20', '1٬2000', '1200٬500', '0٬500', "1'20", '1 20'],
  ...['35 0000', '1,200٬500', '1,200 500', "1 200'500", '1.200.50', '1.20.300', '1.200.500.1'],
  ...['1.5,000', '1٫200٬500', '1.200,500,1', '1,200.5.5', '1٫2٫3', '1.2.3', '1,2,3', '1..5'],
  // Separators and decimal marks that lack the digits next to them.
  ...['.', ',', '،', '٫', '٬', "'", '5.', '5,', '٥٫', '1,200.', "'200", '٬200', '1, 200', '1 .5'],
  // Signs, powers, fractions and other notations. No part of them may be ignored.
  ...['-5', '٥-', '−5', '+5', '(5)', '1e3', '1E3', '0x10', '0b1', 'Infinity', 'NaN', '1_000', '1n'],
  ...['½', '3½', '5²', 'م²', '⑤', '1/2', '۱/۵', '5%', '٥٪', '५००', 'Ⅻ', '三', '\u{1d7d8}'],
  // Units, words, two numbers.
  ...['350 د.ك', 'KD 350', '350KWD', '400م', '350k', '٣٥٠ الف', '300-400', '300 - 400'],
  ...['9988 7766', '350\t000', '350\n000', 'x', 'null', '[object Object]', '\u0000', '3\u30005'],
])('%j is no number', (typed) => {
  expect(readNumber(typed)).toEqual({ value: null, reason: 'not_a_number' })
})

test.each(['', ' ', '\u00a0', '\t\r\n', '\u200f', '\u200e \u202c', '\ufeff'])(
  '%j is empty',
  (typed) => {
    expect(readNumber(typed)).toEqual({ value: null, reason: 'empty' })
  },
)

test.each([
  '1234567890123456',
  '9007199254740993',
  '0.1234567890123456',
  '1,234,567,890,123,456',
  '1.234.567.890.123,456',
  ' '.repeat(101),
  '1'.repeat(1_000_000),
  '1,'.repeat(500_000),
  `${'0'.repeat(101)}1`,
])('a number of too many digits is not rounded, and a long text not looked at (%#)', (typed) => {
  expect(readNumber(typed)).toEqual({ value: null, reason: 'too_long' })
})

const amounts = [0, 0.5, 0.125, 1, 4.5, 12.345, 100.05, 350, 650.25, 999.999, 1000, 1200, 1200.5]
const more = [12_345.678, 350_000, 350_000.25, 999_999.999, 1_250_000, 12_345_678.9, 1e11]

/** A number is never misread: the result is the number itself, or null with readings that include it. */
test.each([
  ['as the apps of Kuwait write them', ['ar-KW', 'ar-KW-u-nu-latn', 'en-KW', 'fa'], [0, 3]],
  ['as others do, without thousandths', ['de', 'de-CH', 'fr', 'ru', 'tr', 'ur', 'en-IN'], [0, 2]],
])('numbers %s', (_how, locales, [fewest, most]) => {
  for (const locale of locales) {
    for (const maximumFractionDigits of [fewest!, most!]) {
      for (const minimumFractionDigits of [0, maximumFractionDigits]) {
        const format = new Intl.NumberFormat(locale, {
          maximumFractionDigits,
          minimumFractionDigits,
        })
        for (const amount of [...amounts, ...more]) {
          const written = format.format(amount)
          const meant = Number(amount.toFixed(maximumFractionDigits))
          const { value, readings = [meant] } = readNumber(written)
          expect(value ?? readings, `${written} in ${locale}`)
            .toEqual(value === null ? expect.arrayContaining([meant]) : meant)
        }
      }
    }
  }
})

test('where Kuwait groups and marks decimals in Arabic, every amount is read', () => {
  const format = new Intl.NumberFormat('ar-KW-u-nu-arab', { minimumFractionDigits: 3 })
  for (const amount of [...amounts, ...more]) {
    expect(readNumber(format.format(amount))).toEqual({ value: amount })
  }
})

test('docs/apps/numbers.md shows what is read', () => {
  const page = readFileSync(new URL('../../docs/apps/numbers.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| (.+) \| (.+) \|$/gm)].slice(2)
  expect(rows.length).toBeGreaterThan(15)
  for (const [, typed, shown] of rows) {
    const { value, reason, readings } = readNumber(typed!)
    const why = readings ? `\`${reason}\`: ${readings.join(' or ')}` : `\`${reason}\``
    expect(value === null ? why : String(value), typed).toBe(shown)
  }
})
