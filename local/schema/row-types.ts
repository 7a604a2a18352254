// If a function with an SQL body uses a table's row type, Postgres 17.12 and later refuses to change the type
// of a column of that table, or to add a column with a default, an identity or a generated value: `cannot
// alter table "accounts" because function private.may_act(accounts) uses its row type`. Hosted projects get
// that version before npm does, so such migrations are rejected here.
import { UserError } from '../config/user-error.ts'
import { connected } from './build.ts'

/**
 * The tables whose row types are used, and the functions that use them. A function that takes a row but reads
 * none of its columns is left out. It has only one row in pg_depend.
 */
const users = `
  select format('"%s"."%s"', nspname, relname) as name, pg_proc.oid::regprocedure::text as user
  from pg_proc
  join pg_depend on classid = 'pg_proc'::regclass and objid = pg_proc.oid
    and refclassid = 'pg_type'::regclass
  join pg_class on reltype = refobjid and relkind in ('r', 'p')
  join pg_namespace on pg_namespace.oid = relnamespace
  where prosqlbody is not null
  group by 1, 2 having count(*) > 1
  order by 1, 2`

const alterTable =
  /^ALTER TABLE (\S+) (?:ADD COLUMN ("[^"]+")(.*?)|ALTER COLUMN ("[^"]+") TYPE .*?);$/gms
// A type in our schemas may be a domain with a check constraint, which Postgres checks for every row.
const fillsRows = /\b(DEFAULT|GENERATED)\b|^ "?(private|public)"?\./

/** Throws if Postgres would reject one of these migrations. `url` is a database without them. */
export async function refuseUsedRowTypes(url: string, migrations: string[]): Promise<void> {
  const found = await connected(url, async (client) => {
    await client.query(`set search_path = ''`)
    return (await client.query<{ name: string; user: string }>(users)).rows
  })
  const wrong = migrations.flatMap((text) =>
    [...text.matchAll(alterTable)].flatMap(([, table, added, definition, altered]) =>
      added && !fillsRows.test(definition!)
        ? []
        : found.filter(({ name }) => name === table).map(({ user }) =>
          `  ${table!.replaceAll('"', '')}: column ${(added ?? altered)!}, function ${user}`
        )
    )
  )
  if (wrong.length === 0) return
  throw new UserError(
    'Postgres from 17.12 on refuses this, because functions with an SQL body use the row type of ' +
      `the table, so nothing was written:\n${[...new Set(wrong)].join('\n')}\n` +
      'Add the column without a default and not null in one migration; give it its default, fill ' +
      'the rows (sql/92_backfills.sql) and make it not null in the next. Instead of another type, ' +
      'add another column.',
  )
}
