/** Failures as HTTP answers: one shape for all of them. */
import { z } from '@hono/zod-openapi'
import { routePath } from 'hono/route'
import { alarm } from '../../_shared/alarms.ts'
import type { ApiContext } from '../../_shared/context.ts'
import { errorBody, prefersEnglish } from '../../_shared/error-body.ts'
import { type ErrorCode, errors } from '../../_shared/errors.ts'
import { classifyError, type Detail, placesOf } from '../../_shared/refusal.ts'
import { validationError } from '../../_shared/validation.ts'
import { send } from './answers.ts'

const text = z.string().optional()
const texts = z.array(z.string()).optional()
const whole = z.int().optional()

/** What some codes say beside their text. */
const details = {
  actual: text.describe('identity_type_required: the type of the acting identity.'),
  allowed: texts.describe('What would have been taken.'),
  areaId: text.describe('location_outside_area: the area that the pin lies outside of.'),
  attemptsLeft: whole.describe('otp_invalid: how many tries the code has left.'),
  available: z.number().optional().openapi({
    format: 'double',
    description: 'account_has_obligations: the money in all wallets of the account, in dinars.',
  }),
  deleteAt: text.describe(
    'account_suspended, account_banned: when the account is deleted, where that was asked for.',
  ),
  documentIds: texts.describe('documents_changed: what the identity has by now.'),
  from: text.describe('A state conflict: the state that it has.'),
  kinds: texts.describe('contact_missing: the ways of contact that have no number.'),
  limit: whole.describe('quota_exceeded, drafts_full, blocks_full: how many there may be.'),
  max: whole.describe('file_too_large: the limit, in MiB.'),
  obligations: texts.describe('account_has_obligations: what is still open.'),
  provider: text.describe('provider_disabled: whose sign-in is not available.'),
  reason: text.describe('account_suspended: why.'),
  required: text.describe('identity_type_required: the type that it takes.'),
  retryAt: text.describe('change_too_soon: the moment from which it is taken.'),
  to: text.describe('A state conflict: the state that was asked for.'),
  until: z.string().nullable().optional().describe(
    'account_suspended: when it ends; null: it has no end.',
  ),
  url: text.describe('terms_not_accepted: where the terms are read.'),
  used: whole.describe('quota_exceeded, drafts_full, blocks_full: how much of it is taken.'),
  version: text.describe('terms_not_accepted, terms_outdated: the terms as they are now.'),
}

export const Problem = z
  .object({
    error: z.object({
      code: z.string().openapi({
        description: 'What went wrong, for programs; each operation lists its own.',
        example: 'property_not_found',
      }),
      message: z.string().describe('For people: Arabic, or English with Accept-Language: en.'),
      messageEn: z.string().describe('Always in English.'),
      fields: z
        .array(
          z.object({
            path: z.string().describe(
              'The field, parameter or header, as in location.lat; empty: the whole body.',
            ),
            code: z.string().describe(
              'A code of the table, or required, unknown, too_small, too_big, too_long, invalid.',
            ),
            max: whole.describe('too_long: how many characters the text may have.'),
            message: z.string().describe('What is wrong with it, for people.'),
          }),
        )
        .optional()
        .describe('What is wrong with the input, where that is what is wrong.'),
      retryAfter: z.int().min(0).optional().describe('Seconds, also in Retry-After.'),
      requestId: z.uuid().describe('Also in X-Request-Id; for questions to support.'),
      ...details,
    }).describe('What went wrong, with the details that some codes add.'),
  })
  .openapi('Problem', { description: 'The one shape of every error.' })

/** The contract's answer to a failure; extra details of a code stand beside its text. */
export function problem(c: ApiContext, code: ErrorCode, detail: Detail = {}) {
  const [status] = errors[code]
  c.set('errorCode', code)
  const english = prefersEnglish(c.req.header('accept-language'))
  const error = errorBody(code, detail, { english, requestId: c.get('requestId') })
  if (error.retryAfter !== undefined) c.get('headers')['Retry-After'] = String(error.retryAfter)
  return send(c, JSON.stringify({ error }), status)
}

/** The 422 of a failed validation. */
export const invalid = (c: ApiContext, error: z.ZodError) => problem(c, ...validationError(error))

/** Anything thrown as the contract's answer. The unforeseen is logged whole and shown as 500. */
export function onError(thrown: Error, c: ApiContext) {
  const ofPeople = !routePath(c, -1).startsWith('/payments/webhook')
  const { code, detail, cause } = classifyError(thrown, c.get('caller'), ofPeople)
  if (cause) c.set('cause', cause)
  if (code === 'internal') {
    const requestId = c.get('requestId')
    console.error(JSON.stringify({ requestId, stack: placesOf(thrown) }))
    alarm('internal', `${c.req.method} ${routePath(c, -1)}`, { requestId, name: thrown.name })
  }
  return problem(c, code, detail)
}
