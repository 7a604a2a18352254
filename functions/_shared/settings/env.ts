// Settings that are validated at startup. An error contains the name of the setting, but never its value.
import { log } from '../errors/log.ts'
import { type Bytes, fromBase64 } from '../input/bytes.ts'
import { authorities, type Connection, facadeConnection, UnfitUrl } from './connection.ts'
import { isSecret } from './is-secret.ts'
import { listed, refuseSecret, setting } from './read-setting.ts'
import { items } from './setting-kinds.ts'
import type { SettingName } from './settings.ts'

const text = (name: SettingName, fallback?: string): string => {
  const value = setting(name) ?? fallback
  if (value === undefined) throw new Error(`The setting ${name} is missing: see docs/settings.md.`)
  return value
}

const count = (name: SettingName) => Number(text(name))
const isOn = (name: SettingName) => text(name) === 'true'
const address = (name: SettingName, fallback?: string) => text(name, fallback).replace(/\/$/, '')

function required(name: SettingName, value: string): void {
  if (isSecret(value)) return
  refuseSecret(name)
  throw new Error(`The setting ${name} is empty, a placeholder or too short for a secret.`)
}

const key = (name: SettingName): Bytes => {
  const bytes = fromBase64(text(name))
  required(name, String.fromCharCode(...bytes))
  return bytes
}

/** Reads keys that Supabase provides as a JSON object of names and keys. */
const keysIn = (name: SettingName): string[] => {
  let values: unknown[] = []
  try {
    values = Object.values(JSON.parse(text(name)))
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  if (!values.length || !values.every((value) => typeof value === 'string' && value)) {
    throw new Error(`The setting ${name} must be a JSON object of keys by name.`)
  }
  return values as string[]
}

const allSecretKeys = keysIn('SUPABASE_SECRET_KEYS')
const secretKeys = allSecretKeys.filter(isSecret)
required('SUPABASE_SECRET_KEYS', secretKeys[0] ?? '')
if (secretKeys.length < allSecretKeys.length) refuseSecret('SUPABASE_SECRET_KEYS')

const supabaseUrl = address('SUPABASE_URL')

const production = text('ENVIRONMENT') === 'production'

const database = (name: SettingName, url: string, replica = false): Connection => {
  try {
    const ca = authorities(text('DATABASE_CA', ''))
    const connection = facadeConnection(url, supabaseUrl, { ca, production }, replica)
    required(name, connection.password)
    return connection
  } catch (error) {
    if (!(error instanceof UnfitUrl)) throw error
    log('error', { alert: 'database_url_refused', name })
    throw new Error(`The setting ${name} ${error.message}`)
  }
}

export const env = {
  supabaseUrl,
  apiUrl: address('API_URL', `${supabaseUrl}/functions/v1/api`),
  returnUrls: listed('RETURN_URLS'),
  filesUrl: address('FILES_URL', `${supabaseUrl}/storage/v1/object/public`),
  shareUrl: setting('SHARE_URL'),
  pictureUrl: setting('PICTURE_URL'),
  smsAndroidHash: setting('SMS_ANDROID_HASH'),
  smsAutofillDomain: setting('SMS_AUTOFILL_DOMAIN'),
  issuer: text('AUTH_ISSUER', `${supabaseUrl}/auth/v1`),
  secretKey: secretKeys[0],
  /** All keys accepted as the project's secret key. There are two while the key is being rotated. */
  secretKeys,
  publishableKey: keysIn('SUPABASE_PUBLISHABLE_KEYS')[0],
  /** In milliseconds: how long we cache a fetched key set and the tokens verified with it. */
  jwksMaxAge: count('JWKS_MAX_AGE') * 1000,
  database: database('FACADE_DB_URL', text('FACADE_DB_URL')),
  readDatabases: items(setting('FACADE_READ_DB_URL'))
    .map((url) => database('FACADE_READ_DB_URL', url, true)),
  databasePool: count('FACADE_DB_POOL'),
  codeSecret: key('CODE_SECRET'),
  sealKey: key('SEAL_KEY'),
  production,
  patience: production ? 1 : count('PATIENCE'),
  clientIpHops: count('CLIENT_IP_HOPS'),
  guestCache: isOn('GUEST_CACHE'),
  readRate: count('READ_RATE'),
  refusalRate: count('REFUSAL_RATE'),
  allowNoSms: isOn('ALLOW_NO_SMS'),
  smsPerDay: count('SMS_PER_DAY'),
  docsUrl: setting('DOCS_URL'),
  htmlPages: isOn('HTML_PAGES'),
  corsOrigins: listed('CORS_ORIGINS'),
  gatewayMaxAge: count('GATEWAY_MAX_AGE'),
  gatewayMessages: count('GATEWAY_MESSAGES'),
  gatewaySockets: count('GATEWAY_SOCKETS'),
  gatewayJoins: count('GATEWAY_JOINS'),
  inboxUrl: setting('INBOX_URL'),
}
