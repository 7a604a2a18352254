/** Settings as they stand in the environment; every secret of every process is read here. */
import { alarm } from './alarms.ts'
import { isSecret } from './is-secret.ts'

/** A setting that may be missing. */
export const setting = (name: string) => Deno.env.get(name)?.trim() || undefined

/** Tells that a secret is none, never what it is: whoever reads it goes without. */
export const refuseSecret = (name: string) => alarm('secret_refused', name)

/** A secret that may be missing. One that was set and keeps nothing is missing too, and told. */
export function secret(name: string): string | undefined {
  const value = Deno.env.get(name)?.trim()
  if (value === undefined) return undefined
  if (isSecret(value)) return value
  refuseSecret(name)
  return undefined
}
