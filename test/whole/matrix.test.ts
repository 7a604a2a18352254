import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type pg from 'pg'
import { database, type Person, signUp } from '../support/client.ts'
import {
  buckets,
  callers,
  channels,
  type Command,
  commands,
  type Outcome,
  servicePolicies,
  tables,
  views,
} from './matrix-outcomes.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { claimsOf, converse, plantRows } from './planted-rows.ts'

// Everything runs in one transaction that is rolled back, with a savepoint for each combination.
let client: pg.PoolClient
let owner: Person
let stranger: Person
const ids: Record<(typeof callers)[number], string[]> = {
  guest: [],
  owner: [],
  'other identity': [],
  stranger: [],
  suspended: [],
}

beforeAll(async () => {
  const people = await Promise.all([signUp(), signUp(), signUp()])
  ;[owner, stranger] = people
  const third = people[2]
  client = await database().connect()
  await client.query('begin')
  const companyId = await insertOrganisation(owner.id, 'company', client)
  await plantRows(client, owner.id, owner.identityId)
  await plantRows(client, owner.id, companyId)
  await plantRows(client, stranger.id, stranger.identityId)
  ids.owner = ids.suspended = [owner.id, owner.identityId]
  ids['other identity'] = [companyId]
  ids.guest = [owner.id, owner.identityId, companyId]
  for (const identity of [owner.identityId, companyId, stranger.identityId]) {
    await converse(client, identity, third.identityId)
  }
  const strangersCompany = await insertOrganisation(stranger.id, 'company', client)
  ids.stranger = [stranger.id, stranger.identityId, strangersCompany]
})

afterAll(async () => {
  await client.query('rollback')
  client.release()
})

const named = (table: string) => `(${table.split('.')[1]}.*)::text`

async function rowsOf(table: string, reached: string[]): Promise<string[]> {
  const { of } = tables[table]!
  const { rows } = await client.query(
    `select ${named(table)} as row from ${table} ${of ? `where ${of} = any($1)` : ''}`,
    of ? [reached] : [],
  )
  return rows.map(({ row }) => row)
}

/** Returns the row's physical location, which any update changes; undefined after a delete. */
async function locationOf(table: string, row: string): Promise<string | undefined> {
  const { rows } = await client.query(
    `select ctid::text from ${table} where ${named(table)} = $1 limit 1`,
    [row],
  )
  return rows[0]?.ctid
}

/** Suspends the owner if the caller is `suspended`. Copies of the status then change, too. */
async function suspendFor(caller: (typeof callers)[number]) {
  if (caller !== 'suspended') return
  await client.query(`update public.accounts set status = 'suspended' where id = $1`, [owner.id])
}

async function become(caller: (typeof callers)[number]) {
  await suspendFor(caller)
  const claims = caller === 'guest' ? '{"role":"anon"}' : claimsOf(owner)
  await client.query(`select set_config('request.jwt.claims', $1, true)`, [claims])
  await client.query(`set local role ${caller === 'guest' ? 'anon' : 'authenticated'}`)
}

