/** Who is calling: access tokens of Supabase Auth, verified against the project's key set. */
import {
  createLocalJWKSet,
  decodeJwt,
  errors as jose,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import { env } from './env.ts'
import type { ErrorCode } from './errors.ts'

export type Caller = {
  role: 'anon' | 'authenticated'
  /** The account, as the token says; the database decides what it is worth. */
  sub?: string
  /** The claims as the database takes them: a literal of their JSON. */
  claims?: string
  /** The token itself, for calls to Auth in the caller's name. */
  token?: string
  /** Why a token that was sent does not count. */
  ignored?: ErrorCode
}

type KeySet = ReturnType<typeof createLocalJWKSet>

// Written here and never taken from a token.
const algorithms = ['ES256', 'RS256']
const minute = 60_000
const longestLife = 7 * 24 * 3600
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** `at` is when it was fetched, `until` when it is fetched again. */
let keys: { set: KeySet; at: number; until: number } | undefined
let loading: Promise<KeySet> | undefined
let lastSearch = 0

class KeysUnavailable extends Error {}

async function fetchKeys(): Promise<KeySet> {
  try {
    const response = await fetch(`${env.supabaseUrl}/auth/v1/.well-known/jwks.json`, {
      signal: AbortSignal.timeout(4000),
    })
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    const set = createLocalJWKSet(await response.json())
    keys = { set, at: Date.now(), until: Date.now() + env.jwksMaxAge }
    return set
  } catch (cause) {
    throw new KeysUnavailable('no key set', { cause })
  }
}

/** The key set, a minute old at most; while Auth is away the old one serves for ten minutes. */
async function keySet(): Promise<KeySet> {
  if (keys && Date.now() < keys.until) return keys.set
  loading ??= fetchKeys().finally(() => (loading = undefined))
  try {
    return await loading
  } catch (error) {
    if (!keys || Date.now() - keys.at > 10 * minute) throw error
    keys.until = Date.now() + 2000
    return keys.set
  }
}

/** The key that a token names. One that names none is not tried against whatever key there is. */
const named = (set: KeySet) => (header: JWSHeaderParameters, token: FlattenedJWSInput) => {
  if (typeof header.kid !== 'string') throw new jose.JWSInvalid('no key id')
  return set(header, token)
}

/** A key id that nobody knows is looked for at most once a minute, however many tokens name it. */
async function verify(token: string): Promise<JWTPayload> {
  const options = {
    algorithms,
    issuer: env.issuer,
    audience: 'authenticated',
    requiredClaims: ['exp', 'iat', 'sub', 'session_id'],
  }
  try {
    return (await jwtVerify(token, named(await keySet()), options)).payload
  } catch (error) {
    if (!(error instanceof jose.JWKSNoMatchingKey) || Date.now() - lastSearch < minute) throw error
    lastSearch = Date.now()
    return (await jwtVerify(token, named(await fetchKeys()), options)).payload
  }
}

function accepted(payload: JWTPayload): boolean {
  const { sub, session_id, role, exp = 0, iat = 0 } = payload as
    & Record<string, unknown>
    & JWTPayload
  return role === 'authenticated' && uuid.test(String(sub)) && typeof sub === 'string' &&
    typeof session_id === 'string' && uuid.test(session_id) &&
    iat <= Date.now() / 1000 + 60 && exp - iat <= longestLife
}

// What has been verified is remembered: never past its end, and only as long as the key set that
// verified it, so that a revoked key is felt within a minute. By the token itself: a caller holds it
// anyway, and a hash would cost a tenth of a small request.
const remembered = new Map<string, { caller: Caller; until: number }>()
const capacity = 20_000

function callerIn(token: string, payload: JWTPayload): Caller {
  if (!accepted(payload)) throw new Error('the claims of a token are not what Auth gives')
  const { sub, session_id, role } = payload
  // What the database asks for, ids and a fixed word; the rest of a token is nobody's business there.
  const claims = `'${JSON.stringify({ sub, session_id, role })}'`
  return { role: 'authenticated', sub, claims, token }
}

/** The caller of a token that Auth has just handed to us: there is nothing to verify. */
export const callerOfIssued = (token: string) => callerIn(token, decodeJwt(token))

/** Reads the Authorization header. Never throws: a token that is no good says why in `ignored`. */
export async function callerOf(authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) return { role: 'anon' }
  const token = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1]
  if (!token || token.length > 8192) return { role: 'anon', ignored: 'token_invalid' }

  const known = remembered.get(token)
  if (known && known.until > Date.now()) return known.caller

  try {
    const payload = await verify(token)
    const caller = callerIn(token, payload)
    if (remembered.size >= capacity) remembered.clear()
    remembered.set(token, { caller, until: Math.min(keys!.until, payload.exp! * 1000) })
    return caller
  } catch (error) {
    if (error instanceof KeysUnavailable) return { role: 'anon', ignored: 'service_unavailable' }
    const ignored = error instanceof jose.JWTExpired ? 'token_expired' : 'token_invalid'
    return { role: 'anon', ignored }
  }
}
