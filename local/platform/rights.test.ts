import { expect, test } from 'vitest'
import { database } from '../../test/support/client.ts'

async function attempt(...statements: string[]): Promise<string> {
  const client = await database().connect()
  try {
    await client.query(`begin; set local lock_timeout = '30s'`)
    for (const statement of statements) await client.query(statement)
    return 'done'
  } catch (error) {
    return (error as { code: string }).code
  } finally {
    await client.query('rollback')
    client.release()
  }
}

test('migrations run without superuser rights, and as no member of the services', async () => {
  const { rows } = await database().query(
    `select current_user, rolsuper,
       array(
         select service from unnest(array[
           'supabase_admin', 'supabase_auth_admin', 'supabase_storage_admin',
           'supabase_realtime_admin'
         ]) as service
         where pg_has_role(service, 'usage') or pg_has_role(service, 'set')
       ) as acts_as
     from pg_roles where rolname = current_user`,
  )
  expect(rows).toEqual([{ current_user: 'postgres', rolsuper: false, acts_as: [] }])
})

test('client roles inherit, the role of Auth creates no roles, and numbers lose their last digits', async () => {
  const { rows } = await database().query(
    `select rolname as name, rolinherit as inherits, rolcreaterole as makes_roles,
       rolbypassrls as sees_all
     from pg_roles
     where rolname in ('anon', 'authenticated', 'authenticator', 'service_role', 'supabase_auth_admin')
     order by 1`,
  )
  const role = (name: string, inherits: boolean, sees_all = false) => ({
    name,
    inherits,
    makes_roles: false,
    sees_all,
  })
  expect(rows).toEqual([
    role('anon', true),
    role('authenticated', true),
    role('authenticator', false),
    role('service_role', true, true),
    role('supabase_auth_admin', false),
  ])
  const { rows: [{ text, reserved }] } = await database().query(
    `select (0.1::float8 + 0.2::float8)::text as text,
       current_setting('superuser_reserved_connections') as reserved`,
  )
  expect([text, reserved]).toEqual(['0.3', '3'])
})

test('a message of Realtime is text or bytes, not both', async () => {
  const insert = (columns: string, values: string) =>
    attempt(
      `insert into realtime.messages (topic, extension, ${columns})
       values ('planted', 'broadcast', ${values})`,
    )
  expect(await insert('payload', `'{}'`)).toBe('done')
  expect(await insert('binary_payload', `'\\x00'`)).toBe('done')
  expect(await insert('payload, binary_payload', `'{}', '\\x00'`)).toBe('23514')
})

const tables = ['storage.objects', 'storage.buckets', 'realtime.messages', 'auth.sessions']

test.each([
  ['a column', ...tables.map((table) => `alter table ${table} add column planted text`)],
  ['an index', ...tables.map((table) => `create index on ${table} (id)`)],
  ['a constraint', ...tables.map((table) => `alter table ${table} add check (true)`)],
  ['row security', ...tables.map((table) => `alter table ${table} disable row level security`)],
  [
    'a trigger switched off',
    'alter table storage.objects disable trigger protect_objects_delete',
    'alter table auth.sessions disable trigger user',
  ],
  ['a comment', ...tables.map((table) => `comment on table ${table} is 'planted'`)],
  ['an owner', ...tables.map((table) => `alter table ${table} owner to postgres`)],
  ['a table gone', ...tables.map((table) => `drop table ${table}`)],
  [
    'a table, a function or a type of our own among theirs',
    ...['auth', 'storage', 'realtime'].flatMap((schema) => [
      `create table ${schema}.planted (id integer)`,
      `create function ${schema}.planted() returns integer language sql as 'select 1'`,
      `create type ${schema}.planted as enum ('one')`,
    ]),
  ],
  [
    'a function of theirs',
    `create or replace function storage.filename(name text) returns text
       language sql immutable as 'select name'`,
    `create or replace function realtime.topic() returns text language sql as 'select null'`,
    `create or replace function auth.uid() returns uuid language sql as 'select null::uuid'`,
    'drop function realtime.topic()',
    'alter function auth.uid() volatile',
  ],
])('%s is refused', async (_, ...statements) => {
  for (const statement of statements) expect(await attempt(statement), statement).toBe('42501')
})

test('privileges can be granted on only where the services allow it', async () => {
  expect(await attempt('grant select on storage.objects to anon')).toBe('done')
  expect(await attempt('grant select on auth.users to service_role')).toBe('done')
  // Without the grant option, GRANT only raises a warning and grants nothing.
  const { rows } = await database().query(
    `select has_table_privilege('postgres', 'auth.users', 'update with grant option') as auth,
       has_table_privilege('postgres', 'realtime.messages', 'insert with grant option') as realtime`,
  )
  expect(rows).toEqual([{ auth: false, realtime: false }])
})

test.each(tables)('%s accepts policies and triggers, which can be dropped again', async (table) => {
  const done = await attempt(
    `create policy planted on ${table} for select to authenticated using (false)`,
    `alter policy planted on ${table} using (true)`,
    `drop policy planted on ${table}`,
    `create function public.planted() returns trigger language plpgsql as
       'begin return null; end'`,
    `create trigger planted before truncate on ${table} execute function public.planted()`,
    `create or replace trigger planted after truncate on ${table}
       execute function public.planted()`,
    `drop trigger planted on ${table}`,
  )
  expect(done).toBe('done')
})

test('the right to write policies permits nothing else', async () => {
  // The right to create a policy must not also allow adding a column, be it in the same transaction, in the
  // same message or in the same function.
  const written = 'create policy planted on realtime.messages using (false)'
  const column = 'alter table realtime.messages add column planted text'
  expect(await attempt(written, column)).toBe('42501')
  expect(await attempt(`${written}; ${column}`)).toBe('42501')
  expect(await attempt(`do $$ begin ${written}; ${column}; end $$`)).toBe('42501')
  // The role postgres cannot create a policy on a partition of realtime.messages.
  const { rows } = await database().query(
    `select 'realtime.messages_' || to_char(now() at time zone 'UTC', 'YYYY_MM_DD') as partition`,
  )
  const planted = `create policy planted on ${rows[0].partition} using (false)`
  expect(await attempt(planted)).toBe('42501')
})
