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
import type { Caller } from '../caller/context.ts'
import { claimsLiteral } from '../database/literals.ts'
import { env } from '../settings/env.ts'

// An allow-list, because a token must not choose its own algorithm.
const algorithms = ['ES256', 'RS256']
const minute = 60_000
const longestLife = 7 * 24 * 3600

class KeysUnavailable extends Error {}

let loadedAt = 0
let lastGood: { text: string; at: number } | undefined

/** Fetches Auth's key set. While Auth is down, the last key set remains in use for up to ten minutes. */
async function fetchKeySet(url: string, options: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, options)
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    const text = await response.text()
    createLocalJWKSet(JSON.parse(text)) // throws unless the text is a key set
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
  // jose must not reload the key set for unknown key ids; `verify` does.
  cooldownDuration: Infinity,
  [customFetch]: fetchKeySet,
})

/** Refuses a token without a key id. Otherwise jose would try it with any key. */
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

/**
 * Verifies a token. For an unknown key id, reloads the key set, at most once a minute for all tokens
 * together.
 */
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

// Verified tokens are cached no longer than the key set, so that a revoked key stops working within a minute.
// The map's key is the whole header: hashing it would take a tenth of the time of a small request.
const remembered = new Map<string, { caller: Caller; until: number }>()
const capacity = 20_000

/** Returns the caller of a token that we just received from Auth. No verification is needed. */
export const callerOfIssued = (token: string) => callerIn(token, decodeJwt(token))
export const cancelledDeletion = (token: string) => decodeJwt(token).deletion_cancelled === true

/**
 * Reads the Authorization header. Never throws: if a token is not accepted, the caller is anonymous and
 * `ignored` is the reason.
 */
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
