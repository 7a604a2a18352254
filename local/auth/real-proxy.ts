// Configures the real Auth server and forwards requests to it instead of the stand-in. REAL_AUTH is the path
// of the supabase/auth binary; the folder `migrations` must be next to it. The server creates its own tables.
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { unavailable } from '../http/answers.ts'
import { clientOf, type Credentials, peerOf, tokenForKey } from '../http/credentials.ts'
import { forward } from '../http/forward.ts'
import { type KeyRing, publicKeys, type StoredKey, storedKeys } from '../config/signing-keys.ts'
import type { Stack } from '../config/stack.ts'

const noLimit = '1000000'
const limits = [
  'EMAIL_SENT',
  'SMS_SENT',
  'VERIFY',
  'TOKEN_REFRESH',
  'SSO',
  'ANONYMOUS_USERS',
  'OTP',
  'WEB3',
]

export function realAuthSettings(stack: Stack): Record<string, string> {
  const { config: { auth }, url, issuer, secrets } = stack
  const { google, apple } = auth.social
  const settings: Record<string, string | number | boolean> = {
    API_HOST: '127.0.0.1',
    API_PORT: stack.ports.auth,
    SITE_URL: url,
    DB_DRIVER: 'postgres',
    DB_DATABASE_URL: stack.databaseUrl('supabase_auth_admin'),
    DB_MIGRATIONS_PATH: join(dirname(stack.realAuth!), 'migrations'),
    DB_MAX_POOL_SIZE: 10,
    // Without idle connections every statement would open a new connection.
    DB_MAX_IDLE_POOL_SIZE: 10,
    // Auth requires this secret but does not use it: tokens are signed with JWT_KEYS.
    JWT_SECRET: createHmac('sha256', secrets.secretKey).update('auth').digest('base64url'),
    JWT_KEYS: JSON.stringify(keysOf(storedKeys(stack.dataDir))),
    JWT_VALID_METHODS: 'ES256',
    JWT_ISSUER: issuer,
    JWT_AUD: 'authenticated',
    JWT_DEFAULT_GROUP_NAME: 'authenticated',
    JWT_ADMIN_ROLES: 'service_role',
    JWT_EXP: auth.jwtExpiry,
    DISABLE_SIGNUP: !auth.signups,
    EXTERNAL_EMAIL_ENABLED: auth.email,
    EXTERNAL_PHONE_ENABLED: auth.phone,
    EXTERNAL_ANONYMOUS_USERS_ENABLED: auth.anonymous,
    PASSWORD_MIN_LENGTH: auth.passwordLength,
    SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: auth.rotation,
    SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: auth.reuseInterval,
    SECURITY_REFRESH_TOKEN_ALGORITHM_VERSION: auth.refreshTokens,
    SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: auth.currentPassword,
    SECURITY_SB_FORWARDED_FOR_ENABLED: true,
    SECURITY_CAPTCHA_ENABLED: auth.captcha,
    SECURITY_CAPTCHA_PROVIDER: 'turnstile',
    SECURITY_CAPTCHA_SECRET: 'nobody-has-one',
    MFA_TOTP_ENROLL_ENABLED: false,
    MFA_TOTP_VERIFY_ENABLED: false,
    MFA_PHONE_ENROLL_ENABLED: false,
    MFA_PHONE_VERIFY_ENABLED: false,
    AUDIT_LOG_DISABLE_POSTGRES: true,
    RATE_LIMIT_HEADER: 'X-Forwarded-For',
    // At level `warn`, Auth would log every rejected request.
    LOG_LEVEL: 'error',
  }
  for (const [name, { clientIds, skipNonce }] of Object.entries({ GOOGLE: google, APPLE: apple })) {
    settings[`EXTERNAL_${name}_ENABLED`] = clientIds.length > 0
    settings[`EXTERNAL_${name}_CLIENT_ID`] = clientIds.join(',')
    settings[`EXTERNAL_${name}_SKIP_NONCE_CHECK`] = skipNonce
  }
  for (const [name, hook] of Object.entries(auth.hooks)) {
    settings[`HOOK_${name.toUpperCase()}_ENABLED`] = true
    settings[`HOOK_${name.toUpperCase()}_URI`] =
      `pg-functions://postgres/${hook.schema}/${hook.name}`
  }
  settings.RATE_LIMIT_TOKEN_REFRESH = auth.tokenRate
  if (!stack.rates) { for (const name of limits) settings[`RATE_LIMIT_${name}`] = noLimit }
  const named = Object.entries(settings).map(([name, value]) => [`GOTRUE_${name}`, String(value)])
  return { ...Object.fromEntries(named), API_EXTERNAL_URL: issuer }
}

function keysOf(keys: StoredKey[]) {
  const current = keys.find(({ state }) => state === 'current')
  return publicKeys(keys).keys.map((jwk) =>
    jwk.kid === current?.jwk.kid ? { ...jwk, d: current?.jwk.d, key_ops: ['sign', 'verify'] } : jwk
  )
}

export async function forwardToRealAuth(
  stack: Stack,
  keys: KeyRing,
  request: IncomingMessage,
  response: ServerResponse,
  credentials: Credentials,
): Promise<void> {
  const authorization = await tokenForKey(stack, keys, credentials)
  forward(request, response, {
    port: stack.ports.auth,
    path: request.url!.slice('/auth/v1'.length),
    peer: peerOf(request),
    unavailable: unavailable(response),
  }, {
    ...authorization,
    'sb-forwarded-for': clientOf(request, credentials),
  })
}
