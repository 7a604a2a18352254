// Row-level security limits the functions that clients execute: if a function loses any one scope condition
// (identity_id = …), people who do not own the rows still see and change no more than before. Everything runs
// in one transaction that is rolled back, with a savepoint for each call.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type pg from 'pg'
import { database, signUp } from '../support/client.ts'
import { bulk, isNightly } from '../support/nightly.ts'
import { tables } from './matrix-outcomes.ts'
import { addPasskey, type Asked, type People, prepare } from './mutant-arguments.ts'
import { type Mutant, mutantsIn, readRoutines, type Routine } from './mutants.ts'
import { claimsOf } from './planted-rows.ts'
import { byChance, refusals, survivors } from './reviewed-mutants.ts'

const callers = ['stranger', 'guest', 'other identity', 'suspended', 'administrator'] as const
/** Callers whom the original functions do not refuse. */
const owners = ['owner', 'other identity', 'owner as administrator'] as const
type Caller = (typeof callers | typeof owners)[number]

let client: pg.PoolClient
let people: People
let asked: Asked
let owned: string[]
let untouched: string
let itself: string[]
let mutants: Mutant[]
let lastRefusal = ''
const known = new Set<string>()
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

beforeAll(async () => {
  const [owner, stranger, administrator] = await Promise.all([signUp(), signUp(), signUp()])
  people = { owner, stranger, administrator }
  client = await database().connect()
  await client.query('begin isolation level repeatable read')
  asked = await prepare(client, people)
  owned = [owner.id, owner.identityId, asked.companyId, asked.closingId]
  mutants = mutantsIn(await readRoutines(client))
  // Prepared, because planning this query takes longer than running it.
  await client.query(`prepare owned_rows (uuid[]) as ${ownedRowsQuery()}`)
  for (const [id] of (await ownedRows()).matchAll(uuid)) known.add(id)
})

afterAll(async () => {
  await client?.query('rollback')
  client?.release()
})

const roleOf = (caller: Caller) => caller === 'guest' ? 'anon' : 'authenticated'

async function become(caller: Caller) {
  const { owner, stranger, administrator } = people
  const { given, companyId, officeId, closingId, offered, property, message } = asked
  if (caller === 'suspended') {
    await client.query(`update public.accounts set status = 'suspended' where id = $1`, [owner.id])
  } else if (caller === 'other identity') {
    await client.query('update public.accounts set active_identity_id = $2 where id = $1', [
      owner.id,
      companyId,
    ])
  } else if (/administrator/.test(caller)) {
    await addPasskey(client, administrator.id)
    given.passkey_id = await addPasskey(client, owner.id)
    const { rows } = await client.query(
      'select credential_id from private.passkeys where id = $1',
      [given.passkey_id],
    )
    given.credential_id = rows[0].credential_id
    for (const [id] of (await ownedRows()).matchAll(uuid)) known.add(id)
  }
  const person = caller === 'stranger' || caller === 'administrator' ? people[caller] : owner
  await client.query(
    `select set_config('request.jwt.claims', $1, true), set_config('private.acts', '', true)`,
    [caller === 'guest' ? '{"role":"anon"}' : claimsOf(person)],
  )
  // A stranger moves listings to a stranger's own identity. Administrators act on a stranger's account.
  given['move_properties.identity_id'] = caller === 'stranger' ? officeId : companyId
  const others = caller === 'owner' ? offered : property
  given['contact_property.property_id'] = given['create_conversation.property_id'] = others
  given['add_report.target_type'] = caller === 'owner' ? 'property' : 'message'
  given['add_report.target_id'] = caller === 'owner' ? offered : message
  given.user_id = /administrator/.test(caller) ? stranger.id : owner.id
  // The company's rows are not compared when the company is the caller, because it may change them.
  owned = [
    owner.id,
    owner.identityId,
    closingId,
    ...(caller === 'other identity' ? [] : [companyId]),
  ]
  untouched = sorted(await ownedRows())
  itself = [person.id, person.identityId]
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

function callOf({ name, signature, args }: Routine) {
  const values = args.flatMap((arg) => {
    const key = `${name}.${arg.name}` in asked.given ? `${name}.${arg.name}` : arg.name
    const value = asked.given[key]
    if (value === null) return [`${arg.name} => null::${arg.type}`]
    if (value !== undefined) {
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
      return [`${arg.name} => ${client.escapeLiteral(text)}::${arg.type}`]
    }
    if (arg.optional) return []
    return [`${arg.name} => ${defaults[arg.type] ?? 'null'}::${arg.type}`]
  })
  const [called] = signature.split('(')
  return `select json_agg(answer)::text as answer from ${called}(${values}) as answer`
}

/** Masks the times, ids, hashes and row numbers that a call creates, but not the ids of the owner's rows. */
const normalised = (text: string) =>
  text.replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d(?::?\d\d)?|Z)?/g, 'time')
    .replace(uuid, (id) => known.has(id) ? id : 'id')
    .replace(/\b[0-9a-f]{32}\b/g, 'hash')
    .replace(/(\.\w+\(|\bid,)\d+,/g, '$1number,')
    .replace(/\bKW-\d+/g, 'number')

const sorted = (rows: string) => normalised(rows).split('\n').sort().join('\n')

// Separates a result from the owner's rows.
const separator = '\u0000'

/** Whether a result has only empty lists, zeros, nulls and false, as if no row were visible. */
const isEmpty = (answer: string) =>
  !/[\p{L}1-9]/u.test(answer.replace(/"\w+"\s*:|\bnull\b|\bfalse\b/g, ''))

/**
 * Whether a mutant shows or changes more of the owner's rows. A result with ids may also show public rows
 * that other tests create in the meantime, so there only ids of the owner's rows count.
 */
function showsMore(before: string, after: string): boolean {
  if (after === 'refused' || after === before || [before, after].includes('late')) return false
  const [seen = '', rows] = after.split(separator)
  const [had = '', hadRows = rows && untouched] = before.split(separator)
  if (rows !== hadRows) return true
  const names = (answer: string) => /\bid\b/.test(answer) || answer.match(uuid)
  if (!names(seen)) return seen !== had && !names(had) && !isEmpty(seen)
  const ids = new Set([...had.match(uuid) ?? [], ...itself])
  return [...seen.matchAll(uuid)].some(([id]) => !ids.has(id))
}

/** Runs `does` in a savepoint, then rolls it back. */
async function undone<T>(name: string, does: () => Promise<T>): Promise<T> {
  await client.query(`savepoint ${name}`)
  try {
    return await does()
  } finally {
    // Releases the savepoint, because each open savepoint slows all later statements.
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
      // SQL that Postgres cannot run is not a refusal: either the mutant or the call is invalid.
      const { code, message } = error as pg.DatabaseError
      if (/^42(?!501)/.test(code!)) throw new Error(`${entry.name}: ${message}\n${mutant}`)
      // Another test has used the next invoice number since this transaction began.
      if (code === '40001') return 'late'
      lastRefusal = message
      return 'refused'
    }
  })

