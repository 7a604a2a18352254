import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../config/ports.ts'
import { type Postgres, startPostgres } from '../postgres/postgres.ts'
import type { PostgresOptions } from '../postgres/server.ts'

export async function onTemporaryServer<T>(
  work: (server: Postgres, folder: string) => Promise<T>,
  options: Pick<PostgresOptions, 'sharedGigabytes'> = {},
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'schema-'))
  // If the server runs as another user, that user must be able to enter the folder.
  chmodSync(folder, 0o711)
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  const end = () => {
    kill(join(folder, 'postgres', 'postmaster.pid'))
    remove()
  }
  process.on('exit', end)
  open++
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
    // Once no server is open, Ctrl-C is no longer handled here.
    if (--open === 0) { for (const signal of signals) process.off(signal, interrupt) }
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const
let open = 0
let starting = 0
let interrupted = false

/** Starts a server. Ctrl-C takes effect after that, because a server cannot be stopped while it starts. */
async function start(folder: string, options: Partial<PostgresOptions>): Promise<Postgres> {
  if (!process.listeners('SIGINT').includes(interrupt)) {
    for (const signal of signals) process.on(signal, interrupt)
  }
  starting++
  try {
    const port = await freePorts(1)
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

/** Stops a server synchronously, because this process is exiting. The server removes its lock file. */
function kill(lock: string) {
  const pid = existsSync(lock) ? Number(readFileSync(lock, 'utf8').split('\n')[0]) : 0
  // A half-written lock file is empty, which gives the id 0, and that would mean this whole process group.
  if (!(pid > 1)) return
  try {
    process.kill(pid, 'SIGQUIT')
    for (let waited = 0; waited < 5000 && existsSync(lock); waited += 20) sleep(20)
  } catch {
    // The process has ended by itself.
  }
}

function sleep(milliseconds: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
