import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../config/environment.ts'
import { advise, exceptions, type Finding, unexplained } from './advisors.ts'
import { build, connected } from './build.ts'
import { migrationsIn, push, writeProject } from './cli.ts'
import { differences, rows, snapshot } from './compare.ts'
import { normaliseExpression } from './expression.ts'
import { conventions, invalidBodies, violations } from './conventions.ts'
import { migrate, schemaPaths } from './migration.ts'
import { onTemporaryServer } from './temporary-server.ts'
import type { Postgres } from '../postgres/postgres.ts'
import { isNightly } from '../../test/support/nightly.ts'

// Tests that each check of `npm run check` finds a fault that was introduced on purpose. The tests need their
// own databases, even if the suite runs against a hosted project.
let server: Postgres
let stop: () => void
let stopped: Promise<void>

beforeAll(async () => {
  await new Promise<void>((ready, failed) => {
    stopped = onTemporaryServer(async (fresh) => {
      server = fresh
      await build(await fresh.createDatabase('clean'), schemaPaths.sql)
      ready()
      await new Promise<void>((resolve) => (stop = resolve))
    })
    stopped.catch(failed)
  })
})

afterAll(async () => {
  stop?.()
  await stopped
})

const clean = () => server.urlOf('postgres', 'clean')

async function planted(name: string, sql: string): Promise<string> {
  await connected(
    server.adminUrl,
    (client) => client.query(`create database ${name} template clean owner postgres`),
  )
  const url = server.urlOf('postgres', name)
  await connected(url, (client) => client.query(sql))
  return url
}

describe('ISO-01 catalogue of protections', () => {
  // If the suite runs against a hosted project, that project's catalogue is checked.
  const url = () => variable('DATABASE_URL') ?? clean()

  for (const habit of conventions) {
    test(habit.name, async () => {
      expect(await violations(url(), habit)).toEqual([])
    })
  }

  const bad = `
    create table public.planted (id uuid primary key, note text);
    grant select, insert (note) on public.planted to anon;
    grant truncate on public.planted to authenticated;
    alter table public.planted add constraint planted_later check (note <> '') not valid;
    create view public.planted_view as select * from public.planted;
    create materialized view public.planted_copy as select 1 as one;
    create function api.planted() returns integer language sql security definer as 'select 1';
    grant execute on function api.planted to public;
    create function private.planted_calm() returns text language plpgsql immutable set search_path = ''
      as 'begin return (select note from public.planted where private.planted_clock() is null); end';
    create function private.planted_clock() returns timestamptz language sql stable return now();
    create function private.planted_list(page_size integer) returns integer language plpgsql
      set search_path = '' as 'begin return page_size; end';
    grant execute on function private.planted_list to anon;
    create function private.planted() returns trigger language plpgsql set search_path = ''
      as 'begin new.note := 1; return new; end';
    create trigger planted before insert on public.planted
      for each row execute function private.planted();
    create trigger planted_too before insert or update on public.planted
      for each row execute function private.planted();
    create trigger planted_blindly before update of price on public.properties
      for each row when (new.price is not null) execute function private.planted();
    create trigger planted_half before update of price, status on public.properties
      for each row when (old.status is distinct from new.status) execute function private.planted();
    create trigger planted_aside before update of price on public.properties
      for each row when (old.status = 'active') execute function private.planted();`

  test('reports a planted table, view and function for every convention', async () => {
    const url = await planted('bad_catalogue', bad)
    for (const habit of conventions) {
      const found = await violations(url, habit)
      expect(found.length, habit.name).toBeGreaterThan(0)
      expect(found.every((what) => what.includes('planted')), habit.name).toBe(true)
    }
    const compared = conventions.find(({ name }) => name.startsWith('a trigger on properties'))
    expect(await violations(url, compared!)).toEqual(
      ['aside', 'blindly', 'half'].map((name) => `planted_${name} on public.properties: price`),
    )
  })
})

