import { traceHeaders } from '../errors/log.ts'
import { env } from '../settings/env.ts'

/** Undefined in Node, in which the chat gateway may run. */
const { createHttpClient } =
  (globalThis as { Deno?: { createHttpClient?: (options: object) => unknown } }).Deno ?? {}

// fetch repeats a request when a reused connection breaks, but a charge or code must never go out twice.
const freshConnections = createHttpClient?.({ poolMaxIdlePerHost: 0 })

export const fetchOnce = (url: string, request: RequestInit): Promise<Response> =>
  fetch(url, {
    ...request,
    client: freshConnections,
    redirect: 'error',
    signal: AbortSignal.timeout(4000 * env.patience),
  } as RequestInit)

const longestAnswer = 2_000_000

/** Returns the text of an answer; throws if it is longer than any that is expected. */
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

// This is shorter than the 75 s of Supabase's API gateway, because a request on a connection that the
// gateway has just closed would fail.
const pooledConnections = createHttpClient?.({ poolIdleTimeout: 30_000 })

type ServiceRequest = RequestInit & { headers: Record<string, string> }

/** Calls a service of the project, which joins the trace of the request. No other service gets the trace. */
export const fetchService = (path: string, request: ServiceRequest): Promise<Response> =>
  fetch(env.supabaseUrl + path, {
    ...request,
    headers: { ...request.headers, ...traceHeaders() },
    client: pooledConnections,
  } as RequestInit)

export const formType = { 'content-type': 'application/x-www-form-urlencoded' }
export const jsonType = { 'content-type': 'application/json' }
