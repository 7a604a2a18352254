import type { Context } from 'hono'
import type { ErrorCode } from '../errors/errors.ts'

export type Caller = {
  role: 'anon' | 'authenticated'
  /** The account id in the token. The database decides whether the token is still valid. */
  sub?: string
  sessionId?: string
  /** The claims as an SQL literal. */
  claims?: string
  token?: string
  /** Why the request's token was not accepted. */
  ignored?: ErrorCode
}

export type ApiEnv = {
  Variables: {
    requestId: string
    /** Response headers. A plain record, because adding to a Headers object is slow. */
    headers: Record<string, string>
    /** The Cache-Control header of a response that may be cached. */
    cache?: string
    caller: Caller
    address: string
    body?: Uint8Array
    /** Whether Accept-Language prefers English. The default is Arabic. */
    english?: boolean
    expectIdentity?: string
    proof?: string
    /**
     * The Idempotency-Key header, on routes that support it. The call's response is then stored under this
     * key.
     */
    idempotencyKey?: string
    /**
     * Whether the route requires a token. The database then refuses callers whose token is no longer valid.
     */
    required?: boolean
    errorCode?: string
    /** The cause of a failure. For the log only. */
    cause?: string
  }
}

export type ApiContext = Context<ApiEnv>

/** The part of a request's context that database calls need. The chat gateway creates its own. */
export type CallContext = Pick<ApiContext, 'get'>
