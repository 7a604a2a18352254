/** Requests to services outside: once, within four seconds, without redirects. */

// fetch repeats a request of its own accord when a kept connection breaks: no charge, message or code
// may go out twice.
const freshConnections = Deno.createHttpClient?.({ poolMaxIdlePerHost: 0 })

export const fetchOnce = (url: string, request: RequestInit): Promise<Response> =>
  fetch(url, {
    ...request,
    client: freshConnections,
    redirect: 'error',
    signal: AbortSignal.timeout(4000),
  })

export const formType = { 'content-type': 'application/x-www-form-urlencoded' }
export const jsonType = { 'content-type': 'application/json' }
