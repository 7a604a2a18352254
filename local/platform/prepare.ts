import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

type UrlOf = (role: string, database?: string) => string

const folder = new URL('./', import.meta.url)
const loginRoles = [
  'postgres',
  'authenticator',
  'supabase_auth_admin',
  'supabase_storage_admin',
  'data_api',
  'studio',
]

/** Prepares the databases `postgres` and `template1`; further databases are copies of `template1`. */
export async function preparePlatform(
  urlOf: UrlOf,
  passwordOf: (role: string) => string,
  log: (line: string) => void,
): Promise<void> {
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.sql')).sort()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
  const version = createHash('sha256').update(scripts.join('')).digest('hex').slice(0, 16)
  const [roles, ...rest] = scripts
  await connected(urlOf('supabase_admin'), async (client) => {
    const state = await client.query(
      `select bool_and(coalesce(shobj_description(oid, 'pg_database') = $1, false)) as done
       from pg_database where datname in ('postgres', 'template1')`,
      [`platform ${version}`],
    )
    if (state.rows[0].done) return await client.query(ensurePartitions)
    await client.query(`begin; ${roles}; ${passwords(passwordOf)} commit`)
    await client.query('alter database postgres owner to postgres')
    for (const database of ['template1', 'postgres']) {
      await applyTo(urlOf('supabase_admin', database), rest, database, version)
    }
    log('roles and schemas of the platform are in place')
  })
}

/**
 * Creates the daily partitions of realtime.messages around today. If ensure_partitions() is missing, the real
 * Realtime is running and creates them.
 */
export const ensurePartitions = `do $$ begin
     if to_regprocedure('realtime.ensure_partitions()') is not null then
       perform realtime.ensure_partitions();
     end if;
   end $$`

/** Applies the scripts in one transaction: after an interruption, the next start repeats all of them. */
function applyTo(url: string, scripts: string[], database: string, version: string) {
  return connected(url, async (client) => {
    await client.query('begin')
    for (const script of scripts) await client.query(script)
    await client.query(`comment on database ${database} is 'platform ${version}'`)
    await client.query('commit')
  })
}

function passwords(passwordOf: (role: string) => string): string {
  return loginRoles
    .map((role) => `alter role ${role} password ${pg.escapeLiteral(passwordOf(role))};`)
    .join(' ')
}

async function connected(url: string, work: (client: pg.Client) => Promise<unknown>) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
