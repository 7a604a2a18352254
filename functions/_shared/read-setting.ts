/** The environment is read here and nowhere else. */
import { alarm } from './alarms.ts'
import { isSecret } from './is-secret.ts'
import { items, wrongValue } from './setting-kinds.ts'
import { type SettingName, settings } from './settings.ts'

/** Functions run in Deno, the gateway's own process in Node. */
const { Deno, process } = globalThis as unknown as {
  Deno?: { env: { get(name: string): string | undefined } }
  process: { env: Record<string, string | undefined> }
}
/** As it is given, for what says itself what is wrong with it. */
export const variable = (name: SettingName) =>
  (Deno ? Deno.env.get(name) : process.env[name])?.trim()

/** A setting or its default; undefined when it has neither. With a wrong one nothing starts. */
export function setting(name: SettingName): string | undefined {
  const value = variable(name)
  if (!value) return settings[name].default
  const wrong = wrongValue(name, settings[name].is, value)
  if (wrong) throw new Error(`The setting ${wrong}`)
  return value
}

/** A list with commas between; what is wrong in it is left out, with an alarm. */
export function listed(name: SettingName): string[] {
  const given = items(variable(name))
  const fitting = given.filter((one) => !wrongValue(name, settings[name].is, one))
  if (fitting.length < given.length) alarm('setting_refused', name)
  return fitting
}

/** Raises an alarm for a value that cannot be a secret, without the value. */
export const refuseSecret = (name: SettingName) => alarm('secret_refused', name)

/** A secret that may be missing; one that cannot be a secret counts as missing, with an alarm. */
export function secret(name: SettingName): string | undefined {
  const value = variable(name)
  if (value === undefined) return undefined
  if (isSecret(value) && !wrongValue(name, settings[name].is, value)) return value
  refuseSecret(name)
  return undefined
}
