// Rejects text from clients that is too long or harmful before doing anything else with it, like
// private.text_problem and private.normal_form. `npm run check` fails if any other file of the functions
// normalizes text.
import { z } from '@hono/zod-openapi'
import type { ErrorCode } from '../errors/errors.ts'

// Matches combining marks (category M) and the half-width voicing marks, which NFKC turns into combining
// marks.
const runOfMarks = /[\p{M}\uFF9E\uFF9F]{31}/u

/**
 * Whether the text has more than 30 combining marks in a row. These make normalization take quadratic time
 * (UAX #15).
 */
export const hasRunOfMarks = (text: string) => text.length > 30 && runOfMarks.test(text)

/**
 * Whether to refuse a text unprocessed: it has over four times the permitted length or a long run of
 * combining marks.
 */
export const isUnfit = (text: string, most: number) => text.length > 4 * most || hasRunOfMarks(text)

export function normalForm(text: string, form: 'NFC' | 'NFKC', most: number): string | undefined {
  if (isUnfit(text, most)) return undefined
  const normal = text.normalize(form)
  return hasRunOfMarks(normal) ? undefined : normal
}

// Invisible characters. Phones add them to copied text, and browsers add them to Arabic numbers.
const hidden = new RegExp(
  '[\\u00AD\\u061C\\u180B-\\u180D\\u180F\\u200B\\u200E\\u200F\\u202A-\\u202E\\u2060\\u2066-\\u2069' +
    '\\uFE00-\\uFE0F\\uFEFF\\u{E0100}-\\u{E01EF}]',
  'gu',
)
// Removes joiners only at the ends, because inside a name they are part of it. The look-behind avoids
// quadratic time on a long run of joiners.
const ends = /^[ \u200C\u200D]+|(?<![ \u200C\u200D])[ \u200C\u200D]+$/g

/**
 * Normalizes a text to one line without invisible characters and trims spaces and joiners. Undefined if
 * isUnfit.
 */
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

/** Like visibleLine, but with ASCII digits. Undefined if NFKC would change a number, such as 5² into 52. */
export function plainLine(text: string, most: number): string | undefined {
  const line = visibleLine(text, most)
  return line === undefined || digitsOf(line) !== digitsOf(text) ? undefined : asciiDigits(line)
}

const graphemes = new Intl.Segmenter()

/** Truncates a text to at most `most` UTF-16 units, in the same way as private.beginning. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text
  const { index } = graphemes.segment(text).containing(most)!
  // Cuts between graphemes. Only a grapheme of more than 40 characters is itself cut.
  return text.slice(0, index > most - 40 ? index : most).toWellFormed()
}

/** `error` is the code for every problem; `tooLong`, if set, is the code for excessive length. */
type Codes = { error?: ErrorCode; tooLong?: ErrorCode }
type Payload = z.core.ParsePayload<string>

/** Creates a check that exposes its length limit and error code to code that inspects the schema. */
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
    // A character has at most two UTF-16 units, so most texts need not be counted.
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

/** A text that will be transformed first. Afterwards, `upTo` or the database checks the length. */
export const typed = (most: number, codes: Codes = {}) =>
  z.string(codes.error && { error: codes.error }).check(bounded(most, codes))

/** A text whose limit only appears in the OpenAPI description. A later step of the schema enforces it. */
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

/** A name, normalized in the same way as by private.visible_line. */
export const visible = (most: number, codes: Codes = {}) =>
  made(most, codes, (text) => visibleLine(text, most))

/** A phone, email, number or code, normalized in the same way as by private.typed. */
export const typedPlainly = (most: number, codes: Codes = {}) =>
  made(most, codes, (text) => plainLine(text, most))
