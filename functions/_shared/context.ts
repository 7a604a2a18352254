/** What is known of a request: set by the facade's middleware, read by routes and database calls. */
import type { Context } from 'hono'
import type { Caller } from './tokens.ts'

export type ApiEnv = {
  Variables: {
    requestId: string
    /** The headers of the answer: they become a Headers object once, which costs as much as all the rest. */
    headers: Record<string, string>
    /** Cache-Control of the answer, where it may be kept. */
    cache?: string
    caller: Caller
    /** The client's address; IPv6 by /64. */
    address: string
    /** The raw body, if there is one. */
    body?: Uint8Array
    /** By Accept-Language; else they read Arabic. */
    english?: boolean
    /** X-Expect-Identity, if sent. */
    expectIdentity?: string
    /** X-Proof, if sent. */
    proof?: string
    /** Idempotency-Key, if sent to a route that takes it: the answer of its call is kept. */
    idempotencyKey?: string
    /** The route needs a token, so the database refuses a caller that is not in order. */
    required?: boolean
    errorCode?: string
    /** What stands behind a failure, for the log only. */
    cause?: string
  }
}

export type ApiContext = Context<ApiEnv>

/** What a database call needs of the request that it is made for; a frame of a socket has it too. */
export type CallContext = Pick<ApiContext, 'get'>
