import { createHash } from 'node:crypto'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import type { SocialProvider } from '../config/config-toml.ts'
import { writeAudit } from './audit.ts'
import { CommittedError, transaction, type Tx } from './database.ts'
import {
  type Answer,
  AuthError,
  badRequest,
  forbidden,
  internal,
  OAuthError,
  unprocessable,
} from './errors.ts'
import { audience, type AuthRequest, type Context, readBody, requireUser } from './request.ts'
import { startSession, type TokenAnswer } from './sessions.ts'
import {
  confirmEmail,
  findUser,
  isBanned,
  mergeMetadata,
  type Metadata,
  updateUser,
  type User,
} from './users.ts'

const issuers: Record<SocialProvider, string[]> = {
  google: ['https://accounts.google.com', 'accounts.google.com'],
  apple: ['https://appleid.apple.com', 'https://account.apple.com'],
}

type ProviderProfile = { subject: string; email: string; emailVerified: boolean; data: Metadata }

export async function idTokenGrant(context: Context, request: AuthRequest): Promise<Answer> {
  const params = readBody(request, {
    provider: 'string',
    id_token: 'string',
    nonce: 'string',
    issuer: 'string',
    link_identity: 'boolean',
  })
  if (!params.id_token) throw new OAuthError('invalid request', 'id_token required')
  if (!params.provider) {
    throw new OAuthError('invalid request', 'provider or client_id and issuer required')
  }
  // Whoever has an access token may link an account, even if manual linking is disabled.
  const linkTo = params.link_identity ? (await requireUser(context, request)).user : undefined
  if (!isSupported(params.provider)) {
    throw badRequest(`Custom OIDC provider "${params.provider}" not allowed`)
  }
  const payload = await verifyIdToken(context, params.provider, params.id_token)
  if (!context.config.social[params.provider].skipNonce) checkNonce(payload, params.nonce ?? '')
  const profile = profileOf(params.provider, payload)
  const { headers, body } = await transaction(
    context.pool,
    async (tx): Promise<TokenAnswer | CommittedError> => {
      const provider = params.provider as SocialProvider
      const user = linkTo
        ? await linkToUser(tx, linkTo, provider, profile)
        : await findOrLinkUser(context, tx, audience(request), provider, profile)
      if (user instanceof CommittedError) return user
      if (isBanned(user)) throw forbidden('user_banned', 'User is banned')
      await writeAudit(context, tx, user, 'login', { provider: params.provider })
      return await startSession(context, tx, request, user, 'oauth')
    },
  ).catch((error) => {
    if (error instanceof AuthError) throw error
    console.error('auth: id token:', error)
    throw new OAuthError('server_error', 'Internal Server Error')
  })
  return { status: 200, headers, body }
}

const isSupported = (name: string): name is SocialProvider => Object.hasOwn(issuers, name)

const keySets = new Map<string, ReturnType<typeof createRemoteJWKSet>>()

async function verifyIdToken(
  context: Context,
  provider: SocialProvider,
  idToken: string,
): Promise<JWTPayload & { sub: string }> {
  const { clientIds, keysUrl } = context.config.social[provider]
  if (clientIds.length === 0) {
    throw badRequest(
      `Provider (issuer "${issuers[provider][0]}") is not enabled`,
      'provider_disabled',
    )
  }
  const keys = keySets.get(keysUrl) ?? createRemoteJWKSet(new URL(keysUrl))
  keySets.set(keysUrl, keys)
  const { payload } = await jwtVerify(idToken, keys, {
    issuer: issuers[provider],
    clockTolerance: 300,
  }).catch(() => {
    throw new OAuthError('invalid request', 'Bad ID token')
  })
  // Auth allows a clock skew of five minutes for `nbf`, but none for `exp`.
  if (payload.exp === undefined || payload.exp <= Date.now() / 1000) {
    throw new OAuthError('invalid request', 'Bad ID token')
  }
  const { email_verified: verified } = payload
  if (provider === 'google' && verified !== undefined && typeof verified !== 'boolean') {
    throw new OAuthError('invalid request', 'Bad ID token')
  }
  if (!payload.sub) throw new OAuthError('invalid request', 'Missing sub claim in id_token')
  const given = [payload.aud ?? []].flat()
  if (!given.some((one) => clientIds.includes(one))) {
    throw new OAuthError('invalid request', `Unacceptable audience in id_token: [${given}]`)
  }
  return payload as JWTPayload & { sub: string }
}

function checkNonce({ nonce }: JWTPayload, given: string) {
  if (Boolean(nonce) !== Boolean(given)) {
    const message = 'Passed nonce and nonce in id_token should either both exist or not.'
    throw new OAuthError('invalid request', message)
  }
  if (given && createHash('sha256').update(given).digest('hex') !== nonce) {
    throw new OAuthError('invalid nonce', 'Nonces mismatch')
  }
}

