import { traceHeaders } from '../errors/log.ts'
import { env } from '../settings/env.ts'

/** Undefined in Node, where the chat gateway may run. */
const { createHttpClient } =
  (globalThis as { Deno?: { createHttpClient?: (options: object) => unknown } }).Deno ?? {}

// When a reused connection breaks, fetch silently repeats the request. A charge or a code must never be sent
// twice.
const freshConnections = createHttpClient?.({ poolMaxIdlePerHost: 0 })

export const fetchOnce = (url: string, request: RequestInit): Promise<Response> =>
  fetch(url, {
    ...request,
    client: freshConnections,
    redirect: 'error',
    signal: AbortSignal.timeout(4000 * env.patience),
  } as RequestInit)

const longestAnswer = 2_000_000

/** Returns the body of a response as text. Throws if it is longer than any response we expect. */
export async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > longestAnswer) throw new Error('an answer is too long')
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}

// Shorter than the 75 s after which Supabase's API gateway closes idle connections, because a request on a
// connection that was just closed would fail.
const pooledConnections = createHttpClient?.({ poolIdleTimeout: 30_000 })

type ServiceRequest = RequestInit & { headers: Record<string, string> }

/**
 * Calls another service of the Supabase project and passes the trace headers on. External services do not
 * receive these.
 */
export const fetchService = (path: string, request: ServiceRequest): Promise<Response> =>
  fetch(env.supabaseUrl + path, {
    ...request,
    headers: { ...request.headers, ...traceHeaders() },
    client: pooledConnections,
  } as RequestInit)

export const formType = { 'content-type': 'application/x-www-form-urlencoded' }
export const jsonType = { 'content-type': 'application/json' }
