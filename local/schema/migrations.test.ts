import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { databaseAt } from './connection.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connected } from './build.ts'
import { push, remoteFlag, root, writeProject } from './cli.ts'
import { differences, snapshot } from './compare.ts'
import { conventions, violations } from './conventions.ts'
import { lint } from './squawk.ts'
import { migrate, schemaPaths } from './migration.ts'
import { onTemporaryServer } from './temporary-server.ts'
import type { Postgres } from '../postgres/postgres.ts'
import { bulk, isNightly } from '../../test/support/nightly.ts'
import { pause, waitUntil } from '../../test/support/wait.ts'

// A small schema on its own server. `before` is the old version, with rows; `after` is the new version.
let server: Postgres
let stop: () => void
let stopped: Promise<void>
const folder = mkdtempSync(join(tmpdir(), 'online-'))
const sample = { ...schemaPaths, sql: join(folder, 'sql'), migrations: join(folder, 'migrations') }

const closed = (table: string) => `alter table public.${table} enable row level security;`
const before = `
  create table public.rooms (id integer primary key, name text);
  create table public.lamps (
    id integer primary key, room_id integer, watts integer, label text, code text
  );
  create index lamps_watts_idx on public.lamps (watts);
  create index lamps_label_idx on public.lamps (label);
  create table public.plugs (
    plug integer constraint plugs_pkey primary key,
    socket integer not null constraint plugs_socket_key unique
  );
  ${closed('rooms')} ${closed('lamps')} ${closed('plugs')}`
const after = `
  create table public.rooms (id integer primary key, name text);
  create table public.lamps (
    id integer primary key,
    room_id integer constraint lamps_room_id_fkey references public.rooms (id),
    watts integer not null constraint lamps_watts_range check (watts between 1 and 999),
    label text,
    code text constraint lamps_code_key unique,
    hue text,
    constraint lamps_hue_is_short check (char_length(hue) < 20)
  );
  create index lamps_room_id_idx on public.lamps (room_id);
  create index lamps_label_idx on public.lamps (lower(label));
  create index lamps_hue_idx on public.lamps (hue);
  create table public.shades (id integer primary key, lamp_id integer references public.lamps (id));
  create index shades_lamp_id_idx on public.shades (lamp_id);
  create table public.plugs (
    plug integer not null,
    socket integer not null,
    wall integer,
    constraint plugs_pkey primary key (plug, socket),
    constraint plugs_socket_key unique (socket, wall)
  );
  ${closed('rooms')} ${closed('lamps')} ${closed('shades')} ${closed('plugs')}`
const rows = `
  insert into public.rooms select n, 'room' from generate_series(1, 3) as n;
  insert into public.lamps select n, n % 3 + 1, n % 99 + 1, 'lamp ' || n, 'code ' || n
  from generate_series(1, 1000) as n;
  insert into public.plugs select n, n from generate_series(1, 1000) as n;`

const change = async (name: string, sql: string) => {
  writeFileSync(join(sample.sql, 'lamps.sql'), sql)
  const copy = mkdtempSync(join(folder, 'copy-'))
  const made = await migrate(server, copy, sample, { name, drop: true, log: () => {} })
  return made.map(({ file }) => file.replace(/^\d{14}_|\.sql$/g, ''))
}
const textOf = (name: string) => {
  const file = readdirSync(sample.migrations).find((one) => one.endsWith(`_${name}.sql`))
  return readFileSync(join(sample.migrations, file!), 'utf8')
}

let made: string[]
// The database with `before` and its rows. Each test gets a copy of it.
const model = 'filled'
let declared: Awaited<ReturnType<typeof snapshot>>

beforeAll(async () => {
  await new Promise<void>((ready, failed) => {
    stopped = onTemporaryServer(async (fresh) => {
      server = fresh
      ready()
      await new Promise<void>((resolve) => (stop = resolve))
    })
    stopped.catch(failed)
  })
  mkdirSync(sample.sql)
  await change('first', before)
  const url = await copyOf('migrated', model)
  await connected(url, (client) => client.query(rows))
  made = await change('second', after)
  declared = await snapshot(server.urlOf('postgres', 'declared'))
})

afterAll(async () => {
  stop?.()
  await stopped
  rmSync(folder, { recursive: true })
})

async function copyOf(database: string, name: string): Promise<string> {
  await connected(
    server.adminUrl,
    (client) => client.query(`create database ${name} template ${database} owner postgres`),
  )
  return server.urlOf('postgres', name)
}

const filled = (name: string) => copyOf(model, name)

