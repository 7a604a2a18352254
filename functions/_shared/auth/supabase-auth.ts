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

/** The credentials were right, but the token hook refused the sign-in. */
export type SignInDenied = { denied: ErrorCode; detail?: Detail }

type AuthAnswer = { status: number; body: Record<string, unknown> }
type AuthRequest = {
  body?: unknown
  token?: string
  address?: string
  /** Time limit in milliseconds. */
  patience?: number
  /**
   * Whether to send the version header. Without it, Auth passes on an error that our SQL raises, instead of
   * reporting a failure of its own.
   */
  versioned?: boolean
}

export async function request(
  method: string,
  path: string,
  // The default is long, because password hashing is slow when many requests come at once.
  { body, token, address, patience = 8000, versioned = true }: AuthRequest = {},
): Promise<AuthAnswer> {
  const headers: Record<string, string> = {
    apikey: env.secretKey,
    'content-type': 'application/json',
  }
  if (versioned) headers['x-supabase-api-version'] = '2024-01-01'
  if (token) headers.authorization = `Bearer ${token}`
  // Auth limits requests per client address. It trusts the one that we send because of the secret key.
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

/** Sends a request, and once more after a deadlock (500) or too many refreshes of one session (409). */
async function requestAgain(method: string, path: string, options: AuthRequest) {
  const answer = await request(method, path, options)
  return answer.status === 500 || answer.status === 409
    ? await request(method, path, options)
    : answer
}

/** Thrown when Auth is assumed to have done nothing: it is down, too slow, or limits this address. */
export class AuthUnavailable extends Refusal {}

function unavailable({ status, body }: AuthAnswer): Refusal {
  log('warn', { auth: status, code: body.code ?? body.error })
  // Auth's rate limiter does not tell when to retry; it refills every second.
  if (status === 429) return new AuthUnavailable('rate_limited', { retryAfter: 5 })
  // Auth may answer 500 after it has done the work, unless the password grant could not read the user.
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

/** Creates a confirmed user. Triggers add account, profile and identity. Throws if one exists already. */
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
  // Simultaneous requests make Auth fail, and its answer may be lost, so the database decides the outcome.
  const holder = await backend<string | null>('account_with', { identifier: identifier.value })
  if (holder === id) return id
  const exists = ['email_exists', 'phone_exists'].includes(String(answer.body.code))
  if (!holder && !exists) throw unavailable(answer)
  const code = identifier.kind === 'phone' ? 'phone_taken' : 'email_taken'
  throw new Refusal(code, { fields: [{ path: 'identifier', code }] })
}

// The message comes from private.custom_access_token: the code, then a blank and the details as JSON.
function denied({ body }: AuthAnswer): SignInDenied {
  const [code, detail] = String(body.message).split(/ (.*)/s)
  return isErrorCode(code)
    ? { denied: code, detail: detail ? JSON.parse(detail) : {} }
    : { denied: 'token_invalid' }
}

/** Auth fails if the user is being deleted; such a user counts as gone. */
const isGone = async ({ status }: AuthAnswer, { value }: Identifier) =>
  status === 404 || status >= 500 && !await backend('account_with', { identifier: value })

/** Returns a denial only for the right password, and undefined for a wrong one or an unknown user. */
export async function signIn(
  identifier: Identifier,
  password: string,
  address: string,
): Promise<Tokens | SignInDenied | undefined> {
  // bcrypt reads 72 bytes. A longer password is wrong and must not pass because its beginning is right.
  const tried = new TextEncoder().encode(password).length > 72 ? unknownPassword() : password
  const answer = await requestAgain('POST', '/token?grant_type=password', {
    body: { ...identifierFields(identifier), password: tried },
    address,
  })
  if (answer.status === 200) return answer.body as Tokens
  if (answer.body.code === 'invalid_credentials') return undefined
  if (answer.status === 401 || answer.status === 403) {
    const refused = denied(answer)
    // token_invalid means that the account has been deleted in the meantime.
    return refused.denied === 'token_invalid' ? undefined : refused
  }
  if (await isGone(answer, identifier)) return undefined
  throw unavailable(answer)
}

type IdToken = { idToken: string; nonce?: string }

/** True if Auth's database failed, Auth lacks the key of a token that we verified, or requests collided. */
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
      // Either Auth's settings differ from ours, or it knows something about the account that we do not.
      const cause = body.error_description ?? body.code
      alarm('auth_refuses_token', provider, { cause })
      return undefined
    }
    const late = body.code === 'TimeoutError' || Date.now() > end
    if (!isTransient(answer) || late || tries === 4) throw unavailable(answer)
    await new Promise((resolve) => setTimeout(resolve, 50 * tries + Math.random() * 100))
  }
}

// With an unknown identifier, the password is tried on this user, so that the answer takes as long as usual.
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

// Auth's refresh tokens have 12 characters in version 1, 51 or slightly more in version 2.
const refreshTokenForm = /^([\w-]{12}|[\w-]{51,80})$/

export async function refreshSession(
  refreshToken: string,
  address: string,
): Promise<Tokens | SignInDenied | undefined> {
  // A malformed token is not sent, because it would count towards Auth's limit of sign-ins for the address.
  if (!refreshTokenForm.test(refreshToken)) return undefined
  const answer = await requestAgain('POST', '/token?grant_type=refresh_token', {
    body: { refresh_token: refreshToken },
    address,
  })
  if (answer.status === 200) return answer.body as Tokens
  // An answer of Auth's own rate limiter has a code; a refusal of the token hook has none.
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

/** Deletes a session whose tokens no client received, so no Realtime topic needs a new name. */
export const discardSession = ({ access_token }: Tokens) =>
  backend('discard_session', { sessionId: decodeJwt(access_token).session_id as string })

// Auth's codes for a new password that equals the current one or breaks a rule in Auth's settings.
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
  // Another request has changed the password since `current` was checked.
  if (answer.body.code === 'current_password_invalid') throw new Refusal('invalid_credentials')
  if (passwordErrors.includes(String(answer.body.code))) throw invalidNewPassword()
  if (answer.status === 401 || answer.status === 403) throw new Refusal('token_invalid')
  throw unavailable(answer)
}

/** Checks the password of a caller without phone and email: Auth refuses to set the current one again. */
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

/** Sets phone or email. The outcome is unknown, because Auth may commit ten seconds late or deadlock (500). */
export async function putContact(userId: string, identifier: Identifier): Promise<void> {
  const body = { ...identifierFields(identifier), [`${identifier.kind}_confirm`]: true }
  const put = () =>
    request('PUT', `/admin/users/${userId}`, { body, patience: 11_000, versioned: false })
  if ((await put()).status === 500) await put()
}

/** Resets the password after a code has proven the account, and ends every session. */
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
    // The account was deleted, or its phone or email has changed.
    throw new Refusal('otp_invalid', { attemptsLeft: 0 })
  }
  if (answer.status !== 200) throw unavailable(answer)
}
