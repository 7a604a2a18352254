/**
 * The one door to Postgres: a request becomes one call of one SQL function, sent with role and
 * claims as one simple-protocol message. One round trip, and good through a transaction pooler.
 */
import type { Context } from 'hono'
// Not by its npm: name: a bundler would pack it.
// @ts-types="../../node_modules/@types/pg/index.d.mts"
import pg from 'pg'
import type { Database } from './database.types.ts'
import { keepAlarms } from './alarms.ts'
import { within } from './timeout.ts'
import { env } from './env.ts'
import type { Env } from '../api/http/route.ts'
import { literal } from './literals.ts'
import { refuseReturned } from './problem.ts'
import { backendSignatures, facadeSignatures, signatures } from './signatures.ts'

type Functions = Database['api']['Functions']
type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S
type CamelKeys<T> = { [K in keyof T as K extends string ? Camel<K> : K]: T[K] | undefined }

/** What is called for a caller: a function of `api`, or one that the Data API does not have. */
export type Callable = keyof Functions & string | keyof typeof facadeSignatures

/** The arguments of a function, by the camelCase of their names. */
export type Args<Name extends Callable> = Name extends keyof Functions
  ? Functions[Name]['Args'] extends infer A ? [A] extends [never] ? Record<string, never>
    : string extends keyof A ? Record<string, never>
    : CamelKeys<A>
  : never
  : Name extends keyof typeof facadeSignatures
    ? { [K in keyof (typeof facadeSignatures)[Name] as K extends string ? Camel<K> : K]?: unknown }
  : never

/** For whom a call is made: the request of a route, or a frame of a socket. */
export type Asking = Pick<Context<Env>, 'var' | 'header'>

export type After = { name: BackendFunction; args: Record<string, unknown> }

type Options = {
  /**
   * A rate counted before the call, in a transaction of its own: for what cannot be taken back, or
   * has cost something by the time it fails. Everything else is counted by the function itself.
   */
  rate?: string
  /** Takes the header Idempotency-Key: the same key and body give the first answer again. */
  idempotent?: boolean
  /** Backend functions that run first, in the same transaction; an {error} refuses the call. */
  after?: After | After[]
}

export type BackendFunction = keyof typeof backendSignatures