describe('advisors', () => {
  test('find planted bad tables', async () => {
    const url = await planted(
      'bad_advice',
      `create table api.planted (
         id bigint primary key,
         area_id text references public.areas (id)
       );
       grant select on api.planted to anon;
       create table public.planted (id bigint);
       alter table public.planted enable row level security;`,
    )
    const findings = await advise(url)
    expect(findings.map(({ lint, object }) => `${lint} ${object}`)).toEqual(
      expect.arrayContaining([
        'rls_disabled_in_public api.planted',
        'unindexed_foreign_keys api.planted planted_area_id_fkey',
        'rls_enabled_no_policy public.planted',
        'no_primary_key public.planted',
      ]),
    )
    const lines = unexplained(findings, exceptions())
    expect(lines.filter((line) => line.includes('planted')).length).toBeGreaterThanOrEqual(4)
  })

  test('are excused only by an exception for the same object', () => {
    const finding: Finding = { lint: 'no_primary_key', object: 'public.a', detail: 'none' }
    const reason = 'because'
    expect(unexplained([finding], [{ lint: 'no_primary_key', object: 'public.a', reason }]))
      .toEqual([])
    expect(unexplained([finding], [{ lint: 'no_primary_key', object: 'public.b', reason }]))
      .toHaveLength(2)
    expect(unexplained([], [{ lint: 'no_primary_key', object: 'public.a', reason }])[0])
      .toContain('take it out')
  })
})

describe('the comparison', () => {
  test('finds a grant, a policy, a comment, a setting and a row that one side lacks', async () => {
    const url = await planted(
      'different',
      `grant select on public.areas to facade;
       create policy planted on storage.objects using (false);
       comment on schema api is 'planted';
       alter role backend set work_mem = '5MB';
       insert into storage.buckets (id, name) values ('planted', 'planted');`,
    )
    const things = differences(await snapshot(clean()), await snapshot(url), ['one', 'other'])
    const found = (text: string) => expect(things.join('\n')).toContain(text)
    found('grants on relation public.areas')
    found('policy storage.objects planted')
    found('comment on schema api')
    const lines = differences(await rows(clean()), await rows(url), ['one', 'other'])
    expect(lines).toEqual([expect.stringContaining('planted')])
    // The role's setting does not differ here: roles belong to the server, which both databases share.
    await connected(url, (client) => client.query('alter role backend reset work_mem'))
  })

  test('is not misled by how Postgres prints a condition', () => {
    expect(normaliseExpression('CHECK (((a AND b) AND (c AND d)))')).toBe(
      normaliseExpression('CHECK ((a AND b AND (c AND d)))'),
    )
    expect(normaliseExpression('CHECK (((a OR b) AND c))')).not.toBe(
      normaliseExpression('CHECK ((a OR (b AND c)))'),
    )
    expect(normaliseExpression(`CHECK ((a = '(x AND y') AND b)`)).toContain(`'(x AND y'`)
  })

  test('finds a function whose body no longer fits the schema', async () => {
    const url = await planted(
      'unsound',
      `set check_function_bodies = off;
       create function private.planted() returns text language sql set search_path = ''
         as 'select no_such_column from public.areas';`,
    )
    expect(await invalidBodies(url)).toEqual([expect.stringContaining('no_such_column')])
  })
})

