import { createHash } from 'node:crypto'
import { isSecret } from '../../functions/_shared/settings/is-secret.ts'
import { providerSettings } from '../../functions/_shared/settings/provider-settings.ts'
import {
  address,
  bytesOf,
  isFilePath,
  items,
  type Kind,
  webhook,
  wrongValue,
} from '../../functions/_shared/settings/setting-kinds.ts'
import { type SettingName, settings } from '../../functions/_shared/settings/settings.ts'
import { variables } from '../config/environment.ts'

type Given = NodeJS.ProcessEnv

/** Maps names of secrets to their values, or to the hashes that the API returns. */
export type SecretMap = Map<string, string>

export const hasReplicas = (env: Given, there: SecretMap) =>
  Boolean(valueIn(env, 'FACADE_READ_DB_URL')) || there.has('FACADE_READ_DB_URL')

export const isLocalAddress = (address: unknown) =>
  /^https?:\/\/(localhost|127\.|0\.0\.0\.0|\[::1?\])/.test(String(address))

export const givable = (Object.keys(settings) as SettingName[])
  .filter((name) => !settings[name].by || settings[name].by === 'deploy')
const own = Object.entries(variables).filter(([, { of }]) => of.includes('deploy'))
  .map(([name]) => name)
const known = [...new Set<string>([...givable, ...own])]

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const valueIn = (env: Given, name: string) => env[name]?.trim() || undefined

/** Describes what is wrong with the given values, without showing the values. */
export function wrongValues(env: Given): string[] {
  const ownSecrets = own.filter((name) => variables[name as keyof typeof variables].secret)
  return [...ownSecrets, ...givable].flatMap((name) => {
    const value = valueIn(env, name)
    const wrong = value && wrongOne(name as SettingName, value)
    return wrong ? [wrong] : []
  })
}

function wrongOne(name: SettingName, value: string): string | undefined {
  const { is, secret, by } = settings[name] ?? { secret: true }
  const wrong = wrongValue(name, is, value)
  if (wrong) return by === 'deploy' ? `${wrong.slice(0, -1)}; left out, it is made.` : wrong
  // readInput checks the passwords in these URLs.
  if (secret && !/^FACADE_(READ_)?DB_URL$/.test(name)) {
    if (!is?.content && by !== 'deploy' && isFilePath(value)) {
      return `${name} is the path of a file: give what stands in the file.`
    }
    const bytes = by === 'deploy' ? bytesOf(value) : value
    if (!isSecret(bytes)) return `${name} is a placeholder or too short for a secret.`
  }
  return isUnsafe(is, value)
    ? `${name} must begin with https:// and be no address of this machine.`
    : undefined
}

/** Whether an address lacks TLS or is local. Lists may contain local addresses, for apps in development. */
function isUnsafe(is: Kind | undefined, value: string): boolean {
  if (is === address || is === webhook) return !value.startsWith('https:') || isLocalAddress(value)
  return Boolean(is?.list) &&
    items(value).some((one) => one.startsWith('http:') && !isLocalAddress(one))
}

/** Reports unknown names in deploy.env, and environment variables that look like misspelt settings. */
export function unknownNames(env: Given, inFile: string[]): string[] {
  const foreign = inFile.filter((name) => !known.includes(name))
  const misspelt = Object.keys(env).filter((name) =>
    !foreign.includes(name) && !isNamed(name) && nearest(name)
  )
  const always = valueIn(env, 'ENVIRONMENT') !== 'production' && inFile.includes('ENVIRONMENT')
  return [
    ...foreign.map((name) =>
      isNamed(name)
        ? `${name} is not for a hosted project (docs/settings.md).`
        : `Nothing reads ${name}${nearest(name) ? `: is it ${nearest(name)}?` : '.'}`
    ),
    ...misspelt.map((name) => `Nothing reads ${name}: is it ${nearest(name)}?`),
    ...(always ? ['ENVIRONMENT is always production here: leave it out.'] : []),
  ]
}

const isNamed = (name: string) => name in settings || name in variables

