import { z } from '@hono/zod-openapi'
import { routePath } from 'hono/route'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { alarm } from '../../_shared/errors/alarms.ts'
import { errorBody, prefersEnglish } from '../../_shared/errors/error-body.ts'
import { type ErrorCode, errors } from '../../_shared/errors/errors.ts'
import { log } from '../../_shared/errors/log.ts'
import { classifyError, type Detail, stackLinesOf } from '../../_shared/errors/refusal.ts'
import { validationError } from '../../_shared/input/validation.ts'
import { send } from './answers.ts'

const text = z.string()
const texts = z.array(text)
const whole = z.int()

/** The details that some error codes add. A question mark means that the detail is optional. */
const detailsOf = {
  account_banned: ['deleteAt?'],
  account_has_obligations: ['available', 'obligations'],
  account_suspended: ['deleteAt?', 'reason', 'until'],
  blocks_full: ['limit', 'used'],
  change_too_soon: ['retryAt'],
  contact_missing: ['kinds'],
  documents_changed: ['documentIds'],
  documents_full: ['limit', 'used'],
  drafts_full: ['limit', 'used'],
  duplicate_listing: ['propertyId'],
  file_not_document: ['format?'],
  file_not_image: ['format?'],
  file_too_large: ['max'],
  identities_full: ['limit', 'used'],
  identity_type_required: ['actual', 'required'],
  location_outside_area: ['areaId'],
  otp_invalid: ['attemptsLeft?'],
  passkeys_full: ['limit', 'used'],
  property_state_conflict: ['allowed', 'from'],
  provider_disabled: ['provider'],
  quota_exceeded: ['limit', 'used'],
  search_strategy_unknown: ['allowed'],
  social_token_used: ['provider'],
  status_transition_invalid: ['allowed?', 'from?', 'to?'],
  terms_not_accepted: ['url', 'version'],
  terms_outdated: ['version?'],
  topups_full: ['limit', 'used'],
  uploads_full: ['limit', 'used'],
  validation_failed: ['allowed?'],
} satisfies Partial<Record<ErrorCode, string[]>>

const withCodes = (detail: string, means: string) => {
  const codes = Object.entries(detailsOf)
    .filter(([, details]) => details.some((one) => one.replace('?', '') === detail))
  return `${codes.map(([code]) => code).join(', ')}: ${means}`
}

const detail = <T extends z.ZodType>(name: string, type: T, means: string) =>
  type.optional().describe(withCodes(name, means))

const details = {
  actual: detail('actual', text, 'the type of the acting identity.'),
  allowed: detail('allowed', texts, 'what would have been taken.'),
  areaId: detail('areaId', text, 'the area that the pin lies outside of.'),
  attemptsLeft: detail('attemptsLeft', whole, 'how many tries the code has left.'),
  available: z.number().optional().openapi({
    format: 'double',
    description: withCodes('available', 'the money in all wallets of the account, in dinars.'),
  }),
  deleteAt: detail('deleteAt', text, 'when the account is deleted, where that was asked for.'),
  documentIds: detail('documentIds', texts, 'what the identity has by now.'),
  format: detail('format', text, 'the format of a picture that is not taken, such as HEIC.'),
  from: detail('from', text, 'the state that it has.'),
  kinds: detail('kinds', texts, 'the ways of contact that have no number.'),
  limit: detail('limit', whole, 'how many there may be.'),
  max: detail('max', whole, 'the limit, in MiB.'),
  propertyId: detail('propertyId', text, 'the listing that is repeated.'),
  obligations: detail('obligations', texts, 'what is still open.'),
  provider: detail('provider', text, 'with whose sign-in it has to do.'),
  reason: detail('reason', text, 'why.'),
  required: detail('required', text, 'the type that it takes.'),
  retryAt: detail('retryAt', text, 'the moment from which it is taken.'),
  to: detail('to', text, 'the state that was asked for.'),
  until: detail('until', text.nullable(), 'when it ends; null: it has no end.'),
  url: detail('url', text, 'where the terms are read.'),
  used: detail('used', whole, 'how much of it is taken.'),
  version: detail('version', text, 'the terms as they are now.'),
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
              'A code of the table, or `required` (it is not there), `unknown`, `too_short`, `too_long` (a ' +
                'text), `too_small`, `too_big` (a number, or how many there are), `not_allowed`, ' +
                '`invalid`.',
            ),
            min: whole.optional().describe('too_short: how many characters the text must have.'),
            max: whole.optional().describe('too_long: how many characters the text may have.'),
            format: text.optional().describe(
              'file_not_image: the format of the picture, if known.',
            ),
            message: z.string().describe('What is wrong with it, for people.'),
          }),
        )
        .optional()
        .describe('What is wrong with the input, where that is what is wrong.'),
      retryAfter: z.int().min(0).optional().describe('Seconds, also in Retry-After.'),
      requestId: z.uuid().describe('Also in X-Request-Id; for questions to support.'),
      ...details,
    }).openapi({
      description: 'What went wrong, with the details that some codes add.',
      'x-details': detailsOf,
    }),
  })
  .openapi('Problem', { description: 'The one shape of every error.' })

export function problem(c: ApiContext, code: ErrorCode, detail: Detail = {}) {
  const [status] = errors[code]
  c.set('errorCode', code)
  const english = prefersEnglish(c.req.header('accept-language'))
  const error = errorBody(code, detail, { english, requestId: c.get('requestId') })
  if (error.retryAfter !== undefined) c.get('headers')['Retry-After'] = String(error.retryAfter)
  return send(c, JSON.stringify({ error }), status)
}

export const invalid = (c: ApiContext, error: z.ZodError) => problem(c, ...validationError(error))

/**
 * Responds to any error that was thrown. Unexpected errors are logged with a stack trace and become a 500.
 */
export function onError(thrown: Error, c: ApiContext) {
  const ofPeople = !routePath(c, -1).startsWith('/payments/webhook')
  const { code, detail, cause } = classifyError(thrown, c.get('caller'), ofPeople)
  if (cause) c.set('cause', cause)
  if (code === 'internal') {
    const requestId = c.get('requestId')
    log('error', { stack: stackLinesOf(thrown) })
    alarm('internal', `${c.req.method} ${routePath(c, -1)}`, { requestId, name: thrown.name })
  }
  return problem(c, code, detail)
}
