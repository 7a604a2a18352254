import { z } from '@hono/zod-openapi'
import { exchangeAppleCode } from '../../_shared/auth/apple.ts'
import { bannedHash, unknownPassword } from '../../_shared/auth/secrets.ts'
import { createUser, isDecoy, signInWithIdToken } from '../../_shared/auth/supabase-auth.ts'
import { callerOfIssued } from '../../_shared/auth/tokens.ts'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend, call } from '../../_shared/database/db.ts'
import { type MaybeError, Refusal, throwIfError } from '../../_shared/errors/refusal.ts'
import { sha256 } from '../../_shared/input/hashes.ts'
import { PersonName } from '../../_shared/input/identifiers.ts'
import { forInformation } from '../../_shared/input/validation.ts'
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
  fullName: forInformation(PersonName).describe(
    'Apple gives the app a name only once, at the first sign-in. What cannot be a name is left out.',
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

/** Runs before all other checks, so that a request for a provider that is not configured is not even read. */
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
    'social_token_used',
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
    "Takes the id token that Google's SDK gave to the app, once: the SDK keeps it, so ask for a " +
    'fresh one at each sign-in. A verified email signs in to the account that has it, or makes one.',
  request: body(GivenByGoogle),
})

const apple = route({
  ...described('apple'),
  operationId: 'sign_in_with_apple',
  path: '/apple',
  description:
    'Takes the id token that Sign in with Apple gave to the app, once. Send the name, which Apple ' +
    'gives only once, and the authorization code along.',
  request: body(GivenByApple),
})

type Entry = MaybeError & {
  announcementId: string
  exists: boolean
  hasName: boolean
  /** Another request by the same client with this token is still running. */
  isPending: boolean
  /** If the token is used again: the `isNewAccount` of its first use. Otherwise null. */
  wasNewAccount: boolean | null
}

/** Of several concurrent requests, returns true for only one, which then creates the account. */
const isFirst = async (email: string) =>
  !(await backend<MaybeError>('claim_email', { email, bannedHash: bannedHash(email) })).error

/** Returns false if another request created the account in the meantime. */
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
  if (claims.isRespelt && claims.emailVerified) {
    await backend('link_announced_sign_in', { announcementId: entry.announcementId })
  }
  const tokens = await signInWithIdToken(provider, given, c.var.address)
  if (!tokens) throw new Refusal('social_token_invalid')
  throwIfDenied(tokens)
  c.set('caller', callerOfIssued(tokens.access_token))
  // A name that is not allowed is ignored, because it must not prevent the sign-in.
  if (entry.exists && !entry.hasName && fullName && await isFreeName(fullName)) {
    await call(c, 'update_me', { fields: { fullName } })
  }
  return { tokens, isNewAccount }
}

/** If the same client has another request with the same token running, waits for it, up to five seconds. */
async function begin(
  c: ApiContext,
  provider: ProviderName,
  { subject, email, emailVerified, keys }: IdTokenClaims,
): Promise<Entry> {
  const client = await sha256(`${c.var.address} ${c.req.header('user-agent') ?? ''}`)
  const who = {
    provider,
    subject,
    email,
    emailVerified,
    bannedHash: bannedHash(email ?? ''),
    keys,
    client,
  }
  const end = Date.now() + 5000
  let entry = await backend<Entry>('begin_social_sign_in', who)
  while (entry.isPending && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    entry = await backend<Entry>('begin_social_sign_in', who)
  }
  throwIfError(entry)
  return entry
}

async function signInWith(c: ApiContext, provider: ProviderName, given: Given) {
  const claims = await verifyIdToken(provider, given.idToken, given.nonce)
  const { keys, rememberedUntil } = claims
  const entry = await begin(c, provider, claims)
  const { announcementId, wasNewAccount } = entry
  const isRepeated = wasNewAccount !== null
  try {
    const { tokens, isNewAccount } = await signInOwner(c, provider, given, claims, entry)
    if (given.authorizationCode && !isRepeated) {
      await exchangeAppleCode(tokens.user.id, claims.clientId, given.authorizationCode)
    }
    const args = { keys, rememberedUntil, accountId: tokens.user.id, isNewAccount }
    const session = await completeSignIn(c, tokens, {
      also: isRepeated ? [] : [{ name: 'finish_social_sign_in', args }],
      ended: 'social_token_invalid',
    })
    return send(c, `${session.slice(0, -1)},"isNewAccount":${wasNewAccount ?? isNewAccount}}`)
  } catch (error) {
    // If the token opened no session, it may be used again: immediately, or after two minutes if this call
    // fails. If it opened a session earlier, it stays marked as used.
    const released = { keys: isRepeated ? [] : keys, announcementId }
    await backend('release_social_tokens', released).catch(() => {})
    // Our hook in Auth does not accept the same token again once a session of the account has ended.
    if (isRepeated && error instanceof Refusal && error.code === 'social_token_invalid') {
      throw new Refusal('social_token_used', { provider: providers[provider].name })
    }
    throw error
  }
}

export const social = area()
  .openapi(google, (c) => signInWith(c, 'google', c.req.valid('json')))
  .openapi(apple, (c) => signInWith(c, 'apple', c.req.valid('json')))