const pushAll = (url: string) =>
  push(writeProject(mkdtempSync(join(folder, 'copy-')), schemaPaths.config, sample.migrations), url)

const expectDeclared = async (url: string, message?: string) =>
  expect(differences(await snapshot(url), declared, ['', '']), message).toEqual([])

async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client(databaseAt(url))
  client.on('error', () => {})
  await client.connect()
  return client
}

describe('a migration of tables with rows', () => {
  test('creates indexes in files of their own, and validates rows in the last', () => {
    expect(made).toEqual([
      ...['second_lamps_code_key', 'second_plugs_pkey', 'second_lamps_label_idx'],
      ...['second_lamps_room_id_idx', 'second', 'second_lamps_watts_idx'],
      ...['second_plugs_socket_key', 'second_lamps_hue_idx', 'second_validated'],
    ])
  })

  test('has a lock timeout in every transaction, and nowhere else', () => {
    for (const name of made) {
      const concurrent = / CONCURRENTLY /.test(textOf(name))
      expect(/^set lock_timeout = '1s';$/m.test(textOf(name)), name).toBe(!concurrent)
      // As the CLI does not open a transaction block, Postgres would warn about `set local`.
      expect(textOf(name), name).not.toMatch(/\bset local\b/i)
    }
  })

  test('first drops what an earlier attempt at an index may have left', () => {
    for (const name of ['lamps_code_key', 'lamps_hue_idx']) {
      expect(textOf(`second_${name}`).split(/;\n/)[1])
        .toMatch(new RegExp(`DROP INDEX CONCURRENTLY IF EXISTS (public|"public")."?${name}"?$`))
    }
  })

  test('creates an index that replaces another beside it', () => {
    expect(textOf('second_lamps_label_idx')).toMatch(
      new RegExp(
        [
          ...[
            'DROP INDEX CONCURRENTLY IF EXISTS .*"lamps_label_idx_new"',
            'CREATE INDEX CONCURRENTLY',
          ],
          ...['DROP INDEX CONCURRENTLY IF EXISTS .*lamps_label_idx"?', 'ALTER INDEX .* RENAME TO'],
        ].join('.*;\\s.*'),
        's',
      ),
    )
  })

  test('replaces a key by another in one transaction', () => {
    for (
      const [name, type, file] of [
        ['plugs_pkey', 'PRIMARY KEY', 'second'],
        // The unique constraint comes last, because it waits for its new column.
        ['plugs_socket_key', 'UNIQUE', 'second_validated'],
      ]
    ) {
      const concurrent = textOf(`second_${name}`)
      expect(concurrent).toMatch(new RegExp(`DROP INDEX CONCURRENTLY IF EXISTS .*"${name}_new"`))
      expect(concurrent).toMatch(new RegExp(`CREATE UNIQUE INDEX CONCURRENTLY "${name}_new"`))
      expect(concurrent).not.toContain('RENAME')
      expect(textOf(file!)).toMatch(
        new RegExp(
          `DROP CONSTRAINT "?${name}"?;\\s+ALTER TABLE .* ADD CONSTRAINT "${name}" ${type} ` +
            `USING INDEX "${name}_new"`,
        ),
      )
      for (const other of made.filter((one) => one !== file)) {
        expect(textOf(other), other).not.toMatch(new RegExp(`DROP CONSTRAINT "?${name}"?;`))
      }
    }
  })

  test('enforces new constraints for new rows first', () => {
    const main = textOf('second')
    expect(main).toMatch(/ADD CONSTRAINT "lamps_room_id_fkey" FOREIGN KEY .* NOT VALID;/)
    expect(main).toMatch(/ADD CONSTRAINT "lamps_watts_range" CHECK .* NOT VALID;/)
    expect(main).toMatch(/ADD CONSTRAINT "lamps_code_key" UNIQUE USING INDEX/)
    expect(main).not.toMatch(/SET NOT NULL/)
    const last = textOf('second_validated')
    expect(last).toMatch(/VALIDATE CONSTRAINT "lamps_room_id_fkey"/)
    expect(last).toMatch(/VALIDATE CONSTRAINT "watts_is_there".*SET NOT NULL.*DROP CONSTRAINT/s)
  })

  test('MIG-06 passes squawk, which reports what would block users', async () => {
    expect(await lint(sample.migrations)).toEqual([])
    const bad = mkdtempSync(join(folder, 'bad-'))
    writeFileSync(join(bad, '20200101000000_first.sql'), '')
    writeFileSync(
      join(bad, '20300101000000_bad.sql'),
      `create index a on public.lamps (id); alter table public.lamps drop column label;
       alter table public.lamps add constraint b check (id > 0);
       alter table public.lamps alter column code type integer using 1;`,
    )
    const found = (await lint(bad)).map(({ lint, object }) => `${object}: ${lint}`)
    for (
      const rule of [
        ...['require-lock-timeout', 'require-concurrent-index-creation', 'ban-drop-column'],
        ...['constraint-missing-not-valid', 'changing-column-type'],
      ]
    ) expect(found).toContain(`bad: ${rule}`)
  })
})

