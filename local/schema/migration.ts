// npm run db:migration: brings supabase/migrations and the generated files (generated.ts) up to date with
// sql/. Until 1.0.0 it regenerates the only migration. From then on, `npm run db:migration -- <name>` adds a
// migration with the changes. Every migration is first tried on a database and then written.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Postgres } from '../postgres/postgres.ts'
import { UserError } from '../config/user-error.ts'
import { baseline, baselineVersion, hasRelease, header, section, sectionIn } from './baseline.ts'
import { build, connected, run, type Script, scripts, scriptsIn } from './build.ts'
import { migrationsIn, projectMigrations, push, root, writeProject } from './cli.ts'
import { differences, rows, snapshot } from './compare.ts'
import { delta } from './delta.ts'
import { missingExtensions } from './extensions.ts'
import { absolutePath, generated } from './generated.ts'
import { runAsCommand } from './run-as-command.ts'
import { lockTimeout } from './online.ts'
import { refuseUsedRowTypes } from './row-types.ts'
import { onTemporaryServer } from './temporary-server.ts'

export type SchemaPaths = {
  sql: string
  migrations: string
  config: string
}

export const schemaPaths: SchemaPaths = {
  sql: join(root, 'sql'),
  migrations: projectMigrations,
  config: join(root, 'supabase', 'config.toml'),
}

type MigrationRequest = {
  name: string
  /** Objects to rename, so that they keep their contents: pairs `from=to` of pg-delta's names. */
  renames?: string[]
  /** Whether to drop and recreate objects that only look renamed. */
  drop?: boolean
  log: (line: string) => void
}

type Migration = { file: string; text: string }

/** Applies the migrations in `folder` that the database lacks, as the CLI does. */
type Apply = (folder: string, url: string) => Promise<unknown>

export function migrate(
  server: Postgres,
  folder: string,
  { sql, migrations, config }: SchemaPaths,
  request: MigrationRequest,
  apply: Apply = push,
): Promise<Migration[]> {
  const { name, log } = request
  return inTwoDatabases(server, async (migrated, declared) => {
    const copy = writeProject(folder, config, migrations)
    const isFirst = migrationsIn(migrations).length === 0
    if (!isFirst) {
      log('applying the migrations there are')
      await apply(copy, migrated)
    }
    log('building the schema from sql/')
    await build(declared, sql)
    const made = isFirst
      ? [{ file: `${baselineVersion}_${name}.sql`, text: baseline(sql) }]
      : withTimestamps(
        migrations,
        await compared(migrated, declared, { sql, migrations, config }, request),
      )
    for (const { file, text } of made) {
      writeFileSync(join(copy, 'supabase', 'migrations', file), text)
    }
    if (made.length > 0) await verify(() => apply(copy, migrated), migrated, declared, log)
    mkdirSync(migrations, { recursive: true })
    for (const { file, text } of made) writeFileSync(join(migrations, file), text)
    return made
  })
}

async function compared(
  migrated: string,
  declared: string,
  { sql, migrations }: SchemaPaths,
  { name, renames = [], drop, log }: MigrationRequest,
): Promise<{ name: string; text: string }[]> {
  const before = changedScripts(sql, migrations, scripts.before)
  await connected(migrated, (client) => run(client, sql, before.map(({ name }) => name)))
  log('comparing')
  const found = await delta(migrated, declared, renames)
  if (found.renames.length > 0 && !drop) throw ambiguousRename(found.renames)
  for (const statement of found.destructive) log(`  takes away: ${statement}`)
  await refuseUsedRowTypes(migrated, found.files.map(({ text }) => text))
  const extensions = missingExtensions(sql, migrations).join('\n')
  if (extensions) found.files.unshift({ suffix: '_extensions', text: `${extensions}\n` })
  const files = (areValidated: boolean) =>
    found.files.filter(({ suffix }) => suffix.startsWith('_validated') === areValidated)
      .map(({ suffix, text }) => ({ name: name + suffix, text: `${header}\n\n${text}` }))
  return [
    ...before.map(verbatim),
    ...files(false),
    ...changedScripts(sql, migrations, scripts.after).map(verbatim),
    // Constraints are validated last, after the scripts have repaired existing rows.
    ...files(true),
  ]
}

async function inTwoDatabases<T>(
  server: Postgres,
  work: (one: string, other: string) => Promise<T>,
) {
  const names = ['migrated', 'declared'] as const
  for (const name of names) await server.dropDatabase(name)
  const [one, other] = [
    await server.createDatabase(names[0]),
    await server.createDatabase(names[1]),
  ]
  return work(one, other)
}

