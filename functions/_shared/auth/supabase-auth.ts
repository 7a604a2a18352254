import { decodeJwt } from 'jose'
import { backend } from '../database/db.ts'
import { alarm } from '../errors/alarms.ts'
import { type ErrorCode, isErrorCode } from '../errors/errors.ts'
import { log } from '../errors/log.ts'
import { type Detail, invalidField, Refusal } from '../errors/refusal.ts'
import type { Identifier } from '../input/identifiers.ts'
import { fetchService } from '../outside/http-client.ts'
import { env } from '../settings/env.ts'
import { unknownPassword } from './secrets.ts'

export type Tokens = {
  access_token: string
  refresh_token: string
  expires_in: number
  expires_at: number
  user: { id: string }
}

/** The credentials were correct, but the access token hook refused the sign-in. */
export type SignInDenied = { denied: ErrorCode; detail?: Detail }

type AuthAnswer = { status: number; body: Record<string, unknown> }
type AuthRequest = {
  body?: unknown
  token?: string
  address?: string
  /** Time limit in milliseconds. */
  patience?: number
  /**
   * Whether to send the version header. Without it, Auth passes on errors raised by our SQL; with it, Auth
   * replaces them with an error of its own.
   */
  versioned?: boolean
}

export async function request(
  method: string,
  path: string,
  // The default is generous, because password hashing is slow when many requests arrive at once.
  { body, token, address, patience = 8000, versioned = true }: AuthRequest = {},
): Promise<AuthAnswer> {
  const headers: Record<string, string> = {
    apikey: env.secretKey,
    'content-type': 'application/json',
  }
  if (versioned) headers['x-supabase-api-version'] = '2024-01-01'
  if (token) headers.authorization = `Bearer ${token}`
  // Auth limits requests per client address. Because of the secret key, it trusts the address in this header.
  if (address) headers['sb-forwarded-for'] = address.replace('/64', '')
  try {
    const response = await fetchService(`/auth/v1${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(patience),
    })
    const text = await response.text()
    return { status: response.status, body: text ? JSON.parse(text) : {} }
  } catch (cause) {
    return { status: 503, body: { code: (cause as Error).name } }
  }
}

/**
 * Sends a request. Retries once after a deadlock (500) or too many concurrent refreshes of a session (409).
 */
async function requestAgain(method: string, path: string, options: AuthRequest) {
  const answer = await request(method, path, options)
  return answer.status === 500 || answer.status === 409
    ? await request(method, path, options)
    : answer
}

/**
 * Thrown when Auth has probably not processed the request: it is down, too slow, or rate-limits this address.
 */
export class AuthUnavailable extends Refusal {}

function unavailable({ status, body }: AuthAnswer): Refusal {
  log('warn', { auth: status, code: body.code ?? body.error })
  // Auth's rate limiter sends no Retry-After header; it refills every second.
  if (status === 429) return new AuthUnavailable('rate_limited', { retryAfter: 5 })
  // Auth may return 500 even though the change was committed. With this message, the password grant could not
  // even read the user.
  const undone = status > 500 || body.message === 'Database error querying schema'
  const Kind = undone ? AuthUnavailable : Refusal
  return new Kind('service_unavailable', { retryAfter: 2 })
}

// Auth stores phone numbers without the plus sign.
const identifierFields = ({ kind, value }: Identifier) =>
  kind === 'phone' ? { phone: value.slice(1) } : { email: value }

type NewUser = {
  identifier: Identifier
  password: string
  fullName?: string | null
  termsVersion?: string | null
}

/**
 * Creates a confirmed user; triggers add the account, profile and identity. Throws if the phone or email is
 * taken.
 */
export async function createUser(
  { identifier, password, fullName, termsVersion }: NewUser,
): Promise<string> {
  const id = crypto.randomUUID()
  const answer = await request('POST', '/admin/users', {
    body: {
      id,
      ...identifierFields(identifier),
      password,
      [`${identifier.kind}_confirm`]: true,
      // The trigger on auth.users reads both in the transaction that creates the user.
      user_metadata: {
        ...(fullName && { full_name: fullName }),
        ...(termsVersion && { terms_version: termsVersion }),
      },
    },
  })
  if (answer.status === 200) return id
  if (answer.body.code === 'validation_failed') throw new Refusal('identifier_invalid')
  // Concurrent requests can make Auth fail, and its response can get lost, so ask the database who has the
  // phone or email.
  const holder = await backend<string | null>('account_with', { identifier: identifier.value })
  if (holder === id) return id
  const exists = ['email_exists', 'phone_exists'].includes(String(answer.body.code))
  if (!holder && !exists) throw unavailable(answer)
  const code = identifier.kind === 'phone' ? 'phone_taken' : 'email_taken'
  throw new Refusal(code, { fields: [{ path: 'identifier', code }] })
}

// private.custom_access_token writes this message: an error code, then a space and the details as JSON.
function denied({ body }: AuthAnswer): SignInDenied {
  const [code, detail] = String(body.message).split(/ (.*)/s)
  return isErrorCode(code)
    ? { denied: code, detail: detail ? JSON.parse(detail) : {} }
    : { denied: 'token_invalid' }
}

/** Whether the user is gone. Auth also fails while a user is being deleted, which counts as gone. */
const isGone = async ({ status }: AuthAnswer, { value }: Identifier) =>
  status === 404 || status >= 500 && !await backend('account_with', { identifier: value })

/**
 * Returns a denial only if the password was correct. Returns undefined for a wrong password or an unknown
 * user.
 */
export async function signIn(
  identifier: Identifier,
  password: string,
  address: string,
): Promise<Tokens | SignInDenied | undefined> {
  // bcrypt reads only 72 bytes. A longer password must not be accepted because its first 72 bytes match.
  const tried = new TextEncoder().encode(password).length > 72 ? unknownPassword() : password
  const answer = await requestAgain('POST', '/token?grant_type=password', {
    body: { ...identifierFields(identifier), password: tried },
    address,
  })
  if (answer.status === 200) return answer.body as Tokens
  if (answer.body.code === 'invalid_credentials') return undefined
  if (answer.status === 401 || answer.status === 403) {
    const refused = denied(answer)
    // token_invalid means that the account was deleted during the sign-in.
    return refused.denied === 'token_invalid' ? undefined : refused
  }
  if (await isGone(answer, identifier)) return undefined
  throw unavailable(answer)
}

type IdToken = { idToken: string; nonce?: string }

/**
 * Whether to retry: Auth's database failed, requests collided, or Auth has not yet loaded the key of a token
 * that we verified.
 */
const isTransient = ({ status, body }: AuthAnswer) =>
  status >= 500 || body.error === 'server_error' || body.error_description === 'Bad ID token'

export async function signInWithIdToken(
  provider: 'google' | 'apple',
  { idToken, nonce }: IdToken,
  address: string,
): Promise<Tokens | SignInDenied | undefined> {
  const end = Date.now() + 6000
  for (let tries = 1;; tries++) {
    const answer = await request('POST', '/token?grant_type=id_token', {
      body: { provider, id_token: idToken, nonce },
      address,
    })
    const { status, body } = answer
    if (status === 200) return body as Tokens
    if (body.code === 'provider_disabled') {
      const name = provider === 'google' ? 'Google' : 'Apple'
      throw new Refusal('provider_disabled', { provider: name })
    }
    if (status === 401 || status === 403) return denied(answer)
    if (!isTransient(answer) && (status === 400 || status === 422)) {
      // We accepted the token but Auth did not: its settings differ from ours, or it has other data about the
      // account.
      const cause = body.error_description ?? body.code
      alarm('auth_refuses_token', provider, { cause })
      return undefined
    }
    const late = body.code === 'TimeoutError' || Date.now() > end
    if (!isTransient(answer) || late || tries === 4) throw unavailable(answer)
    await new Promise((resolve) => setTimeout(resolve, 50 * tries + Math.random() * 100))
  }
}

// For an unknown identifier, we check the password against this user, so that the response takes equally
// long.
export const decoy: Identifier = { kind: 'email', value: 'decoy@accounts.invalid' }

export const signInDecoy = (password: string, address: string) => signIn(decoy, password, address)

export async function createDecoy(): Promise<void> {
  try {
    await createUser({ identifier: decoy, password: unknownPassword() })
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'email_taken')) throw error
  }
}

export async function ensureDecoy(): Promise<number> {
  if (await backend<string | null>('account_with', { identifier: decoy.value })) return 0
  await createDecoy()
  return 1
}

export const isDecoy = ({ value }: Identifier) => value === decoy.value

// Auth's refresh tokens have 12 characters in version 1, and 51 or slightly more in version 2.
const refreshTokenForm = /^([\w-]{12}|[\w-]{51,80})$/

export async function refreshSession(
  refreshToken: string,
  address: string,
): Promise<Tokens | SignInDenied | undefined> {
  // A malformed token is not sent to Auth, because it would count towards Auth's rate limit for this address.
  if (!refreshTokenForm.test(refreshToken)) return undefined
  const answer = await requestAgain('POST', '/token?grant_type=refresh_token', {
    body: { refresh_token: refreshToken },
    address,
  })
  if (answer.status === 200) return answer.body as Tokens
  // Responses of Auth's own rate limiter have a code; refusals by our access token hook have none.
  const tooOften = answer.status === 429 && String(answer.body.message).startsWith('rate_limited ')
  if (answer.status === 403 || tooOften) return denied(answer)
  if (answer.status === 400 || answer.status === 401) return undefined
  throw unavailable(answer)
}

type Scope = 'local' | 'others' | 'global'

export async function signOut(token: string, scope: Scope): Promise<void> {
  const answer = await requestAgain('POST', `/logout?scope=${scope}`, { token })
  if (answer.status >= 500 || answer.status === 429) throw unavailable(answer)
}

/**
 * Deletes a session whose tokens were never sent to a client, so the account's Realtime topic need not be
 * renamed.
 */
export const discardSession = ({ access_token }: Tokens) =>
  backend('discard_session', { sessionId: decodeJwt(access_token).session_id as string })

// Auth's codes for a new password that equals the current one or violates Auth's password rules.
const passwordErrors = ['same_password', 'weak_password']

export const invalidNewPassword = () => invalidField('newPassword', 'invalid')

// Auth accepts a new password only after announce_password (sql/03_accounts/6_events_auth_fence.sql).

/** Changes the password of a caller who knows the current one, and ends all other sessions. */
export async function changePassword(
  token: string,
  { current, next }: { current: string; next: string },
  address: string,
): Promise<void> {
  const { sub, session_id } = decodeJwt(token)
  await backend('announce_password', { accountId: sub!, sessionId: session_id as string })
  const body = { password: next, current_password: current }
  const answer = await requestAgain('PUT', '/user', { token, body, address })
  if (answer.status === 200) return
  // Another request changed the password after we checked `current`.
  if (answer.body.code === 'current_password_invalid') throw new Refusal('invalid_credentials')
  if (passwordErrors.includes(String(answer.body.code))) throw invalidNewPassword()
  if (answer.status === 401 || answer.status === 403) throw new Refusal('token_invalid')
  throw unavailable(answer)
}

/**
 * Checks the password of a caller who has neither phone nor email, by trying to set it again: Auth refuses a
 * new password that equals the current one.
 */
export async function isOwnPassword(
  token: string,
  password: string,
  address: string,
): Promise<boolean> {
  if (new TextEncoder().encode(password).length > 72) return false
  const body = { password, current_password: password }
  const answer = await request('PUT', '/user', { token, body, address })
  const code = String(answer.body.code)
  if (code === 'same_password') return true
  if (code === 'current_password_invalid' || code === 'weak_password') return false
  if (answer.status === 401 || answer.status === 403) throw new Refusal('token_invalid')
  throw unavailable(answer)
}

/**
 * Sets the phone or email. The outcome is unknown, because Auth may commit up to ten seconds later or hit a
 * deadlock (500).
 */
export async function putContact(userId: string, identifier: Identifier): Promise<void> {
  const body = { ...identifierFields(identifier), [`${identifier.kind}_confirm`]: true }
  const put = () =>
    request('PUT', `/admin/users/${userId}`, { body, patience: 11_000, versioned: false })
  if ((await put()).status === 500) await put()
}

/**
 * Sets a new password without asking for the current one, and ends every session. Routes verify a code before
 * they call this.
 */
export async function resetPassword(
  userId: string,
  identifier: Identifier,
  password: string,
): Promise<void> {
  await backend('announce_password', { accountId: userId, identifier: identifier.value })
  const answer = await requestAgain('PUT', `/admin/users/${userId}`, { body: { password } })
  if (passwordErrors.includes(String(answer.body.code))) throw invalidNewPassword()
  if (
    answer.status === 404 || answer.status >= 500 &&
      await backend('account_with', { identifier: identifier.value }) !== userId
  ) {
    // The account was deleted, or its phone or email was changed.
    throw new Refusal('otp_invalid', { attemptsLeft: 0 })
  }
  if (answer.status !== 200) throw unavailable(answer)
}
