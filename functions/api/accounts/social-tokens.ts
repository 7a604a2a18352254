// Verifies ID tokens from Google and Apple before anything is stored or sent to Auth.
import { createRemoteJWKSet, errors as jose, type JWTPayload, jwtVerify } from 'jose'
import { alarm } from '../../_shared/errors/alarms.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'
import { sha256 } from '../../_shared/input/hashes.ts'
import { Identifier, PersonName } from '../../_shared/input/identifiers.ts'
import { env } from '../../_shared/settings/env.ts'
import { listed, setting } from '../../_shared/settings/read-setting.ts'
import type { SettingName } from '../../_shared/settings/settings.ts'

export type ProviderName = 'google' | 'apple'

/**
 * Tests and local development may use their own keys. In production, only the provider's keys are accepted.
 */
const keysAt = (name: SettingName, fallback: string) =>
  createRemoteJWKSet(new URL(!env.production && setting(name) || fallback), {
    timeoutDuration: 4000,
    cacheMaxAge: 3_600_000,
  })

export const providers = {
  google: {
    name: 'Google',
    clientIds: listed('GOOGLE_CLIENT_IDS'),
    issuer: ['https://accounts.google.com', 'accounts.google.com'],
    keys: keysAt('GOOGLE_JWKS_URL', 'https://www.googleapis.com/oauth2/v3/certs'),
    // Google's iOS SDKs put a nonce into the token that the app never sees.
    ownNonces: true,
  },
  apple: {
    name: 'Apple',
    clientIds: listed('APPLE_CLIENT_IDS'),
    issuer: ['https://appleid.apple.com', 'https://account.apple.com'],
    keys: keysAt('APPLE_JWKS_URL', 'https://appleid.apple.com/auth/keys'),
    ownNonces: false,
  },
}

/** The user described by a verified token, and the keys under which the token is recorded as used. */
export type IdTokenClaims = {
  subject: string
  email: string | null
  emailVerified: boolean
  /** True if Auth would not find the email in the provider's spelling. */
  isRespelt: boolean
  name?: string
  clientId: string
  keys: string[]
  rememberedUntil: string
}

/** Postgres can store neither lone surrogates nor NUL. This also applies to Auth's tables. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, one]) => isStorable(name) && isStorable(one))
}

// These three durations are in seconds.
const longestLife = 24 * 3600
/** The tolerated clock difference between us and the providers. */
const tolerance = 60
/** A margin, because the database deletes used tokens by its own clock. */
const rememberedAfter = 300

const isTrue = (value: unknown) => value === true || value === 'true'

// Emails from a provider are not cleaned up like typed ones. Only letter case and a Unicode domain may
// differ.
const stated = /^[!-~]+@(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}0-9.-])+$/u

function statedEmail(claim: unknown): string | undefined {
  if (typeof claim !== 'string' || !stated.test(claim)) return undefined
  const { data } = Identifier.safeParse(claim)
  return data?.kind === 'email' ? data.value : undefined
}

/**
 * Throws 401 social_token_invalid if anything is wrong, and 503 while the provider's keys cannot be fetched.
 */
export async function verifyIdToken(
  provider: ProviderName,
  idToken: string,
  nonce: string | undefined,
): Promise<IdTokenClaims> {
  const payload = await verified(provider, idToken)
  const { sub = '', aud, email, exp = 0, name } = payload
  // As in Auth, the app sends the nonce itself to us and its hash to the provider. Apple's `nonce_supported`
  // only describes the platform, not whether the app sent a nonce.
  const given = nonce === undefined ? undefined : await sha256(nonce)
  const own = providers[provider].ownNonces && given === undefined &&
    typeof payload.nonce === 'string'
  if (payload.nonce !== given && !own) throw new Refusal('social_token_invalid')

  const known = statedEmail(email) ?? null
  return {
    subject: sub,
    email: known,
    // Auth accepts Google's flag only as a boolean. Apple may also send it as a string.
    emailVerified: known !== null &&
      (provider === 'google' ? payload.email_verified === true : isTrue(payload.email_verified)),
    isRespelt: known !== null && known !== String(email).toLowerCase(),
    name: PersonName.safeParse(name).data,
    clientId: [aud].flat()[0]!,
    keys: [
      // This key leaves out the signature, because the same signature can be encoded in several ways.
      `${provider} token ${await sha256(idToken.slice(0, idToken.lastIndexOf('.')))}`,
      ...(given === undefined ? [] : [`${provider} nonce ${given}`]),
    ],
    rememberedUntil: new Date((exp + rememberedAfter) * 1000).toISOString(),
  }
}

async function verified(provider: ProviderName, idToken: string): Promise<JWTPayload> {
  const { clientIds, issuer, keys } = providers[provider]
  try {
    const { payload, protectedHeader } = await jwtVerify(idToken, keys, {
      algorithms: ['RS256'],
      issuer,
      clockTolerance: tolerance,
      requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat'],
    })
    const { aud, sub, exp = 0, iat = 0 } = payload
    const audience = [aud ?? []].flat()
    const ours = audience.length > 0 && audience.every((one) => clientIds.includes(one))
    const now = Date.now() / 1000
    // The tolerance is for `iat` and `nbf` only. jwtVerify also applies it to `exp`, so check `exp` again.
    const timely = iat <= now + tolerance && now < exp && exp - iat <= longestLife
    const named = typeof sub === 'string' && sub.length > 0 && sub.length <= 255
    if (ours && timely && named && isStorable(payload) && protectedHeader.kid) return payload
  } catch (error) {
    const away = error instanceof jose.JWKSTimeout || error instanceof jose.JWKSInvalid ||
      !(error instanceof jose.JOSEError) || error.code === 'ERR_JOSE_GENERIC'
    if (away) {
      alarm('provider_keys_away', provider, { cause: String(error) })
      throw new Refusal('service_unavailable', { retryAfter: 2 })
    }
  }
  throw new Refusal('social_token_invalid')
}
