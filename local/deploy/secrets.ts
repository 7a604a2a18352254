import { createHash, randomBytes } from 'node:crypto'
import { UserError } from '../config/user-error.ts'
import { givable, type SecretMap } from './given.ts'
import type { Management } from './management.ts'

const keys = ['CODE_SECRET', 'SEAL_KEY']
export const readSecretHashes = async (management: Management): Promise<SecretMap> =>
  new Map(
    (await management.get<{ name: string; value: string }[]>('/secrets'))
      .map(({ name, value }) => [name, value]),
  )

export function secretsFrom(env: NodeJS.ProcessEnv, there: SecretMap): SecretMap {
  const values: SecretMap = new Map()
  for (const name of givable) {
    if (env[name]?.trim()) values.set(name, env[name].trim())
  }
  values.set('ENVIRONMENT', 'production')
  for (const name of keys) {
    if (!values.has(name) && !there.has(name)) values.set(name, randomBytes(32).toString('base64'))
  }
  return values
}

export const changedSecrets = (values: SecretMap, there: SecretMap) =>
  [...values].filter(([name, value]) => there.get(name) !== sha256(value)).map(([name]) => name)

/** Stores secrets through the API: the CLI reads them from arguments or from a file with its own quoting. */
export async function setSecrets(management: Management, values: SecretMap): Promise<string[]> {
  const there = await readSecretHashes(management)
  const changed = changedSecrets(values, there)
  if (changed.length === 0) return []
  // The response may get lost, so the secrets are read back to see whether they were stored.
  const failed = await management
    .send('POST', '/secrets', changed.map((name) => ({ name, value: values.get(name) })))
    .then(() => undefined, (error: Error) => error)
  const now = await readSecretHashes(management)
  if (failed && changedSecrets(values, now).length) throw failed
  const lost = changed.filter((name) => !now.has(name))
  if (lost.length) throw new UserError(`The project did not store ${lost.join(', ')}.`)
  return changed
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Returns a value and its longer parts. All of them are redacted, because output may show only a part. */
export const sensitiveParts = (value: string) =>
  [value, ...value.split(/\\n|[\s"@:/]+/)].filter((part) => part.length > 15)
