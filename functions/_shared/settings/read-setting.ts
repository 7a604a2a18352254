// The only file of the functions that reads environment variables.
import { alarm } from '../errors/alarms.ts'
import { runIn } from '../errors/log.ts'
import { isSecret } from './is-secret.ts'
import { items, wrongValue } from './setting-kinds.ts'
import { type SettingName, settings } from './settings.ts'

const { Deno, process } = globalThis as unknown as {
  Deno?: { env: { get(name: string): string | undefined } }
  process: { env: Record<string, string | undefined> }
}
/** Returns the raw value, for callers that validate it themselves. */
export const variable = (name: SettingName) =>
  (Deno ? Deno.env.get(name) : process.env[name])?.trim()

runIn(variable('SB_REGION') || undefined)

/** Returns a setting or its default; undefined if it has neither. Throws if the value is invalid. */
export function setting(name: SettingName): string | undefined {
  const value = variable(name)
  if (!value) return settings[name].default
  const wrong = wrongValue(name, settings[name].is, value)
  if (wrong) throw new Error(`The setting ${wrong}`)
  return value
}

/** Reads a comma-separated list. Invalid items are left out and raise an alarm. */
export function listed(name: SettingName): string[] {
  const given = items(variable(name))
  const fitting = given.filter((one) => !wrongValue(name, settings[name].is, one))
  if (fitting.length < given.length) alarm('setting_refused', name)
  return fitting
}

export const refuseSecret = (name: SettingName) => alarm('secret_refused', name)

/**
 * Returns an optional secret. A value that is too weak to be a secret counts as missing and raises an alarm.
 */
export function secret(name: SettingName): string | undefined {
  const value = variable(name)
  if (value === undefined) return undefined
  if (isSecret(value) && !wrongValue(name, settings[name].is, value)) return value
  refuseSecret(name)
  return undefined
}