const nearest = (name: string) =>
  known.find((one) => distance(one, name.toUpperCase()) <= (one.length < 10 ? 1 : 2))

/** The edit distance between two names: letters added, removed or changed, and neighbours swapped. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = rows[i - 1]![j - 1]! + Number(a[i - 1] !== b[j - 1])
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
        ? rows[i - 2]![j - 2]! + 1
        : Infinity
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, changed, swapped))
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}

/** Returns the value a setting will have: the given one, else the stored one (by hash), else the default. */
function after(name: SettingName, env: Given, there: SecretMap): string | undefined {
  const given = valueIn(env, name)
  if (given) return given
  return settings[name].is?.choices?.find((choice) => there.get(name) === sha256(choice)) ??
    settings[name].default
}

const isThere = (name: string, env: Given, there: SecretMap) =>
  Boolean(valueIn(env, name)) || there.has(name)

export function unfit(env: Given, there: SecretMap): string[] {
  const misread = givable.filter((name) =>
    there.has(name) && !valueIn(env, name) && settings[name].is?.choices &&
    after(name, env, there) === settings[name].default &&
    there.get(name) !== sha256(settings[name].default ?? '')
  )
  const standIns = (Object.keys(settings) as SettingName[])
    .filter((name) => settings[name].by === 'stand-in' && there.has(name))
  const halves = Object.entries(providerSettings).flatMap(([name, choices]) => {
    const chosen = after(name as SettingName, env, there)
    const needed = chosen ? choices[chosen as keyof typeof choices] as readonly string[] : []
    const missing = needed?.filter((one) => !isThere(one, env, there)) ?? []
    return missing.length ? [`${name} is ${chosen}: set ${missing.join(', ')} too.`] : []
  })
  return [
    ...misread.map((name) => `${name} of the project must be ${settings[name].is!.says}: set it.`),
    ...standIns.map((name) =>
      `The project has ${name}, which is for tests: npx supabase secrets unset ${name}.`
    ),
    ...halves,
    ...noSms(env, there),
    ...unsignedAlarms(env, there),
    ...testMoney(env, there),
  ]
}

const noSms = (env: Given, there: SecretMap) =>
  after('SMS_PROVIDER', env, there) || after('ALLOW_NO_SMS', env, there) === 'true' ? [] : [
    'No SMS can be sent, so nobody registers by phone: set SMS_PROVIDER, or ALLOW_NO_SMS=true.',
  ]

const unsignedAlarms = (env: Given, there: SecretMap) =>
  isThere('ALARM_WEBHOOK', env, there) && after('ALARM_WEBHOOK_FORMAT', env, there) === 'json' &&
    !isThere('ALARM_WEBHOOK_SECRET', env, there)
    ? ['ALARM_WEBHOOK gets alarms in JSON, which are signed: set ALARM_WEBHOOK_SECRET too.']
    : []

/** Reports payment settings with which no real money would be charged. */
function testMoney(env: Given, there: SecretMap): string[] {
  const provider = after('PAYMENT_PROVIDER', env, there)
  if (provider === 'sandbox') return ['PAYMENT_PROVIDER is sandbox, which production has not.']
  if (valueIn(env, 'ALLOW_TEST_PAYMENTS') === 'true') return []
  const say = (what: string) => `${what}: no money would move. Set ALLOW_TEST_PAYMENTS=true to try.`
  const tap = valueIn(env, 'TAP_SECRET_KEY')?.startsWith('sk_test_')
  const fatoorah = isThere('MYFATOORAH_TOKEN', env, there) &&
    after('MYFATOORAH_MODE', env, there) !== 'live'
  return [
    ...(tap ? [say('TAP_SECRET_KEY is a test key')] : []),
    ...(fatoorah ? [say('MYFATOORAH_MODE is test')] : []),
  ]
}

export function partsOff(env: Given, there: SecretMap): string[] {
  return givable.filter((name) => settings[name].off && !isThere(name, env, there))
    .map((name) => `${settings[name].off} (${name})`)
}

export const unread = (there: SecretMap) =>
  [...there.keys()].filter((name) => !(name in settings) && !name.startsWith('SUPABASE_'))
