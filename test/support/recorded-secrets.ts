// Records the secrets that the people of the suite send and receive. OPS-01 searches every log for them.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { variable } from '../../local/config/environment.ts'

const secret = /password|token|secret|authorization/i

export function recordSecrets(value: unknown) {
  const file = variable('USED_SECRETS')
  if (!file || typeof value !== 'object' || value === null) return
  const found: string[] = []
  JSON.stringify(value, (key, one) => {
    // A short secret may appear in a log by chance.
    if (typeof one === 'string' && one.length >= 16 && secret.test(key) && !/\s/.test(one)) {
      found.push(one)
    }
    return one
  })
  if (found.length) appendFileSync(file, `${found.join('\n')}\n`)
}

export function recordedSecrets(): Set<string> {
  const file = variable('USED_SECRETS')
  return new Set(
    file && existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [],
  )
}