async function columnsOf(table: string, privilege: string, role: string): Promise<string[]> {
  const { rows } = await client.query(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped
       and attgenerated = '' and attidentity = ''
       and has_column_privilege($3, attrelid, attnum, $2)
     order by attnum`,
    [table, privilege, role],
  )
  return rows.map(({ name }) => name)
}

/** Returns SQL for the command with all columns that the role may use; if there are none, with any. */
async function attempt(command: Command, table: string, role: string, row: string) {
  const name = table.split('.')[1]
  if (command === 'select') {
    const columns = await columnsOf(table, 'select', role)
    return `select to_jsonb(seen) from (select ${
      columns.length ? columns : '*'
    } from ${table}) as seen`
  }
  if (command === 'delete') return `delete from ${table}`
  if (command === 'update') {
    const columns = await columnsOf(table, 'update', role)
    const first = (await columnsOf(table, 'select', 'postgres'))[0]!
    const set = (columns.length ? columns : [first]).map((column) => `${column} = ${column}`)
    return `update ${table} set ${set}`
  }
  const columns = await columnsOf(table, 'insert', role)
  const literal = `'${row.replaceAll("'", "''")}'::${table}`
  const values = columns.map((column) => `(${literal}).${column}`)
  const insert = columns.length
    ? `insert into ${table} as ${name} (${columns}) values (${values})`
    : `insert into ${table} as ${name} default values`
  if (command === 'insert') return insert
  const { rows } = await client.query(
    `select string_agg(quote_ident(attname), ', ') as key from pg_index
     join pg_attribute on attrelid = indrelid and attnum = any (indkey)
     where indrelid = $1::regclass and indisprimary`,
    [table],
  )
  return rows[0].key && columns.length
    ? `${insert} on conflict (${rows[0].key}) do update set ${columns[0]} = excluded.${columns[0]}`
    : `${insert} on conflict do nothing`
}

async function cell(table: string, command: Command, caller: (typeof callers)[number]) {
  await client.query('savepoint cell')
  try {
    await suspendFor(caller)
    const [row] = await rowsOf(table, ids[caller])
    if (row === undefined) return '-'
    const text = await attempt(command, table, caller === 'guest' ? 'anon' : 'authenticated', row)
    // Deletes the row first, so that a caller who may insert it can do so.
    if (command === 'insert' && !text.includes('default values')) {
      await client.query(`delete from ${table} where ${named(table)} = $1`, [row])
    }
    const location = await locationOf(table, row)
    const { length } = await rowsOf(table, ids[caller])
    await become(caller)
    const { rows } = await client.query(text)
    await client.query('reset role')
    const done = command === 'select'
      ? await includesRow(table, row, rows.map(({ to_jsonb }) => to_jsonb))
      : (await locationOf(table, row)) !== location ||
        (await rowsOf(table, ids[caller])).length !== length
    return done ? 'done' : 'none'
  } catch (error) {
    const { code } = error as { code?: string }
    return code === '42501' ? 'denied' : `error ${code}: ${(error as Error).message}`
  } finally {
    await client.query('rollback to savepoint cell; release savepoint cell')
  }
}

/** Whether the rows that the caller read include this row, judged by the visible columns. */
async function includesRow(table: string, row: string, seen: object[]): Promise<boolean> {
  const { rows } = await client.query(
    `select exists (
       select from jsonb_array_elements($2::jsonb) as one where to_jsonb($1::${table}) @> one
     ) as found`,
    [row, JSON.stringify(seen)],
  )
  return rows[0].found
}

describe('ISO-02 cross-tenant matrix', () => {
  test('every table has its outcomes declared', async () => {
    const { rows } = await client.query(
      `select format('%s.%s', nspname, relname) as name from pg_class
       join pg_namespace on pg_namespace.oid = relnamespace
       where nspname in ('public', 'private', 'api') and relkind in ('r', 'p', 'v', 'm', 'f')`,
    )
    expect(rows.map(({ name }) => name).sort()).toEqual([...Object.keys(tables), ...views].sort())
  })

  test.each(Object.keys(tables))('%s gives each caller what is declared', async (table) => {
    const found: Record<string, string[]> = {}
    const declared: Record<string, Outcome[]> = {}
    for (const command of commands) {
      found[command] = []
      for (const caller of callers) found[command].push(await cell(table, command, caller))
      const outcomes = tables[table]!.may?.[command]
      declared[command] = outcomes ??
        found[command].map((outcome) => outcome === '-' ? '-' : 'denied')
    }
    expect(found).toEqual(declared)
    expect(Object.values(found).flat().some((outcome) => outcome !== '-')).toBe(true)
  })

  test('an admin has the table rights of a stranger: the routes are the only way', async () => {
    await client.query('savepoint admin')
    await client.query('insert into public.admins (account_id) values ($1)', [owner.id])
    for (const table of Object.keys(tables)) {
      for (const command of commands) {
        const declared = tables[table]!.may?.[command]?.[callers.indexOf('stranger')] ?? 'denied'
        const found = await cell(table, command, 'stranger')
        expect(['-', declared], `${table} ${command}`).toContain(found)
      }
    }
    await client.query('rollback to savepoint admin; release savepoint admin')
  })

  test.each(views)('%s cannot be asked for by a client', async (view) => {
    for (const role of ['anon', 'authenticated', 'service_role']) {
      await client.query('savepoint cell')
      await client.query(`set local role ${role}`)
      await expect(client.query(`select from ${view}`), role).rejects
        .toMatchObject({ code: '42501' })
      await client.query('rollback to savepoint cell; release savepoint cell')
    }
    expect((await client.query(`select from ${view} limit 1`)).rowCount).toBeLessThanOrEqual(1)
  })
})

/** Whether the caller's statement has an effect; a refusal counts as no effect. */
async function does(caller: (typeof callers)[number], sql: string, values: unknown[]) {
  await client.query('savepoint cell')
  try {
    await become(caller)
    return ((await client.query(sql, values)).rowCount ?? 0) > 0
  } catch (error) {
    expect((error as { code?: string }).code, sql).toBe('42501')
    return false
  } finally {
    await client.query('rollback to savepoint cell; release savepoint cell')
  }
}

const reached = (caller: (typeof callers)[number]) => ({
  account: caller === 'stranger' ? stranger.id : owner.id,
  identity: caller === 'stranger'
    ? stranger.identityId
    : caller === 'other identity'
    ? ids[caller][0]!
    : owner.identityId,
})

describe('ISO-02 buckets and channels', () => {
  test('every policy of Storage and Realtime is declared', async () => {
    const { rows } = await client.query(
      `select format('%s.%s', schemaname, tablename) as table, policyname as name
       from pg_policies where schemaname in ('storage', 'realtime') order by policyname`,
    )
    const found: Record<string, string[]> = Object.fromEntries(
      Object.keys(servicePolicies).map((table) => [table, []]),
    )
    for (const { table, name } of rows) (found[table] ??= []).push(name)
    expect(found).toEqual(servicePolicies)
  })

  test('every bucket is declared', async () => {
    const { rows } = await client.query('select id from storage.buckets order by id')
    expect(rows.map(({ id }) => id)).toEqual(Object.keys(buckets).sort())
  })

  test.each(Object.keys(buckets))('%s gives each caller what is declared', async (bucket) => {
    for (const caller of callers) {
      const { account, identity } = reached(caller)
      const name = `${identity}/${randomUUID()}.jpg`
      const { rows: [{ id }] } = await client.query(
        'insert into storage.objects (bucket_id, name, owner_id) values ($1, $2, $3) returning id',
        [bucket, name, account],
      )
      const insert =
        `insert into storage.objects (bucket_id, name, owner_id) values ($1, $2, auth.uid()::text)`
      const tries: Record<Command, [string, unknown[]]> = {
        select: ['select from storage.objects where id = $1', [id]],
        insert: [insert, [bucket, `${identity}/another.jpg`]],
        update: ['update storage.objects set name = name where id = $1', [id]],
        delete: ['delete from storage.objects where id = $1', [id]],
        upsert: [
          `${insert} on conflict (bucket_id, name) do update set owner_id = auth.uid()::text`,
          [bucket, name],
        ],
      }
      for (const command of commands) {
        const may = buckets[bucket]![command]?.includes(caller) ?? false
        expect(await does(caller, ...tries[command]), `${caller} ${command}`).toBe(may)
      }
    }
  })

  test.each(Object.keys(channels))('the channel %s admits those declared', async (kind) => {
    const channel = channels[kind]!
    for (const caller of callers) {
      const values: Record<string, string> = reached(caller)
      const topicSql = channel.topic.replace(/:(\w+)/g, (_, name) => `'${values[name]}'`)
      const { rows: [topic] } = await client.query(`${topicSql} limit 1`)
      const [name] = Object.values(topic)
      await client.query(`select set_config('realtime.topic', $1, true)`, [name])
      for (const extension of ['broadcast', 'presence'] as const) {
        await client.query(
          `insert into realtime.messages (topic, extension, event, private, payload)
           values ($1, $2, 'planted', true, '{}')`,
          [name, extension],
        )
        const hears = 'select from realtime.messages where topic = $1 and extension = $2'
        const speaks = 'insert into realtime.messages (topic, extension) values ($1, $2)'
        const at = `${caller} ${extension}`
        expect(await does(caller, hears, [name, extension]), `${at} hears`)
          .toBe(channel.hear[extension]?.includes(caller) ?? false)
        expect(await does(caller, speaks, [name, extension]), `${at} speaks`)
          .toBe(channel.speak[extension]?.includes(caller) ?? false)
      }
    }
  })
})
