import { Worker } from 'node:worker_threads'
import { AuthError, badRequest } from './errors.ts'

export type Passwords = ReturnType<typeof openPasswords>

/** bcrypt on two threads, as many as the cores of a small machine. */
export function openPasswords(cost: number) {
  const waiting = new Map<number, (result: never) => void>()
  const workers = Array.from({ length: 2 }, () => {
    const worker = new Worker(new URL('./bcrypt-worker.ts', import.meta.url), { workerData: cost })
    worker.on('message', ({ id, result }) => {
      waiting.get(id)?.(result as never)
      waiting.delete(id)
    })
    // An idle worker must not keep the process alive.
    worker.unref()
    return worker
  })
  let next = 0
  const ask = <T>(password: string, hash?: string) =>
    new Promise<T>((resolve) => {
      const id = next++
      waiting.set(id, resolve)
      workers[id % workers.length]!.postMessage({ id, password, hash })
    })
  return {
    hash: (password: string) => ask<string>(password),
    matches: (password: string, hash: string) => ask<boolean>(password, hash),
  }
}

export const isBcrypt = (hash: string) => /^\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}$/.test(hash)

/** Auth's rules for a new password; it counts lengths in bytes. */
export function checkStrength(password: string, minimum: number): void {
  const bytes = Buffer.byteLength(password)
  if (bytes > 72) throw badRequest('Password cannot be longer than 72 characters')
  if (bytes < minimum) {
    const message = `Password should be at least ${minimum} characters.`
    throw new AuthError(422, 'weak_password', message, ['length'])
  }
}
