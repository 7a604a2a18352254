/** Supabase Auth, which keeps users, passwords, sessions and tokens. Requests are made once. */
import { decodeJwt } from 'jose'
import { alarm } from './alarms.ts'
import { unknownPassword } from './crypto.ts'
import { backend } from './db.ts'
import { env } from './env.ts'
import { type ErrorCode, isErrorCode } from './errors.ts'
import { fetchService } from './http-client.ts'
import type { Identifier } from './identifiers.ts'
import { type Detail, invalidField, Refusal } from './refusal.ts'

export type Tokens = {
  access_token: string
  refresh_token: string
  expires_in: number
  expires_at: number
  user: { id: string }
}

/** Somebody proved who they are, and the token hook does not let them in. */
export type SignInDenied = { denied: ErrorCode; detail?: Detail }

type AuthAnswer = { status: number; body: Record<string, unknown> }
type AuthRequest = {
  body?: unknown
  token?: string
  address?: string
  /** Milliseconds. */
  patience?: number
  /** With the header by which Auth answers with its own codes, and not with what our SQL raises. */
  versioned?: boolean
}

export async function request(
  method: string,
  path: string,
  // Hashing takes its time when many come at once.
  { body, token, address, patience = 8000, versioned = true }: AuthRequest = {},
): Promise<AuthAnswer> {
  const headers: Record<string, string> = {
    apikey: env.secretKey,
    'content-type': 'application/json',
  }
  if (versioned) headers['x-supabase-api-version'] = '2024-01-01'
  if (token) headers.authorization = `Bearer ${token}`
  // Auth counts by client address; with the secret key it believes ours.
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
 * As request, for what may be done twice: once more if Auth gave up, as it does where two of its
 * transactions wait for each other (500) or too many refresh one session (409).
 */
async function requestAgain(method: string, path: string, options: AuthRequest) {
  const answer = await request(method, path, options)
  return answer.status === 500 || answer.status === 409
    ? await request(method, path, options)
    : answer
}

/** Auth did not do it: it is away, is too slow, or refuses more requests of this address. */
export class AuthUnavailable extends Refusal {}

function unavailable({ status, body }: AuthAnswer): Refusal {
  console.error(JSON.stringify({ auth: status, code: body.code ?? body.error }))
  // Its limiter says nothing of when; it fills by the second.
  if (status === 429) return new AuthUnavailable('rate_limited', { retryAfter: 5 })
  // A 500 may come after the work, except where the password grant could not even read the user.
  const undone = status > 500 || body.message === 'Database error querying schema'
  const Kind = undone ? AuthUnavailable : Refusal
  return new Kind('service_unavailable', { retryAfter: 2 })
}

// Auth writes phones without +.
const identifierFields = ({ kind, value }: Identifier) =>
  kind === 'phone' ? { phone: value.slice(1) } : { email: value }

type NewUser = {
  identifier: Identifier
  password: string
  fullName?: string | null
  termsVersion?: string | null
}

/** Creates a confirmed user, and by it account, profile and identity. 409 when there is one. */
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
      // The trigger on Auth's user takes both from there, in the transaction that makes it.
      user_metadata: {
        ...(fullName && { full_name: fullName }),
        ...(termsVersion && { terms_version: termsVersion }),
      },
    },
  })
  if (answer.status === 200) return id
  if (answer.body.code === 'validation_failed') throw new Refusal('identifier_invalid')
  // Two at once make Auth fail, and an answer may get lost: the database knows the outcome.
  const holder = await backend<string | null>('account_with', { identifier: identifier.value })
  if (holder === id) return id
  const exists = ['email_exists', 'phone_exists'].includes(String(answer.body.code))
  if (!holder && !exists) throw unavailable(answer)
  const code = identifier.kind === 'phone' ? 'phone_taken' : 'email_taken'
  throw new Refusal(code, { fields: [{ path: 'identifier', code }] })
}

// private.custom_access_token writes the code, and behind a blank the details as JSON.
function denied({ body }: AuthAnswer): SignInDenied {
  const [code, detail] = String(body.message).split(/ (.*)/s)
  return isErrorCode(code)
    ? { denied: code, detail: detail ? JSON.parse(detail) : {} }
    : { denied: 'token_invalid' }
}

/** Auth fails for somebody who is being deleted at that moment: then there is nobody. */
const isGone = async ({ status }: AuthAnswer, { value }: Identifier) =>
  status === 404 || status >= 500 && !await backend('account_with', { identifier: value })

/** Signs in. Denied only after the right password; undefined: wrong password or no such user. */
export async function signIn(
  identifier: Identifier,
  password: string,
  address: string,
): Promise<Tokens | SignInDenied | undefined> {
  // bcrypt reads 72 bytes: a longer password is wrong, and must not pass by its beginning.
  const tried = new TextEncoder().encode(password).length > 72 ? unknownPassword() : password
  const answer = await requestAgain('POST', '/token?grant_type=password', {
    body: { ...identifierFields(identifier), password: tried },
    address,
  })
  if (answer.status === 200) return answer.body as Tokens
  if (answer.body.code === 'invalid_credentials') return undefined
  if (answer.status === 401 || answer.status === 403) {
    const refused = denied(answer)
    // Of an account that is gone by now.
    return refused.denied === 'token_invalid' ? undefined : refused
  }
  if (await isGone(answer, identifier)) return undefined
  throw unavailable(answer)
}

