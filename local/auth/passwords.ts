import bcrypt from 'bcrypt'
import { AuthError, badRequest } from './errors.ts'

export type Passwords = ReturnType<typeof openPasswords>

/** Runs bcrypt on at most two of Node's four pool threads, so that file operations never wait for it. */
export function openPasswords(cost: number) {
  let free = 2
  const waiting: (() => void)[] = []
  const onThread = async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
  return {
    // Auth writes hashes with the prefix $2a$. The other prefixes mean the same algorithm.
    hash: (password: string) =>
      onThread(() => bcrypt.hash(password, bcrypt.genSaltSync(cost, 'a'))),
    // As in Auth, any letter may follow `$2`, and no password matches a hash that bcrypt cannot parse.
    matches: (password: string, hash: string) =>
      onThread(() => bcrypt.compare(password, hash.replace(/^\$2.?\$/, '$2b$'))),
  }
}

export const isBcrypt = (hash: string) => /^\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}$/.test(hash)

/** Checks a new password by Auth's rules. Like Auth, it measures the length in bytes. */
export function checkStrength(password: string, minimum: number): void {
  const bytes = Buffer.byteLength(password)
  if (bytes > 72) throw badRequest('Password cannot be longer than 72 characters')
  if (bytes < minimum) {
    const message = `Password should be at least ${minimum} characters.`
    throw new AuthError(422, 'weak_password', message, ['length'])
  }
}
