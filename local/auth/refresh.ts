import { writeAudit } from './audit.ts'
import { CommittedError, transaction, type Tx } from './database.ts'
import { type Answer, AuthError, badRequest } from './errors.ts'
import { type AuthRequest, type Context, readBody } from './request.ts'
import {
  encodeRefreshToken,
  insertRefreshToken,
  isSignedWith,
  methodsOf,
  parseRefreshToken,
  type RefreshToken,
  tokenAnswer,
} from './sessions.ts'
import { findUser, isBanned, type User } from './users.ts'

type SessionRow = {
  id: string
  user_id: string
  hmac_key: string | null
  counter: string
  expired: boolean
  recent: boolean
}

/** `issued` is undefined if an old token was reused, so that no new one may be issued. */
type Rotated = { session: SessionRow; user: User; issued?: Issued }
type Issued = { refreshToken: string; counter?: bigint; headers?: Record<string, string> }

const notFound = () =>
  badRequest('Invalid Refresh Token: Refresh Token Not Found', 'refresh_token_not_found')
const alreadyUsed = () =>
  badRequest('Invalid Refresh Token: Already Used', 'refresh_token_already_used')

export async function refreshGrant(context: Context, request: AuthRequest): Promise<Answer> {
  const { refresh_token: text = '' } = readBody(request, { refresh_token: 'string' })
  const { headers, body } = await transaction(context.pool, async (tx) => {
    // Concurrent refreshes of one session wait for the same row lock, for five seconds at most.
    await tx.query("set local lock_timeout = '5s'")
    const rotate = text.length === 12 ? rotateRow : rotateCounter
    const { session, user, issued } = await rotate(context, tx, text)
    if (!issued) return new CommittedError(alreadyUsed())
    await tx.query(
      `update auth.sessions set updated_at = now(), user_agent = $2, ip = $3,
         refreshed_at = clock_timestamp() at time zone 'UTC' where id = $1`,
      [session.id, request.headers['user-agent'] ?? null, request.ip],
    )
    await writeAudit(context, tx, user, 'token_refreshed')
    const answer = await tokenAnswer(context, tx, request, user, {
      sessionId: session.id,
      ...issued,
      method: 'token_refresh',
      amr: await methodsOf(tx, session.id),
    })
    return { ...answer, headers: { ...answer.headers, ...issued.headers } }
  })
  return { status: 200, headers, body }
}

async function lockSession(context: Context, tx: Tx, id: string) {
  const { rows: [session] } = await tx.query<SessionRow>(
    `select id, user_id, refresh_token_hmac_key as hmac_key, refresh_token_counter as counter,
       coalesce(not_after < now(), false) as expired,
       abs(extract(epoch from (
         clock_timestamp() at time zone 'UTC'
         - coalesce(refreshed_at, created_at at time zone 'UTC')))) < $2 as recent
     from auth.sessions where id = $1 for update`,
    [id, context.config.reuseInterval],
  ).catch(throwConflict)
  const user = session && await findUser(tx, session.user_id)
  return user && { session: session!, user }
}

function checkSession(user: User, session: SessionRow) {
  if (isBanned(user)) throw badRequest('Invalid Refresh Token: User Banned', 'user_banned')
  if (session.expired) {
    throw badRequest('Invalid Refresh Token: Session Expired', 'session_expired')
  }
}

/** Replaces a version 2 token, which contains the session id and a counter. Its reuse ends the session. */
async function rotateCounter(context: Context, tx: Tx, text: string): Promise<Rotated> {
  const given = parseRefreshToken(text)
  if (!given) throw badRequest('Refresh token is not valid')
  const found = await lockSession(context, tx, given.sessionId)
  const key = found?.session.hmac_key
  if (!key || !isSignedWith(given, key)) throw notFound()
  const { session, user } = found
  checkSession(user, session)
  const { counter, headers } = nextCounter(context, session, given)
  if (counter === undefined) {
    await tx.query('delete from auth.sessions where id = $1', [session.id])
    return { session, user }
  }
  await tx.query('update auth.sessions set refresh_token_counter = $2 where id = $1', [
    session.id,
    counter,
  ])
  const refreshToken = encodeRefreshToken(session.id, counter, key)
  return { session, user, issued: { refreshToken, counter, headers } }
}

/** Returns the counter of the token to issue, or no counter if a reuse ends the session. */
function nextCounter(
  context: Context,
  session: SessionRow,
  given: RefreshToken,
): { counter?: bigint; headers?: Record<string, string> } {
  const current = BigInt(session.counter)
  const behind = current - given.counter
  if (behind < 0n) throw badRequest('Invalid Refresh Token: Not Issued By This Server')
  if (behind === 0n) {
    return { counter: current + 1n, headers: { 'sb-auth-refresh-token-reuse': 'false' } }
  }
  // If the token is only one step old, the client did not save our response; a reuse within the interval
  // comes from concurrent requests. In both cases we return the current token, so that only one is in use.
  const causes = [
    ...(session.recent ? ['concurrent-refresh'] : []),
    ...(behind === 1n ? ['fail-to-save'] : []),
  ]
  if (causes.length > 0) {
    return { counter: current, headers: { 'sb-auth-refresh-token-reuse-cause': causes.join(',') } }
  }
  if (context.config.rotation) return {}
  throw alreadyUsed()
}

/** Replaces a version 1 token, which is a row. Its reuse revokes all tokens of the session but keeps it. */
async function rotateRow(context: Context, tx: Tx, text: string): Promise<Rotated> {
  const { rows: [token] } = await tx.query<{ session_id: string; revoked: boolean; late: boolean }>(
    `select session_id, revoked, updated_at < clock_timestamp() - make_interval(secs => $2) as late
     from auth.refresh_tokens where token = $1 for update`,
    [text, context.config.reuseInterval],
  ).catch(throwConflict)
  const found = token && await lockSession(context, tx, token.session_id)
  if (!found) throw notFound()
  const { session, user } = found
  checkSession(user, session)
  if (token.revoked) {
    const { rows: [active] } = await tx.query<{ token: string; parent: string }>(
      `select token, parent from auth.refresh_tokens where session_id = $1 and not revoked
       order by id desc limit 1`,
      [session.id],
    )
    if (active?.parent === text) {
      return { session, user, issued: { refreshToken: active.token } }
    }
    if (token.late) {
      if (context.config.rotation) await revoke(tx, 'session_id = $1 and not revoked', session.id)
      return { session, user }
    }
  }
  await revoke(tx, 'token = $1', text)
  const refreshToken = await insertRefreshToken(tx, session, text)
  return { session, user, issued: { refreshToken } }
}

const revoke = (tx: Tx, which: string, value: string) =>
  tx.query(
    `update auth.refresh_tokens set revoked = true, updated_at = clock_timestamp() where ${which}`,
    [value],
  )

function throwConflict(error: Error & { code?: string }): never {
  if (error.code !== '55P03') throw error
  throw new AuthError(
    409,
    'conflict',
    'Too many concurrent token refresh requests on the same session or refresh token',
  )
}
