/** Refusals as they reach an app. */
import type { ServerCode } from './openapi.ts'

/** A code of the contract, or `connection`: the service was not reached, or not understood. */
export type ErrorCode = ServerCode | 'connection'

/** What some codes say beside their text. */
type Facts = {
  identity_type_required: { required: string; actual: string }
  otp_invalid: { attemptsLeft?: number }
  property_state_conflict: { from: string; allowed: string[] }
  quota_exceeded: { limit: number; used: number }
}

export type FieldError = { path: string; code: string; message: string }

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

const temporaryCodes: readonly ErrorCode[] = [
  'connection',
  'service_unavailable',
  'timeout',
  'internal',
  'rate_limited',
]

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
  readonly facts: Code extends keyof Facts ? Facts[Code] : Record<string, unknown>

  constructor(problem: Problem<Code>, status = 0) {
    const { code, message, messageEn, fields, retryAfter, requestId, ...facts } = problem
    super(message ?? code)
    this.code = code
    this.status = status
    this.messageEn = messageEn
    this.fields = fields ?? []
    this.retryAfter = retryAfter
    this.requestId = requestId
    this.facts = facts as never
  }

  /** Whether the same may succeed later. */
  get temporary(): boolean {
    return temporaryCodes.includes(this.code)
  }
}

/** One of them: looking at `code` tells which, and so what `facts` there are. */
export type AnyApiError = { [Code in ErrorCode]: ApiError<Code> }[ErrorCode]

/**
 * ```ts
 * try { … } catch (error) {
 *   if (isApiError(error) && error.code === 'quota_exceeded') show(error.facts.limit)
 * }
 * ```
 */
export const isApiError = (error: unknown): error is AnyApiError => error instanceof ApiError

/** The service was not reached. */
export const connectionError = (message: string) => new ApiError({ code: 'connection', message })
