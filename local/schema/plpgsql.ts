// npm run check:plpgsql: whether every plpgsql function fits the schema, also in branches that no test runs:
// Postgres itself reads only their text. plpgsql_check comes in no package of npm, so this runs on a Postgres
// 17 of the machine that has it (Debian's postgresql-17-plpgsql-check), and is left out elsewhere.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { useBinaries } from '../postgres/binaries.ts'
import { build, connected } from './build.ts'
import { report } from './check.ts'
import { schemaPaths } from './migration.ts'
import { runAsCommand } from './run-as-command.ts'
import { onTemporaryServer } from './temporary-server.ts'

type Programs = { version: string; folder: string }

/** A Postgres 17 with the extension: where Debian has it, or that of the path. */
export function installed(): Programs | undefined {
  for (const program of ['/usr/lib/postgresql/17/bin/pg_config', 'pg_config']) {
    const say = (flag: string) => execFileSync(program, [flag], { encoding: 'utf8' }).trim()
    try {
      const version = say('--version')
      const control = join(say('--sharedir'), 'extension', 'plpgsql_check.control')
      if (/ 17\./.test(version) && existsSync(control)) return { version, folder: say('--bindir') }
    } catch {
      // It is not there.
    }
  }
  return undefined
}

/** What it says of many and what is meant: casts by assignment, JSON's names, ends after a refusal. */
const meant = [
  'target type is different type',
  'is reserved keyword',
  'control reached end of function without RETURN',
  'never read variable',
  'composite OUT variable',
]

/**
 * A trigger's function is looked at for each of its tables, with the transition tables of all its triggers
 * there: what holds for some of its tables only stands in a branch for the others.
 */
const query = `
  with looked_at as (
    select pg_proc.oid, coalesce(tgrelid, 0) as relid,
      max(tgoldtable) as oldtable, max(tgnewtable) as newtable,
      count(*) over (partition by pg_proc.oid) as tables
    from pg_proc
    left join pg_trigger on tgfoid = pg_proc.oid and not tgisinternal
    where pronamespace in ('api'::regnamespace, 'private'::regnamespace, 'public'::regnamespace)
      and prolang = (select oid from pg_language where lanname = 'plpgsql')
    group by pg_proc.oid, tgrelid
  )
  select format('%s, line %s: %s %s', oid::regprocedure, found.lineno, found.sqlstate, found.message)
  from looked_at
  cross join lateral extensions.plpgsql_check_function_tb(
    oid, relid, fatal_errors => false, oldtable => oldtable, newtable => newtable) as found
  where found.message not like all ($1)
  group by oid, found.lineno, found.sqlstate, found.message, tables
  having count(distinct relid) = tables
  order by 1`

/** Findings in the database of a server with the extension. */
export const findings = (adminUrl: string): Promise<string[]> =>
  connected(adminUrl, async (client) => {
    await client.query('create extension if not exists plpgsql_check with schema extensions')
    const { rows } = await client.query({
      text: query,
      values: [meant.map((text) => `%${text}%`)],
      rowMode: 'array',
    })
    return rows.map(([line]) => line as string)
  })

await runAsCommand(import.meta.url, async () => {
  const found = installed()
  const name = 'plpgsql_check of every function'
  if (!found) return console.log(`left out  ${name}: no Postgres 17 here has it`)
  const { version, folder } = found
  useBinaries({ initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') })
  const good = await onTemporaryServer(async (server) => {
    await build(await server.createDatabase('checked'), schemaPaths.sql)
    const check = () => findings(server.urlOf('supabase_admin', 'checked'))
    return await report([[`${name}, on ${version}`, check]], console.log)
  })
  if (!good) process.exitCode = 1
})
