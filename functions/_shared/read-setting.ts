/** The environment is read here and nowhere else. */
import { alarm } from './alarms.ts'
import { isSecret } from './is-secret.ts'
import { type SettingName, settings } from './settings.ts'

/** Functions run in Deno, the gateway's own process in Node. */
const { Deno, process } = globalThis as unknown as {
  Deno?: { env: { get(name: string): string | undefined } }
  process: { env: Record<string, string | undefined> }
}
const variable = (name: SettingName) => (Deno ? Deno.env.get(name) : process.env[name])?.trim()

/** A setting or its default; undefined when it has neither. */
export const setting = (name: SettingName): string | undefined =>
  variable(name) || settings[name].default

/** A list with commas between. */
export const listed = (name: SettingName): string[] =>
  (setting(name) ?? '').split(',').map((word) => word.trim()).filter(Boolean)

/** Raises an alarm for a value that cannot be a secret, without the value. */
export const refuseSecret = (name: SettingName) => alarm('secret_refused', name)

/** A secret that may be missing; one that cannot be a secret counts as missing, with an alarm. */
export function secret(name: SettingName): string | undefined {
  const value = variable(name)
  if (value === undefined) return undefined
  if (isSecret(value)) return value
  refuseSecret(name)
  return undefined
}
