/** Requests to services outside, and to those of the project. */
import { env } from './env.ts'

// fetch repeats a request of its own accord when a kept connection breaks: no charge, message or code
// may go out twice.
const freshConnections = Deno.createHttpClient?.({ poolMaxIdlePerHost: 0 })

/** Once, within four seconds, without redirects. */
export const fetchOnce = (url: string, request: RequestInit): Promise<Response> =>
  fetch(url, {
    ...request,
    client: freshConnections,
    redirect: 'error',
    signal: AbortSignal.timeout(4000),
  })

// Shorter than the gateway keeps them (75 s): a request on a connection that it just ended would fail.
const keptConnections = Deno.createHttpClient?.({ poolIdleTimeout: 30_000 })

/** To a service of the project, by its path. */
export const fetchService = (path: string, request: RequestInit): Promise<Response> =>
  fetch(env.supabaseUrl + path, { ...request, client: keptConnections })

export const formType = { 'content-type': 'application/x-www-form-urlencoded' }
export const jsonType = { 'content-type': 'application/json' }
