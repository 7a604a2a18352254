import { writeAudit } from './audit.ts'
import { CommittedError, transaction } from './database.ts'
import { type Answer, AuthError, badRequest, OAuthError, unprocessable } from './errors.ts'
import { checkStrength } from './passwords.ts'
import { audience, type AuthRequest, type Context, plainPhone, readBody } from './request.ts'
import {
  encodeRefreshToken,
  isSignedWith,
  methodsOf,
  parseRefreshToken,
  type RefreshToken,
  startSession,
  tokenAnswer,
} from './sessions.ts'
import { idTokenGrant } from './social.ts'
import { findByEmail, findByPhone, findUser, isBanned, type User } from './users.ts'

/** POST /token?grant_type=… */
export function token(context: Context, request: AuthRequest): Promise<Answer> {
  switch (request.query.get('grant_type')) {
    case 'password':
      return passwordGrant(context, request)
    case 'refresh_token':
      return refreshGrant(context, request)
    case 'id_token':
      return idTokenGrant(context, request)
    case 'pkce':
      return pkceGrant(request)
    default:
      throw badRequest('unsupported_grant_type', 'invalid_credentials')
  }
}

/** The code of a flow that starts with a redirect or a link, of which there are none here. */
function pkceGrant(request: AuthRequest): never {
  const { auth_code: code, code_verifier: verifier } = readBody(request, {
    auth_code: 'string',
    code_verifier: 'string',
  })
  if (!code || !verifier) {
    throw badRequest('invalid request: both auth code and code verifier should be non-empty')
  }
  const message = 'invalid flow state, no valid flow state found'
  throw new AuthError(404, 'flow_state_not_found', message)
}

async function passwordGrant(context: Context, request: AuthRequest): Promise<Answer> {
  const { config } = context
  const params = readBody(request, { email: 'string', phone: 'string', password: 'string' })
  const { email, phone, password = '' } = params
  if (email && phone) {
    throw badRequest('Only an email address or phone number should be provided on login.')
  }
  if (!email && !phone) throw badRequest('missing email or phone')
  if (email && !config.email) {
    throw unprocessable('email_provider_disabled', 'Email logins are disabled')
  }
  if (phone && !config.phone) {
    throw unprocessable('phone_provider_disabled', 'Phone logins are disabled')
  }
  const aud = audience(request)
  const user = email
    ? await findByEmail(context.pool, email, aud)
    : await findByPhone(context.pool, plainPhone(phone!), aud)
  const refused = () => badRequest('Invalid login credentials', 'invalid_credentials')
  // As in the real Auth: an unknown user is answered without hashing, and so faster.
  if (!user) throw refused()
  if (isBanned(user)) throw badRequest('User is banned', 'user_banned')
  const hash = user.encrypted_password
  if (!hash || !await context.passwords.matches(password, hash)) throw refused()
  if (email && !user.email_confirmed_at) {
    throw badRequest('Email not confirmed', 'email_not_confirmed')
  }
  if (phone && !user.phone_confirmed_at) {
    throw badRequest('Phone not confirmed', 'phone_not_confirmed')
  }
  const { headers, body } = await transaction(context.pool, async (tx) => {
    await writeAudit(context, tx, user, 'login', { provider: email ? 'email' : 'phone' })
    return await startSession(context, tx, request, user, 'password')
  })
  return {
    status: 200,
    headers,
    body: { ...body, ...weakPassword(password, config.passwordLength) },
  }
}

/** Marks a correct password that today's rules would reject. */
function weakPassword(password: string, minimum: number) {
  try {
    checkStrength(password, minimum)
  } catch (error) {
    if (error instanceof AuthError && error.reasons) {
      return { weak_password: { message: error.message, reasons: error.reasons } }
    }
  }
  return {}
}

type SessionRow = {
  id: string
  user_id: string
  hmac_key: string
  counter: string
  expired: boolean
  recent: boolean
}