describe('a push', () => {
  test.runIf(isNightly)(
    'times out behind a long transaction: others wait for at most 2 s',
    async () => {
      const url = await filled('behind')
      const long = await session(url)
      await long.query('begin')
      await long.query(`update public.rooms set name = name where id = 1`)
      const pushing = pushAll(url)
      const other = await session(url)
      await other.query(`set lock_timeout = '2s'`)
      const seen = await session(url)
      const often = 3
      let times = 0
      let waiting = false
      const work = async () => {
        while (times < often) {
          await other.query('select from public.rooms where id = 2')
          await other.query('update public.rooms set name = name where id = 2')
          await pause(20, 'any moment is right')
        }
      }
      await Promise.all([
        work(),
        waitUntil('the push has waited a few times', async () => {
          const { rowCount } = await seen.query(
            `select from pg_locks where relation = 'public.rooms'::regclass and not granted
             and mode <> 'RowExclusiveLock' and mode <> 'AccessShareLock'`,
          )
          if (rowCount && !waiting) times++
          waiting = rowCount! > 0
          return times >= often
        }),
      ])
      await long.query('commit')
      await pushing
      for (const client of [long, other, seen]) await client.end()
      await expectDeclared(url)
    },
  )

  test('MIG-02 that dies while it creates an index is repaired by the next', async () => {
    const url = await filled('killed')
    const writer = await session(url)
    await writer.query('begin')
    await writer.query(`update public.lamps set label = label where id = 1`)
    // The first file cannot proceed before the writer's transaction ends.
    const copy = writeProject(
      mkdtempSync(join(folder, 'copy-')),
      schemaPaths.config,
      sample.migrations,
    )
    const program = join(root, 'node_modules', 'supabase', 'dist', 'supabase.js')
    const cli = spawn(
      process.execPath,
      [program, '--workdir', copy, 'db', 'push', remoteFlag(url), '--yes'],
      { stdio: 'ignore' },
    )
    const seen = await session(url)
    await waitUntil('the index is being made', async () => {
      const { rows } = await seen.query(`select from pg_index where not indisvalid`)
      return rows.length > 0
    })
    cli.kill('SIGKILL')
    await seen.query(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity
       where query ~ 'CONCURRENTLY' and pid <> pg_backend_pid()`,
    )
    await writer.query('commit')
    const valid = conventions.find(({ name }) => name === 'every index and constraint is valid')!
    expect(await violations(url, valid)).toEqual(['public.lamps_code_key'])

    await pushAll(url)
    expect(await violations(url, valid)).toEqual([])
    await expectDeclared(url)
    for (const client of [writer, seen]) await client.end()
  })

  test('MIG-02 that dies at any statement is continued by the next', async () => {
    // Ends the connection at the start of the nth DDL command of a push, counted by a sequence.
    const trap = (nth: number) => `
      create schema trap; create sequence trap.counted;
      create function trap.spring() returns event_trigger language plpgsql as $$
      begin
        if current_user = 'postgres' and nextval('trap.counted') = ${nth} then
          perform pg_terminate_backend(pg_backend_pid());
        end if;
      end $$;
      grant usage on schema trap to postgres; grant usage on sequence trap.counted to postgres;
      create event trigger trap on ddl_command_start execute function trap.spring();`
    let ended = 0
    // In a normal run, it dies only at one statement near the beginning and at one in the middle.
    for (let nth = 2; isNightly || nth < 40; nth += bulk(3, 24)) {
      const name = `trap_${nth}`
      const url = await filled(name)
      const admin = server.urlOf('supabase_admin', name)
      await connected(admin, (client) => client.query(trap(nth)))
      const died = await pushAll(url).then(() => false, () => true)
      await connected(admin, (client) => client.query('drop schema trap cascade'))
      if (!died) break
      ended++
      await pushAll(url)
      await expectDeclared(url, `statement ${nth}`)
      await server.dropDatabase(name)
    }
    expect(ended).toBeGreaterThan(bulk(4, 1))
  })
})
