/** Refusals in the description: one response for each status, naming the codes that it can have. */
import { errorBody, isTemporary } from '../../_shared/error-body.ts'
import { type ErrorCode, errors } from '../../_shared/errors.ts'
import type { Detail } from '../../_shared/refusal.ts'
import { rateHeaders, withHeaders } from './headers.ts'

/** Those that many operations share, each a component. */
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
  TimedOut: ['timeout'],
}

const nameOf = (codes: ErrorCode[]) => codes.toSorted().join()
const names = new Map(Object.entries(shared).map(([name, codes]) => [nameOf(codes), name]))

/** The responses of these codes, by status. */
export function responsesOf(codes: ErrorCode[]) {
  const byStatus = Object.groupBy(codes, (code) => String(errors[code][0]))
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, of]) => {
      const name = names.get(nameOf(of!))
      return [status, name ? { $ref: `#/components/responses/${name}` } : responseOf(of!)]
    }),
  )
}

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
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Problem' },
            {
              type: 'object',
              properties: {
                error: {
                  type: 'object',
                  properties: {
                    code: { type: 'string', enum: codes },
                    ...(codes.some(isTemporary) && { retryAfter: { type: 'integer' } }),
                  },
                  required: ['code', ...(codes.every(isTemporary) ? ['retryAfter'] : [])],
                  additionalProperties: true,
                },
              },
              required: ['error'],
            },
          ],
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
        ),
      },
    },
  }
}

export const sharedResponses = () =>
  Object.fromEntries(Object.entries(shared).map(([name, codes]) => [name, responseOf(codes)]))

const requestId = '6f1e2d3c-4b5a-4798-8765-43210fedcba9'
/** A value for each placeholder of the texts. */
const examples: Record<string, Detail> = {
  seconds: { retryAfter: 45 },
  max: { max: 10 },
  reason: { reason: 'إعلانات مكررة' },
  provider: { provider: 'Google' },
  type: { required: 'company' },
}

/** Errors as they are on the wire, by code. */
export const examplesOf = (codes: Iterable<ErrorCode>) =>
  Object.fromEntries([...codes].map((code) => {
    const [, , text] = errors[code]
    const details = [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => examples[name])
    const detail = Object.assign({}, ...details)
    const error = errorBody(code, detail, { english: false, requestId })
    return [code, { summary: text, value: { error } }]
  }))
