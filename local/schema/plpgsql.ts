// npm run check:plpgsql: checks every plpgsql function against the schema, including branches that no test
// reaches. Postgres itself checks only the syntax. The extension plpgsql_check is not available from npm, so
// this needs a Postgres 17 that has it (Debian: postgresql-17-plpgsql-check) and fails otherwise. It is part
// of nightly runs and of the checks before a release.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../config/user-error.ts'
import { useBinaries } from '../postgres/binaries.ts'
import { exceptions, type Finding, unexplained } from './advisors.ts'
import { build, connected } from './build.ts'
import { report } from './check.ts'
import { schemaPaths } from './migration.ts'
import { runAsCommand } from './run-as-command.ts'
import { onTemporaryServer } from './temporary-server.ts'

const file = 'test/whole/plpgsql.json'

type Programs = { version: string; folder: string }

export function installed(): Programs | undefined {
  for (const program of ['/usr/lib/postgresql/17/bin/pg_config', 'pg_config']) {
    const say = (flag: string) => execFileSync(program, [flag], { encoding: 'utf8' }).trim()
    try {
      const version = say('--version')
      const control = join(say('--sharedir'), 'extension', 'plpgsql_check.control')
      if (/ 17\./.test(version) && existsSync(control)) return { version, folder: say('--bindir') }
    } catch {
      // This program does not exist.
    }
  }
  return undefined
}

/**
 * A trigger function is checked once for each of its triggers, with the table and the transition tables of
 * that trigger. A finding that occurs for all triggers is reported once, for the function.
 */
const query = `
  with checked as (
    select pg_proc.oid, coalesce(tgrelid, 0) as relid, tgname, tgoldtable, tgnewtable,
      count(*) over (partition by pg_proc.oid) as triggers
    from pg_proc
    left join pg_trigger on tgfoid = pg_proc.oid and not tgisinternal
    where pronamespace in ('api'::regnamespace, 'private'::regnamespace, 'public'::regnamespace)
      and prolang = (select oid from pg_language where lanname = 'plpgsql')
  ), found as (
    select distinct oid, relid, tgname, triggers, lineno,
      format('%s %s', sqlstate, message) as lint
    from checked
    cross join lateral extensions.plpgsql_check_function_tb(
      oid, relid, fatal_errors => false, oldtable => tgoldtable, newtable => tgnewtable)
  )
  select distinct lint, lineno, coalesce('line ' || lineno, 'as a whole') as detail,
    case when count(*) over (partition by oid, lineno, lint) = triggers then oid::regprocedure::text
      else format('%s as %s of %s', oid::regprocedure, tgname, relid::regclass)
    end as object
  from found
  order by object, lineno, lint`

export const findings = (adminUrl: string): Promise<Finding[]> =>
  connected(adminUrl, async (client) => {
    await client.query('create extension if not exists plpgsql_check with schema extensions')
    await client.query(`set search_path = ''`)
    return (await client.query<Finding>(query)).rows
  })

await runAsCommand(import.meta.url, async () => {
  const found = installed()
  if (!found) {
    throw new UserError(
      'No Postgres 17 of this machine has plpgsql_check, so no function was looked at. Install it: on ' +
        'Debian 13, apt-get install postgresql-17 postgresql-17-plpgsql-check.',
    )
  }
  const { version, folder } = found
  useBinaries({ initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') })
  const good = await onTemporaryServer(async (server) => {
    await build(await server.createDatabase('checked'), schemaPaths.sql)
    const name = `plpgsql_check finds nothing outside ${file}, on ${version}`
    const check = async () =>
      unexplained(
        await findings(server.urlOf('supabase_admin', 'checked')),
        exceptions(file),
        file,
      )
    return await report([[name, check]], console.log)
  })
  if (!good) process.exitCode = 1
})
