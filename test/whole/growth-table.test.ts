// HARM-04: docs/growth.md lists every table to which clients can add rows.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { database } from '../support/client.ts'

type Routine = { name: string; source: string; isTrigger: boolean; isOpen: boolean; isJob: boolean }

/** Whether a function is a job. Jobs run on a schedule, so clients do not cause the rows that they add. */
const byTheClock = (routine: Routine) => routine.isJob

async function routines(): Promise<Routine[]> {
  const { rows } = await database().query(
    `select format('%I.%I', nspname, proname) as name,
       case when prosqlbody is null then prosrc else pg_get_functiondef(pg_proc.oid) end as source,
       prorettype = 'trigger'::regtype as "isTrigger",
       has_function_privilege('anon', pg_proc.oid, 'execute')
         or has_function_privilege('authenticated', pg_proc.oid, 'execute')
         or has_function_privilege('backend', pg_proc.oid, 'execute') as "isOpen",
       coalesce(obj_description(pg_proc.oid) like 'Job: %', false) as "isJob"
     from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
     where nspname in ('api', 'private', 'public') and prokind = 'f'`,
  )
  return rows
}

async function triggers(): Promise<Map<string, string[]>> {
  const { rows } = await database().query(
    `select format('%I.%I', of_table.nspname, relname) as table,
       array_agg(format('%I.%I', of_function.nspname, proname)) as functions
     from pg_trigger
     join pg_class on pg_class.oid = tgrelid
     join pg_namespace as of_table on of_table.oid = relnamespace
     join pg_proc on pg_proc.oid = tgfoid
     join pg_namespace as of_function on of_function.oid = pronamespace
     where not tgisinternal group by 1`,
  )
  return new Map(rows.map(({ table, functions }) => [table, functions]))
}

const added = (source: string) =>
  [...source.matchAll(/insert into ((?:public|private|auth|realtime)\.\w+)/gi)]
    .map(([, table]) => table!.toLowerCase())
const written = (source: string) =>
  [
    ...source.matchAll(
      /(?:insert into|update|delete from) ((?:public|private|auth|realtime)\.\w+)/gi,
    ),
  ]
    .map(([, table]) => table!.toLowerCase())

