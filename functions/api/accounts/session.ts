import { addressArgs } from '../../_shared/auth/secrets.ts'
import {
  discardSession,
  signIn,
  type SignInDenied,
  type Tokens,
} from '../../_shared/auth/supabase-auth.ts'
import { callerOfIssued, cancelledDeletion } from '../../_shared/auth/tokens.ts'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend, type BackendCall, call } from '../../_shared/database/db.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import { classifyError, Refusal } from '../../_shared/errors/refusal.ts'
import type { Identifier } from '../../_shared/input/identifiers.ts'

export function throwIfDenied(result: Tokens | SignInDenied): asserts result is Tokens {
  if ('denied' in result) throw new Refusal(result.denied, result.detail)
}

export const placeArgs = (c: ApiContext, tokens: Tokens) => ({
  sessionId: callerOfIssued(tokens.access_token).sessionId,
  address: c.var.address,
  userAgent: c.req.header('user-agent')?.slice(0, 200),
})

export async function sessionBody(
  c: ApiContext,
  tokens: Tokens,
  before: BackendCall[],
  always = false,
): Promise<string> {
  c.set('caller', callerOfIssued(tokens.access_token))
  const who = await call(c, 'get_me', {}, { before, always })
  const head = JSON.stringify({
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    tokenType: 'bearer',
    expiresIn: tokens.expires_in,
    expiresAt: new Date(tokens.expires_at * 1000).toISOString(),
    deletionCancelled: cancelledDeletion(tokens.access_token) || undefined,
  })
  return `${head.slice(0, -1)},${who.slice(1)}`
}

/**
 * Records the sign-in and removes its password attempts (`hits`) from the count. Discards the session if the
 * hourly limit of sign-ins is exceeded.
 */
export async function completeSignIn(
  c: ApiContext,
  tokens: Tokens,
  { hits, also = [], ended = 'invalid_credentials' }: {
    hits?: unknown
    also?: BackendCall[]
    ended?: ErrorCode
  } = {},
) {
  const { addressHash } = addressArgs(c.var.address)
  const args = { accountId: tokens.user.id, ...placeArgs(c, tokens), addressHash, hits }
  try {
    return await sessionBody(c, tokens, [{ name: 'finish_sign_in', args }, ...also])
  } catch (error) {
    const { code } = classifyError(error as Error, c.var.caller)
    if (code === 'rate_limited' || code === 'maintenance') await discardSession(tokens)
    // The password was correct, so the attempt must not count as a failure if only maintenance mode refuses
    // the sign-in.
    if (code === 'maintenance' && hits) await backend('uncount_hits', { hits })
    // The session was ended in the meantime, so the credentials that opened it are no longer valid.
    if (code === 'token_invalid') throw new Refusal(ended)
    throw error
  }
}

export async function openSession(c: ApiContext, identifier: Identifier, password: string) {
  const tokens = await signIn(identifier, password, c.var.address)
  if (!tokens) throw new Refusal('invalid_credentials')
  throwIfDenied(tokens)
  return await completeSignIn(c, tokens)
}