function ambiguousRename(renames: string[]): UserError {
  return new UserError(
    'Something may have been renamed, so nothing was written. Say so to keep what it holds, or ' +
      'say --drop to drop and recreate it:\n' +
      renames.map((pair) => `  npm run db:migration -- <name> --rename=${pair}`).join('\n'),
  )
}

async function verify(
  apply: () => Promise<unknown>,
  migrated: string,
  declared: string,
  log: (line: string) => void,
) {
  log('trying it')
  try {
    await apply()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new UserError(
      `The difference does not apply, so nothing was written.\n${error.message}\n` +
        'If something outside our schemas still needs what is dropped, or rows are in the way, ' +
        'make the change in two steps with a migration each.',
    )
  }
  const names: [string, string] = ['in the migrations', 'in sql/']
  const left = [
    ...differences(await snapshot(migrated), await snapshot(declared), names),
    ...differences(await rows(migrated), await rows(declared), names),
  ]
  if (left.length === 0) return
  throw new UserError(
    `With these migrations something would still differ, so nothing was written.\n` +
      left.map((line) => `  ${line}\n`).join('') +
      'What pg-delta cannot write (statistics, text search, casts, operators) belongs in ' +
      'sql/90_platform.sql. A row, role, policy or trigger that 00_roles.sql, 90_platform.sql or a ' +
      'script 91_data*.sql no longer has must be undone there by a statement, because projects have it by now.',
  )
}

/** Returns the scripts that differ from their latest copy in a migration. */
export function changedScripts(sql: string, migrations: string, names: string[]): Script[] {
  const texts = migrationsIn(migrations).reverse()
    .map((file) => readFileSync(join(migrations, file), 'utf8'))
  return scriptsIn(sql, names).filter(({ name, text }) => {
    const latest = texts.map((one) => sectionIn(one, name)).find((one) => one !== undefined)
    return latest !== text.trimEnd()
  })
}

function verbatim(one: Script): { name: string; text: string } {
  return {
    name: one.name.replace(/^\d+_|\.sql$/g, ''),
    text: `${header}\n\n${lockTimeout}${section(one)}`,
  }
}

/** Prefixes names with the current time. They are a second apart, and later than all existing migrations. */
function withTimestamps(folder: string, made: { name: string; text: string }[]): Migration[] {
  const last = migrationsIn(folder).at(-1)!
  const iso = last.replace(/^(....)(..)(..)(..)(..)(..).*$/s, '$1-$2-$3T$4:$5:$6Z')
  const start = Math.max(Date.now(), Date.parse(iso) + 1000)
  return made.map(({ name, text }, index) => {
    const time = new Date(start + index * 1000).toISOString().replaceAll(/\D/g, '').slice(0, 14)
    return { file: `${time}_${name}.sql`, text }
  })
}

async function regenerate(url: string): Promise<string[]> {
  const written: string[] = []
  for (const { path, text } of await generated(url)) {
    if (read(path) === text) continue
    writeFileSync(absolutePath(path), text)
    written.push(path)
  }
  return written
}

function read(path: string): string | undefined {
  try {
    return readFileSync(absolutePath(path), 'utf8')
  } catch {
    return undefined
  }
}

async function renewBaseline(server: Postgres, folder: string, log: (line: string) => void) {
  const old = migrationsIn(schemaPaths.migrations)
  const anew = { ...schemaPaths, migrations: join(folder, 'migrations') }
  const [made] = await migrate(server, folder, anew, { name: 'baseline', log })
  const isCurrent = made!.text === read(`supabase/migrations/${made!.file}`)
  if (isCurrent && old.length === 1) return []
  for (const file of old) rmSync(join(schemaPaths.migrations, file))
  writeFileSync(join(schemaPaths.migrations, made!.file), made!.text)
  return [made!]
}

await runAsCommand(import.meta.url, async (args) => {
  const renames = args.flatMap((one) => /^--rename=(.+)$/.exec(one)?.[1] ?? [])
  const drop = args.includes('--drop')
  const released = hasRelease()
  const [name = released ? '' : 'baseline', ...more] = args.filter((one) =>
    one !== '--drop' && !one.startsWith('--rename=')
  )
  if (more.length > 0 || !/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new UserError(
      'Say what changes, in small letters, digits and _: npm run db:migration -- favorites',
    )
  }
  const log = (line: string) => console.log(line)
  await onTemporaryServer(async (server, folder) => {
    const made = released
      ? await migrate(server, folder, schemaPaths, { name, renames, drop, log })
      : await renewBaseline(server, folder, log)
    for (const { file } of made) log(`wrote supabase/migrations/${file}`)
    if (made.length === 0) log('The migrations are what sql/ says; nothing to write.')
    const written = await regenerate(server.urlOf('postgres', 'declared'))
    for (const path of written) log(`wrote ${path}`)
  })
})
