// Runs a read replica like those of hosted projects: copies the files of the running server, then streams its
// changes. A replica that has ended starts again from a new copy.
import type { ChildProcess } from 'node:child_process'
import { chownSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import pg from 'pg'
import { runner } from './binaries.ts'
import { superuser } from './cluster.ts'
import { launchServer, stopServer } from './server.ts'
import { passwordOf, secretsOf } from '../config/secrets.ts'
import type { Running } from '../processes/launch.ts'

type Options = {
  dataDir: string
  primaryPort: number
  port: number
  /** The name of the folder for the copy; only letters and digits. */
  name?: string
  connections?: number
  /** Whether commits on the primary wait until they are visible on the replica. */
  synchronous?: boolean
}

/** Files that only the running server needs. They are not copied, but their folders are. */
const left =
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/|(^|\/)(postmaster\.(pid|opts)|pg_internal\.init|pgsql_tmp.*)$/

export async function startReplica(options: Options): Promise<Running> {
  const dataDir = resolve(options.dataDir)
  const { name = 'replica', primaryPort, port, connections, synchronous } = options
  const password = passwordOf(secretsOf(dataDir), superuser)
  const url = primaryOf(dataDir, primaryPort)
  const copy = join(dataDir, name)
  // Commits must not wait for a replica that has ended.
  if (synchronous) await waitForNoReplica(dataDir, primaryPort)
  const remove = () => rmSync(copy, { recursive: true, force: true })
  const server = { dataDir, port, connections, name, throwAway: true }
  let process: ChildProcess
  try {
    await onPrimary(url, async (client) => {
      await client.query('select pg_backup_start($1, true)', [name])
      copyFiles(join(dataDir, 'postgres'), copy)
      const { rows: [{ labelfile }] } = await client.query('select * from pg_backup_stop(false)')
      writeFileSync(join(copy, 'backup_label'), labelfile)
    })
    writeFileSync(join(copy, 'standby.signal'), '')
    writeFileSync(join(copy, 'postgresql.auto.conf'), settings(primaryPort, name, password))
    giveAway(copy)
    process = await launchServer(copy, dataDir, server, password)
  } catch (error) {
    // An incomplete copy may take up space that the primary needs.
    remove()
    throw error
  }
  if (synchronous) await onPrimary(url, (client) => waitFor(client, name))
  return {
    process,
    stop: async () => {
      if (synchronous) await waitForNoReplica(dataDir, primaryPort)
      await stopServer(process)
      remove()
    },
  }
}

const primaryOf = (dataDir: string, port: number) =>
  `postgresql://${superuser}:${
    passwordOf(secretsOf(dataDir), superuser)
  }@127.0.0.1:${port}/postgres`

/** Makes commits stop waiting for a replica, even if a killed supervisor could not do so. */
export const waitForNoReplica = (dataDir: string, primaryPort: number) =>
  onPrimary(primaryOf(dataDir, primaryPort), async (client) => {
    await client.query('alter system reset synchronous_standby_names')
    await client.query('alter system reset synchronous_commit')
    await client.query('select pg_reload_conf()')
  })

async function onPrimary(url: string, work: (client: pg.Client) => Promise<void>) {
  const client = new pg.Client(url)
  await client.connect()
  await work(client).finally(() => client.end())
}

async function waitFor(client: pg.Client, name: string) {
  await client.query(`alter system set synchronous_standby_names = '${name}'`)
  await client.query(`alter system set synchronous_commit = 'remote_apply'`)
  await client.query('select pg_reload_conf()')
}

function copyFiles(cluster: string, copy: string) {
  rmSync(copy, { recursive: true, force: true })
  const filter = (path: string) => !left.test(relative(cluster, path).replaceAll('\\', '/'))
  cpSync(cluster, copy, { recursive: true, filter })
  mkdirSync(join(copy, 'pg_wal', 'archive_status'), { mode: 0o700 })
}

const settings = (primaryPort: number, name: string, password: string) =>
  [
    `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=${superuser} password=${password} ` +
    `application_name=${name}'`,
    `hot_standby_feedback = on`,
    // Queries that still need rows removed by vacuum are cancelled sooner than on a hosted replica.
    `max_standby_streaming_delay = 1s`,
    `wal_retrieve_retry_interval = 200ms`,
  ].join('\n') + '\n'

function giveAway(folder: string) {
  const { owner } = runner()
  if (!owner) return
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const path of ['.', ...paths]) chownSync(join(folder, path), owner.uid, owner.gid)
}
