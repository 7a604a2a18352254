/** Settings as they stand in the environment; every secret of every process is read here. */
import { alarm } from './alarms.ts'

/** A setting that may be missing. */
export const setting = (name: string) => Deno.env.get(name)?.trim() || undefined

const leastLength = 16
/** A random text has more of them; zeros and their like do not. */
const leastLetters = 5
// What stands where a secret should, alone or joined: changeme-changeme, your_secret_key_here.
const fillers = new Set(
  ('undefined null nan none empty nil true false change changeme me replace replaceme this your my ' +
    'with secret secrets key token password passwd pass webhook api sk pk test live value here ' +
    'placeholder example sample todo tbd dummy default admin string text').split(' '),
)
const isFiller = (word: string) =>
  /^(.)\1\1+$/.test(word) || fillers.has(word.replace(/^(.+?)\1*$/, '$1'))
const runs = '01234567890123456789 abcdefghijklmnopqrstuvwxyz qwertyuiop'

/** Whether it can keep anything: not empty, not short, not what stands where a secret should. */
export function isSecret(value: string): boolean {
  const rest = value.toLowerCase()
    .replace(/[a-z]+/g, (word) => isFiller(word) ? '' : word)
    .replace(/[\s_.:-]/g, '')
  return value.length >= leastLength && new Set(rest).size >= leastLetters && !runs.includes(rest)
}

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
