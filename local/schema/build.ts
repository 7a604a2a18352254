// Builds a database from sql/, the source of truth. The files are loaded once, in the order of their names,
// as with schema_paths in supabase/config.toml. Files whose names begin with 00 or 9 are scripts: they may
// run repeatedly, and migrations contain them verbatim. The other files are the areas. Their part of a
// migration is found by comparing databases.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { databaseAt } from './connection.ts'
import { UserError } from '../config/user-error.ts'

/** The last script exists only if a version must repair rows of the previous version. */
export const scripts = {
  before: ['00_roles.sql'],
  after: [
    '90_platform.sql',
    '91_data.sql',
    '91_data_codes.sql',
    '91_data_filters.sql',
    '91_data_kinds.sql',
    '91_data_places.sql',
    '91_data_words.sql',
    '92_backfills.sql',
  ],
}

export type Script = { name: string; text: string }

function script(folder: string, name: string): Script | undefined {
  const path = join(folder, name)
  return existsSync(path) ? { name, text: readFileSync(path, 'utf8') } : undefined
}

export const scriptsIn = (folder: string, names: string[]): Script[] =>
  names.flatMap((name) => script(folder, name) ?? [])

export function areasIn(folder: string): Script[] {
  const special = [...scripts.before, ...scripts.after]
  const areas = globSync('**/*.sql', { cwd: folder })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((name) => !special.includes(name))
    .sort()
    .map((name) => script(folder, name)!)
  if (areas.length > 0) return areas
  throw new UserError(
    `There is no schema in ${folder}: put one folder or .sql file per area there.`,
  )
}

export async function build(url: string, folder: string): Promise<void> {
  const all = areasIn(folder)
  await connected(url, async (client) => {
    await run(client, folder, scripts.before)
    await areas(client, all)
    await run(client, folder, scripts.after)
  })
}

/** Runs those scripts that exist. Like a migration, each one runs in a transaction. */
export async function run(client: pg.Client, folder: string, names: string[]): Promise<void> {
  for (const found of scriptsIn(folder, names)) {
    const error = await attempt(client, found)
    if (error) throw scriptError(found, error)
  }
}

async function areas(client: pg.Client, all: Script[]): Promise<void> {
  // As in a migration, a function may be created before another one that it calls. check.ts later validates
  // all bodies against the whole schema.
  await client.query('set check_function_bodies = off')
  for (const area of all) {
    const error = await attempt(client, area)
    if (error) throw scriptError(area, error)
  }
  await client.query('reset check_function_bodies')
}

async function attempt(client: pg.Client, { text }: Script): Promise<pg.DatabaseError | undefined> {
  try {
    await client.query('begin')
    await client.query(text)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    if (error instanceof pg.DatabaseError) return error
    throw error
  }
}

function scriptError({ name, text }: Script, error: pg.DatabaseError): UserError {
  const line = error.position ? text.slice(0, Number(error.position)).split('\n').length : undefined
  const more = [error.detail, error.hint, error.where?.split('\n')[0]].filter(Boolean)
  return new UserError(
    `sql/${name}${line ? `:${line}` : ''}: ${error.message}` +
      more.map((text) => `\n  ${text}`).join(''),
  )
}

export async function connected<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(databaseAt(url))
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
