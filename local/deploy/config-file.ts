// Checks supabase/config.toml before deploy sends any of it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseToml } from '../config/config-toml.ts'
import { root } from '../schema/cli.ts'
import { isLocalAddress } from './given.ts'
import { settings } from './settings.ts'

type Table = ReturnType<typeof parseToml>
type Value = Table[string]

export const configFile = join(root, 'supabase', 'config.toml')

export function checkConfig(text: string, env: NodeJS.ProcessEnv) {
  const file = parseToml(text)
  const at = (path: string) =>
    path.split('.').reduce<Value | undefined>(
      (part, key) => (part as Table | undefined)?.[key],
      file,
    )
  const functions = Object.entries(at('functions') as Table ?? {})
    .filter(([, table]) => (table as Table).enabled !== false)
  const problems = [
    ...settings.flatMap(({ file: path, written, value }) => {
      const expected = JSON.stringify(written ?? value)
      return path && JSON.stringify(at(path)) !== expected ? [`${path} must be ${expected}`] : []
    }),
    ...named(file).filter((name) => !env[name])
      // If NAME is not set, the CLI would send the text `env(NAME)` itself.
      .map((name) => `env(${name}) stands in an enabled section, and ${name} is not set`),
    ...['google', 'apple'].flatMap((provider) => {
      const name = `${provider.toUpperCase()}_CLIENT_IDS`
      return env[name] && at(`auth.external.${provider}.enabled`) !== true
        ? [`${name} is set: auth.external.${provider}.enabled must be true too`]
        : []
    }),
    ...(isLocalAddress(at('auth.site_url')) ? ['auth.site_url is an address of this machine'] : []),
    ...functions.filter(([, table]) => (table as Table).verify_jwt !== false)
      .map(([name]) => `functions.${name}.verify_jwt must be false: it knows no new API keys`),
    ...(functions.length ? [] : ['no function is listed']),
  ]
  return {
    problems: problems.map((problem) => `supabase/config.toml: ${problem}.`),
    functions: functions.map(([name]) => name),
  }
}

/** Returns the variable names of all `env(NAME)` values, except in disabled sections. */
function named(value: Value): string[] {
  if (typeof value === 'string') return /^env\((\w+)\)$/.exec(value)?.slice(1) ?? []
  if (Array.isArray(value)) return value.flatMap(named)
  if (typeof value !== 'object' || value.enabled === false) return []
  return Object.values(value).flatMap(named)
}

/** Returns the file without the settings that must wait until the captcha is verified. */
export function withoutDeferred(text: string): string {
  const afterCaptcha = settings.flatMap(({ file, afterCaptcha }) =>
    afterCaptcha && file ? [file.split('.').at(-1)!] : []
  )
  return text.split('\n').filter((line) =>
    !afterCaptcha.includes(/^(\w+)\s*=/.exec(line)?.[1] ?? '')
  )
    .join('\n')
}

export const configText = () => readFileSync(configFile, 'utf8')
