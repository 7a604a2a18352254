import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { adviceOn } from '../config/system-errors.ts'
import { UserError } from '../config/user-error.ts'
import { hasOtherBaseline } from '../schema/baseline.ts'
import {
  errorLines,
  migrationsIn,
  projectMigrations,
  remoteFlag,
  retryOnLockTimeout,
  supabase,
} from '../schema/cli.ts'
import { root } from '../config/settings.ts'
import type { Stack } from '../config/stack.ts'
import { storeDemoFiles } from '../demo/files.ts'

type Say = (line: string) => void

function projectVersions(): string[] {
  return migrationsIn(projectMigrations).map((name) => name.split('_')[0]!)
}

export async function migrate(stack: Stack, say: Say): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databaseUrl('supabase_admin') })
  // If the connection breaks, the next query fails. Without this listener, the supervisor would end at once.
  client.on('error', () => {})
  await client.connect()
  try {
    if (await hasOtherBaseline(client)) {
      throw new UserError(
        'supabase/migrations has been made anew since this database was made: "npm run reset" starts ' +
          'over with an empty one.',
      )
    }
    const done = new Set(await appliedVersions(client))
    const pending = projectVersions().filter((version) => !done.has(version))
    if (pending.length > 0) {
      const migrations = `${pending.length} migration${pending.length === 1 ? '' : 's'}`
      say(`applying ${migrations}`)
      await push(stack)
      say(`${migrations} applied`)
    }
    await enableFacadeRole(client, stack)
    await setRates(client, stack, say)
    await seed(client, stack, say)
  } finally {
    await client.end()
  }
}

async function exists(client: pg.Client, relation: string): Promise<boolean> {
  const { rows } = await client.query('select to_regclass($1) is not null as found', [relation])
  return rows[0].found
}

async function appliedVersions(client: pg.Client): Promise<string[]> {
  if (!await exists(client, 'supabase_migrations.schema_migrations')) return []
  const { rows } = await client.query('select version from supabase_migrations.schema_migrations')
  return rows.map(({ version }) => version)
}

async function push(stack: Stack) {
  const home = join(stack.dataDir, 'cli')
  mkdirSync(home, { recursive: true })
  const args = ['db', 'push', '--yes', '--include-all', '--workdir', root]
  const url = remoteFlag(stack.databaseUrl('postgres'))
  // The CLI gets its own home folder, so that it neither uses nor changes the developer's login and state.
  const result = await retryOnLockTimeout(() => supabase([...args, url], { HOME: home }))
  if (result.code === 0) return
  const said = errorLines(result)
  const advice = adviceOn(said, stack.dataDir) ??
    '"npm run reset" starts over with an empty database.'
  throw new UserError(
    `The migrations do not apply; nothing of the failing one was kept. ${advice}\n\n${said}`,
  )
}

/** Sets the password of role facade. A migration creates the role without a password. */
async function enableFacadeRole(client: pg.Client, stack: Stack) {
  const { rows } = await client.query("select from pg_roles where rolname = 'facade'")
  if (rows.length === 0) return
  const { password } = new URL(stack.databaseUrl('facade'))
  await client.query(`alter role facade login password ${pg.escapeLiteral(password)}`)
}

const unlimited = 1_000_000_000

async function setRates(client: pg.Client, stack: Stack, say: Say) {
  if (!await exists(client, 'private.rates')) return
  if (!stack.rates) {
    await client.query(`set edits.by = 'local'`)
    await client.query(
      `update private.rates set max = $1, edited = array_remove(edited, 'max') where max <> $1`,
      [unlimited],
    )
    return say('limits are lifted (RATES=off)')
  }
  const { rowCount } = await client.query('select from private.rates where max = $1', [unlimited])
  const rows = join(root, 'sql', '91_data.sql')
  if (rowCount === 0 || !existsSync(rows)) return
  await asPostgres(client, readFileSync(rows, 'utf8'))
  say('limits are back')
}

const seeds = ['seed.sql', 'seed_life.sql'].map((name) => join(root, 'supabase', name))

/** Loads the demo data once per database. SEED=none is recorded too, so that later starts load nothing. */
async function seed(client: pg.Client, stack: Stack, say: Say) {
  if (projectVersions().length === 0 || !seeds.every(existsSync)) return
  // The official CLI records seeds in this table too.
  const name = 'supabase_migrations.seed_files'
  if (await exists(client, name)) {
    const { rowCount } = await client.query(`select from ${name}`)
    if (rowCount! > 0) return
  }
  const demo = stack.seed === 'demo'
  if (demo) {
    say(
      'loading the demo data, in a minute or less: 80 advertisers, 2,000 listings, their pictures',
    )
  }
  try {
    await asPostgres(
      client,
      `create table if not exists ${name} (path text primary key, hash text not null);
       ${demo ? seeds.map((file) => readFileSync(file, 'utf8')).join(';') : ''};
       insert into ${name} (path, hash) values ('supabase/seed.sql', '${stack.seed}');`,
      async () => {
        // The files go to the folder of the Storage stand-in. The real Storage uses a different folder.
        if (demo && !stack.realStorage) await storeDemoFiles(client, stack)
      },
    )
  } catch (error) {
    const { message, where = '' } = error as Error & { where?: string }
    const advice = adviceOn(message, stack.dataDir) ??
      `${where} Fix supabase/seed.sql or seed_life.sql, or start with SEED=none.`
    throw new UserError(
      `The demo data could not be loaded, and nothing of it was kept: ${message}. ${advice}`,
    )
  }
  if (demo) {
    say(
      `demo data loaded${stack.realStorage ? ', without pictures and papers (REAL_STORAGE)' : ''}`,
    )
  }
}

async function asPostgres(client: pg.Client, sql: string, andThen = async () => {}) {
  try {
    await client.query(
      `begin; set local role postgres; set local statement_timeout = 0;
       set local search_path = "$user", public, extensions;
       ${sql}`,
    )
    await andThen()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
