/** What a sign-in ends with, whichever way it came: tokens, and who that is. */
import type { ApiContext } from '../../_shared/context.ts'
import { addressArgs } from '../../_shared/crypto.ts'
import { type BackendCall, call } from '../../_shared/db.ts'
import type { ErrorCode } from '../../_shared/errors.ts'
import type { Identifier } from '../../_shared/identifiers.ts'
import { classifyError, Refusal } from '../../_shared/refusal.ts'
import {
  discardSession,
  signIn,
  type SignInDenied,
  type Tokens,
} from '../../_shared/supabase-auth.ts'
import { callerOfIssued } from '../../_shared/tokens.ts'

export function throwIfDenied(result: Tokens | SignInDenied): asserts result is Tokens {
  if ('denied' in result) throw new Refusal(result.denied, result.detail)
}

/** Which session its tokens belong to, and from where they were asked for: its owner is shown both. */
export const placeArgs = (c: ApiContext, tokens: Tokens) => ({
  sessionId: callerOfIssued(tokens.access_token).sessionId,
  address: c.var.address,
  userAgent: c.req.header('user-agent')?.slice(0, 200),
})

/** The body of a session: the tokens of Auth, and who that is as the database sees it. */
export async function sessionBody(
  c: ApiContext,
  tokens: Tokens,
  before: BackendCall[],
): Promise<string> {
  c.set('caller', callerOfIssued(tokens.access_token))
  const who = await call(c, 'get_me', {}, { before })
  const head = JSON.stringify({
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    tokenType: 'bearer',
    expiresIn: tokens.expires_in,
    expiresAt: new Date(tokens.expires_at * 1000).toISOString(),
  })
  return `${head.slice(0, -1)},${who.slice(1)}`
}

/**
 * Completes a successful sign-in: it is counted, its failed tries (`hits`) no longer are, and the
 * account knows this address from now on. One too many within the hour ends the session again.
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
    if (code === 'rate_limited') await discardSession(tokens)
    // Whoever took the account over at this moment ended the session: what opened it no longer does.
    if (code === 'token_invalid') throw new Refusal(ended)
    throw error
  }
}

/** Signs in whoever has just proved the identifier. */
export async function openSession(c: ApiContext, identifier: Identifier, password: string) {
  const tokens = await signIn(identifier, password, c.var.address)
  if (!tokens) throw new Refusal('invalid_credentials')
  throwIfDenied(tokens)
  return await completeSignIn(c, tokens)
}