const way = {
  ...env.database,
  connectionTimeoutMillis: 3000,
  // A worker lives for minutes at most and a pooler's places are for all of them.
  idleTimeoutMillis: 10_000,
  keepAlive: true,
  // Values stay text from Postgres to the client: a Date would lose microseconds.
  types: { getTypeParser: () => (value: string) => value },
}
const pool = new pg.Pool({ ...way, max: env.databasePool })
/** For health and alarms, which must come through when all others wait for one another. */
const reserve = new pg.Pool({ ...way, max: 1 })
for (const each of [pool, reserve]) {
  // A connection that breaks while idle is simply replaced.
  each.on('error', () => {})
  // One that breaks at work fails its query, which tells; unheard it would end the process.
  each.on('connect', (client) => client.on('error', () => {}))
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type Signatures = Record<string, Record<string, string>>

function invocation(name: string, args: Record<string, unknown>, signatures: Signatures) {
  const types = signatures[name]
  const list = Object.entries(args).flatMap(([key, value]) => {
    if (value === undefined) return []
    const parameter = snake(key)
    if (!Object.hasOwn(types, parameter)) throw new Error(`${name} has no parameter ${parameter}`)
    return `${parameter} => ${literal(value, types[parameter].replace('?', ''))}`
  })
  return `${name}(${list.join(', ')})`
}

const called = (name: string, args: Record<string, unknown>) =>
  Object.hasOwn(signatures, name)
    ? `api.${invocation(name, args, signatures)}`
    : `private.${invocation(name, args, facadeSignatures)}`

const calledBehind = (name: BackendFunction, args: Record<string, unknown>) =>
  `private.${invocation(name, args, backendSignatures)}`

// pg_stat_statements keeps the text of a SET as it is, and of a statement that changes the role: so
// claims are set apart from it, and not by SET. A row of what was set would be sent for nothing.
const become = (role: 'guest' | 'authenticated' | 'backend', claims = `''`) =>
  `set local role ${role};select where set_config('request.jwt.claims',${claims},true) is null;`

const patience = 9000

// The driver gives such a failure no code.
const endedAtWork = /^(Connection terminated|Client has encountered a connection)/

type Rows = Record<string, string | null>[]

// What Postgres undoes for one of two who wait for each other (sql/03_accounts/2_rules_locks.sql).
const undone = ['40P01', '40001']

/**
 * Sends one message, and once more, within the same time, what was undone for the sake of somebody
 * else: as a whole, of which only a rate that is counted ahead was done and counts again.
 */
async function message(text: string, from = pool): Promise<Rows> {
  const end = Date.now() + patience
  try {
    return await sent(text, patience, from)
  } catch (error) {
    if (!undone.includes((error as pg.DatabaseError).code ?? '')) throw error
    // Whoever it was undone for has to come by first.
    await new Promise((resolve) => setTimeout(resolve, 30 + 40 * Math.random()))
    return await sent(text, end - Date.now(), from)
  }
}

// A login that was refused is not tried again at once: a pooler that sees many such in a row refuses
// everybody of the project for a minute. A worker that forgets this tries once more.
const refusedLogin = /^(28|3D|XX)/
let refusedUntil = 0

async function connection(from: pg.Pool): Promise<pg.PoolClient> {
  try {
    if (Date.now() < refusedUntil && !from.idleCount) throw new Error('login refused')
    return await from.connect()
  } catch (error) {
    const { code, message } = error as pg.DatabaseError
    if (refusedLogin.test(code ?? '')) refusedUntil = Date.now() + 5000
    throw Object.assign(new Error(message), { code: 'POOL' })
  }
}

/** Sends one message. Whatever happens, nothing of it stays on the pooled connection. */
async function sent(text: string, time: number, from: pg.Pool): Promise<Rows> {
  const client = await connection(from)
  let broken = true
  try {
    const results = await within(time, client.query(text), 'timeout')
    broken = false
    return (Array.isArray(results) ? results : [results]).map(({ rows }) => rows[0])
  } catch (error) {
    // An error in an implicit transaction leaves the connection clean; anything else drops it.
    broken = !(error instanceof pg.DatabaseError && client.getTransactionStatus() === 'I')
    if (endedAtWork.test(String((error as Error).message))) {
      Object.assign(error as Error, { code: 'POOL' })
    }
    throw error
  } finally {
    client.release(broken)
  }
}

/**
 * Calls a function as the caller and gives its JSON as text.
 * Refusals are thrown as Postgres raised them; see problem.ts.
 */
export async function call<Name extends Callable>(
  c: Asking,
  name: Name,
  args: Args<Name>,
  options: Options = {},
): Promise<string> {
  const { caller: { role, claims }, idempotencyKey, expectIdentity, required } = c.var
  const result = called(name, args)
  const answered = options.idempotent && idempotencyKey
    ? once(idempotencyKey, name, args, `(select to_json(result) from ${result} as result)`)
    : `to_json(${result})`
  const first = [options.after ?? []].flat()
  const text = [
    ...(options.rate ? [entrance(options.rate, claims)] : []),
    ...(first.length ? [become('backend')] : []),
    ...first.map(({ name, args }) => `select ${calledBehind(name, args)} as before;`),
    become(role === 'anon' ? 'guest' : role, claims),
    ...(options.rate ? ['select private.entered();'] : []),
    ...(expectIdentity
      ? [`select private.expect_identity(${literal(expectIdentity, 'uuid')});`]
      : []),
    `select ${answered}::text as answer,${rate}` +
    // Whether a token that verified counts no longer.
    (role === 'authenticated' && !required ? ',private.is_ignored() as ignored' : ''),
  ].join('')

  const rows = await toldRate(c, message(text))
  const before = rows.find((row) => row?.before)?.before
  if (before) refuseReturned(JSON.parse(before))
  // A function that found nothing gives no row.
  const last = rows.at(-1)
  if (last?.ignored === 't') c.header('X-Auth-Ignored', '1')
  return last?.answer ?? 'null'
}

// coalesce evaluates the call only when no answer was kept for the key.
function once(idempotencyKey: string, name: string, args: object, result: string) {
  const key = literal(idempotencyKey, 'text')
  const request = literal({ name, args }, 'jsonb')
  return `coalesce(private.kept_answer(${key},${request}),private.keep_answer(${key},${result}))`
}

// The role that counts is backend; the transaction ends before the call begins.
function entrance(rule: string, claims?: string, subject?: string) {
  const args = literal(rule, 'text') + (subject ? `,${literal(subject, 'text')}` : '')
  return `begin;${become('backend', claims)}select private.enter(${args});commit;`
}

// The function that counts notes what it counted for the rest of the transaction.
const rate = `current_setting('private.rate',true) as rate`

/** Puts what was counted into the headers of the answer, also when it is the refusal. */
async function toldRate(c: Asking, sent: Promise<Rows>): Promise<Rows> {
  try {
    const rows = await sent
    rateHeaders(c, rows.at(-1)?.rate)
    return rows
  } catch (error) {
    const { code, hint } = error as pg.DatabaseError
    if (code === 'PT429') rateHeaders(c, hint)
    throw error
  }
}

export function rateHeaders(c: Asking, rate?: string | null) {
  const [limit, remaining, reset] = (rate ?? '').split(',')
  if (!reset || Number(limit) >= 1_000_000) return
  c.header('RateLimit-Limit', limit)
  c.header('RateLimit-Remaining', remaining)
  c.header('RateLimit-Reset', reset)
}

/**
 * Calls one of the functions that role `backend` may execute, for nobody in particular. `counted`
 * is a rate that is counted first for its subject, as in call, and told in the headers of the answer.
 */
export async function backend<T>(
  name: BackendFunction,
  args: Record<string, unknown>,
  counted?: { rule: string; subject: string; tell: Context<Env> },
): Promise<T> {
  const answer = `select to_json(${calledBehind(name, args)})::text as answer`
  const rows = counted
    ? await toldRate(
      counted.tell,
      message([
        entrance(counted.rule, undefined, counted.subject),
        become('backend'),
        'select private.entered();',
        `${answer},${rate}`,
      ].join('')),
    )
    : await message(become('backend') + answer)
  return JSON.parse(rows.at(-1)?.answer ?? 'null')
}

/** As backend, past everybody who waits: for what must be known when nothing else gets through. */
export async function backendAside<T>(
  name: BackendFunction,
  args: Record<string, unknown>,
): Promise<T> {
  const answer = `select to_json(${calledBehind(name, args)})::text as answer`
  const rows = await message(become('backend') + answer, reserve)
  return JSON.parse(rows.at(-1)?.answer ?? 'null')
}

keepAlarms((alarm) => backendAside('raise_alarm', alarm))
