// Row-level security binds what clients execute: each condition of scope (identity_id = …) is taken out of
// each function by itself, and people who do not own the rows still see and change what they did before.
// Everything happens in one transaction that is rolled back, each call in its own savepoint.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type pg from 'pg'
import { database, type Person, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { bulk } from '../support/nightly.ts'
import { tables } from './matrix-outcomes.ts'
import { claimsOf, converse, plantRows } from './planted-rows.ts'
import { survivors } from './reviewed-mutants.ts'

type Routine = {
  name: string
  body: string
  definition: string
  owner: string
  isEntry: boolean
  isStable: boolean
  args: { name: string; type: string; optional: boolean }[]
  calls: string[]
}

const callers = ['stranger', 'guest', 'other identity', 'suspended'] as const
type Caller = (typeof callers)[number]

let client: pg.PoolClient
let owner: Person
let stranger: Person
let companyId: string
let owned: string[]
let untouched: string
let routines: Map<string, Routine>
const given: Record<string, unknown> = {}
const known = new Set<string>()
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

beforeAll(async () => {
  ;[owner, stranger] = await Promise.all([signUp(), signUp()])
  client = await database().connect()
  await client.query('begin isolation level repeatable read')
  companyId = await insertOrganisation(owner.id, 'company', client)
  const property = await plantRows(client, owner.id, owner.identityId)
  await plantRows(client, stranger.id, stranger.identityId)
  await converse(client, owner.identityId, stranger.identityId)
  await converse(client, owner.identityId, await insertOrganisation(stranger.id, 'office', client))
  owned = [owner.id, owner.identityId]
  await chooseArguments(property)
  await readRoutines()
  // Planning this takes longer than running it.
  await client.query(`prepare owned_rows as ${ownedRowsQuery()}`)
  for (const [id] of (await ownedRows()).matchAll(uuid)) known.add(id)
  untouched = sorted(await ownedRows())
})

afterAll(async () => {
  await client?.query('rollback')
  client?.release()
})

/** Chooses ids of the owner's rows as arguments, so that every call is about what the owner has. */
async function chooseArguments(property: string) {
  const one = async (sql: string) => (await client.query(sql, [owner.identityId])).rows[0]?.id
  const ofAccount = async (table: string, column = 'id') =>
    (await client.query(`select ${column} as id from ${table} where account_id = $1 limit 1`, [
      owner.id,
    ])).rows[0]?.id
  Object.assign(given, {
    property_id: property,
    identity_id: owner.identityId,
    user_id: owner.id,
    account_id: owner.id,
    conversation_id: await one(
      `select conversation_id as id from public.messages where sender_identity_id = $1 limit 1`,
    ),
    invoice_id: await one('select id from public.invoices where identity_id = $1 limit 1'),
    review_id: await one('select id from public.reviews where author_identity_id = $1 limit 1'),
    media_id: await one('select id from public.media where identity_id = $1 limit 1'),
    document_id: await one('select id from public.documents where identity_id = $1 limit 1'),
    notification_id: await ofAccount('public.notifications'),
    device_id: await ofAccount('public.devices', 'device_id'),
    fields: { titleAr: 'عنوان جديد', fullName: 'اسم جديد', rating: 1, language: 'en' },
    type: 'company',
    strategy: 'standard',
    filters: {},
    sort: 'newest',
    page_size: 20,
    archived: false,
    muted: true,
    language: 'en',
    body: 'نص',
    message: 'نص',
    comment: 'نص',
    note: 'نص',
    reason: 'spam',
    rating: 1,
    target_type: 'property',
    target_id: property,
    kind: 'call',
    action: 'pause',
    act: 'pause',
    amount: 10,
    platform: 'ios',
    push_token: 'token',
    q: 'شقة',
  })
}

async function readRoutines() {
  const { rows } = await client.query(
    `select proname as name, prosrc as body, pg_get_functiondef(pg_proc.oid) as definition,
       pg_get_userbyid(proowner) as owner, provolatile <> 'v' as "isStable",
       has_function_privilege('authenticated', pg_proc.oid, 'execute')
         or has_function_privilege('anon', pg_proc.oid, 'execute') as "isEntry",
       coalesce((
         select json_agg(json_build_object('name', argument.name, 'type', argument.type::regtype,
           'optional', argument.index > pronargs - pronargdefaults) order by argument.index)
         from rows from (unnest(proargnames[:pronargs]), unnest(proargtypes::oid[]))
           with ordinality as argument (name, type, index)
       ), '[]') as args
     from pg_proc
     where pronamespace = 'private'::regnamespace and prokind = 'f' and prosqlbody is null`,
  )
  routines = new Map(rows.map((row) => [row.name, row]))
  for (const routine of routines.values()) {
    const code = routine.body.replace(/--.*/g, '')
    const called = [...code.matchAll(/\bprivate\.(\w+)\s*\(/g)].map(([, name]) => name!)
    routine.calls = [...new Set(called)].filter((name) => routines.has(name))
  }
}

/** Returns the functions of the role acting that clients can execute and that reach this one. */
function entriesOf(name: string): Routine[] {
  const reaching = new Set([name])
  for (let size = 0; size !== reaching.size;) {
    size = reaching.size
    for (const routine of routines.values()) {
      if (routine.calls.some((called) => reaching.has(called))) reaching.add(routine.name)
    }
  }
  return [...reaching].map((one) => routines.get(one)!)
    .filter(({ isEntry, owner }) => isEntry && owner !== 'postgres')
}

const column =
  '(?:\\w+\\.)?"?(?:identity_id|account_id|owner_identity_id|author_identity_id|author_account_id|' +
  'sender_identity_id|subject_identity_id|user_id|opened_by)"?|(?:accounts|identities)\\.id'
const someone =
  '(?:\\w+\\.)?(?:caller_id|owner_id|author_id|viewer_id|saver_id|subject_id|sender_id|account_id|identity_id|' +
  'caller_account_id)\\b(?!\\s*\\()|' +
  '\\(select private\\.\\w+\\(\\)\\)|private\\.(?:require_)?(?:account|identity)(?:_id)?\\(\\)'
const scope = new RegExp(`(?:${column})\\s*=\\s*(?:${someone})`, 'g')

/** Returns each condition of scope and each check for an administrator in a body, with the definition that lacks it. */
function mutantsOf({ body, definition }: Routine) {
  const scopes = [...body.matchAll(scope)].filter(({ index }) => {
    const before = body.slice(0, index)
    const statement = before.slice(before.lastIndexOf(';') + 1)
    return /\b(?:where|on|and|or|when|not|\()\s*\(?\s*$/.test(statement)
  })
  return [...scopes, ...body.matchAll(/private\.require_admin\(\)/g)].map((found) => {
    const lacking = found[0] === 'private.require_admin()' ? 'private.require_account()' : 'true'
    const mutated = body.slice(0, found.index) + lacking + body.slice(found.index + found[0].length)
    return {
      condition: found[0].replace(/\s+/g, ' '),
      sql: definition.replace(body, () => mutated),
    }
  })
}

const roleOf = (caller: Caller) => caller === 'guest' ? 'anon' : 'authenticated'

async function become(caller: Caller) {
  if (caller === 'suspended') {
    await client.query(`update public.accounts set status = 'suspended' where id = $1`, [owner.id])
  } else if (caller === 'other identity') {
    await client.query('update public.accounts set active_identity_id = $2 where id = $1', [
      owner.id,
      companyId,
    ])
  }
  const claims = caller === 'guest'
    ? '{"role":"anon"}'
    : claimsOf(caller === 'stranger' ? stranger : owner)
  await client.query(
    `select set_config('request.jwt.claims', $1, true), set_config('private.acts', '', true)`,
    [claims],
  )
}

const defaults: Record<string, string> = {
  text: `'x'`,
  uuid: 'gen_random_uuid()',
  integer: '1',
  bigint: '1',
  boolean: 'true',
  numeric: '1',
  jsonb: `'{}'`,
  json: `'{}'`,
}

function callOf({ name, args }: Routine) {
  const values = args.flatMap((arg) => {
    const value = given[arg.name]
    if (value !== undefined && value !== null) {
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
      return [`${arg.name} => ${client.escapeLiteral(text)}::${arg.type}`]
    }
    if (arg.optional) return []
    return [`${arg.name} => ${defaults[arg.type] ?? 'null'}::${arg.type}`]
  })
  return `select json_agg(answer)::text as answer from private.${name}(${values}) as answer`
}

/** Removes the times, ids, hashes and row numbers that a call makes anew; the ids of the owner's rows stay. */
const normalised = (text: string) =>
  text.replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d(?::?\d\d)?|Z)?/g, 'time')
    .replace(uuid, (id) => known.has(id) ? id : 'id')
    .replace(/\b[0-9a-f]{32}\b/g, 'hash')
    .replace(/(\.\w+\()\d+,/g, '$1number,')

const sorted = (rows: string) => normalised(rows).split('\n').sort().join('\n')

// Between an answer and the owner's rows.
const separator = '\u0000'

/** Whether an answer has no value but empty lists, zeros and nulls, as where no row is visible. */
const isEmpty = (answer: string) =>
  !/[\p{L}1-9]/u.test(answer.replace(/"\w+"\s*:|\bnull\b|\bfalse\b/g, ''))

/**
 * Whether a mutant shows or changes more of the owner's rows. An answer with ids may show public rows of
 * others as well, which other tests create meanwhile: only ids of the owner's rows count there.
 */
function showsMore(before: string, after: string): boolean {
  if (after === 'refused' || after === before) return false
  const [seen = '', rows] = after.split(separator)
  const [had = '', hadRows = rows && untouched] = before.split(separator)
  if (rows !== hadRows) return true
  if (!/\bid\b/.test(seen) && !seen.match(uuid)) return seen !== had && !isEmpty(seen)
  const ids = new Set(had.match(uuid))
  return [...seen.matchAll(uuid)].some(([id]) => !ids.has(id))
}

/** Runs `does` in a savepoint, and undoes it. */
async function undone<T>(name: string, does: () => Promise<T>): Promise<T> {
  await client.query(`savepoint ${name}`)
  try {
    return await does()
  } finally {
    // A savepoint that stays makes all later statements slower.
    await client.query(`rollback to savepoint ${name}; release savepoint ${name}`)
  }
}

/** Returns what the caller saw and, if the call could write, the owner's rows afterwards. */
const outcomeOf = (entry: Routine, caller: Caller, mutant = 'select') =>
  undone('call', async () => {
    try {
      await client.query(`${mutant}; set local role ${roleOf(caller)}`)
      const { rows } = await client.query(callOf(entry))
      await client.query('reset role')
      const after = entry.isStable ? '' : sorted(await ownedRows())
      return `${normalised(String(rows[0].answer))}${separator}${after}`
    } catch (error) {
      // What the database cannot read has refused nobody: the mutant or the call is wrong.
      const { code, message } = error as pg.DatabaseError
      if (/^42(?!501)/.test(code!)) throw new Error(`${entry.name}: ${message}\n${mutant}`)
      return 'refused'
    }
  })

function ownedRowsQuery(): string {
  const ids = owned.map((id) => client.escapeLiteral(id)).join()
  const parts = Object.entries(tables).flatMap(([table, { of }]) =>
    of
      ? [`select '${table}' as source, (${table.split('.')[1]}.*)::text as row from ${table}
          where ${of} in (${ids})`]
      : []
  )
  return `select string_agg(source || row, e'\\n' order by source, row) as rows
     from (${parts.join(' union all ')}) as owned`
}

const ownedRows = async (): Promise<string> =>
  (await client.query('execute owned_rows')).rows[0].rows

/** Returns the mutants whose outcome differs for somebody who does not own the rows, or enough of them. */
async function alive(bound: boolean, enough = Infinity) {
  const found = new Set<string>()
  const mutants = [...routines.values()].flatMap((routine) => {
    const entries = entriesOf(routine.name)
    return entries.length
      ? mutantsOf(routine).map((mutant) => ({ routine, entries, ...mutant }))
      : []
  })
  for (const caller of callers) {
    await undone('caller', async () => {
      await become(caller)
      const before = new Map<Routine, string>()
      for (const { routine, entries, condition, sql } of mutants) {
        const name = `${routine.name}: ${condition}`
        const mutant = bound
          ? sql
          : `${sql}; alter function private.${routine.name} owner to postgres`
        for (const entry of entries) {
          if (found.has(name) || found.size >= enough) break
          if (!before.has(entry)) before.set(entry, await outcomeOf(entry, caller))
          const after = await outcomeOf(entry, caller, mutant)
          if (showsMore(before.get(entry)!, after)) found.add(name)
        }
      }
    })
  }
  const whose = bound ? 'bound' : 'owned by postgres'
  console.log(`${mutants.length} mutants, ${whose}: ${found.size} alive`)
  return [...found].sort()
}

test('without any one of their conditions of scope, functions show and change nothing more', async () => {
  const found = await alive(true)
  expect(found.filter((mutant) => !(mutant in survivors))).toEqual([])
  const all = [...routines.values()].flatMap((routine) =>
    mutantsOf(routine).map(({ condition }) => `${routine.name}: ${condition}`)
  )
  expect(all).toEqual(expect.arrayContaining(Object.keys(survivors)))
})

test('without row-level security the same mutants do', async () => {
  expect((await alive(false, bulk(Infinity, 20))).length).toBeGreaterThanOrEqual(20)
})
