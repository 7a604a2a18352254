import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from './system-errors.ts'
import { UserError } from './user-error.ts'

/** The secrets of a data folder, made at its first start and never changed. */
export type Secrets = {
  publishableKey: string
  secretKey: string
  /** Every database password is derived from this secret (passwordOf). */
  database: string
  /** The key for HMACs of codes sent by SMS and mail and of client addresses, base64 of 32 bytes. */
  code: string
  /** The key that encrypts passwords of open registrations and Apple's refresh tokens, base64 of 32 bytes. */
  seal: string
  /** Signs the proxy's tokens for the Data API, which accepts HS256 only. */
  dataApi: string
}

const names: (keyof Secrets)[] = [
  'publishableKey',
  'secretKey',
  'database',
  'code',
  'seal',
  'dataApi',
]

export function secretsOf(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets.json')
  if (isThere(path)) return read(path)
  if (isThere(join(dataDir, 'postgres'))) {
    throw new UserError(
      `The data folder ${dataDir} is damaged: secrets.json is missing, without which its database ` +
        'cannot be opened. Restore the file from a copy, or run "npm run reset" to start over.',
    )
  }
  const key = (prefix: string) => `${prefix}_${randomBytes(24).toString('base64url')}`
  const random = () => randomBytes(32).toString('base64')
  const secrets: Secrets = {
    publishableKey: key('sb_publishable'),
    secretKey: key('sb_secret'),
    database: random(),
    code: random(),
    seal: random(),
    dataApi: random(),
  }
  // The secrets are written to a new file, which is then renamed, so that it is never half-written.
  writeFileSync(`${path}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return secrets
}

function read(path: string): Secrets {
  const text = readFileSync(path, 'utf8')
  try {
    const secrets = JSON.parse(text)
    // All secrets created here are longer than a placeholder.
    if (names.every((name) => typeof secrets[name] === 'string' && secrets[name].length > 30)) {
      return secrets
    }
  } catch {
    // The error below is thrown for invalid JSON too.
  }
  throw new UserError(
    `The data folder is damaged: ${path} cannot be read, or holds a placeholder for a ` +
      'secret. Restore it from a copy, or run "npm run reset" to start over.',
  )
}

export function passwordOf(secrets: Secrets, role: string): string {
  return createHmac('sha256', secrets.database).update(role).digest('base64url').slice(0, 32)
}
