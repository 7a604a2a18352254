import { z } from '@hono/zod-openapi'
import { exchangeAppleCode } from '../../_shared/auth/apple.ts'
import { unknownPassword } from '../../_shared/auth/secrets.ts'
import { createUser, isDecoy, signInWithIdToken } from '../../_shared/auth/supabase-auth.ts'
import { callerOfIssued } from '../../_shared/auth/tokens.ts'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend, call } from '../../_shared/database/db.ts'
import { type MaybeError, Refusal, throwIfError } from '../../_shared/errors/refusal.ts'
import { PersonName } from '../../_shared/input/identifiers.ts'
import type { Check } from '../http/checks.ts'
import { problem } from '../http/problem.ts'
import { area, body, json, route, send, withoutToken } from '../http/route.ts'
import { isFreeName } from './free-names.ts'
import { Session } from './schemas.ts'
import { completeSignIn, throwIfDenied } from './session.ts'
import { type IdTokenClaims, type ProviderName, providers, verifyIdToken } from './social-tokens.ts'

const tags = ['sign-in']

const fields = {
  idToken: z.string().min(1).max(8192).describe('The id token of the provider.'),
  nonce: z.string().min(1).max(256).optional().describe(
    'The nonce whose SHA-256 in lower-case hex the provider was given.',
  ),
  fullName: PersonName.optional().describe(
    'Apple gives the app a name only once, at the first sign-in.',
  ),
}
const GivenByGoogle = z.strictObject(fields)
const GivenByApple = z.strictObject({
  ...fields,
  authorizationCode: z.string().min(1).max(2048).optional().describe(
    'Exchanged at once, so that it can be revoked when the account is deleted.',
  ),
})

const SocialSession = z
  .object({
    ...Session.shape,
    isNewAccount: z.boolean().describe('Whether this sign-in made the account.'),
  })
  .openapi('SocialSession', { description: 'A session of a sign-in with Google or Apple.' })

/** Runs before other checks, so that nothing of a request for an unconfigured provider is read. */
const requireProvider = (provider: ProviderName): Check => (c) => {
  const { name, clientIds } = providers[provider]
  if (!clientIds.length) return problem(c, 'provider_disabled', { provider: name })
}

const described = (provider: ProviderName) => ({
  ...withoutToken,
  tags,
  method: 'post' as const,
  summary: `Sign in with ${providers[provider].name}; a new user gets an account`,
  checks: [requireProvider(provider)],
  errors: [
    'social_token_invalid',
    'account_suspended',
    'account_banned',
    'email_taken',
    'provider_disabled',
    'rate_limited',
  ] as const,
  unlimited: true,
  responses: {
    200: json(SocialSession, 'Signed in.'),
  },
})

const google = route({
  ...described('google'),
  operationId: 'sign_in_with_google',
  path: '/google',
  description:
    "Takes the id token that Google's SDK gave to the app; each is taken once. A verified email " +
    'signs in to the account that has it, or makes one.',
  request: body(GivenByGoogle),
})

const apple = route({
  ...described('apple'),
  operationId: 'sign_in_with_apple',
  path: '/apple',
  description:
    'Takes the id token that Sign in with Apple gave to the app; each is taken once. Send the ' +
    'name, which Apple gives only once, and the authorization code along.',
  request: body(GivenByApple),
})

type Entry = MaybeError & { announcementId: string; exists: boolean; hasName: boolean }

/** Returns true for only one of several simultaneous requests, which then creates the account. */
const isFirst = async (email: string) =>
  !(await backend<MaybeError>('claim_email', { email })).error

/** Returns false if another request has created the account in the meantime. */
async function createUserByEmail(email: string, fullName: string | undefined): Promise<boolean> {
  const identifier = { kind: 'email' as const, value: email }
  if (isDecoy(identifier)) throw new Refusal('social_token_invalid')
  if (!await isFirst(email)) {
    await untilCreated(email)
    return false
  }
  try {
    await createUser({ identifier, password: unknownPassword(), fullName })
    return true
  } catch (error) {
    await backend('release_email', { email })
    if (error instanceof Refusal && error.code === 'email_taken') return false
    throw error
  }
}

async function untilCreated(email: string) {
  for (const end = Date.now() + 6000; Date.now() < end;) {
    if (await backend('account_with', { identifier: email })) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Refusal('service_unavailable', { retryAfter: 2 })
}

type Given = z.output<typeof GivenByApple>

async function signInOwner(
  c: ApiContext,
  provider: ProviderName,
  given: Given,
  claims: IdTokenClaims,
  entry: Entry,
) {
  const fullName = given.fullName ?? claims.name
  const isNewAccount = !entry.exists && await createUserByEmail(claims.email!, fullName)
  const tokens = await signInWithIdToken(provider, given, c.var.address)
  if (!tokens) throw new Refusal('social_token_invalid')
  throwIfDenied(tokens)
  c.set('caller', callerOfIssued(tokens.access_token))
  // A name that is not allowed is left out, because it must not stop the sign-in.
  if (entry.exists && !entry.hasName && fullName && await isFreeName(fullName)) {
    await call(c, 'update_me', { fields: { fullName } })
  }
  return { tokens, isNewAccount }
}

async function signInWith(c: ApiContext, provider: ProviderName, given: Given) {
  const claims = await verifyIdToken(provider, given.idToken, given.nonce)
  const { subject, email, emailVerified, keys, expiresAt } = claims
  const who = { provider, subject, email, emailVerified, keys }
  const entry = await backend<Entry>('begin_social_sign_in', who)
  throwIfError(entry)
  try {
    const { tokens, isNewAccount } = await signInOwner(c, provider, given, claims, entry)
    if (given.authorizationCode) {
      await exchangeAppleCode(tokens.user.id, claims.clientId, given.authorizationCode)
    }
    const also = { name: 'finish_social_sign_in' as const, args: { keys, expiresAt } }
    const session = await completeSignIn(c, tokens, {
      also: [also],
      ended: 'social_token_invalid',
    })
    return send(c, `${session.slice(0, -1)},"isNewAccount":${isNewAccount}}`)
  } catch (error) {
    // A token that gave no session can be used again at once, or after two minutes if this call fails.
    await backend('release_social_tokens', { keys, announcementId: entry.announcementId }).catch(
      () => {},
    )
    throw error
  }
}

export const social = area()
  .openapi(google, (c) => signInWith(c, 'google', c.req.valid('json')))
  .openapi(apple, (c) => signInWith(c, 'apple', c.req.valid('json')))
