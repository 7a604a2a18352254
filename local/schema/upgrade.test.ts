// Upgrades a project of the last release, with its demo data, to the newest migration. Until there is a
// release, it starts from the current state.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lastRelease } from './baseline.ts'
import { build, connected } from './build.ts'
import { push, root, writeProject } from './cli.ts'
import { differences, snapshot } from './compare.ts'
import { schemaPaths } from './migration.ts'
import { onTemporaryServer } from './temporary-server.ts'
import type { Postgres } from '../postgres/postgres.ts'
import { isNightly } from '../../test/support/nightly.ts'
import { invariants } from '../../test/whole/invariant-checks.ts'

const folder = mkdtempSync(join(tmpdir(), 'upgrade-'))
let server: Postgres
let stop: () => void
let stopped: Promise<void>
let upgraded: string
let stored: Map<string, string>

function released(): string {
  const commit = lastRelease(root)
  if (!commit) return join(root, 'supabase')
  const target = join(folder, 'release')
  mkdirSync(target)
  execFileSync('sh', ['-c', 'git archive "$0" supabase | tar -x -C "$1"', commit, target], {
    cwd: root,
  })
  return join(target, 'supabase')
}

/** Returns the demo data of a release. In a normal run, it has only a tenth of the listings. */
function seedOf(release: string): string {
  const seed = readFileSync(join(release, 'seed.sql'), 'utf8')
  const all = 'generate_series(1, share)'
  return isNightly ? seed : seed.replace(all, 'generate_series(1, 1 + share / 10)')
}

const pushTo = (url: string, migrations: string) =>
  push(writeProject(mkdtempSync(join(folder, 'copy-')), schemaPaths.config, migrations), url)

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
  const release = released()
  await pushTo(upgraded, join(release, 'migrations'))
  await connected(upgraded, async (client) => {
    await client.query(seedOf(release))
    stored = await contents(client)
  })
  await pushTo(upgraded, schemaPaths.migrations)
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

// The rows of these tables may differ after a migration. Some are rows that every project has, which
// migrations may change (compare.ts checks them); the audit records such changes; others are derived from
// listings and are rebuilt (the invariants check them).
const ours = [
  'audit',
  'listed_records',
  'property_cards',
  'search_documents',
  'search_vocabulary',
  'search_word_changes',
  'rates',
  'vocabularies',
  'settings',
  'plans',
  'areas',
  'governorates',
  'landmarks',
  'error',
]

async function contents(client: pg.Client, like?: Columns): Promise<Map<string, string>> {
  const now = await columnsOf(client)
  const found = new Map<string, string>()
  for (const [table, columns] of Object.entries(like ?? now)) {
    const both = columns.filter((column) => now[table]?.includes(column))
    if (!both.length || ours.some((name) => table.endsWith(`.${name}`))) continue
    const { rows: [row] } = await client.query(
      `select count(*)::int, md5(string_agg(one::text, e'\\n' order by one::text)) as hash
       from (select ${both} from ${table}) as one`,
    )
    if (row.count) found.set(table, `${row.count} ${row.hash} ${both}`)
  }
  return found
}

test('MIG-01 rows are unchanged in the columns that remain', async () => {
  const columns = Object.fromEntries(
    [...stored].map(([table, text]) => [table, text.split(' ').slice(2).join(' ').split(',')]),
  )
  const after = await connected(upgraded, (client) => contents(client, columns))
  expect(stored.size).toBeGreaterThan(15)
  for (const [table, text] of after) {
    expect.soft(`${table} ${text}`).toBe(`${table} ${stored.get(table)}`)
  }
  expect([...after.keys()].sort()).toEqual([...stored.keys()].sort())
})

test('MIG-01 all invariants hold', async () => {
  await connected(upgraded, async (client) => {
    // I-27 requires durability settings, which a temporary server does not have.
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

test('the last release is the newest commit that gave package.json a version of 1.0.0 or later', () => {
  const project = mkdtempSync(join(folder, 'project-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      cwd: project,
      encoding: 'utf8',
    }).trim()
  const commit = (json: object) => {
    writeFileSync(join(project, 'package.json'), JSON.stringify(json, null, 2))
    git('add', '.')
    git('commit', '-qm', 'one')
    return git('rev-parse', 'HEAD')
  }
  git('init', '-q')
  commit({ version: '0.1.0' })
  commit({ version: '1.0.0-rc.1' })
  expect(lastRelease(project)).toBeUndefined()
  const first = commit({ version: '1.0.0' })
  expect(lastRelease(project)).toBe(first)
  commit({ version: '1.0.0', description: 'a change that is no release' })
  commit({ version: '1.1.0-rc.1' })
  expect(lastRelease(project)).toBe(first)
  const second = commit({ version: '1.1.0' })
  expect(lastRelease(project)).toBe(second)
})
