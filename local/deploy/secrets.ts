// The settings of the functions, which a hosted project keeps as its secrets.
import { Buffer } from 'node:buffer'
import { createHash, randomBytes } from 'node:crypto'
import { isSecret } from '../../functions/_shared/is-secret.ts'
import { type SettingName, settings } from '../../functions/_shared/settings.ts'
import { UserError } from '../stack/user-error.ts'
import type { Management } from './management.ts'

/** What whoever deploys may give. */
const givable = Object.keys(settings).filter((name) => !settings[name as SettingName].by)
const isHarmful = (name: string) => settings[name as SettingName].secret
/** What each provider needs beside its name. */
const providers: Record<string, Record<string, string[]>> = {
  SMS_PROVIDER: {
    twilio: ['SMS_ACCOUNT_SID', 'SMS_AUTH_TOKEN', 'SMS_SENDER'],
    kwtsms: ['SMS_USERNAME', 'SMS_PASSWORD', 'SMS_SENDER'],
    unifonic: ['SMS_APP_SID', 'SMS_SENDER'],
  },
  MAIL_PROVIDER: {
    resend: ['MAIL_API_KEY', 'MAIL_FROM'],
    postmark: ['MAIL_API_KEY', 'MAIL_FROM'],
  },
  PAYMENT_PROVIDER: {
    tap: ['TAP_SECRET_KEY'],
    myfatoorah: ['MYFATOORAH_TOKEN', 'MYFATOORAH_WEBHOOK_SECRET'],
  },
}

const keys = ['CODE_SECRET', 'SEAL_KEY']
/** What deploy makes, unless it is given. */
const made = [...keys, 'FACADE_DB_URL']
/** What deploy itself opens doors with. */
const own = ['SUPABASE_ACCESS_TOKEN', 'SUPABASE_DB_PASSWORD']

/** What is wrong with the values that are given, never the values. */
export function invalidSecrets(env: NodeJS.ProcessEnv): string[] {
  const problems = [...own, ...givable.filter(isHarmful)]
    .filter((name) => env[name] && !isSecret(env[name].trim()))
    .map((name) => `${name} is a placeholder or too short for a secret.`)
  for (const name of keys) {
    const bytes = Buffer.from(env[name] ?? '', 'base64')
    if (env[name] && !(bytes.length === 32 && isSecret(bytes.toString('latin1')))) {
      problems.push(`${name} must be 32 random bytes in base64; left out, it is made.`)
    }
  }
  for (const [name, choices] of Object.entries(providers)) {
    const wanted = env[name]
    if (wanted && !Object.hasOwn(choices, wanted)) {
      problems.push(`${name} must be one of ${Object.keys(choices).join(', ')}.`)
    }
  }
  return problems
}

/** What a provider that is named lacks, given or already there. */
export function missingSecrets(env: NodeJS.ProcessEnv, there: SecretMap): string[] {
  return Object.entries(providers).flatMap(([name, choices]) => {
    const missing = (choices[env[name] ?? ''] ?? []).filter((one) => !env[one] && !there.has(one))
    return missing.length ? [`${name} is ${env[name]}: set ${missing.join(', ')} too.`] : []
  })
}

/** The secrets of a project by name; of their values it tells a hash. */
export type SecretMap = Map<string, string>

export const readSecretHashes = async (management: Management): Promise<SecretMap> =>
  new Map(
    (await management.get<{ name: string; value: string }[]>('/secrets'))
      .map(({ name, value }) => [name, value]),
  )

/** What is given, and the keys that nobody has made yet. */
export function secretsFrom(env: NodeJS.ProcessEnv, there: SecretMap): SecretMap {
  const values: SecretMap = new Map([['ENVIRONMENT', 'production']])
  for (const name of [...givable, ...made]) {
    if (env[name]) values.set(name, env[name].trim())
  }
  for (const name of keys) {
    if (!values.has(name) && !there.has(name)) values.set(name, randomBytes(32).toString('base64'))
  }
  return values
}

/**
 * Sends what the project does not have yet, and looks. Not by the CLI, which takes values from its
 * command line, or from a file whose quotes and backslashes it reads in its own way.
 */
export async function setSecrets(management: Management, values: SecretMap): Promise<string[]> {
  const there = await readSecretHashes(management)
  const sent = [...values].filter(([name, value]) => there.get(name) !== sha256(value))
  if (sent.length === 0) return []
  await management.send('POST', '/secrets', sent.map(([name, value]) => ({ name, value })))
  const now = await readSecretHashes(management)
  const lost = sent.map(([name]) => name).filter((name) => !now.has(name))
  if (lost.length) throw new UserError(`The project does not have them: ${lost.join(', ')}.`)
  return sent.map(([name]) => name)
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** All that must not be seen of a value, which may stand in several lines or in JSON. */
export const sensitiveParts = (value: string) =>
  [value, ...value.split(/\\n|[\s"@:/]+/)].filter((part) => part.length > 15)
