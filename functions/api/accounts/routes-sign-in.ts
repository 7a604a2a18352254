// Auth stores the sessions, but our database decides whether they are valid.
import { z } from '@hono/zod-openapi'
import { unknownPassword, unseal } from '../../_shared/auth/secrets.ts'
import {
  createDecoy,
  refreshSession,
  signIn,
  signInDecoy,
  type SignInDenied,
  signOut,
} from '../../_shared/auth/supabase-auth.ts'
import { backend, call } from '../../_shared/database/db.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'
import { isEqualSecret } from '../../_shared/input/hashes.ts'
import { Identifier, SignInIdentifier, SignInPassword } from '../../_shared/input/identifiers.ts'
import {
  area,
  body,
  json,
  mine,
  pageOf,
  route,
  send,
  sendNothing,
  withoutToken,
} from '../http/route.ts'
import { tryPassword } from './password-tries.ts'
import { ofCaller } from './reauthenticate.ts'
import { Session, SessionRecord } from './schemas.ts'
import { completeSignIn, placeArgs, sessionBody, throwIfDenied } from './session.ts'

const tags = ['sign-in']

const login = route({
  ...withoutToken,
  tags,
  operationId: 'login',
  method: 'post',
  path: '/login',
  summary: 'Sign in by email or phone',
  description:
    'Takes an email or a phone in any spelling. An unknown identifier and a wrong password are ' +
    'the same 401. Signing in cancels a deletion that was requested.',
  errors: [
    'invalid_credentials',
    'account_awaiting_otp',
    'account_suspended',
    'account_banned',
    'rate_limited',
  ],
  unlimited: true,
  request: body(z.strictObject({
    identifier: SignInIdentifier,
    password: SignInPassword,
    rememberMe: z.unknown().optional().describe('Accepted and ignored.'),
  })),
  responses: { 200: json(Session, 'Signed in.') },
})

const refresh = route({
  ...withoutToken,
  tags,
  operationId: 'refresh',
  method: 'post',
  path: '/refresh',
  summary: 'Get new tokens for a refresh token',
  description:
    'Each refresh token is used once and replaced: store both new tokens before anything else, ' +
    'and let one request at a time refresh. 401 means that the session is over: sign in again.',
  errors: ['token_invalid', 'account_suspended', 'account_banned', 'rate_limited'],
  unlimited: true,
  always: true,
  request: body(
    z.strictObject({
      refreshToken: z.string().min(1).max(1024).describe('Of the session, unused.'),
    }),
  ),
  responses: { 200: json(Session, 'The renewed session.') },
})

const logout = route({
  ...mine,
  tags,
  operationId: 'logout',
  method: 'post',
  path: '/logout',
  summary: 'Sign out of this session, the others, or all',
  description:
    '`local` ends this session, `others` all but this one, `global` all. Their tokens are ' +
    'refused from the next request on, and their devices get no more pushes.',
  request: {
    body: {
      content: {
        'application/json': {
          schema: z.strictObject({
            scope: z.enum(['local', 'others', 'global']).default('local').describe(
              'Which sessions end.',
            ),
          }),
        },
      },
    },
  },
  responses: { 204: { description: 'Ended.' } },
})

const list = route({
  ...mine,
  tags,
  operationId: 'list_sessions',
  method: 'get',
  path: '/sessions',
  summary: 'List where I am signed in',
  description: 'All of them: there are no further pages. What `security_login` tells of is here.',
  responses: { 200: json(pageOf('SessionPage', SessionRecord), 'Last used first.') },
})

const end = route({
  ...mine,
  tags,
  operationId: 'end_session',
  method: 'delete',
  path: '/sessions/{sessionId}',
  summary: 'Sign out one of my sessions',
  description:
    'As if it had signed out itself: its tokens are refused from the next request on, and its ' +
    'devices get no more pushes. The current one may be named.',
  errors: ['session_not_found'],
  request: { params: z.strictObject({ sessionId: z.uuid().describe('From the list.') }) },
  responses: { 204: { description: 'Ended.' } },
})

/** Takes the place of an invalid identifier, so that the response takes as long as for an unknown one. */
const nobody = (): Identifier => ({
  kind: 'email',
  value: `${crypto.randomUUID()}@accounts.invalid`,
})

/**
 * Does the same work as for an existing account. Also compares the password with those of open registrations.
 */
async function tryWithoutAccount(
  { value }: Identifier,
  password: string,
  attempts: string[],
  address: string,
): Promise<SignInDenied | undefined> {
  await signInDecoy(password, address)
  for (const sealed of attempts) {
    const opened = await unseal(sealed, value)
    if (opened !== undefined && isEqualSecret(opened, password)) {
      return { denied: 'account_awaiting_otp' }
    }
  }
}

export const signingIn = area()
  .openapi(login, async (c) => {
    const given = c.req.valid('json')
    const identifier = given.identifier ?? nobody()
    const password = given.password ?? unknownPassword()
    const { address } = c.var
    const { result: tokens, hits } = await tryPassword(
      identifier.value,
      address,
      async (counted) => {
        // Checked at every sign-in: checking only for unknown identifiers would reveal who has an account.
        if (!counted.hasDecoy) await createDecoy()
        return counted.exists
          ? await signIn(identifier, password, address)
          : await tryWithoutAccount(identifier, password, counted.attempts, address)
      },
    )
    if (!tokens) throw new Refusal('invalid_credentials')
    if ('denied' in tokens) await backend('uncount_hits', { hits })
    throwIfDenied(tokens)
    return send(c, await completeSignIn(c, tokens, { hits }))
  })
  .openapi(refresh, async (c) => {
    const { refreshToken } = c.req.valid('json')
    const tokens = await refreshSession(refreshToken, c.var.address)
    if (!tokens) throw new Refusal('token_invalid')
    throwIfDenied(tokens)
    const noted = { name: 'note_session' as const, args: placeArgs(c, tokens) }
    // The old refresh token is already used up, so the client must receive the new one even during
    // maintenance.
    return send(c, await sessionBody(c, tokens, [noted], true))
  })
  .openapi(logout, async (c) => {
    const { scope } = c.req.valid('json')
    await call(c, 'check_session', {})
    await ofCaller(c, signOut(c.var.caller.token!, scope ?? 'local'))
    return sendNothing(c)
  })
  .openapi(list, async (c) => send(c, await call(c, 'list_sessions', {})))
  .openapi(end, async (c) => {
    await call(c, 'end_session', c.req.valid('param'))
    return sendNothing(c)
  })
