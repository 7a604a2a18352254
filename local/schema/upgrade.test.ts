/** A project of the first version with the demo data in it, brought to the newest migration. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build, connected } from './build.ts'
import { migrationsIn, push, root, writeProject } from './cli.ts'
import { differences, snapshot } from './compare.ts'
import { schemaPaths } from './migration.ts'
import { onTemporaryServer } from './temporary-server.ts'
import type { Postgres } from '../postgres/postgres.ts'
import { invariants } from '../../test/whole/invariant-checks.ts'

const lastOfFirst = '20261121155807'
const folder = mkdtempSync(join(tmpdir(), 'upgrade-'))
let server: Postgres
let stop: () => void
let stopped: Promise<void>
let upgraded: string
let kept: Map<string, string>
let counts: unknown[]

// The demo data of now writes counts where they are now.
const countersOfFirst = `
  create view private.property_counters as
  select id as property_id, views_count as views, favorites_count as favorites
  from public.properties;
  create rule counts as on insert to private.property_counters do instead
  update public.properties set views_count = new.views where id = new.property_id`
const countsOfListings = `
  select property_id, views, favorites from private.property_counters
  where views > 0 or favorites > 0 order by property_id`

beforeAll(async () => {
  await new Promise<void>((ready, failed) => {
    stopped = onTemporaryServer(async (fresh) => {
      server = fresh
      ready()
      await new Promise<void>((resolve) => (stop = resolve))
    })
    stopped.catch(failed)
  })
  upgraded = await server.createDatabase('upgraded')
  const first = join(folder, 'first')
  mkdirSync(first)
  for (
    const name of migrationsIn(schemaPaths.migrations).filter((one) =>
      one.slice(0, 14) <= lastOfFirst
    )
  ) {
    copyFileSync(join(schemaPaths.migrations, name), join(first, name))
  }
  await push(writeProject(mkdtempSync(join(folder, 'copy-')), schemaPaths.config, first), upgraded)
  await connected(upgraded, async (client) => {
    await client.query(countersOfFirst)
    await client.query(readFileSync(join(root, 'supabase', 'seed.sql'), 'utf8'))
    counts = (await client.query(countsOfListings)).rows
    await client.query('drop view private.property_counters')
    kept = await contents(client)
  })
  await push(
    writeProject(mkdtempSync(join(folder, 'copy-')), schemaPaths.config, schemaPaths.migrations),
    upgraded,
  )
})

afterAll(async () => {
  stop?.()
  await stopped
  rmSync(folder, { recursive: true })
})

type Columns = Record<string, string[]>

async function columnsOf(client: pg.Client): Promise<Columns> {
  const { rows } = await client.query(
    `select format('%I.%I', table_schema, table_name) as name,
       array_agg(quote_ident(column_name) order by column_name)::text[] as columns
     from information_schema.columns
     join information_schema.tables using (table_schema, table_name)
     where table_schema in ('public', 'private', 'auth') and table_type = 'BASE TABLE'
     group by 1`,
  )
  return Object.fromEntries(rows.map(({ name, columns }) => [name, columns]))
}

// Rows that every project has may be changed by a migration (compare.ts looks at them), which the
// audit then records.
const ours = [
  'audit',
  'rates',
  'vocabularies',
  'settings',
  'plans',
  'areas',
  'governorates',
  'error',
]

/** Columns that have other names since the first version. */
const renamed: Record<string, Record<string, string>> = {
  'public.media': { waits: 'pending' },
  'public.wallets': { house: 'system_account' },
}

/** Columns that are elsewhere since. */
const moved: Record<string, string[]> = {
  'public.properties': ['views_count', 'favorites_count'],
}

/** Of each table with rows: how many, and a hash of what is in the columns. */
async function contents(client: pg.Client, like?: Columns): Promise<Map<string, string>> {
  const now = await columnsOf(client)
  const found = new Map<string, string>()
  for (const [table, columns] of Object.entries(like ?? now)) {
    const present = (column: string) =>
      [column, renamed[table]?.[column]].find((name) => name && now[table]?.includes(name))
    const both = columns.filter((column) => present(column) && !moved[table]?.includes(column))
    const selected = both.map((column) => `${present(column)} as ${column}`)
    if (!both.length || ours.some((name) => table.endsWith(`.${name}`))) continue
    const { rows: [row] } = await client.query(
      `select count(*)::int, md5(string_agg(one::text, e'\\n' order by one::text)) as hash
       from (select ${selected} from ${table}) as one`,
    )
    if (row.count) found.set(table, `${row.count} ${row.hash} ${both}`)
  }
  return found
}

test('MIG-01 rows are unchanged in the columns that remain', async () => {
  const columns = Object.fromEntries(
    [...kept].map(([table, text]) => [table, text.split(' ').slice(2).join(' ').split(',')]),
  )
  const after = await connected(upgraded, (client) => contents(client, columns))
  expect(kept.size).toBeGreaterThan(15)
  for (const [table, text] of after) {
    expect.soft(`${table} ${text}`).toBe(`${table} ${kept.get(table)}`)
  }
  expect([...after.keys()].sort()).toEqual([...kept.keys()].sort())
})

test('MIG-01 listings keep their counts, which have a table of their own', async () => {
  const after = await connected(upgraded, (client) => client.query(countsOfListings))
  expect(counts.length).toBeGreaterThan(50)
  expect(after.rows).toEqual(counts)
})

test('MIG-01 all invariants hold', async () => {
  await connected(upgraded, async (client) => {
    // A server for the length of a test need not be durable.
    for (const { id, says, sql } of invariants.filter(({ id }) => id !== 'I-27')) {
      expect.soft((await client.query(sql)).rows, `${id} ${says}`).toEqual([])
    }
  })
})

test('MIG-03 an upgraded database is the same as a new one', async () => {
  const fresh = await server.createDatabase('fresh')
  await build(fresh, schemaPaths.sql)
  const names: [string, string] = ['upgraded', 'fresh']
  expect(differences(await snapshot(upgraded), await snapshot(fresh), names)).toEqual([])
})