async function refreshGrant(context: Context, request: AuthRequest): Promise<Answer> {
  const { refresh_token: text } = readBody(request, { refresh_token: 'string' })
  if (!text) throw new OAuthError('invalid_request', 'refresh_token required')
  const unknown = () =>
    badRequest('Invalid Refresh Token: Refresh Token Not Found', 'refresh_token_not_found')
  const given = parseRefreshToken(text)
  if (!given) {
    // Tokens of the older format have twelve characters; this stand-in never issued one.
    throw text.length === 12 ? unknown() : badRequest('Refresh token is not valid')
  }
  const { headers, body } = await transaction(context.pool, async (tx) => {
    // Concurrent refreshes of one session wait here for each other, five seconds at most.
    await tx.query("set local lock_timeout = '5s'")
    const { rows } = await tx.query<SessionRow>(
      `select id, user_id, refresh_token_hmac_key as hmac_key, refresh_token_counter as counter,
         coalesce(not_after < now(), false) as expired,
         abs(extract(epoch from (
           clock_timestamp() at time zone 'UTC'
           - coalesce(refreshed_at, created_at at time zone 'UTC')))) < $2 as recent
       from auth.sessions where id = $1 for update`,
      [given.sessionId, context.config.reuseInterval],
    ).catch(throwConflict)
    const session = rows[0]
    if (!session?.hmac_key || !isSignedWith(given, session.hmac_key)) throw unknown()
    const user = await findUser(tx, session.user_id)
    if (!user) throw unknown()
    checkSession(user, session)
    const { counter, reuse } = nextCounter(context, session, given)
    if (counter === undefined) {
      await tx.query('delete from auth.sessions where id = $1', [session.id])
      return new CommittedError(
        badRequest('Invalid Refresh Token: Already Used', 'refresh_token_already_used'),
      )
    }
    await tx.query(
      `update auth.sessions set refresh_token_counter = $2, updated_at = now(), user_agent = $3,
         ip = $4, refreshed_at = clock_timestamp() at time zone 'UTC' where id = $1`,
      [session.id, counter, request.headers['user-agent'] ?? null, request.ip],
    )
    await writeAudit(context, tx, user, 'token_refreshed')
    const fresh = encodeRefreshToken(session.id, counter, session.hmac_key)
    const answer = await tokenAnswer(context, tx, request, user, {
      sessionId: session.id,
      refreshToken: fresh,
      counter,
      method: 'token_refresh',
      amr: await methodsOf(tx, session.id),
    })
    return { ...answer, headers: { ...answer.headers, ...reuse } }
  })
  return { status: 200, headers, body }
}

function checkSession(user: User, session: SessionRow) {
  if (isBanned(user)) throw badRequest('Invalid Refresh Token: User Banned', 'user_banned')
  if (session.expired) {
    throw badRequest('Invalid Refresh Token: Session Expired', 'session_expired')
  }
}

/** The counter of the token to issue; undefined if the reuse ends the session. */
function nextCounter(
  context: Context,
  session: SessionRow,
  given: RefreshToken,
): { counter?: bigint; reuse?: Record<string, string> } {
  const current = BigInt(session.counter)
  const behind = current - given.counter
  if (behind < 0n) throw badRequest('Invalid Refresh Token: Not Issued By This Server')
  if (behind === 0n) {
    return { counter: current + 1n, reuse: { 'sb-auth-refresh-token-reuse': 'false' } }
  }
  // One behind: the client did not save our answer. Within the interval: concurrent requests.
  // Both get the current token, so that all of them end up with the same one.
  const causes = [
    ...(session.recent ? ['concurrent-refresh'] : []),
    ...(behind === 1n ? ['fail-to-save'] : []),
  ]
  if (causes.length > 0) {
    return { counter: current, reuse: { 'sb-auth-refresh-token-reuse-cause': causes.join(',') } }
  }
  if (context.config.rotation) return {}
  throw badRequest('Invalid Refresh Token: Already Used', 'refresh_token_already_used')
}

function throwConflict(error: Error & { code?: string }): never {
  if (error.code !== '55P03') throw error
  throw new AuthError(
    409,
    'conflict',
    'Too many concurrent token refresh requests on the same session or refresh token',
  )
}
