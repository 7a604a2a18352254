import { parentPort, workerData as cost } from 'node:worker_threads'
import bcrypt from 'bcryptjs'

// A hash takes tens of milliseconds of arithmetic, which would block the main thread.
parentPort!.on('message', ({ id, password, hash }) => {
  // $2a$ is what Auth writes; the algorithm is the same.
  const salt = () => bcrypt.genSaltSync(cost).replace(/^\$2.\$/, '$2a$')
  const result = hash === undefined ? bcrypt.hashSync(password, salt()) : matches(password, hash)
  parentPort!.postMessage({ id, result })
})

/** As in Auth, no password matches a hash that bcrypt cannot read. */
function matches(password: string, hash: string): boolean {
  try {
    return bcrypt.compareSync(password, hash)
  } catch {
    return false
  }
}
