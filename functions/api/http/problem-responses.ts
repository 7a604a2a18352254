// Describes error responses: one response per status, with its error codes as examples and a common schema.
import { errorBody, isTemporary } from '../../_shared/errors/error-body.ts'
import { type ErrorCode, errors } from '../../_shared/errors/errors.ts'
import type { Detail } from '../../_shared/errors/refusal.ts'
import { rateHeaders, withHeaders } from './headers.ts'
import { pascal } from './plain-schemas.ts'

/** Names for responses that many operations share. Any other response is named after its codes. */
const shared: Record<string, ErrorCode[]> = {
  BodyNotJson: ['body_not_json'],
  TokenNeeded: ['token_missing', 'token_expired', 'token_invalid'],
  TokenRefused: ['token_invalid'],
  AccountLocked: ['account_suspended', 'account_banned'],
  IdentityNotUsable: ['account_suspended', 'account_banned', 'identity_not_usable'],
  AdminsOnly: ['account_suspended', 'account_banned', 'admin_only'],
  BodyTooSlow: ['upload_timeout'],
  IdentityChanged: ['identity_changed'],
  BodyTooLarge: ['body_too_large'],
  BodyNotSupported: ['content_type_unsupported'],
  Invalid: ['validation_failed'],
  TooManyRequests: ['rate_limited'],
  InternalError: ['internal'],
  Unavailable: ['service_unavailable'],
  Closed: ['service_unavailable', 'maintenance'],
  TimedOut: ['timeout'],
}

const names = new Map(Object.entries(shared).map(([name, codes]) => [`${codes.toSorted()}`, name]))
const nameOf = (codes: ErrorCode[]) =>
  names.get(`${codes.toSorted()}`) ?? codes.toSorted().map(pascal).join('Or')

const byStatus = (codes: ErrorCode[]) =>
  Object.entries(Object.groupBy(codes, (code) => String(errors[code][0]))) as [
    string,
    ErrorCode[],
  ][]

export const responsesOf = (codes: ErrorCode[]) =>
  Object.fromEntries(
    byStatus(codes).map(([status, of]) => [
      status,
      { $ref: `#/components/responses/${nameOf(of)}` },
    ]),
  )

export const sharedResponses = (operations: ErrorCode[][]) =>
  Object.fromEntries(
    operations.flatMap(byStatus).map(([, codes]) => [nameOf(codes), responseOf(codes)]),
  )

function responseOf(codes: ErrorCode[]) {
  const [status] = errors[codes[0]]
  return {
    description: codes.map((code) => `- \`${code}\`: ${errors[code][2]}`).join('\n'),
    headers: withHeaders(
      ...(status === 429 ? rateHeaders : []),
      ...(codes.some(isTemporary) ? ['RetryAfter'] as const : []),
    ),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
        ),
      },
    },
  }
}

const requestId = '6f1e2d3c-4b5a-4798-8765-43210fedcba9'
const examples: Record<string, Detail> = {
  seconds: { retryAfter: 45 },
  max: { max: 10 },
  reason: { reason: 'إعلانات مكررة' },
  provider: { provider: 'Google' },
  type: { required: 'company' },
}

export const examplesOf = (codes: Iterable<ErrorCode>) =>
  Object.fromEntries([...codes].map((code) => {
    const [, , text] = errors[code]
    const details = [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => examples[name])
    const detail = Object.assign({}, ...details)
    const error = errorBody(code, detail, { english: false, requestId })
    return [code, { summary: text, value: { error } }]
  }))
