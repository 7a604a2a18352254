import { UserError } from '../config/user-error.ts'
import type { Management } from './management.ts'

type Value = boolean | number | string

export type Setting = {
  /** The key in supabase/config.toml. Settings without a key there are set through the API. */
  file?: string
  /** The value in config.toml. It is inverted if the file has `enable_…` and the API `disable_…`. */
  written?: Value | string[]
  at: keyof typeof endpoints
  key: string
  value: Value
  afterCaptcha?: boolean
}

/** API paths for reading all settings, and for changing those that config.toml cannot hold. */
const endpoints = {
  auth: '/config/auth',
  api: '/postgrest',
  storage: '/config/storage',
  tls: '/ssl-enforcement',
  realtime: '/config/realtime',
}

const auth = (file: string, key: string, value: Value, written: Value = value): Setting => ({
  file: `auth.${file}`,
  written,
  at: 'auth',
  key,
  value,
})

const hook = (name: string, run: string): Setting[] => [
  auth(`hook.${name}.enabled`, `hook_${name}_enabled`, true),
  auth(`hook.${name}.uri`, `hook_${name}_uri`, `pg-functions://postgres/private/${run}`),
]

export const settings: Setting[] = [
  { file: 'api.schemas', written: ['api'], at: 'api', key: 'db_schema', value: 'api' },
  // Only the facade signs users up and in. All other callers of Auth must solve a captcha first.
  auth('enable_signup', 'disable_signup', true, false),
  auth('enable_anonymous_sign_ins', 'external_anonymous_users_enabled', false),
  auth('enable_manual_linking', 'security_manual_linking_enabled', false),
  auth('minimum_password_length', 'password_min_length', 8),
  auth('captcha.enabled', 'security_captcha_enabled', true),
  auth('email.enabled', 'external_email_enabled', true),
  auth('email.enable_confirmations', 'mailer_autoconfirm', false, true),
  auth('email.double_confirm_changes', 'mailer_secure_email_change_enabled', true),
  auth('email.require_current_password', 'security_update_password_require_current_password', true),
  auth('sms.enabled', 'external_phone_enabled', true),
  auth('sms.enable_confirmations', 'sms_autoconfirm', false, true),
  ...hook('custom_access_token', 'custom_access_token'),
  ...hook('send_sms', 'refuse_sending'),
  ...hook('send_email', 'refuse_sending'),
  // Otherwise a thief with an access token could enrol a factor or a passkey and get a refresh token.
  ...['totp', 'phone', 'web_authn'].flatMap((kind) =>
    ['enroll', 'verify'].map((act) =>
      auth(`mfa.${kind}.${act}_enabled`, `mfa_${kind}_${act}_enabled`, false)
    )
  ),
  { at: 'auth', key: 'passkey_enabled', value: false },
  // A test phone number with a fixed code could sign in without a captcha.
  { at: 'auth', key: 'sms_test_otp', value: '' },
  auth('oauth_server.enabled', 'oauth_server_enabled', false),
  // The facade calls Auth for all users, so Auth must apply rate limits to the address that the facade sends.
  { at: 'auth', key: 'security_sb_forwarded_for_enabled', value: true },
  // Auth's audit log would keep the names, emails and phones of deleted users in the database.
  { at: 'auth', key: 'audit_log_disable_postgres', value: true },
  { ...auth('rate_limit.token_refresh', 'rate_limit_token_refresh', 32_767), afterCaptcha: true },
  { file: 'db.ssl_enforcement.enabled', at: 'tls', key: 'currentConfig.database', value: true },
  {
    file: 'storage.image_transformation.enabled',
    at: 'storage',
    key: 'features.imageTransformation.enabled',
    value: false,
  },
  { at: 'realtime', key: 'private_only', value: true },
]

type CurrentSettings = Record<Setting['at'], Record<string, unknown>>

export async function readSettings(management: Management): Promise<CurrentSettings> {
  const entries = Object.entries(endpoints).map(async ([at, path]) =>
    [at, await management.get<Record<string, unknown>>(path)] as const
  )
  return Object.fromEntries(await Promise.all(entries)) as CurrentSettings
}

export const settingsThatDiffer = (current: CurrentSettings, candidates: Setting[]) =>
  candidates.filter(({ at, key, value }) => (valueAt(current[at], key) ?? '') !== value)

const valueAt = (value: unknown, key: string): unknown =>
  key.split('.').reduce((part, name) => (part as Record<string, unknown> | null)?.[name], value)

/** Sends settings that config.toml cannot hold, one by one, so that a rejection does not block the others. */
export async function setByApi(management: Management, own: Setting[]): Promise<string[]> {
  const refused: string[] = []
  for (const { at, key, value } of settingsThatDiffer(await readSettings(management), own)) {
    await management.send('PATCH', endpoints[at], { [key]: value }).catch((error) => {
      if (!(error instanceof UserError)) throw error
      refused.push(error.message)
    })
  }
  return refused
}

export async function assertSettings(
  management: Management,
  candidates: Setting[],
  refused: string[] = [],
): Promise<void> {
  const wrong = settingsThatDiffer(await readSettings(management), candidates)
  if (!wrong.length) return
  const names = wrong.map(({ at, key, value }) => `${at} ${key} is not ${value}`)
  throw new UserError(
    [
      `The project did not store these settings: ${names.join('; ')}.`,
      ...refused,
      'Set it in the dashboard (docs/deploy.md, "What is left by hand"), then run this again.',
    ].join('\n'),
  )
}
