// A database from sql/, the source of truth.
//
// Five files have their place: roles.sql comes first, then the areas, then platform.sql, data.sql
// and fills.sql. Those that are not areas are scripts that may run twice; migrations carry them
// verbatim. The areas need no list: a file that refers to what is not there yet waits for the next
// round, so a new area is a new file and nothing else.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { databaseAt } from '../database.ts'
import { Refusal } from '../refusal.ts'

export const scripts = { before: ['roles.sql'], after: ['platform.sql', 'data.sql', 'fills.sql'] }

export type Script = { name: string; text: string }

export function script(folder: string, name: string): Script | undefined {
  const path = join(folder, name)
  return existsSync(path) ? { name, text: readFileSync(path, 'utf8') } : undefined
}

export function areasIn(folder: string): Script[] {
  const special = [...scripts.before, ...scripts.after]
  const names = existsSync(folder) ? readdirSync(folder).sort() : []
  const areas = names.filter((name) => name.endsWith('.sql') && !special.includes(name))
    .flatMap((name) => script(folder, name) ?? [])
  if (areas.length > 0) return areas
  throw new Refusal(`There is no schema in ${folder}: put one .sql file per area there.`)
}

/** Builds everything, on a database that has the platform and nothing else. */
export async function build(url: string, folder: string): Promise<void> {
  const waiting = areasIn(folder)
  await connected(url, async (client) => {
    await run(client, folder, scripts.before)
    await areas(client, waiting)
    await run(client, folder, scripts.after)
  })
}

/** Runs those of the scripts that exist, each in one transaction as a migration would. */
export async function run(client: pg.Client, folder: string, names: string[]): Promise<void> {
  for (const name of names) {
    const found = script(folder, name)
    if (!found) continue
    const error = await attempt(client, found)
    if (error) throw refusal(found, error)
  }
}

async function areas(client: pg.Client, all: Script[]): Promise<void> {
  // As in a migration: a function may be written before the one that it calls. What its body says
  // is held against the whole schema by the check.
  await client.query('set check_function_bodies = off')
  for (let waiting = all; waiting.length > 0;) {
    const failed: [Script, pg.DatabaseError][] = []
    for (const area of waiting) {
      const error = await attempt(client, area)
      if (error) failed.push([area, error])
    }
    if (failed.length === waiting.length) throw stuck(failed)
    waiting = failed.map(([area]) => area)
  }
  await client.query('reset check_function_bodies')
}

/** Why files cannot be loaded: one that is wrong in itself is named before those that wait. */
function stuck(failed: [Script, pg.DatabaseError][]): Refusal {
  const wrong = failed.find(([, error]) => !isMissing(error)) ?? failed[0]!
  const reason = refusal(...wrong).message
  const others = failed.filter((one) => one !== wrong).map(([area]) => area.name)
  return new Refusal(others.length > 0 ? `${reason}\nWaiting: ${others.join(', ')}.` : reason)
}

/** Undefined schema, table, column, function, or object of another kind. */
function isMissing(error: pg.DatabaseError): boolean {
  return ['3F000', '42P01', '42703', '42883', '42704'].includes(error.code ?? '')
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

function refusal({ name, text }: Script, error: pg.DatabaseError): Refusal {
  const line = error.position ? text.slice(0, Number(error.position)).split('\n').length : undefined
  const more = [error.detail, error.hint, error.where?.split('\n')[0]].filter(Boolean)
  return new Refusal(
    `sql/${name}${line ? `:${line}` : ''}: ${error.message}` +
      more.map((text) => `\n  ${text}`).join(''),
  )
}

/** A connection for some work, as the role in the url. */
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
