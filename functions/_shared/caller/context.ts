import type { Context } from 'hono'
import type { ErrorCode } from '../errors/errors.ts'

export type Caller = {
  role: 'anon' | 'authenticated'
  /** The token's account; the database decides whether the token is still valid. */
  sub?: string
  sessionId?: string
  /** The claims as an SQL literal. */
  claims?: string
  token?: string
  /** Why a token that was sent is not accepted. */
  ignored?: ErrorCode
}

export type ApiEnv = {
  Variables: {
    requestId: string
    /** Headers of the answer in a plain record, because a Headers object that grows is expensive. */
    headers: Record<string, string>
    /** Cache-Control of the answer, if it may be cached. */
    cache?: string
    caller: Caller
    address: string
    body?: Uint8Array
    /** True if Accept-Language prefers English; the default is Arabic. */
    english?: boolean
    expectIdentity?: string
    proof?: string
    /** Idempotency-Key, if the route takes one: the answer of the call is then stored. */
    idempotencyKey?: string
    /** The route needs a token, so the database refuses a caller whose token is not valid. */
    required?: boolean
    errorCode?: string
    /** Cause of a failure, for the log only. */
    cause?: string
  }
}

export type ApiContext = Context<ApiEnv>

/** The part of a request's context that database calls need. The chat gateway builds its own. */
export type CallContext = Pick<ApiContext, 'get'>
