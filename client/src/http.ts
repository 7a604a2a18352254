import { ApiError, isApiError, type Problem } from './errors.ts'
import { newId } from './id.ts'
import { identityWrites, repeatablePosts } from './openapi.ts'
import type { CallOptions, Method } from './operations.ts'
import { type Caller, guest, type TokenSource } from './session.ts'
import { type Received, type Sent, transmit } from './transport.ts'
import { retryPause, wait } from './wait.ts'

export type HttpOptions = {
  /** `<project>/functions/v1/api` */
  url: string
  language: 'ar' | 'en' | undefined
  headers: Record<string, string>
  fetch: typeof fetch
  /** The timeout of an attempt in milliseconds. */
  timeout: number
  reached?: () => void
  /** Called if the service responds that the acting identity has changed. */
  identityChanged?: (expected: string | undefined) => Promise<void>
}

export type Call = CallOptions & {
  /** The path as in the contract, such as `/properties/{id}`. */
  route: string
  path?: Record<string, unknown> | undefined
  query?: Record<string, unknown> | undefined
  body?: unknown
  form?: FormData
  onProgress?: (part: number) => void
  /** If true, no token is sent, even if a user is signed in. */
  asGuest?: boolean
  /** Who makes the call; by default, the user who is signed in when the call begins. */
  caller?: Caller
}

const defaultRetries = 2
/**
 * The longest pause before a retry, in seconds. If the service asks for a longer one, the call fails at once.
 */
const longestWait = 30
const uploadTimeout = 10 * 60_000

/** Error codes after which a retry with a new token may succeed. */
const tokenCodes: readonly string[] = ['token_expired', 'token_invalid']

export class Http {
  private readonly options: HttpOptions
  private readonly tokens: TokenSource

  constructor(options: HttpOptions, tokens: TokenSource) {
    this.options = options
    this.tokens = tokens
  }

  /** Returns the user who is signed in now, so that several calls can be made as the same user. */
  caller(): Caller {
    return this.tokens.caller()
  }

  /** Sends a call, with retries if they are safe. Returns the response or throws an ApiError. */
  async send<Value>(method: Method, call: Call): Promise<Value> {
    const caller = call.caller ?? (call.asGuest ? guest : this.caller())
    const keyed = method === 'post' && repeatablePosts.includes(call.route)
    const key = call.idempotencyKey ?? (keyed ? newId() : undefined)
    const retries = method === 'get' || keyed ? call.retries ?? defaultRetries : 0
    for (let failures = 0;; failures++) {
      try {
        return await this.authorized(method, { ...call, idempotencyKey: key }, caller)
      } catch (error) {
        if (!isApiError(error)) throw error
        if (error.code === 'identity_changed') {
          await this.options.identityChanged?.(caller.identityId())
        }
        if (!error.temporary || failures >= retries) throw error
        const seconds = error.retryAfter ?? 0
        if (seconds > longestWait) throw error
        await wait(Math.max(seconds * 1000, retryPause(failures)), call.signal)
      }
    }
  }

  /** Sends a call. If the token was refused, nothing has been done, so it retries once with a new token. */
  private async authorized<Value>(method: Method, call: Call, caller: Caller): Promise<Value> {
    const token = await caller.token()
    const isForIdentity = token && identityWrites.includes(`${method} ${call.route}`)
    const expected = isForIdentity ? caller.identityId() : undefined
    const first = await this.attempt(method, call, token, expected)
    if (!token || !isAboutToken(method, first)) return read(first)
    const other = await caller.tokenAfter(token)
    return read(other ? await this.attempt(method, call, other, expected) : first)
  }

  private async attempt(
    method: Method,
    call: Call,
    token: string | undefined,
    expected: string | undefined,
  ): Promise<Received> {
    const { url, language, headers: ofAll, fetch, timeout, reached } = this.options
    const { body, form, idempotencyKey, proof, signal, onProgress } = call
    const headers = {
      ...lowerCase(ofAll),
      ...(token && { authorization: `Bearer ${token}` }),
      ...(language === 'en' && { 'accept-language': 'en' }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      ...(proof && { 'x-proof': proof }),
      ...(expected && { 'x-expect-identity': expected }),
      ...lowerCase(call.headers),
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
    const received = await transmit(fetch, sent)
    if (received.status < 500) reached?.()
    return received
  }
}

/** Makes header names lower case, so that a header of the app replaces ours regardless of case. */
const lowerCase = (headers: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const pathOf = ({ route, path = {} }: Call) =>
  route.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))

/** Builds the query string by hand, because URLSearchParams is incomplete in React Native. */
function queryOf({ query = {} }: Call): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return pairs.length ? `?${pairs.join('&')}` : ''
}

/** Returns true if the token was refused, or if a public route ignored it and responded as for a guest. */
function isAboutToken(method: Method, received: Received): boolean {
  if (received.status === 401) return tokenCodes.includes(problemOf(received)?.code ?? '')
  return method === 'get' && received.header('x-auth-ignored') !== null
}

function read<Value>(received: Received): Value {
  const { status, text, file } = received
  if (file) return file as Value
  if (status < 300) return text ? parsed(received) as Value : undefined as Value
  const retryAfter = Number(received.header('retry-after')) || undefined
  throw new ApiError({ retryAfter, ...problemOf(received) ?? notOurs(received) }, status)
}

/** Returns the error for a response that is not from the service but from a proxy, for example. */
const notOurs = ({ status }: Received) =>
  ({ code: 'connection', message: `HTTP ${status}` }) as const

function parsed(received: Received): unknown {
  try {
    return JSON.parse(received.text)
  } catch {
    throw new ApiError(notOurs(received), received.status)
  }
}

/** Returns the error in a response if it has the format of the service. */
function problemOf({ text }: Received): Problem | undefined {
  try {
    const { error } = JSON.parse(text)
    const words = [error.code, error.message, error.messageEn, error.requestId]
    return words.every((word) => typeof word === 'string') ? error : undefined
  } catch {
    return undefined
  }
}
