/** Supabase Auth, which keeps users, passwords, sessions and tokens. One try. */
import { decodeJwt } from 'jose'
import { alarm } from './alarms.ts'
import { backend } from './db.ts'
import { env } from './env.ts'
import { type ErrorCode, isErrorCode } from './errors.ts'
import type { Identifier } from './identifiers.ts'
import { Refusal } from './refusal.ts'
import { unknownPassword } from './secrets.ts'

export type Tokens = {
  access_token: string
  refresh_token: string
  expires_in: number
  expires_at: number
  user: { id: string }
}

/** The token hook said no to somebody who proved to be who they are: why, and what to tell. */
export type Refused = { refused: ErrorCode; reason?: string }

type Answer = { status: number; body: Record<string, unknown> }
type Sent = { body?: unknown; token?: string; address?: string }

async function ask(method: string, path: string, { body, token, address }: Sent): Promise<Answer> {
  const headers: Record<string, string> = {
    apikey: env.secretKey,
    'content-type': 'application/json',
    'x-supabase-api-version': '2024-01-01',
  }
  if (token) headers.authorization = `Bearer ${token}`
  // Auth counts by client address; with the secret key it believes ours.
  if (address) headers['sb-forwarded-for'] = address.replace('/64', '')
  try {
    const response = await fetch(`${env.supabaseUrl}/auth/v1${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      // Hashing takes its time when many come at once.
      signal: AbortSignal.timeout(8000),
    })
    const text = await response.text()
    return { status: response.status, body: text ? JSON.parse(text) : {} }
  } catch (cause) {
    return { status: 503, body: { code: (cause as Error).name } }
  }
}

function unavailable({ status, body }: Answer): Refusal {
  console.error(JSON.stringify({ auth: status, code: body.code ?? body.error }))
  return status === 429
    ? new Refusal('rate_limited', { retryAfter: 60 })
    : new Refusal('service_unavailable', { retryAfter: 2 })
}

// Auth writes phones without +.
const named = ({ kind, value }: Identifier) =>
  kind === 'phone' ? { phone: value.slice(1) } : { email: value }

type NewUser = { identifier: Identifier; password: string; fullName?: string | null }

/** Makes a confirmed user and with it account, profile and identity. 409 when there is one. */
export async function createUser({ identifier, password, fullName }: NewUser): Promise<string> {
  const id = crypto.randomUUID()
  const answer = await ask('POST', '/admin/users', {
    body: {
      id,
      ...named(identifier),
      password,
      [`${identifier.kind}_confirm`]: true,
      user_metadata: fullName ? { full_name: fullName } : {},
    },
  })
  if (answer.status === 200) return id
  if (answer.body.code === 'validation_failed') throw new Refusal('identifier_invalid')
  // Two at once make Auth fail, and an answer may get lost: the database knows what became of it.
  const holder = await backend<string | null>('account_with', { identifier: identifier.value })
  if (holder === id) return id
  const exists = ['email_exists', 'phone_exists'].includes(String(answer.body.code))
  if (!holder && !exists) throw unavailable(answer)
  const code = identifier.kind === 'phone' ? 'phone_taken' : 'email_taken'
  throw new Refusal(code, { fields: [{ path: 'identifier', code }] })
}

// private.custom_access_token says it as `code: reason`.
function refused({ body }: Answer): Refused {
  const [code, reason] = String(body.message).split(/: (.*)/s)
  return { refused: isErrorCode(code) ? code : 'token_invalid', reason }
}

/** Signs in. Refused only after the right password; undefined: wrong password or no such user. */
export async function signIn(
  identifier: Identifier,
  password: string,
  address: string,
): Promise<Tokens | Refused | undefined> {
  // bcrypt reads 72 bytes: a longer one is wrong, and must not be right by its beginning.
  const read = new TextEncoder().encode(password).length > 72 ? unknownPassword() : password
  const answer = await ask('POST', '/token?grant_type=password', {
    body: { ...named(identifier), password: read },
    address,
  })
  if (answer.status === 200) return answer.body as Tokens
  if (answer.body.code === 'invalid_credentials') return undefined
  if (answer.status === 401 || answer.status === 403) return refused(answer)
  throw unavailable(answer)
}

type ByToken = { idToken: string; nonce?: string }

/**
 * Trouble of Auth's own: with its database, or with the provider's keys for a token that we have
 * verified ourselves. Two that link one subject at once are such trouble for one of them.
 */
const passes = ({ status, body }: Answer) =>
  status >= 500 || body.error === 'server_error' || body.error_description === 'Bad ID token'

/**
 * Signs in by a provider's id token, which we have verified before; undefined: Auth does not take
 * it. What passes is tried again, but for an answer that did not come in time.
 */
export async function signInByToken(
  provider: 'google' | 'apple',
  { idToken, nonce }: ByToken,
  address: string,
): Promise<Tokens | Refused | undefined> {
  const end = Date.now() + 6000
  for (let tries = 1;; tries++) {
    const answer = await ask('POST', '/token?grant_type=id_token', {
      body: { provider, id_token: idToken, nonce },
      address,
    })
    const { status, body } = answer
    if (status === 200) return body as Tokens
    if (body.code === 'provider_disabled') {
      const name = provider === 'google' ? 'Google' : 'Apple'
      throw new Refusal('provider_disabled', { provider: name })
    }
    if (status === 401 || status === 403) return refused(answer)
    if (!passes(answer) && (status === 400 || status === 422)) {
      // Its settings are not ours, or it knows of the account what we do not.
      const cause = body.error_description ?? body.code
      alarm('auth_refuses_token', provider, { cause })
      return undefined
    }
    const late = body.code === 'TimeoutError' || Date.now() > end
    if (!passes(answer) || late || tries === 4) throw unavailable(answer)
    await new Promise((resolve) => setTimeout(resolve, 50 * tries + Math.random() * 100))
  }
}

// An unknown identifier is tried against this user, so that the work and the time are the same.
const decoy: Identifier = { kind: 'email', value: 'decoy@accounts.invalid' }

export const signInNobody = (password: string, address: string) => signIn(decoy, password, address)

/** Makes the decoy where there is none; several at once make one. */
export async function makeDecoy(): Promise<void> {
  try {
    await createUser({ identifier: decoy, password: unknownPassword() })
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'email_taken')) throw error
  }
}

/** Job: there is a decoy before anybody signs in. */
export async function keepDecoy(): Promise<number> {
  if (await backend<string | null>('account_with', { identifier: decoy.value })) return 0
  await makeDecoy()
  return 1
}

/** Nobody can register or sign in as the decoy. */
export const isDecoy = ({ value }: Identifier) => value === decoy.value

/** Fresh tokens; undefined: the refresh token is no good. */
export async function refresh(
  refreshToken: string,
  address: string,
): Promise<Tokens | Refused | undefined> {
  const answer = await ask('POST', '/token?grant_type=refresh_token', {
    body: { refresh_token: refreshToken },
    address,
  })
  if (answer.status === 200) return answer.body as Tokens
  if (answer.status === 403) return refused(answer)
  if (answer.status === 400 || answer.status === 401) return undefined
  throw unavailable(answer)
}

export type Scope = 'local' | 'others' | 'global'

/** Ends sessions. What is gone already is no failure. */
export async function signOut(token: string, scope: Scope): Promise<void> {
  const answer = await ask('POST', `/logout?scope=${scope}`, { token })
  if (answer.status >= 500 || answer.status === 429) throw unavailable(answer)
}

/** Ends a session whose tokens nobody was given: nobody's channels change by that. */
export const discard = ({ access_token }: Tokens) =>
  backend('discard_session', { sessionId: decodeJwt(access_token).session_id as string })

// Rules that the project's Auth settings add to ours.
const notTaken = ['same_password', 'weak_password']
const badPassword = () =>
  new Refusal('validation_failed', { fields: [{ path: 'newPassword', code: 'invalid' }] })

/** Sets a password in the caller's name, who knows the present one; other sessions end. */
export async function changePassword(
  token: string,
  { present, next }: { present: string; next: string },
  address: string,
): Promise<void> {
  const body = { password: next, current_password: present }
  const answer = await ask('PUT', '/user', { token, body, address })
  if (answer.status === 200) return
  // Somebody changed it since it was tried.
  if (answer.body.code === 'current_password_invalid') throw new Refusal('invalid_credentials')
  if (notTaken.includes(String(answer.body.code))) throw badPassword()
  if (answer.status === 401 || answer.status === 403) throw new Refusal('token_invalid')
  throw unavailable(answer)
}

/** Sets a password for whoever proved the account by a code; every session ends. */
export async function resetPassword(userId: string, password: string): Promise<void> {
  const answer = await ask('PUT', `/admin/users/${userId}`, { body: { password } })
  if (notTaken.includes(String(answer.body.code))) throw badPassword()
  if (answer.status !== 200) throw unavailable(answer)
}
