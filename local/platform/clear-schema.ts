import pg from 'pg'
import { UserError } from '../config/user-error.ts'
import type { Stack } from '../config/stack.ts'

type ServiceSchema = { schema: string; owner: string; migrations: string }

/** Drops the tables of the stand-in from a new database. The migrations of the real server create them. */
export async function clearSchema(
  stack: Stack,
  { schema, owner, migrations }: ServiceSchema,
): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databaseUrl('supabase_admin') })
  await client.connect()
  try {
    // Without this lock, two real servers that start together would concurrently change the same grants.
    await client.query(`select pg_advisory_lock(hashtext('clear schema'))`)
    const { rows: [found] } = await client.query(
      `select to_regclass($1) is not null as theirs,
        to_regclass('supabase_migrations.schema_migrations') is not null as used`,
      [`${schema}.${migrations}`],
    )
    if (found.theirs) return
    if (found.used) {
      throw new UserError(
        `${stack.dataDir} has the stand-in's tables: a real ${schema} needs another LOCAL_DATA.`,
      )
    }
    await client.query(
      `begin;
      drop schema ${schema} cascade;
      create schema ${schema};
      grant usage on schema ${schema} to anon, authenticated, service_role;
      grant usage on schema ${schema} to postgres with grant option;
      grant all on schema ${schema} to ${owner};
      grant create on database postgres to ${owner};
      alter default privileges for role ${owner} in schema ${schema} grant all on tables to postgres;
      alter default privileges for role ${owner} in schema ${schema}
        grant all on sequences to postgres;
      commit`,
    )
  } finally {
    await client.end()
  }
}
