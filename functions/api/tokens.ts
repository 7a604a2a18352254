/** Who is calling: access tokens of Supabase Auth, verified against the project's key set. */
import { createLocalJWKSet, errors as jose, type JWTPayload, jwtVerify } from 'jose'
import type { ErrorCode } from './errors.ts'
import { env } from './env.ts'

export type Caller = {
  role: 'anon' | 'authenticated'
  /** The account, as the token says; the database decides what it is worth. */
  sub?: string
  /** The claims as the database takes them: hex of their JSON. */
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

let keys: { set: KeySet; at: number } | undefined
let loading: Promise<KeySet> | undefined
let lastSearch = 0

async function fetchKeys(): Promise<KeySet> {
  const response = await fetch(`${env.supabaseUrl}/auth/v1/.well-known/jwks.json`, {
    signal: AbortSignal.timeout(4000),
  })
  if (!response.ok) throw new Error(`key set: HTTP ${response.status}`)
  const set = createLocalJWKSet(await response.json())
  keys = { set, at: Date.now() }
  return set
}

/** The key set, at most a minute old; while Auth is away the old one serves for ten minutes. */
async function keySet(): Promise<KeySet> {
  if (keys && Date.now() - keys.at < minute) return keys.set
  loading ??= fetchKeys().finally(() => (loading = undefined))
  try {
    return await loading
  } catch (error) {
    if (keys && Date.now() - keys.at < 10 * minute) return keys.set
    throw error
  }
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
    return (await jwtVerify(token, await keySet(), options)).payload
  } catch (error) {
    if (!(error instanceof jose.JWKSNoMatchingKey) || Date.now() - lastSearch < minute) throw error
    lastSearch = Date.now()
    return (await jwtVerify(token, await fetchKeys(), options)).payload
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

// What has been verified is remembered by its hash: never past its end, and only as long as the key
// set that verified it, so that a revoked key is felt within a minute.
const remembered = new Map<string, { caller: Caller; until: number }>()
const capacity = 20_000

const hex = (bytes: Uint8Array) =>
  Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
const utf8 = new TextEncoder()

/** Reads the Authorization header. Never throws: a token that is no good says why in `ignored`. */
export async function callerOf(authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) return { role: 'anon' }
  const token = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1]
  if (!token || token.length > 8192) return { role: 'anon', ignored: 'token_invalid' }

  const digest = await crypto.subtle.digest('SHA-256', utf8.encode(token))
  const key = hex(new Uint8Array(digest))
  const known = remembered.get(key)
  if (known && known.until > Date.now()) return known.caller

  try {
    const payload = await verify(token)
    if (!accepted(payload)) return { role: 'anon', ignored: 'token_invalid' }
    const caller: Caller = {
      role: 'authenticated',
      sub: payload.sub,
      claims: hex(utf8.encode(JSON.stringify(payload))),
      token,
    }
    if (remembered.size >= capacity) remembered.clear()
    remembered.set(key, { caller, until: Math.min(keys!.at + minute, payload.exp! * 1000) })
    return caller
  } catch (error) {
    if (error instanceof jose.JWTExpired) return { role: 'anon', ignored: 'token_expired' }
    if (error instanceof jose.JOSEError) return { role: 'anon', ignored: 'token_invalid' }
    if (error instanceof TypeError) return { role: 'anon', ignored: 'token_invalid' }
    return { role: 'anon', ignored: 'service_unavailable' }
  }
}
