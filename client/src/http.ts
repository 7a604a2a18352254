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
  /** Milliseconds until an attempt is given up. */
  timeout: number
  reached?: () => void
  /** Called when the service answers that another identity is acting. */
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
  /** True to send no token, even if a user is signed in. */
  asGuest?: boolean
  /** By default the user who is signed in when the call begins. */
  caller?: Caller
}

const defaultRetries = 2
/** Seconds. A call that would have to wait longer fails at once. */
const longestWait = 30
const uploadTimeout = 10 * 60_000

/** After these codes a new token may help. */
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

  /** Sends a call, repeats it if that is safe, and returns its answer or throws an ApiError. */
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

  /** Sends a call, and once more with a new token if the token was refused, because then nothing was done. */
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

/** Names are in lower case, so that an app's header replaces ours in whatever case it is written. */
const lowerCase = (headers: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const pathOf = ({ route, path = {} }: Call) =>
  route.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))

/** The query is built by hand, because React Native lacks a complete URLSearchParams. */
function queryOf({ query = {} }: Call): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return pairs.length ? `?${pairs.join('&')}` : ''
}

/** Returns true if the token was refused, or a public route answered as for a guest. */
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

/** The error of an answer that comes from something between us and the service, such as a proxy. */
const notOurs = ({ status }: Received) =>
  ({ code: 'connection', message: `HTTP ${status}` }) as const

function parsed(received: Received): unknown {
  try {
    return JSON.parse(received.text)
  } catch {
    throw new ApiError(notOurs(received), received.status)
  }
}

/** The error of an answer, if it has the service's shape. */
function problemOf({ text }: Received): Problem | undefined {
  try {
    const { error } = JSON.parse(text)
    const words = [error.code, error.message, error.messageEn, error.requestId]
    return words.every((word) => typeof word === 'string') ? error : undefined
  } catch {
    return undefined
  }
}