async function tablesAddedTo(): Promise<Set<string>> {
  const [all, behind] = [await routines(), await triggers()]
  const named = new Map(all.map((routine) => [routine.name, routine]))
  const tables = new Set<string>()
  const seen = new Set<string>()
  const waiting = all.filter((one) => one.isOpen && !byTheClock(one)).map(({ name }) => name)
  // Auth and Storage write their own tables when clients call them.
  for (const [table, functions] of behind) {
    if (/^(auth|storage)\./.test(table)) waiting.push(...functions)
  }
  for (let name; (name = waiting.pop()) !== undefined;) {
    const routine = named.get(name)
    if (!routine || seen.has(name)) continue
    seen.add(name)
    for (const [called] of routine.source.matchAll(/\b(?:private|api)\.\w+(?=\()/g)) {
      waiting.push(called)
    }
    for (const table of added(routine.source)) tables.add(table)
    for (const table of written(routine.source)) waiting.push(...behind.get(table) ?? [])
  }
  const { rows } = await database().query(
    `select format('%I.%I', nspname, relname) as name
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p') and nspname in ('public', 'private', 'realtime')
       and (has_any_column_privilege('authenticated', pg_class.oid, 'insert')
         or has_any_column_privilege('anon', pg_class.oid, 'insert'))`,
  )
  for (const { name } of rows) tables.add(name)
  // Views store nothing; the tables to which their triggers write are found through these triggers.
  const views = await database().query(
    `select format('%I.%I', nspname, relname) as name
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace where relkind = 'v'`,
  )
  for (const { name } of views.rows) tables.delete(name)
  return tables
}

const ofAdministrators = [
  'public.admin_acts',
  'public.admins',
  'public.item_claims',
  'public.notes',
  'public.plans',
  'public.vocabularies',
  'public.areas',
  'private.landmarks',
  'private.reading_words',
  'private.suggest_hidden',
]

test('HARM-04 every table that a client can make grow is in docs/growth.md, with what bounds it', async () => {
  const page = readFileSync(new URL('../../docs/growth.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+\.\w+)` \| (.+) \| (.+) \|$/gm)]
  const listed = rows.map(([, table]) => table!)
  expect(new Set(listed).size).toBe(listed.length)
  const grows = [...await tablesAddedTo()].filter((table) => !ofAdministrators.includes(table))
  expect(grows.length).toBeGreaterThan(50)
  expect(grows.filter((table) => !listed.includes(table)).toSorted()).toEqual([])
  const { rows: there } = await database().query(
    `select format('%s.%s', nspname, relname) as name
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p')`,
  )
  const tables = there.map(({ name }) => name)
  expect(listed.filter((table) => !tables.includes(table))).toEqual([])
  const { rows: rates } = await database().query('select rule from private.rates')
  const rules = rates.map(({ rule }) => rule as string)
  const named = rows.flatMap(([, , , bound]) => [...bound!.matchAll(/`(\w+?)(_?…)?`/g)])
  for (const [, rule, more] of named) {
    const isRate = rules.some((one) => more ? one.startsWith(rule!) : one === rule)
    expect([rule, isRate || rule === 'social_tokens']).toEqual([rule, true])
  }
})

test('HARM-04 every table of Auth, Storage and Realtime is there, or what shuts it', async () => {
  const page = readFileSync(new URL('../../docs/growth.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `((?:auth|storage|realtime)\.\w+)` \|/gm)]
  const listed = rows.map(([, table]) => table!)
  expect(new Set(listed).size).toBe(listed.length)
  const { rows: there } = await database().query(
    `select format('%s.%s', nspname, relname) as name
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p') and not relispartition
       and nspname in ('auth', 'storage', 'realtime')`,
  )
  expect(there.length).toBeGreaterThan(10)
  expect(there.map(({ name }) => name).filter((one) => !listed.includes(one))).toEqual([])
  // No table of the platform is published to Realtime. Auth and Storage have no policies, so only keys that
  // bypass row-level security write there.
  const { rows: open } = await database().query(
    `select schemaname || '.' || tablename as name from pg_publication_tables
     where pubname = 'supabase_realtime'
     union all
     select policyname from pg_policies where schemaname in ('auth', 'storage')`,
  )
  expect(open).toEqual([])
})

const inWords = (age: string) =>
  ({
    '1 minute': 'a minute',
    '1 hour': 'an hour',
    '1 day': 'a day',
    '2 days': 'two days',
    '1 year': 'a year',
    '2 years': 'two years',
  })[
    age
  ] ?? age

test('HARM-04 it says after how long a job deletes what only grows old', async () => {
  const page = readFileSync(new URL('../../docs/growth.md', import.meta.url), 'utf8')
  const bounds = new Map(
    [...page.matchAll(/^\| `(\w+\.\w+)` \| .+ \| (.+) \|$/gm)].map((
      [, table, bound],
    ) => [table, bound!]),
  )
  const ages = (await routines()).flatMap(({ source }) => [
    ...source.matchAll(/private\.purge\('(\w+\.\w+)', '\w+', '([1-9][^']*)'\)/g),
    ...source.matchAll(
      /delete from (\w+\.\w+)\s[^;]*? < (?:now|clock_timestamp)\(\) - interval '([^']+)'/g,
    ),
  ]).map(([, table, age]) => [table!, inWords(age!)] as const).filter(([table]) =>
    bounds.has(table)
  )
  expect(ages.length).toBeGreaterThan(10)
  expect(ages.filter(([table, age]) => !bounds.get(table)!.includes(age))).toEqual([])
})
