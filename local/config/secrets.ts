import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from './system-errors.ts'
import { UserError } from './user-error.ts'

/** The secrets of a data folder. They are created at the first start and never change. */
export type Secrets = {
  publishableKey: string
  secretKey: string
  /** Every database password is derived from this secret (passwordOf). */
  database: string
  /** The HMAC key for codes sent by SMS or email and for client addresses (32 bytes in base64). */
  code: string
  /** Encrypts the passwords of open registrations and Apple's refresh tokens (32 bytes in base64). */
  seal: string
  /** Signs the tokens that the proxy sends to the Data API, which accepts only HS256. */
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
  // Written to a temporary file that is then renamed, so that secrets.json is never half-written.
  writeFileSync(`${path}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return secrets
}

function read(path: string): Secrets {
  const text = readFileSync(path, 'utf8')
  try {
    const secrets = JSON.parse(text)
    // The secrets created here are longer than 30 characters; anything shorter is a placeholder.
    if (names.every((name) => typeof secrets[name] === 'string' && secrets[name].length > 30)) {
      return secrets
    }
  } catch {
    // Invalid JSON leads to the error below.
  }
  throw new UserError(
    `The data folder is damaged: ${path} cannot be read, or holds a placeholder for a ` +
      'secret. Restore it from a copy, or run "npm run reset" to start over.',
  )
}

export function passwordOf(secrets: Secrets, role: string): string {
  return createHmac('sha256', secrets.database).update(role).digest('base64url').slice(0, 32)
}
