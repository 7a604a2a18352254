// Limits clients' texts before anything else is done with them, like private.text_problem and
// private.normal_form. `npm run check` fails if text is normalized in any other file of the functions.
import { z } from '@hono/zod-openapi'
import type { ErrorCode } from '../errors/errors.ts'

// Matches combining marks (category M), and the half-width voicing marks, which NFKC turns into such marks.
const runOfMarks = /[\p{M}\uFF9E\uFF9F]{31}/u

/** Finds more than 30 combining marks in a row, which make normalizing take quadratic time (UAX #15). */
export const hasRunOfMarks = (text: string) => text.length > 30 && runOfMarks.test(text)

/** True for text that is refused unprocessed: over four times its limit, or with a long run of marks. */
export const isUnfit = (text: string, most: number) => text.length > 4 * most || hasRunOfMarks(text)

export function normalForm(text: string, form: 'NFC' | 'NFKC', most: number): string | undefined {
  if (isUnfit(text, most)) return undefined
  const normal = text.normalize(form)
  return hasRunOfMarks(normal) ? undefined : normal
}

// Invisible marks. Phones add them to copied text, and browsers to Arabic numbers.
const hidden = new RegExp(
  '[\\u00AD\\u061C\\u180B-\\u180D\\u180F\\u200B\\u200E\\u200F\\u202A-\\u202E\\u2060\\u2066-\\u2069' +
    '\\uFE00-\\uFE0F\\uFEFF\\u{E0100}-\\u{E01EF}]',
  'gu',
)
// Joiners inside a name belong to it. The look-behind avoids quadratic time on a long run of joiners.
const ends = /^[ \u200C\u200D]+|(?<![ \u200C\u200D])[ \u200C\u200D]+$/g

/** One line without hidden marks and without blanks or joiners at its ends; undefined if it is unfit. */
export function visibleLine(text: string, most: number): string | undefined {
  if (isUnfit(text, most)) return undefined
  return normalForm(text.replace(hidden, ''), 'NFKC', most)?.replace(/\s+/g, ' ').replace(ends, '')
}

export const asciiDigits = (text: string) =>
  text.replace(
    /[\u0660-\u0669\u06F0-\u06F9\uFF10-\uFF19]/g,
    (digit) => String(digit.charCodeAt(0) & 0xf),
  )
const digitsOf = (text: string) => asciiDigits(text).replace(/[^0-9]/g, '')

/** A visible line with ASCII digits. Undefined if NFKC would change a number, such as 5² into 52. */
export function plainLine(text: string, most: number): string | undefined {
  const line = visibleLine(text, most)
  return line === undefined || digitsOf(line) !== digitsOf(text) ? undefined : asciiDigits(line)
}

const graphemes = new Intl.Segmenter()

/** The beginning of a text: at most `most` UTF-16 units, cut as private.beginning cuts it. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text
  const { index } = graphemes.segment(text).containing(most)!
  // Only a grapheme of more than 40 characters is cut.
  return text.slice(0, index > most - 40 ? index : most).toWellFormed()
}

/** `error` is the code for any fault, `tooLong` the code for a text that is too long. */
type Codes = { error?: ErrorCode; tooLong?: ErrorCode }
type Payload = z.core.ParsePayload<string>

/** A check that exposes its character limit and error code to code that reads the schema. */
const check = (most: number, run: (payload: Payload) => void, code?: ErrorCode) =>
  ({
    _zod: {
      def: { check: 'max_length', maximum: most, error: code && (() => code) },
      onattach: [],
      check: run,
    },
  }) as unknown as z.core.CheckFn<string>

const refuse = ({ value: input, issues }: Payload, message?: string) =>
  issues.push({ code: 'custom', input, ...(message && { message }) })

const refuseLength = ({ value: input, issues }: Payload, maximum: number) =>
  issues.push({ code: 'too_big', origin: 'string', maximum, input })

const bounded = (most: number, { error, tooLong = error }: Codes) =>
  check(most, (payload) => {
    if (payload.value.length > 4 * most && !tooLong) refuseLength(payload, most)
    else if (payload.value.length > 4 * most) refuse(payload, tooLong)
    else if (hasRunOfMarks(payload.value)) refuse(payload, error)
  }, tooLong)

export const upTo = (most: number) =>
  check(most, (payload) => {
    const { value } = payload
    // A character has at most two UTF-16 units.
    if (value.length > most && (value.length > 2 * most || [...value].length > most)) {
      refuseLength(payload, most)
    }
  })

export const atLeast = (minimum: number) => ({ value: input, issues }: Payload) => {
  if ([...input].length < minimum) {
    issues.push({ code: 'too_small', origin: 'string', minimum, input })
  }
}

export const text = (most: number) => z.string().check(bounded(most, {}), upTo(most))

/** Text that is transformed before `upTo` or the database checks its length. */
export const typed = (most: number, codes: Codes = {}) =>
  z.string(codes.error && { error: codes.error }).check(bounded(most, codes))

/** Text whose limit is only described here, because a later step of the schema checks it. */
export const unjudged = (most: number, error?: ErrorCode) =>
  z.string(error && { error }).check(check(most, () => {}))

const made = (most: number, codes: Codes, make: (text: string) => string | undefined) =>
  typed(most, codes).check((payload) => {
    const value = make(payload.value)
    if (value === undefined) refuse(payload, codes.error)
    else payload.value = value
  })

export const normalized = (most: number, form: 'NFC' | 'NFKC' = 'NFKC', codes: Codes = {}) =>
  made(most, codes, (text) => normalForm(text, form, most))

/** A name as private.visible_line makes it. */
export const visible = (most: number, codes: Codes = {}) =>
  made(most, codes, (text) => visibleLine(text, most))

/** A phone, email, number or code as private.typed makes it. */
export const typedPlainly = (most: number, codes: Codes = {}) =>
  made(most, codes, (text) => plainLine(text, most))
