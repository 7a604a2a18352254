// The errors that the client throws.
import type { components, DeclaredCodes, ErrorDetails, ServerCode } from './openapi.ts'
import type { Method, Route } from './operations.ts'

/**
 * An error code of the contract or of the client itself. `connection`: the service could not be reached, or
 * the response did not come from it. `session_changed`: the session of the call ended or was replaced, and
 * nothing was sent under another session. `chat_ended`: the service has closed this chat for good, usually
 * because the account has too many open chats; `message` gives the reason.
 */
export type ErrorCode = ServerCode | 'connection' | 'session_changed' | 'chat_ended'

/** The error of a field. too_short has `min` and too_long has `max`, both in characters. */
export type FieldError = Required<components['schemas']['Problem']['error']>['fields'][number]

export type Problem<Code extends ErrorCode = ErrorCode> = {
  code: Code
  /** In Arabic, or in English for a client whose `language` is `en`. */
  message?: string
  messageEn?: string
  fields?: FieldError[]
  /** Seconds to wait before a retry. */
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
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  readonly messageEn: string | undefined
  readonly fields: FieldError[]
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | undefined
  /** Identifies the request for support. */
  readonly requestId: string | undefined
  /** Further fields of this error code, such as `limit` and `used` of quota_exceeded. */
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

/** A union with one error type per code, so that checking `code` narrows `details`. */
type OneOf<Codes extends ErrorCode> = { [Code in Codes]: ApiError<Code> }[Codes]

export type AnyApiError = OneOf<ErrorCode>

/** The error codes of a call: codes of its route, and codes that any call can have. */
export type RouteCode<M extends Method, Path extends Route<M>> =
  | (DeclaredCodes[Path] extends Record<M, infer Code extends ErrorCode> ? Code : never)
  | typeof temporaryCodes[number]
  | 'session_changed'

/** The error of a call, such as `RouteError<'post', '/properties'>`. */
export type RouteError<M extends Method, Path extends Route<M>> = OneOf<RouteCode<M, Path>>

/**
 * Returns whether an error is an ApiError. With the method and route as type arguments, `code` is limited to
 * the codes of that route:
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
