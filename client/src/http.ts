/** What every call to the API has in common: its URL, its token, its failures, its next try. */
import { ApiError, isApiError, type Problem } from './errors.ts'
import { newId } from './id.ts'
import { repeatablePosts } from './openapi.ts'
import type { CallOptions, Method } from './operations.ts'
import type { TokenSource } from './session.ts'
import { type Received, type Sent, transmit } from './transport.ts'
import { retryPause, wait } from './wait.ts'

export type HttpOptions = {
  /** `<project>/functions/v1/api` */
  url: string
  language: 'ar' | 'en' | undefined
  fetch: typeof fetch
  /** Milliseconds until an attempt is given up. */
  timeout: number
}

export type Call = CallOptions & {
  /** As the contract has it: `/properties/{id}`. */
  route: string
  path?: Record<string, unknown> | undefined
  query?: Record<string, unknown> | undefined
  body?: unknown
  form?: FormData
  onProgress?: (part: number) => void
  /** Sent without a token, whoever is signed in. */
  asGuest?: boolean
}

const defaultRetries = 2
/** Seconds; who should wait longer is told. */
const longestWait = 30
const uploadTimeout = 10 * 60_000

/** After these a new token may help. */
const tokenCodes: readonly string[] = ['token_expired', 'token_invalid']

export class Http {
  private readonly options: HttpOptions
  private readonly tokens: TokenSource

  constructor(options: HttpOptions, tokens: TokenSource) {
    this.options = options
    this.tokens = tokens
  }

  /** Sends a call, again where that is safe, and gives its answer or throws an ApiError. */
  async send<Value>(method: Method, call: Call): Promise<Value> {
    const keyed = method === 'post' && repeatablePosts.includes(call.route)
    const key = call.idempotencyKey ?? (keyed ? newId() : undefined)
    const retries = method === 'get' || keyed ? call.retries ?? defaultRetries : 0
    for (let failures = 0;; failures++) {
      try {
        return await this.authorized(method, { ...call, idempotencyKey: key })
      } catch (error) {
        if (!isApiError(error) || !error.temporary || failures >= retries) throw error
        const seconds = error.retryAfter ?? 0
        if (seconds > longestWait) throw error
        await wait(Math.max(seconds * 1000, retryPause(failures)), call.signal)
      }
    }
  }

  /** One attempt, and another when the token was not good any more: then nothing was done. */
  private async authorized<Value>(method: Method, call: Call): Promise<Value> {
    const token = call.asGuest ? undefined : await this.tokens.accessToken()
    const first = await this.attempt(method, call, token)
    if (!token || !isAboutToken(method, first)) return read(first)
    const other = await this.tokens.tokenAfter(token)
    return read(other ? await this.attempt(method, call, other) : first)
  }

  private attempt(method: Method, call: Call, token: string | undefined): Promise<Received> {
    const { url, language, fetch, timeout } = this.options
    const { body, form, idempotencyKey, signal, onProgress } = call
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(language === 'en' && { 'accept-language': 'en' }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      ...call.headers,
    }
    const sent: Sent = {
      method: method.toUpperCase(),
      url: url + pathOf(call) + queryOf(call),
      headers,
      timeout: form ? uploadTimeout : timeout,
      ...(form ? { body: form } : body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
    }
    return transmit(fetch, sent)
  }
}

const pathOf = ({ route, path = {} }: Call) =>
  route.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))

/** By hand: React Native has no whole URLSearchParams. */
function queryOf({ query = {} }: Call): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return pairs.length ? `?${pairs.join('&')}` : ''
}

/** Refused, or on a public route answered as to a guest. */
function isAboutToken(method: Method, received: Received): boolean {
  if (received.status === 401) return tokenCodes.includes(problemOf(received)?.code ?? '')
  return method === 'get' && received.header('x-auth-ignored') !== null
}

function read<Value>(received: Received): Value {
  const { status, text } = received
  if (status < 300) return (text ? JSON.parse(text) : undefined) as Value
  const retryAfter = Number(received.header('retry-after')) || undefined
  // Something in between answered, if it is none of ours.
  const problem = problemOf(received) ?? { code: 'connection', message: `HTTP ${status}` }
  throw new ApiError({ retryAfter, ...problem }, status)
}

function problemOf({ text }: Received): Problem | undefined {
  try {
    return JSON.parse(text).error
  } catch {
    return undefined
  }
}