function profileOf(
  provider: SocialProvider,
  payload: JWTPayload & { sub: string },
): ProviderProfile {
  const { sub: subject, iss, name, picture } = payload
  const email = typeof payload.email === 'string' ? payload.email.toLowerCase() : ''
  // Auth treats every email from Apple as verified.
  const emailVerified = email !== '' &&
    (provider === 'apple' || payload.email_verified === true)
  const data: Metadata = {
    iss,
    sub: subject,
    provider_id: subject,
    ...(email && { email }),
    email_verified: emailVerified,
    phone_verified: false,
    ...(provider === 'google' && name ? { name, full_name: name } : {}),
    ...(provider === 'google' && picture ? { picture, avatar_url: picture } : {}),
    ...(provider === 'apple' && {
      custom_claims: { is_private_email: String(payload.is_private_email) === 'true' },
    }),
  }
  return { subject, email, emailVerified, data }
}

/** Links the provider's account to the signed-in user, whatever the account's email is. */
async function linkToUser(
  tx: Tx,
  user: User,
  provider: SocialProvider,
  profile: ProviderProfile,
): Promise<User | CommittedError> {
  const { rows: [taken] } = await tx.query<{ user_id: string }>(
    'select user_id from auth.identities where provider = $1 and provider_id = $2',
    [provider, profile.subject],
  )
  if (taken) {
    const whose = taken.user_id === user.id ? '' : ' to another user'
    throw unprocessable('identity_already_exists', `Identity is already linked${whose}`)
  }
  await addIdentity(tx, user.id, provider, profile)
  if (!user.email) {
    await updateUser(tx, user, { email: profile.email })
    if (!profile.emailVerified) {
      const message = `Unverified email with ${provider}. A confirmation email has been sent`
      return new CommittedError(unprocessable('email_not_confirmed', message))
    }
    await confirmEmail(tx, user)
  }
  return await nameProviders(tx, user.id, {})
}

/** Returns the user linked to the provider's account. Otherwise links the user with its verified email. */
async function findOrLinkUser(
  context: Context,
  tx: Tx,
  aud: string,
  provider: SocialProvider,
  profile: ProviderProfile,
): Promise<User> {
  const { rows: [known] } = await tx.query<{ user_id: string }>(
    `update auth.identities
     set identity_data = $3, last_sign_in_at = now(), updated_at = now()
     where provider = $1 and provider_id = $2 returning user_id`,
    [provider, profile.subject, profile.data],
  )
  if (known) {
    const user = (await findUser(tx, known.user_id))!
    await updateUser(tx, user, {
      raw_user_meta_data: mergeMetadata(user.raw_user_meta_data, profile.data),
    })
    return user
  }
  const { rows: found } = profile.emailVerified
    ? await tx.query<{ id: string }>(
      `with by_identity as (select distinct user_id as id from auth.identities where email = $1)
       select id from by_identity
       union all
       select id from auth.users
       where email = $1 and aud = $2 and is_sso_user = false and not exists (select from by_identity)`,
      [profile.email, aud],
    )
    : { rows: [] }
  if (found.length > 1) throw internal('Multiple accounts with the same email address')
  if (found.length === 0) {
    if (!context.config.signups) {
      throw unprocessable('signup_disabled', 'Signups not allowed for this instance')
    }
    throw internal('The stand-in makes no users by a provider: switch enable_signup off')
  }
  return await link(tx, found[0]!.id, provider, profile)
}

async function link(
  tx: Tx,
  userId: string,
  provider: SocialProvider,
  profile: ProviderProfile,
): Promise<User> {
  const user = (await findUser(tx, userId))!
  await addIdentity(tx, userId, provider, profile)
  // Somebody else may have entered this unconfirmed email, so all other identities are removed.
  if (!user.email_confirmed_at) {
    await tx.query('delete from auth.identities where user_id = $1 and provider <> $2', [
      userId,
      provider,
    ])
    await updateUser(tx, user, { encrypted_password: null, raw_user_meta_data: profile.data })
    await confirmEmail(tx, user)
  }
  return await nameProviders(tx, userId, profile.data)
}

async function addIdentity(
  tx: Tx,
  userId: string,
  provider: SocialProvider,
  profile: ProviderProfile,
) {
  await tx.query(
    `insert into auth.identities
       (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
     values ($1, $2, $3, $4, now(), clock_timestamp(), clock_timestamp())`,
    [profile.subject, userId, profile.data, provider],
  ).catch((error) => {
    throw internal('Error creating identity', error)
  })
}

async function nameProviders(tx: Tx, userId: string, said: Metadata): Promise<User> {
  const user = (await findUser(tx, userId))!
  const providers = [...new Set(user.identities.map((identity) => identity.provider))]
  await updateUser(tx, user, {
    raw_app_meta_data: mergeMetadata(user.raw_app_meta_data, { providers }),
    raw_user_meta_data: mergeMetadata(user.raw_user_meta_data, said),
  })
  return user
}