describe('a migration', { shuffle: false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'))
  const sample = {
    ...schemaPaths,
    sql: join(folder, 'sql'),
    migrations: join(folder, 'migrations'),
  }
  mkdirSync(sample.sql)
  afterAll(() => rmSync(folder, { recursive: true }))

  const write = (name: string, text: string) => writeFileSync(join(sample.sql, name), text)
  const applied = new Set<string>()
  /** Applies migrations without the CLI, which would cost a second of processor time for each call. */
  async function apply(copy: string, url: string) {
    const files = join(copy, 'supabase', 'migrations')
    for (const file of migrationsIn(files).map((name) => join(files, name))) {
      if (applied.has(file)) continue
      await connected(url, (client) => client.query(readFileSync(file, 'utf8')))
      applied.add(file)
    }
  }
  const run = async (name: string, renames: string[] = [], by = isNightly ? push : apply) => {
    const copy = mkdtempSync(join(folder, 'copy-'))
    const made = await migrate(server, copy, sample, { name, renames, log: () => {} }, by)
    return made.map(({ file }) => file.replace(/^\d{14}_/, ''))
  }
  const built = async (name: string) => build(await server.createDatabase(name), sample.sql)
  const latest = (name: string) => {
    const file = readdirSync(sample.migrations).filter((one) => one.endsWith(`_${name}.sql`)).at(-1)
    return readFileSync(join(sample.migrations, file!), 'utf8')
  }
  const lamps = `
    create table public.lamps (
      id integer primary key,
      watts private.watts not null,
      colour text not null,
      constraint bright check (id between 1 and 99 and colour <> '')
    );
    alter table public.lamps enable row level security;`
  const row = (id: number) =>
    `insert into public.lamps values (${id}, 5, 'red') on conflict do nothing;`

  test('is sql/ itself, file after file, where it is the first', async () => {
    write('01_base.sql', 'create schema private;')
    write('91_data.sql', 'select 1;')
    expect(await run('first', [], push)).toEqual(['first.sql'])
    expect(latest('first')).toMatch(/^-- Generated by npm run db:migration from sql\//)
    expect(latest('first')).toContain('revoke all on tables\n  from anon, authenticated')
    expect(latest('first')).toMatch(
      /^-- sql\/01_base\.sql\n\ncreate schema private;$.*^-- sql\/91_data\.sql\n\nselect 1;\n$/ms,
    )
  })

  test('brings over scripts verbatim and compares areas afterwards', async () => {
    write('02_lamps.sql', `${lamps} create extension if not exists cube with schema extensions;`)
    write('01_base.sql', 'create schema private; create domain private.watts as integer;')
    write('91_data.sql', row(1))
    expect(await run('lamps', [], push)).toEqual(['lamps_extensions.sql', 'lamps.sql', 'data.sql'])
    expect(latest('data')).toContain(`-- sql/91_data.sql\n\n${row(1)}`)
    // The migrations also create extensions that the stand-in already has, and revoke grants of older
    // projects.
    expect(latest('lamps_extensions')).toContain('create extension if not exists cube')
    expect(latest('lamps')).toContain('revoke all on tables\n  from anon, authenticated')
    expect(latest('lamps')).toMatch(/"id" .*"watts" .*"colour" /)
  })

  test('revokes what projects from before 30 May 2026 grant by default', async () => {
    const url = await server.createDatabase('older')
    const all = ['tables', 'sequences', 'functions'].map((kind) =>
      `alter default privileges in schema public grant all on ${kind}
       to anon, authenticated, service_role;`
    )
    await connected(url, (client) => client.query(all.join('')))
    await push(
      writeProject(mkdtempSync(join(folder, 'copy-')), schemaPaths.config, sample.migrations),
      url,
    )
    const grants = (await snapshot(url)).get('grants on relation public.lamps')
    expect(grants).toMatch(/^postgres=\w+\/postgres$/)
  })

  test('is not written when nothing changed', async () => {
    expect(await run('nothing')).toEqual([])
  })

  test('has only what changed', async () => {
    write(
      '02_lamps.sql',
      `${lamps} alter table public.lamps add column label text;
      create extension if not exists cube with schema extensions;`,
    )
    expect(await run('label')).toEqual(['label.sql'])
    expect(latest('label')).toMatch(/ADD COLUMN "label" text/)
    write('91_data.sql', row(1) + row(2))
    expect(await run('second')).toEqual(['data.sql'])
  })

  test('asks before it drops what may have been renamed', async () => {
    write(
      '02_lamps.sql',
      lamps.replaceAll('colour', 'hue') +
        'alter table public.lamps add column label text;',
    )
    const pair = 'column:public.lamps.colour=column:public.lamps.hue'
    await expect(run('hue')).rejects.toThrow(`--rename=${pair}`)
    expect(await run('hue', [pair])).toEqual(['hue.sql', 'hue_validated.sql'])
    expect(latest('hue')).toContain('RENAME COLUMN "colour" TO "hue"')
  })

  test('is refused where Postgres 17.12 would not alter a table whose row type is used', async () => {
    const hued = lamps.replaceAll('colour', 'hue')
    const bright = `
      create function public.is_bright(lamp public.lamps) returns boolean
        return (lamp).watts > 50;`
    const more = 'alter table public.lamps add column label text;'
    write('02_lamps.sql', hued + more + bright)
    expect(await run('bright')).toEqual(['bright.sql'])
    const before = readdirSync(sample.migrations)
    const changes = {
      seen: 'alter table public.lamps add column seen integer default 5;',
      token: 'alter table public.lamps add column token uuid not null default gen_random_uuid();',
      nth: 'alter table public.lamps add column nth bigint generated always as identity;',
      power: 'alter table public.lamps add column power private.watts;',
      label: 'alter table public.lamps alter column label type varchar(40);',
    }
    const together = Object.entries(changes)
    for (const some of isNightly ? together.map((one) => [one]) : [together]) {
      write('02_lamps.sql', hued + more + some.map(([, change]) => change).join('') + bright)
      const refusal = await run('refused').then(() => '', ({ message }) => String(message))
      expect(refusal).toContain(
        'Postgres from 17.12 on refuses this, because functions with an SQL body use the row type ' +
          'of the table, so nothing was written:\n',
      )
      for (const [column] of some) {
        expect(refusal).toContain(
          `\n  public.lamps: column "${column}", function public.is_bright(public.lamps)\n`,
        )
      }
    }
    expect(readdirSync(sample.migrations)).toEqual(before)
    write('02_lamps.sql', `${hued}${more}alter table public.lamps add column plain text;${bright}`)
    expect(await run('plain')).toEqual(['plain.sql'])
    write('02_lamps.sql', hued + more)
  })

  test('leaves triggers on tables of Auth to 90_platform.sql, also when they are dropped', async () => {
    write(
      '01_base.sql',
      `create schema private; create domain private.watts as integer;
       create function private.touched() returns trigger language plpgsql
         as 'begin return null; end';`,
    )
    write(
      '90_platform.sql',
      `create or replace trigger touched after delete on auth.mfa_amr_claims
         for each row execute function private.touched();`,
    )
    expect(await run('touched')).toEqual(['touched.sql', 'platform.sql'])
    expect(latest('touched')).not.toMatch(/trigger .* on /i)
    write('90_platform.sql', 'select 1;')
    await expect(run('untouched')).rejects.toThrow(
      /only in the migrations: trigger auth.mfa_amr_claims touched/,
    )
    write('90_platform.sql', 'drop trigger if exists touched on auth.mfa_amr_claims;')
    expect(await run('untouched')).toEqual(['platform.sql'])
  })

  test('is refused when a script no longer has what it created before', async () => {
    const before = readdirSync(sample.migrations)
    write('91_data.sql', row(2))
    await expect(run('forgotten')).rejects.toThrow(/only in the migrations: public.lamps {"id": 1/)
    expect(readdirSync(sample.migrations)).toEqual(before)
  })

  test('reports the place of an error in sql/', async () => {
    write('03_wrong.sql', 'select 1;\n\ncreate table public.wrong (id nonsense);')
    await expect(built('wrong')).rejects.toThrow(
      /sql\/03_wrong.sql:3: type "nonsense" does not exist/,
    )
  })

  test('reports a file that needs a later one', async () => {
    write('03_wrong.sql', 'create table public.wrong (id public.later);')
    write('04_later.sql', 'create domain public.later as integer;')
    await expect(built('early')).rejects.toThrow(
      /sql\/03_wrong.sql:1: type "public.later" does not exist/,
    )
  })
})
