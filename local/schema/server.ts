// Postgres for the length of one command.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Postgres, startPostgres } from '../postgres.ts'

/** Runs some work on a fresh server with the platform in it; nothing of either is left after. */
export async function onFreshServer<T>(
  work: (server: Postgres, folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'schema-'))
  // The server may run as another user, who has to pass through.
  chmodSync(folder, 0o711)
  let server: Postgres | undefined
  const end = () => {
    server?.process.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  const interrupted = () => process.exit(130)
  process.on('exit', end)
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  try {
    server = await startPostgres({ dataDir: folder, port: await freePort(), throwAway: true })
    return await work(server, folder)
  } finally {
    await server?.stop()
    server = undefined
    end()
    process.off('exit', end)
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
