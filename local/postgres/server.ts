import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { binaries, runner } from './binaries.ts'
import { logFile } from '../processes/log-file.ts'
import { stuck } from '../processes/progress.ts'
import { superuser } from './cluster.ts'
import { portTaken } from '../config/settings.ts'
import { adviceOn } from '../config/system-errors.ts'
import { UserError } from '../config/user-error.ts'

export type PostgresOptions = {
  dataDir: string
  port: number
  log?: (line: string) => void
  countCalls?: boolean
  /** Turns off fsync for disposable databases. They are faster, but a power cut may destroy them. */
  throwAway?: boolean
  /** The size of the shared buffers in gigabytes. The default is 256 MB. */
  sharedGigabytes?: number
  /** The maximum number of connections. The default is that of the smallest hosted projects. */
  connections?: number
  name?: string
}

// These settings are passed on the command line, so that the code and not the data folder decides them.
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // The smallest hosted projects (Nano, Micro) have the same number.
  max_connections: '60',
  shared_preload_libraries: 'pg_stat_statements',
  wal_level: 'logical',
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  maintenance_work_mem: '128MB',
  random_page_cost: '1.1',
  statement_timeout: '2min',
  // As on hosted projects, converting a floating-point number to text drops its last digits.
  extra_float_digits: '0',
  default_text_search_config: 'pg_catalog.english',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Details and statements can contain phone numbers and codes, which must not be logged.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'fatal',
}

export async function launchServer(
  cluster: string,
  dataDir: string,
  options: PostgresOptions,
  password: string,
): Promise<ChildProcess> {
  const { postgres } = await binaries()
  const path = logFile(dataDir, options.name ?? 'postgres')
  const flags = Object.entries({
    ...settings,
    ...(options.throwAway ? { fsync: 'off' } : {}),
    ...(options.connections ? { max_connections: String(options.connections) } : {}),
    ...(options.sharedGigabytes ? { shared_buffers: `${options.sharedGigabytes}GB` } : {}),
    ...(options.countCalls ? { track_functions: 'pl' } : {}),
  })
  const args = ['-D', cluster, '-p', String(options.port)]
  for (const [name, value] of flags) args.push('-c', `${name}=${value}`)
  const [file, fileArgs, spawnOptions] = runner().command(postgres, args)
  const url = `postgresql://${superuser}:${password}@127.0.0.1:${options.port}`
  // After a kill -9 the dead server's children hold its memory for a second or two, so the start is retried.
  const deadline = Date.now() + 60_000
  for (;;) {
    const before = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    const out = openSync(path, 'a')
    const child = spawn(file, fileArgs, { ...spawnOptions, stdio: ['ignore', out, out] })
    closeSync(out)
    const failure = await ready(child, `${url}/postgres`)
    if (!failure) {
      forceFastShutdown(child, cluster)
      return child
    }
    // Tests use /dev/full as the log, to simulate a full disk; reading it would never end.
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile()
    const output = isFile ? readFileSync(path).subarray(before).toString() : ''
    const busy = /pre-existing shared memory|lock file ".*" already exists/.test(output)
    if (!busy || Date.now() > deadline) {
      throw describeFailure(output, failure, cluster, options)
    }
    await sleep(300)
  }
}

const damaged =
  'Nothing was changed. Restore the folder from a copy, or run "npm run reset" to start over.'

function describeFailure(
  output: string,
  failure: string,
  cluster: string,
  options: PostgresOptions,
) {
  const line = output.split('\n').findLast((text) =>
    /(FATAL|PANIC): /.test(text) && !/system is (starting|shutting)/.test(text)
  )
  if (/could not bind|Address already in use/.test(output)) {
    return portTaken(options.port, options.name ?? 'database')
  }
  const reason = line?.replace(/^.*?(FATAL|PANIC): +/, '') ?? failure
  const advice = adviceOn(line ? reason : output, options.dataDir) ??
    // A replica starts from a new copy each time, so there is nothing to restore.
    (options.name ? '' : damaged)
  return new UserError(`Postgres does not start on ${cluster}: ${reason}. ${advice}`.trimEnd())
}

/** Waits until the server accepts connections. Returns the reason if it does not start. */
async function ready(child: ChildProcess, url: string): Promise<string | undefined> {
  let ended: string | undefined
  const end = new Promise<never>((_, reject) => {
    const because = (reason: string) => {
      ended = reason
      reject(new Error(reason))
    }
    child.once('exit', (code, signal) => because(`it ended at once (${signal ?? code})`))
    child.once('error', ({ message }) => because(message))
  })
  end.catch(() => {})
  // Recovery after a crash can take long if there is a lot of data.
  const waiting = new AbortController()
  let hangs = false
  void stuck(child.pid, { idle: 60_000, limit: 1_800_000, signal: waiting.signal })
    .then(() => (hangs = true))
  while (!ended && !hangs) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
    client.on('error', () => {})
    try {
      // Another program that has taken the port may never answer.
      await Promise.race([client.connect(), end])
      await client.end()
      waiting.abort()
      return undefined
    } catch (error) {
      void client.end().catch(() => {})
      const { code } = error as { code?: string }
      // Class 28: the server is up and rejects us, so either the server or its passwords are not ours.
      if (code?.startsWith('28')) {
        child.kill('SIGINT')
        await Promise.race([once(child, 'exit'), sleep(1000)])
        waiting.abort()
        return 'its passwords are not those of secrets.json'
      }
      await sleep(25)
    }
  }
  waiting.abort()
  if (!ended) child.kill('SIGINT')
  return ended ?? 'it gets no further'
}

/** Speeds up a shutdown after a SIGTERM from outside, which would wait for clients to disconnect. */
function forceFastShutdown(child: ChildProcess, cluster: string) {
  const timer = setInterval(() => {
    try {
      const state = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[7]
      if (state?.trim() === 'stopping') child.kill('SIGINT')
    } catch {
      // The server removes the file as its last step.
    }
  }, 500)
  timer.unref()
  child.once('exit', () => clearInterval(timer))
}

/** Stops the server and rolls back open transactions. Only a server that hangs needs recovery later. */
export async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  // SIGINT requests a fast shutdown.
  child.kill('SIGINT')
  const waiting = new AbortController()
  const patience = { idle: 4000, limit: 60_000, signal: waiting.signal }
  void stuck(child.pid, patience).then(() => child.kill('SIGQUIT'))
  await exit
  waiting.abort()
}
