/** Signing in and out: Auth keeps the sessions, the database says what they are worth. */
import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/context.ts'
import { backend, type BackendCall, call } from '../../_shared/db.ts'
import { Identifier, Password } from '../../_shared/identifiers.ts'
import { type MaybeError, Refusal, throwIfError } from '../../_shared/refusal.ts'
import { origin, sameText, unseal } from '../../_shared/secrets.ts'
import {
  discard,
  makeDecoy,
  refresh,
  type Refused,
  signIn,
  signInNobody,
  signOut,
  type Tokens,
} from '../../_shared/supabase-auth.ts'
import { callerOfIssued } from '../../_shared/tokens.ts'
import { area, body, json, mine, problems, route, send } from '../http/route.ts'
import { Session } from './schemas.ts'

const tags = ['sign-in']

const login = route({
  tags,
  operationId: 'login',
  method: 'post',
  path: '/login',
  summary: 'Sign in by email or phone',
  request: body(z.strictObject({
    identifier: Identifier,
    password: Password,
    rememberMe: z.unknown().optional().openapi({ description: 'Taken and changes nothing.' }),
  })),
  responses: { 200: json(Session, 'Signed in.'), ...problems(400, 401, 403) },
})

const again = route({
  tags,
  operationId: 'refresh',
  method: 'post',
  path: '/refresh',
  summary: 'Fresh tokens for a refresh token',
  request: body(z.strictObject({ refreshToken: z.string().min(1).max(1024) })),
  responses: { 200: json(Session, 'The session goes on.'), ...problems(400, 401, 403) },
})

const logout = route({
  ...mine,
  tags,
  operationId: 'logout',
  method: 'post',
  path: '/logout',
  summary: 'End this session, the others, or all',
  request: {
    body: {
      content: {
        'application/json': {
          schema: z.strictObject({ scope: z.enum(['local', 'others', 'global']).default('local') }),
        },
      },
    },
  },
  responses: { 204: { description: 'Ended.' }, ...problems(400, 401, 403) },
})

/** The session's answer: tokens of Auth, and who that is as the database sees it. */
export async function answer(
  c: ApiContext,
  tokens: Tokens,
  before: BackendCall[] = [],
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
 * The answer to a sign-in that succeeded: it counts as one, its failures (`hits`) do not, and the
 * account knows this address from now on. One too many within the hour ends its session again.
 */
export async function signedIn(
  c: ApiContext,
  tokens: Tokens,
  { hits, also = [] }: { hits?: unknown; also?: BackendCall[] } = {},
) {
  const { addressHash } = await origin(c.var.address)
  const args = { accountId: tokens.user.id, addressHash, hits }
  try {
    return await answer(c, tokens, [{ name: 'finish_sign_in', args }, ...also])
  } catch (error) {
    if (error instanceof Refusal && error.code === 'rate_limited') await discard(tokens)
    throw error
  }
}

/** Signs in whoever has just proved the identifier. */
export async function session(c: ApiContext, identifier: Identifier, password: string) {
  const tokens = await signIn(identifier, password, c.var.address)
  if (!tokens) throw new Refusal('invalid_credentials')
  if ('refused' in tokens) throw new Refusal(tokens.refused, { reason: tokens.reason })
  return await signedIn(c, tokens)
}

type Entry = MaybeError & {
  exists: boolean
  attempts: string[]
  hits: unknown
  hasDecoy: boolean
}

/** Signs in to an account. Auth fails at one that is deleted in this moment: it is nobody's then. */
async function tryAccount(identifier: Identifier, password: string, address: string) {
  try {
    return await signIn(identifier, password, address)
  } catch (error) {
    if (await backend('account_with', { identifier: identifier.value })) throw error
    return undefined
  }
}

/** No account: the same work as for one, then whether an open attempt has this password. */
async function tryNobody(
  { value }: Identifier,
  password: string,
  attempts: string[],
  address: string,
): Promise<Refused | undefined> {
  await signInNobody(password, address)
  for (const sealed of attempts) {
    const opened = await unseal(sealed, value)
    if (opened !== undefined && sameText(opened, password)) {
      return { refused: 'account_awaiting_otp' }
    }
  }
}

export const signingIn = area()
  .openapi(login, async (c) => {
    const { identifier, password } = c.req.valid('json')
    const entry = await backend<Entry>('begin_sign_in', {
      identifier: identifier.value,
      ...await origin(c.var.address),
    })
    throwIfError(entry)
    // Whoever signs in: what one way alone had to do before would tell who has an account.
    if (!entry.hasDecoy) await makeDecoy()
    const tokens = entry.exists
      ? await tryAccount(identifier, password, c.var.address)
      : await tryNobody(identifier, password, entry.attempts, c.var.address)
    if (!tokens) throw new Refusal('invalid_credentials')
    if ('refused' in tokens) {
      await backend('uncount_hits', { hits: entry.hits })
      throw new Refusal(tokens.refused, { reason: tokens.reason })
    }
    return send(c, await signedIn(c, tokens, { hits: entry.hits }))
  })
  .openapi(again, async (c) => {
    const { refreshToken } = c.req.valid('json')
    const tokens = await refresh(refreshToken, c.var.address)
    if (!tokens) throw new Refusal('token_invalid')
    if ('refused' in tokens) throw new Refusal(tokens.refused, { reason: tokens.reason })
    return send(c, await answer(c, tokens))
  })
  .openapi(logout, async (c) => {
    const { scope } = c.req.valid('json')
    await call(c, 'check_session', {})
    await signOut(c.var.caller.token!, scope ?? 'local')
    return c.body(null, 204)
  })