type IdToken = { idToken: string; nonce?: string }

/**
 * Trouble of Auth's own: with its database, or with the provider's keys for a token that we have
 * verified ourselves. It is also what one of two gets who link one subject at the same time.
 */
const isTransient = ({ status, body }: AuthAnswer) =>
  status >= 500 || body.error === 'server_error' || body.error_description === 'Bad ID token'

/**
 * Signs in with a provider's id token that we have verified; undefined: Auth does not accept it.
 * Transient failures are tried again, except when no answer came in time.
 */
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
      // Its settings differ from ours, or it knows something of the account that we do not.
      const cause = body.error_description ?? body.code
      alarm('auth_refuses_token', provider, { cause })
      return undefined
    }
    const late = body.code === 'TimeoutError' || Date.now() > end
    if (!isTransient(answer) || late || tries === 4) throw unavailable(answer)
    await new Promise((resolve) => setTimeout(resolve, 50 * tries + Math.random() * 100))
  }
}

// An unknown identifier is tried against this user, so that it takes the same work and time.
export const decoy: Identifier = { kind: 'email', value: 'decoy@accounts.invalid' }

export const signInDecoy = (password: string, address: string) => signIn(decoy, password, address)

/** Creates the decoy; several at once create one. */
export async function createDecoy(): Promise<void> {
  try {
    await createUser({ identifier: decoy, password: unknownPassword() })
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'email_taken')) throw error
  }
}

/** Job: there is a decoy before anybody signs in. */
export async function ensureDecoy(): Promise<number> {
  if (await backend<string | null>('account_with', { identifier: decoy.value })) return 0
  await createDecoy()
  return 1
}

/** Nobody can register or sign in as the decoy. */
export const isDecoy = ({ value }: Identifier) => value === decoy.value

// Auth's refresh tokens have 12 characters in version 1, 51 or a few more in version 2.
const refreshTokenForm = /^([\w-]{12}|[\w-]{51,80})$/

/** Fresh tokens; undefined: the refresh token is not valid. */
export async function refreshSession(
  refreshToken: string,
  address: string,
): Promise<Tokens | SignInDenied | undefined> {
  // Auth would count it for the address, which has one limit for this and for passwords.
  if (!refreshTokenForm.test(refreshToken)) return undefined
  const answer = await requestAgain('POST', '/token?grant_type=refresh_token', {
    body: { refresh_token: refreshToken },
    address,
  })
  if (answer.status === 200) return answer.body as Tokens
  if (answer.status === 403) return denied(answer)
  if (answer.status === 400 || answer.status === 401) return undefined
  throw unavailable(answer)
}

type Scope = 'local' | 'others' | 'global'

/** Ends sessions; one that has ended already is no failure. */
export async function signOut(token: string, scope: Scope): Promise<void> {
  const answer = await request('POST', `/logout?scope=${scope}`, { token })
  if (answer.status >= 500 || answer.status === 429) throw unavailable(answer)
}

/** Ends a session whose tokens were given to nobody: no Realtime topic changes by it. */
export const discardSession = ({ access_token }: Tokens) =>
  backend('discard_session', { sessionId: decodeJwt(access_token).session_id as string })

// Rules that the project's Auth settings add to ours.
const passwordErrors = ['same_password', 'weak_password']

/** The new password is not accepted. */
export const invalidNewPassword = () => invalidField('newPassword', 'invalid')

// Auth takes no password that is not announced (sql/03_accounts/6_events_auth_fence.sql).

/** Sets a password in the name of a caller who knows the current one; other sessions end. */
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
  // It was changed since it was tried.
  if (answer.body.code === 'current_password_invalid') throw new Refusal('invalid_credentials')
  if (passwordErrors.includes(String(answer.body.code))) throw invalidNewPassword()
  if (answer.status === 401 || answer.status === 403) throw new Refusal('token_invalid')
  throw unavailable(answer)
}

/**
 * Whether it is the password of the caller, who has neither phone nor email to sign in with. Auth
 * refuses the present password as a new one, once it is found right: nothing changes.
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
 * Writes a phone or email that was proven; the database has the change (sql/03_accounts), does all that
 * follows in Auth's transaction, and is asked afterwards what became of it. Auth may commit until ten
 * seconds after it was asked, and fails where its locks and those of a refresh wait for each other.
 */
export async function putContact(userId: string, identifier: Identifier): Promise<void> {
  const body = { ...identifierFields(identifier), [`${identifier.kind}_confirm`]: true }
  const put = () =>
    request('PUT', `/admin/users/${userId}`, { body, patience: 11_000, versioned: false })
  if ((await put()).status === 500) await put()
}

/** Sets a password for somebody who proved the account by a code; every session ends. */
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
    // Deleted, or it has another phone or email by now.
    throw new Refusal('otp_invalid', { attemptsLeft: 0 })
  }
  if (answer.status !== 200) throw unavailable(answer)
}
