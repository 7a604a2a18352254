// The errors that an app gets.
import type { components, DeclaredCodes, ErrorDetails, ServerCode } from './openapi.ts'
import type { Method, Route } from './operations.ts'

/**
 * A code of the contract, or one of the client's own. `connection`: the service was not reached or not
 * understood. `session_changed`: the session of the call was replaced or ended, and nothing was sent under
 * another session. `chat_ended`: the service has closed this chat for good, mostly because the account has
 * too many chats open; `message` says why.
 */
export type ErrorCode = ServerCode | 'connection' | 'session_changed' | 'chat_ended'

/** The fault of a field. `min` comes with too_short, `max` with too_long; both count characters. */
export type FieldError = Required<components['schemas']['Problem']['error']>['fields'][number]

export type Problem<Code extends ErrorCode = ErrorCode> = {
  code: Code
  /** In Arabic, or in English for a client whose `language` is `en`. */
  message?: string
  messageEn?: string
  fields?: FieldError[]
  /** Seconds to wait before the next try. */
  retryAfter?: number
  requestId?: string
}

const temporaryCodes = [
  'connection',
  'service_unavailable',
  'maintenance',
  'timeout',
  'internal',
  'rate_limited',
] as const satisfies ErrorCode[]

export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ApiError'
  readonly code: Code
  /** HTTP status; 0 without an answer. */
  readonly status: number
  readonly messageEn: string | undefined
  readonly fields: FieldError[]
  /** Seconds to wait before the next try. */
  readonly retryAfter: number | undefined
  /** Identifies the request for support. */
  readonly requestId: string | undefined
  /** Details of this code, such as `limit` and `used` of quota_exceeded. */
  readonly details: Code extends keyof ErrorDetails ? ErrorDetails[Code] : Record<string, unknown>

  constructor(problem: Problem<Code>, status = 0) {
    const { code, message, messageEn, fields, retryAfter, requestId, ...details } = problem
    super(message ?? code)
    this.code = code
    this.status = status
    this.messageEn = messageEn
    this.fields = fields ?? []
    this.retryAfter = retryAfter
    this.requestId = requestId
    this.details = details as never
  }

  /** True if the same call may succeed later. */
  get temporary(): boolean {
    return (temporaryCodes as readonly ErrorCode[]).includes(this.code)
  }
}

/** A union of errors, so that checking `code` narrows `details`. */
type OneOf<Codes extends ErrorCode> = { [Code in Codes]: ApiError<Code> }[Codes]

export type AnyApiError = OneOf<ErrorCode>

/** The codes of a call: those of its route, and those that any call can have. */
export type RouteCode<M extends Method, Path extends Route<M>> =
  | (DeclaredCodes[Path] extends Record<M, infer Code extends ErrorCode> ? Code : never)
  | typeof temporaryCodes[number]
  | 'session_changed'

/** The error of a call, such as `RouteError<'post', '/properties'>`. */
export type RouteError<M extends Method, Path extends Route<M>> = OneOf<RouteCode<M, Path>>

/**
 * Tells whether an error is an ApiError. With the call's route as type arguments, `code` has only that
 * route's codes:
 *
 * ```ts
 * try { await client.post('/properties', … } catch (error) {
 *   if (!isApiError<'post', '/properties'>(error)) throw error
 *   if (error.code === 'quota_exceeded') show(error.details.limit)
 * }
 * ```
 */
export function isApiError(error: unknown): error is AnyApiError
export function isApiError<M extends Method, Path extends Route<M>>(
  error: unknown,
): error is RouteError<M, Path>
export function isApiError(error: unknown): boolean {
  return error instanceof ApiError
}

export const connectionError = (message: string) => new ApiError({ code: 'connection', message })
