import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../config/config-toml.ts'
import type { Claims, KeyRing } from '../config/signing-keys.ts'
import { badRequest, forbidden } from './errors.ts'
import type pg from 'pg'
import type { Passwords } from './passwords.ts'
import { findUser, isBanned, type User } from './users.ts'

/** A request from the proxy, which has checked the API key and determined the client's address. */
export type AuthRequest = {
  method: string
  /** The path without /auth/v1. */
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Buffer
  ip: string
  keyRole: 'anon' | 'service_role'
  bearer?: string
  bearerIsKey: boolean
}

export type Context = {
  pool: pg.Pool
  keys: KeyRing
  passwords: Passwords
  config: Config['auth']
  issuer: string
  /** Whether actions are recorded in auth.audit_log_entries. */
  auditLog: boolean
}

type Kind = 'string' | 'boolean' | 'object'
type Shape = Record<string, Kind>
type Read<T extends Shape> = {
  [K in keyof T]: T[K] extends 'string' ? string | undefined
    : T[K] extends 'boolean' ? boolean
    : Record<string, unknown> | undefined
}

/** Returns the named fields of the JSON body. A field of the wrong type is an error; others are ignored. */
export function readBody<T extends Shape>(request: AuthRequest, shape: T): Read<T> {
  const fail = (reason: string): never => {
    throw badRequest(`Could not parse request body as JSON: ${reason}`, 'bad_json')
  }
  let body: Record<string, unknown>
  try {
    body = JSON.parse(request.body.toString('utf8'))
  } catch {
    return fail('invalid or empty input')
  }
  if (body === null) body = {}
  if (typeof body !== 'object' || Array.isArray(body)) fail('not an object')
  const result: Record<string, unknown> = {}
  for (const [name, kind] of Object.entries(shape)) {
    const value = body[name] ?? undefined
    if (value !== undefined && (typeof value !== kind || Array.isArray(value))) {
      fail(`${name} is not of type ${kind}`)
    }
    // A lone surrogate becomes the replacement character, as in the real Auth.
    const whole = typeof value === 'string' ? value.toWellFormed() : value
    result[name] = kind === 'boolean' ? whole ?? false : whole
  }
  return result as Read<T>
}

export function audience(request: AuthRequest, claims?: Claims): string {
  const header = request.headers['x-jwt-aud']
  if (typeof header === 'string' && header !== '') return header
  return typeof claims?.aud === 'string' && claims.aud !== '' ? claims.aud : 'authenticated'
}

async function claimsOf(context: Context, request: AuthRequest): Promise<Claims> {
  // The platform's gateway turns an API key into a token for the key's role, so the same role is used here.
  if (request.bearer === undefined || request.bearerIsKey) return { role: request.keyRole }
  try {
    return await context.keys.verify(request.bearer)
  } catch (error) {
    const reason = (error as Error).message
    throw forbidden('bad_jwt', `invalid JWT: unable to parse or verify signature, ${reason}`)
  }
}

export const isUuid = (text: string) => /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)

export type Session = { id: string; user_id: string; created_at: string }

/** Returns the signed-in caller, who must not be banned. If the token names a session, it must exist. */
export async function requireUser(
  context: Context,
  request: AuthRequest,
): Promise<{ claims: Claims; user: User; session?: Session }> {
  const claims = await claimsOf(context, request)
  if (!claims.sub) throw forbidden('bad_jwt', 'invalid claim: missing sub claim')
  if (!isUuid(claims.sub)) throw badRequest('invalid claim: sub claim must be a UUID', 'bad_jwt')
  const user = await findUser(context.pool, claims.sub)
  if (!user) throw forbidden('user_not_found', 'User from sub claim in JWT does not exist')
  if (isBanned(user)) throw forbidden('user_banned', 'User is banned')
  if (!claims.session_id) return { claims, user }
  if (!isUuid(String(claims.session_id))) {
    throw forbidden('bad_jwt', 'invalid claim: session_id claim must be a UUID')
  }
  const { rows } = await context.pool.query('select * from auth.sessions where id = $1', [
    claims.session_id,
  ])
  if (!rows[0]) {
    throw forbidden(
      'session_not_found',
      'Session from session_id claim in JWT does not exist',
    )
  }
  return { claims, user, session: rows[0] }
}

export async function requireAdmin(context: Context, request: AuthRequest): Promise<void> {
  const { role } = await claimsOf(context, request)
  if (role !== 'service_role' && role !== 'supabase_admin') {
    throw forbidden('not_admin', 'User not allowed')
  }
}

export function validEmail(email: string): string {
  if (email === '') throw badRequest('An email address is required')
  if (email.length > 255) throw badRequest('An email address is too long')
  const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
  const format = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*$`)
  if (!format.test(email)) throw badRequest('Unable to validate email address: invalid format')
  return email.toLowerCase()
}

export const plainPhone = (phone: string) => phone.replace(/^\+/, '').replaceAll(' ', '')

/** Converts a phone number to the digits that Auth stores. Throws if it is not in E.164 format. */
export function validPhone(phone: string): string {
  const plain = plainPhone(phone)
  if (/^[1-9][0-9]{1,14}$/.test(plain)) return plain
  throw badRequest('Invalid phone number format (E.164 required)')
}
