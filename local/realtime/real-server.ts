import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { describeProject, folderOf, realRealtimeSettings, tenants } from './real-proxy.ts'
import { clearSchema } from '../platform/clear-schema.ts'
import { storedKeys } from '../config/signing-keys.ts'
import { readStack } from '../config/stack.ts'
import { runRealServer } from '../processes/real-server.ts'

const stack = readStack(process.env)
const command = join(stack.realRealtime!, 'bin', 'realtime')
const { realtime: port, realtimeNode, realtimeCalls } = stack.ports
const keysNow = () => JSON.stringify(storedKeys(stack.dataDir))
let notified = ''

async function tell(): Promise<boolean> {
  const keys = keysNow()
  const done = await describeProject(stack)
  if (done) notified = keys
  return done
}

await runRealServer(stack, {
  setting: 'REAL_REALTIME',
  port,
  morePorts: [realtimeNode, realtimeCalls],
  command,
  args: ['start'],
  cwd: stack.realRealtime,
  settings: () => realRealtimeSettings(stack),
  prepare: async () => {
    await clearSchema(stack, {
      schema: 'realtime',
      owner: 'supabase_realtime_admin',
      migrations: 'schema_migrations',
    })
    await makeRoom()
    const env = { PATH: process.env.PATH, ...realRealtimeSettings(stack) }
    await promisify(execFile)(command, ['eval', 'Realtime.Release.migrate()'], { env })
  },
  answers: async () => (await fetch(`http://127.0.0.1:${port}/healthcheck`)).ok && await tell(),
})
void watchKeys()

/** Watches for new keys and sends them to Realtime, after which connected clients must reconnect. */
async function watchKeys() {
  for (;;) {
    await sleep(250)
    if (keysNow() !== notified) await tell().catch(() => false)
  }
}

/** Creates the folder and the database that only Realtime uses, and a role of the platform. */
async function makeRoom() {
  mkdirSync(folderOf(stack), { recursive: true, mode: 0o700 })
  const client = new pg.Client({ connectionString: stack.databaseUrl('supabase_admin') })
  await client.connect()
  try {
    const { rows: [found] } = await client.query(
      `select exists (select from pg_roles where rolname = 'dashboard_user') as role,
         exists (select from pg_database where datname = $1) as database`,
      [tenants],
    )
    if (!found.role) {
      await client.query('create role dashboard_user nologin createdb createrole replication')
    }
    if (!found.database) await client.query(`create database ${tenants} template template0`)
  } finally {
    await client.end()
  }
}
