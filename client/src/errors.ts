/** Refusals as they reach an app. */
import type { components, DeclaredCodes, ErrorDetails, ServerCode } from './openapi.ts'
import type { Method, Route } from './operations.ts'

/**
 * A code of the contract, or one of the client's own. `connection`: the service was not reached, or not
 * understood. `session_changed`: another session took the place of the one that the call began in, or
 * that one ended; under the other nothing was sent.
 */
export type ErrorCode = ServerCode | 'connection' | 'session_changed'

/** What is wrong with a field; `max` of one that is too long is how many characters it may have. */
export type FieldError = Required<components['schemas']['Problem']['error']>['fields'][number]

/** The error of an answer. */
export type Problem<Code extends ErrorCode = ErrorCode> = {
  code: Code
  /** In Arabic, or in English for a client whose `language` is `en`. */
  message?: string
  messageEn?: string
  /** Which fields of the request are wrong, and why. */
  fields?: FieldError[]
  /** Seconds. */
  retryAfter?: number
  requestId?: string
}

const temporaryCodes = [
  'connection',
  'service_unavailable',
  'timeout',
  'internal',
  'rate_limited',
] as const satisfies ErrorCode[]

export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ApiError'
  readonly code: Code
  /** HTTP status; 0 where there was no answer. */
  readonly status: number
  readonly messageEn: string | undefined
  readonly fields: FieldError[]
  /** Seconds to wait before the next try. */
  readonly retryAfter: number | undefined
  /** Names the request to whoever runs the service. */
  readonly requestId: string | undefined
  /** What this code says beside its text: `limit` and `used` of quota_exceeded. */
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

  /** Whether the same may succeed later. */
  get temporary(): boolean {
    return (temporaryCodes as readonly ErrorCode[]).includes(this.code)
  }
}

/** One of them: looking at `code` tells which, and so what `details` there are. */
type OneOf<Codes extends ErrorCode> = { [Code in Codes]: ApiError<Code> }[Codes]

export type AnyApiError = OneOf<ErrorCode>

/** The codes of a call: those of its route, and what may happen on the way to it. */
export type RouteCode<M extends Method, Path extends Route<M>> =
  | (DeclaredCodes[Path] extends Record<M, infer Code extends ErrorCode> ? Code : never)
  | typeof temporaryCodes[number]
  | 'session_changed'

/** The error of a call, as `RouteError<'post', '/properties'>`. */
export type RouteError<M extends Method, Path extends Route<M>> = OneOf<RouteCode<M, Path>>

/**
 * Whether a call failed in a way that the contract knows. Named after the call's route, `code` has
 * that route's codes and no others:
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

/** The service was not reached. */
export const connectionError = (message: string) => new ApiError({ code: 'connection', message })
