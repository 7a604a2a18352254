/**
 * What clients send as text: bounded before anything is done with it. The same as private.text_problem and
 * private.normal_form, and the only place that makes a normal form (npm run check).
 */
import { z } from '@hono/zod-openapi'
import type { ErrorCode } from './errors.ts'

// General category M, and the half-width voicing marks, which NFKC makes such.
const runOfMarks = /[\p{M}\uFF9E\uFF9F]{31}/u

/** More than 30 combining marks one after another: in such a run normalising is quadratic (UAX #15). */
export const hasRunOfMarks = (text: string) => text.length > 30 && runOfMarks.test(text)

/** Whether nothing is done with a text: it is four times as long as it may be, or a run of marks. */
export const isUnfit = (text: string, most: number) => text.length > 4 * most || hasRunOfMarks(text)

/** A text in a normal form; undefined for one with which nothing is done. */
export function normalForm(text: string, form: 'NFC' | 'NFKC', most: number): string | undefined {
  if (isUnfit(text, most)) return undefined
  const normal = text.normalize(form)
  return hasRunOfMarks(normal) ? undefined : normal
}

/** The codes of what is refused: of whatever is wrong with it, or of a text that is too long. */
type Codes = { error?: ErrorCode; tooLong?: ErrorCode }
type Payload = z.core.ParsePayload<string>

/** A check that says to whoever reads the schema how many characters it lets by, and its code. */
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

/** Refuses, before anything else is done with it, more than four times as much as a text may have. */
const bounded = (most: number, { error, tooLong = error }: Codes) =>
  check(most, (payload) => {
    if (payload.value.length > 4 * most && !tooLong) refuseLength(payload, most)
    else if (payload.value.length > 4 * most) refuse(payload, tooLong)
    else if (hasRunOfMarks(payload.value)) refuse(payload, error)
  }, tooLong)

/** Refuses more characters than a text may have, as people count them. */
export const upTo = (most: number) =>
  check(most, (payload) => {
    const { value } = payload
    // A character has two units at most.
    if (value.length > most && (value.length > 2 * most || [...value].length > most)) {
      refuseLength(payload, most)
    }
  })

/** A text of so many characters at most, as it was sent. */
export const text = (most: number) => z.string().check(bounded(most, {}), upTo(most))

/** A text that is made into something else before its length is judged, by `upTo` or the database. */
export const typed = (most: number, codes: Codes = {}) =>
  z.string(codes.error && { error: codes.error }).check(bounded(most, codes))

/** A text of which whoever takes it says what is too long (`isUnfit`). */
export const unjudged = (most: number, error?: ErrorCode) =>
  z.string(error && { error }).check(check(most, () => {}))

/** As `typed`, in a normal form. */
export const normalized = (most: number, form: 'NFC' | 'NFKC' = 'NFKC', codes: Codes = {}) =>
  typed(most, codes).check((payload) => {
    const normal = normalForm(payload.value, form, most)
    if (normal === undefined) refuse(payload, codes.error)
    else payload.value = normal
  })