function ownedRowsQuery(): string {
  const places = {
    ...tables,
    'private.passkeys': { of: 'account_id' },
    'public.conversations': {
      of: `(select identity_id from public.participants
        where conversation_id = id and identity_id = any ($1) limit 1)`,
    },
  }
  const parts = Object.entries(places).flatMap(([table, { of }]) =>
    of
      ? [`select '${table}' as source, (${table.split('.')[1]}.*)::text as row from ${table}
          where ${of} = any ($1)`]
      : []
  )
  return `select string_agg(source || row, e'\\n' order by source, row) as rows
     from (${parts.join(' union all ')}) as owned`
}

const ownedRows = async (): Promise<string> =>
  (await client.query(`execute owned_rows ('{${owned}}')`)).rows[0].rows

/** Returns up to `enough` mutants that show or change more for people who do not own the rows. */
async function alive(bound: boolean, enough = Infinity) {
  const found = new Set<string>()
  const some = mutants.filter((_, at) => at % bulk(1, 3) === 0)
  for (const caller of callers) {
    await undone('caller', async () => {
      await become(caller)
      const before = new Map<Routine, string>()
      for (const { routine, entries, name, sql } of some) {
        const mutant = bound ? sql : `${sql}; alter function ${routine.signature} owner to postgres`
        for (const entry of entries.slice(0, bulk(Infinity, 1))) {
          if (found.has(name) || found.size >= enough) break
          if (!before.has(entry)) before.set(entry, await outcomeOf(entry, caller))
          const after = await outcomeOf(entry, caller, mutant)
          if (showsMore(before.get(entry)!, after)) found.add(name)
        }
      }
    })
  }
  const whose = bound ? 'bound' : 'owned by postgres'
  console.log(`${some.length} mutants, ${whose}: ${found.size} alive`)
  return [...found].sort()
}

test('owners are not refused what the mutants are asked', async () => {
  const refused = new Map<string, string>()
  const entries = new Set(mutants.flatMap(({ entries }) => entries))
  for (const caller of owners) {
    await undone('caller', async () => {
      await become(caller)
      for (const entry of entries) {
        const { signature } = entry
        if (caller !== owners[0] && !refused.has(signature)) continue
        const isRefused = await outcomeOf(entry, caller) === 'refused'
        if (isRefused) refused.set(signature, lastRefusal)
        else refused.delete(signature)
      }
    })
  }
  const [seen, reviewed] = [refused.entries(), Object.entries(refusals)]
  expect(Object.fromEntries([...seen].map(([signature, why]) => [signature.split('(')[0], why])))
    .toEqual(Object.fromEntries(reviewed.map(([name, [why]]) => [name, why])))
})

test('without any one of their conditions of scope, functions show and change nothing more', async () => {
  const found = await alive(true)
  const names = mutants.map(({ name }) => name)
  expect(names.length).toBeGreaterThanOrEqual(400)
  expect(new Set(names).size).toBe(names.length)
  const sure = (names: string[]) => names.filter((name) => !byChance.has(name)).sort()
  if (isNightly) expect(sure(found)).toEqual(sure(Object.keys(survivors)))
  else expect(found.filter((mutant) => !(mutant in survivors))).toEqual([])
})

test('without row-level security the same mutants do', async () => {
  const enough = bulk(80, 20)
  expect((await alive(false, bulk(Infinity, enough))).length).toBeGreaterThanOrEqual(enough)
})
