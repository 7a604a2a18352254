/** Who is calling: access tokens of Supabase Auth, verified against the project's key set. */
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors as jose,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from 'jose'
import { env } from './env.ts'
import type { ErrorCode } from './errors.ts'
import { claimsLiteral } from './literals.ts'

export type Caller = {
  role: 'anon' | 'authenticated'
  /** The account, as the token says; the database decides what it is worth. */
  sub?: string
  /** The session that the token belongs to. */
  sessionId?: string
  /** The claims that the database asks for, as a literal. */
  claims?: string
  /** The token itself, for calls to Auth in the caller's name. */
  token?: string
  /** Why a token that was sent does not count. */
  ignored?: ErrorCode
}

// Written here and never taken from a token.
const algorithms = ['ES256', 'RS256']
const minute = 60_000
const longestLife = 7 * 24 * 3600

class KeysUnavailable extends Error {}

let loadedAt = 0
let lastGood: { text: string; at: number } | undefined

/** While Auth is away the last key set serves for ten minutes. */
async function fetchKeySet(url: string, options: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, options)
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    const text = await response.text()
    createLocalJWKSet(JSON.parse(text)) // throws unless it is one
    lastGood = { text, at: Date.now() }
  } catch (cause) {
    if (!lastGood || Date.now() - lastGood.at > 10 * minute) {
      throw new KeysUnavailable('no key set', { cause })
    }
  }
  loadedAt = Date.now()
  return new Response(lastGood.text)
}

const keySet = createRemoteJWKSet(new URL(`${env.supabaseUrl}/auth/v1/.well-known/jwks.json`), {
  timeoutDuration: 4000,
  cacheMaxAge: env.jwksMaxAge,
  // Unknown key ids are looked for below.
  cooldownDuration: Infinity,
  [customFetch]: fetchKeySet,
})

/** A token that names no key is not tried against whatever key there is. */
const keyNamed: JWTVerifyGetKey = (header, token) => {
  if (typeof header.kid !== 'string') throw new jose.JWSInvalid('no key id')
  return keySet(header, token)
}

const verified = async (token: string) =>
  (await jwtVerify(token, keyNamed, {
    algorithms,
    issuer: env.issuer,
    audience: 'authenticated',
    requiredClaims: ['exp', 'iat', 'sub', 'session_id'],
  })).payload

let lastSearch = 0

/** A key id that nobody knows is looked for once a minute, however many tokens name such ids. */
async function verify(token: string): Promise<JWTPayload> {
  try {
    return await verified(token)
  } catch (error) {
    if (!(error instanceof jose.JWKSNoMatchingKey) || Date.now() - lastSearch < minute) throw error
    lastSearch = Date.now()
    await keySet.reload()
    return await verified(token)
  }
}

/** The caller whom the claims name; throws for claims that Auth does not issue. */
function callerIn(token: string, payload: JWTPayload): Caller {
  const { sub, session_id, role, exp = 0, iat = 0 } = payload
  const isTimely = iat <= Date.now() / 1000 + 60 && exp - iat <= longestLife
  if (
    role !== 'authenticated' || typeof sub !== 'string' || typeof session_id !== 'string' ||
    !isTimely
  ) {
    throw new Error('claims that Auth does not issue')
  }
  return { role, sub, sessionId: session_id, claims: claimsLiteral(sub, session_id), token }
}

// Verified tokens are remembered until they expire, and no longer than the key set that verified them:
// so a revoked key is felt within a minute. By the header itself: a hash of it would cost a tenth of a
// small request.
const remembered = new Map<string, { caller: Caller; until: number }>()
const capacity = 20_000

/** The caller of a token that Auth has just issued to us: there is nothing to verify. */
export const callerOfIssued = (token: string) => callerIn(token, decodeJwt(token))

/** Reads the Authorization header. Never throws: `ignored` says why a token does not count. */
export function callerOf(authorization: string | undefined): Caller | Promise<Caller> {
  if (authorization === undefined) return { role: 'anon' }
  const known = remembered.get(authorization)
  return known && known.until > Date.now() ? known.caller : verifyCaller(authorization)
}

async function verifyCaller(authorization: string): Promise<Caller> {
  const token = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1]
  if (!token || token.length > 8192) return { role: 'anon', ignored: 'token_invalid' }

  try {
    const payload = await verify(token)
    const caller = callerIn(token, payload)
    if (remembered.size >= capacity) remembered.clear()
    remembered.set(authorization, {
      caller,
      until: Math.min(loadedAt + env.jwksMaxAge, payload.exp! * 1000),
    })
    return caller
  } catch (error) {
    if (error instanceof KeysUnavailable) return { role: 'anon', ignored: 'service_unavailable' }
    const ignored = error instanceof jose.JWTExpired ? 'token_expired' : 'token_invalid'
    return { role: 'anon', ignored }
  }
}
