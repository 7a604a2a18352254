// A Postgres server for the duration of one command.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Postgres, startPostgres } from '../postgres/postgres.ts'
import type { PostgresOptions } from '../postgres/server.ts'

/** Runs some work on a new server with the platform in it, and removes the server afterwards. */
export async function onTemporaryServer<T>(
  work: (server: Postgres, folder: string) => Promise<T>,
  options: Pick<PostgresOptions, 'sharedGigabytes'> = {},
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'schema-'))
  // The server may run as another user, who has to pass through.
  chmodSync(folder, 0o711)
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  const end = () => {
    kill(join(folder, 'postgres', 'postmaster.pid'))
    remove()
  }
  process.on('exit', end)
  try {
    const server = await start(folder, options)
    try {
      return await work(server, folder)
    } finally {
      await server.stop()
    }
  } finally {
    process.off('exit', end)
    remove()
  }
}

let starting = 0
let interrupted = false

/** A server that is starting cannot be stopped yet, so Ctrl-C waits for it. */
async function start(folder: string, options: Partial<PostgresOptions>): Promise<Postgres> {
  if (!process.listeners('SIGINT').includes(interrupt)) {
    process.on('SIGINT', interrupt)
    process.on('SIGTERM', interrupt)
  }
  starting++
  try {
    const port = await freePort()
    return await startPostgres({ ...options, dataDir: folder, port, throwAway: true })
  } finally {
    starting--
    if (interrupted) process.exit(130)
  }
}

function interrupt() {
  if (starting === 0 || interrupted) process.exit(130)
  interrupted = true
}

/**
 * Stops a server at once and waits for it synchronously, because the process is exiting. The lock
 * file goes with the server.
 */
function kill(lock: string) {
  const pid = existsSync(lock) ? Number(readFileSync(lock, 'utf8').split('\n')[0]) : 0
  // A half-written file is empty, and 0 would mean this process group.
  if (!(pid > 1)) return
  try {
    process.kill(pid, 'SIGQUIT')
    for (let waited = 0; waited < 5000 && existsSync(lock); waited += 20) sleep(20)
  } catch {
    // It has ended by itself.
  }
}

function sleep(milliseconds: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
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
