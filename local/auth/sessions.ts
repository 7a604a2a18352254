import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import type { Tx } from './database.ts'
import { checkClaims, runHook } from './hooks.ts'
import type { AuthRequest, Context } from './request.ts'
import { updateUser, type User, userJson } from './users.ts'

export type RefreshToken = { sessionId: string; counter: bigint; signed: Buffer; signature: Buffer }

const signatureBytes = 16
const checksumBytes = 4

/** Encodes a version 2 refresh token: a zero byte, the session id, the counter, an HMAC and a checksum. */
export function encodeRefreshToken(sessionId: string, counter: bigint, hmacKey: string): string {
  const signed = Buffer.concat([
    Buffer.of(0),
    Buffer.from(sessionId.replaceAll('-', ''), 'hex'),
    varint(counter),
  ])
  const body = Buffer.concat([signed, sign(signed, hmacKey)])
  return Buffer.concat([body, checksum(body)]).toString('base64url')
}

/** Decodes a version 2 refresh token without checking its signature. Returns undefined for other text. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  if (!/^[\w-]{50,80}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  const body = bytes.subarray(0, -checksumBytes)
  if (bytes[0] !== 0 || !checksum(body).equals(bytes.subarray(-checksumBytes))) return undefined
  const signed = body.subarray(0, -signatureBytes)
  const hex = signed.subarray(1, 17).toString('hex')
  let counter = 0n
  for (const [index, byte] of signed.subarray(17).entries()) {
    counter |= BigInt(byte & 127) << BigInt(7 * index)
  }
  return {
    sessionId: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    counter,
    signed,
    signature: body.subarray(-signatureBytes),
  }
}

export const isSignedWith = (token: RefreshToken, hmacKey: string) =>
  timingSafeEqual(token.signature, sign(token.signed, hmacKey))

function sign(bytes: Buffer, key: string): Buffer {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(bytes).digest()
    .subarray(0, signatureBytes)
}

function checksum(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, checksumBytes)
}

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  for (; value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128)
  return Buffer.from([...bytes, Number(value)])
}

export type TokenAnswer = { headers: Record<string, string>; body: Record<string, unknown> }

type Method = { method: string; timestamp: number }
const methodColumns =
  'authentication_method as method, floor(extract(epoch from updated_at))::int as timestamp'

type Issue = {
  sessionId: string
  refreshToken: string
  /** Only version 2 tokens have a counter. */
  counter?: bigint
  method: string
  amr: Method[]
}

export async function startSession(
  context: Context,
  tx: Tx,
  request: AuthRequest,
  user: User,
  method: string,
): Promise<TokenAnswer> {
  const sessionId = crypto.randomUUID()
  const hmacKey = context.config.refreshTokens === 2 ? randomBytes(32).toString('base64') : null
  const { rows: amr } = await tx.query<Method>(
    `with session as (
       insert into auth.sessions
         (id, user_id, created_at, updated_at, aal, user_agent, ip, refresh_token_hmac_key,
          refresh_token_counter)
       values ($1, $2, now(), now(), 'aal1', $3, $4, $5, case when $5::text is not null then 0 end)
     )
     insert into auth.mfa_amr_claims
       (id, session_id, created_at, updated_at, authentication_method)
     values ($6, $1, now(), now(), $7)
     returning ${methodColumns}`,
    [
      sessionId,
      user.id,
      request.headers['user-agent'] ?? null,
      request.ip,
      hmacKey,
      crypto.randomUUID(),
      method,
    ],
  )
  await updateUser(tx, user, { last_sign_in_at: new Date().toISOString() })
  const session = { id: sessionId, user_id: user.id }
  const issued = hmacKey
    ? { refreshToken: encodeRefreshToken(sessionId, 0n, hmacKey), counter: 0n }
    : { refreshToken: await insertRefreshToken(tx, session) }
  return await tokenAnswer(context, tx, request, user, {
    sessionId,
    ...issued,
    method,
    amr,
  })
}

/** Creates and inserts a version 1 refresh token. */
export async function insertRefreshToken(
  tx: Tx,
  session: { id: string; user_id: string },
  parent = '',
): Promise<string> {
  const token = Array.from({ length: 12 }, () => alphabet[randomInt(alphabet.length)]).join('')
  await tx.query(
    `insert into auth.refresh_tokens
       (token, user_id, revoked, created_at, updated_at, parent, session_id)
     values ($1, $2, false, clock_timestamp(), clock_timestamp(), $3, $4)`,
    [token, session.user_id, parent, session.id],
  )
  return token
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

export async function methodsOf(tx: Tx, sessionId: string): Promise<Method[]> {
  const { rows } = await tx.query<Method>(
    `select ${methodColumns} from auth.mfa_amr_claims where session_id = $1
     order by updated_at desc`,
    [sessionId],
  )
  return rows
}

export async function tokenAnswer(
  context: Context,
  tx: Tx,
  request: AuthRequest,
  user: User,
  { sessionId, refreshToken, counter, method, amr }: Issue,
): Promise<TokenAnswer> {
  const issued = Math.floor(Date.now() / 1000)
  const expires = issued + context.config.jwtExpiry
  const claims = {
    iss: context.issuer,
    sub: user.id,
    aud: user.aud,
    exp: expires,
    iat: issued,
    email: user.email ?? '',
    phone: user.phone ?? '',
    app_metadata: user.raw_app_meta_data ?? {},
    user_metadata: user.raw_user_meta_data ?? {},
    role: user.role,
    aal: 'aal1',
    amr,
    session_id: sessionId,
    is_anonymous: user.is_anonymous,
  }
  const output = await runHook(tx, context.config.hooks, 'custom_access_token', request, {
    user_id: user.id,
    claims,
    authentication_method: method,
  })
  const final: unknown = output ? output.claims : claims
  checkClaims(final)
  return {
    headers: {
      'sb-auth-user-id': user.id,
      'sb-auth-session-id': sessionId,
      ...(counter !== undefined && { 'sb-auth-refresh-token-counter': String(counter) }),
    },
    body: {
      access_token: await context.keys.sign(final),
      token_type: 'bearer',
      expires_in: context.config.jwtExpiry,
      expires_at: expires,
      refresh_token: refreshToken,
      user: userJson(user),
    },
  }
}
