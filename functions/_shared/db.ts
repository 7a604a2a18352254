/**
 * The one door to Postgres: a request becomes one call of one SQL function, sent with role and
 * claims as one simple-protocol message. One round trip, and good through a transaction pooler.
 */
// Not by its npm: name: a bundler would pack it.
// @ts-types="../../node_modules/@types/pg/index.d.mts"
import pg from 'pg'
import { saveAlarmsWith } from './alarms.ts'
import type { CallContext } from './context.ts'
import type { Database } from './database.types.ts'
import { env } from './env.ts'
import { literal } from './literals.ts'
import { throwIfError } from './refusal.ts'
import { backendSignatures, facadeSignatures, signatures } from './signatures.ts'
import { withTimeout } from './timeout.ts'

type Functions = Database['api']['Functions']
type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S
type CamelKeys<T> = { [K in keyof T as K extends string ? Camel<K> : K]: T[K] | undefined }

/** What can be called for a caller: in `api`, or in `private` what api has again or the facade alone has. */
type Callable = keyof Functions & string | keyof typeof facadeSignatures

/** The arguments of a function, in camelCase. */
export type Args<Name extends Callable> = Name extends keyof Functions
  ? Functions[Name]['Args'] extends infer A ? [A] extends [never] ? Record<string, never>
    : string extends keyof A ? Record<string, never>
    : CamelKeys<A>
  : never
  : Name extends keyof typeof facadeSignatures
    ? { [K in keyof (typeof facadeSignatures)[Name] as K extends string ? Camel<K> : K]?: unknown }
  : never

export type BackendFunction = keyof typeof backendSignatures

export type BackendCall = { name: BackendFunction; args: Record<string, unknown> }

type Options = {
  /**
   * A rate that is counted before the call, in a transaction of its own: for what cannot be taken
   * back, or has cost something by the time it fails. All others the function counts itself.
   */
  rate?: string
  /**
   * A function with the same arguments and the idempotency key, which refuses ahead of the rate what
   * is not to count.
   */
  look?: keyof typeof facadeSignatures
  /** The function gives JSON as text: as a value it would be parsed only to be written again. */
  isText?: boolean
  /** How many milliseconds the call may take in the database. */
  time?: number
  /** Backend functions that run first, in the same transaction; an {error} refuses the call. */
  before?: BackendCall | BackendCall[]
}

const connectTime = 3000

/**
 * Limits the time to connect by itself: a pool that had the limit would start a timer for every query,
 * a twentieth of a small request here. `connect` limits how long a query waits for a connection.
 */
class Client extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    // A copy of the pool's options lacks the password.
    super({ ...options, password: options?.password, connectionTimeoutMillis: connectTime })
  }
}

const connectionOptions = {
  ...env.database,
  Client,
  // One that is idle takes a client's place at the pooler from other workers. Elsewhere it stays: a new
  // one costs Postgres as much as thirty requests, a timer at every request a tenth of a small one.
  idleTimeoutMillis: env.production ? 10_000 : 0,
  keepAlive: true,
  // Values stay text from Postgres to the client: a Date would lose microseconds.
  types: { getTypeParser: () => (value: string) => value },
}
const pool = new pg.Pool({ ...connectionOptions, max: env.databasePool })
/** For health and alarms, which must get through when every other connection is taken. */
const reservePool = new pg.Pool({ ...connectionOptions, max: 1 })
for (const each of [pool, reservePool]) {
  // A connection that breaks while idle is simply replaced.
  each.on('error', () => {})
  // One that breaks at work fails its query; without a listener it would end the process.
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

const apiCall = (name: string, args: Record<string, unknown>) =>
  Object.hasOwn(facadeSignatures, name)
    ? `private.${invocation(name, args, facadeSignatures)}`
    : `api.${invocation(name, args, signatures)}`

const backendCall = (name: BackendFunction, args: Record<string, unknown>) =>
  `private.${invocation(name, args, backendSignatures)}`

const setRole = (role: 'anon' | 'authenticated' | 'backend') => `set local role ${role};`

/**
 * The condition that sets the claims before its statement looks at anything: Postgres checks it ahead
 * of what is selected. pg_stat_statements keeps the whole text of a SET, and of a statement that changes
 * the role; a statement of their own would cost a tenth of a small call.
 */
const withClaims = (claims = `''`) =>
  ` where set_config('request.jwt.claims',${claims},true) is not null`

const queryTimeout = 9000

// The driver gives such a failure no code. Its limit for connecting may end a connection just made.
const connectionLost =
  /^(Connection terminated|Client has encountered a connection|timeout expired)/

type Rows = Record<string, string | null>[]

// deadlock_detected, serialization_failure: Postgres undid one of two that waited for each other.
const retryable = ['40P01', '40001']

/**
 * Sends one message. What was undone for the sake of another transaction is sent once more, within
 * the same time; of the first try only a rate that is counted ahead has happened, and counts again.
 */
async function sendQuery(text: string, from = pool): Promise<Rows> {
  const end = Date.now() + queryTimeout
  try {
    return await runQuery(text, queryTimeout, from)
  } catch (error) {
    if (!retryable.includes((error as pg.DatabaseError).code ?? '')) throw error
    // The other transaction has to finish first.
    await new Promise((resolve) => setTimeout(resolve, 30 + 40 * Math.random()))
    return await runQuery(text, end - Date.now(), from)
  }
}

// After a refused login none is tried for 5 s: a pooler that sees many in a row refuses everybody of
// the project for a minute.
const refusedLogin = /^(28|3D|XX)/
let refusedUntil = 0

async function connect(from: pg.Pool): Promise<pg.PoolClient> {
  let connecting: Promise<pg.PoolClient> | undefined
  try {
    if (Date.now() < refusedUntil && !from.idleCount) throw new Error('login refused')
    connecting = from.connect()
    return await withTimeout(connectTime, connecting, 'service_unavailable')
  } catch (error) {
    // One that comes too late goes back.
    connecting?.then((client) => client.release(), () => {})
    const { code, message } = error as pg.DatabaseError
    if (refusedLogin.test(code ?? '')) refusedUntil = Date.now() + 5000
    throw Object.assign(new Error(message), { code: 'POOL' })
  }
}

/**
 * V8 takes the driver's arrays for long-lived and makes them among what is old: one that still had its
 * row would keep it, and a page of its text, until all garbage is collected, once a second.
 */
function firstRow({ rows }: pg.QueryResult): Rows[number] {
  const [row] = rows
  rows.length = 0
  return row
}

let fullAt = -Infinity

/** Whether Postgres had no room left for something within the last half a minute. */
export const diskWasFull = () => Date.now() - fullAt < 30_000

/** Whatever happens, nothing of a message stays on the pooled connection. */
async function runQuery(text: string, time: number, from: pg.Pool): Promise<Rows> {
  const client = await connect(from)
  let broken = true
  try {
    const results = await withTimeout(time, client.query(text), 'timeout')
    broken = false
    return (Array.isArray(results) ? results : [results]).map(firstRow)
  } catch (error) {
    // An error in an implicit transaction leaves the connection clean; anything else drops it.
    broken = !(error instanceof pg.DatabaseError && client.getTransactionStatus() === 'I')
    if (connectionLost.test(String((error as Error).message))) {
      Object.assign(error as Error, { code: 'POOL' })
    }
    if ((error as pg.DatabaseError).code === '53100') fullAt = Date.now()
    throw error
  } finally {
    client.release(broken)
  }
}

/**
 * Calls a function as the caller and gives its JSON as text. Errors are thrown as Postgres raised
 * them; `classifyError` in refusal.ts knows what they mean.
 */
export async function call<Name extends Callable>(
  c: CallContext,
  name: Name,
  args: Args<Name>,
  options: Options = {},
): Promise<string> {
  const { role, claims } = c.get('caller')
  const [idempotencyKey, expectIdentity] = [c.get('idempotencyKey'), c.get('expectIdentity')]
  const invoked = apiCall(name, args)
  // Charging keeps the key with the payment.
  const result = idempotencyKey && !('idempotencyKey' in args)
    ? withIdempotency(
      idempotencyKey,
      name,
      args,
      `(select to_json(result) from ${invoked} as result)`,
    )
    : options.isText
    ? invoked
    : `to_json(${invoked})`
  const before = [options.before ?? []].flat()
  const look = options.look && apiCall(options.look, { ...args, idempotencyKey })
  const text = [
    // Ahead of the begin of what is counted: what fails after one leaves its connection in a failed state.
    ...(look ? [setRole(role), `select ${look}${withClaims(claims)};`] : []),
    ...(options.rate ? [countRate(options.rate, c.get('address'), claims)] : []),
    ...(before.length ? [setRole('backend')] : []),
    ...before.map(({ name, args }) =>
      `select ${backendCall(name, args)} as before${withClaims()};`
    ),
    setRole(role),
    ...(options.rate ? [`select private.require_rate()${withClaims(claims)};`] : []),
    ...(expectIdentity
      ? [`select private.expect_identity(${literal(expectIdentity, 'uuid')})${withClaims(claims)};`]
      : []),
    ...(options.time ? [`set local statement_timeout=${options.time};`] : []),
    `select ${result}::text as answer,${rateColumn}` +
    // Whether a token that verified counts no longer.
    (role === 'authenticated' && !c.get('required') ? ',private.is_ignored() as ignored' : '') +
    withClaims(claims),
  ].join('')

  const rows = await withRateHeaders(c, sendQuery(text))
  const returned = rows.find((row) => row?.before)?.before
  if (returned) throwIfError(JSON.parse(returned))
  // A function that found nothing gives no row.
  const last = rows.at(-1)
  if (last?.ignored === 't') c.get('headers')['X-Auth-Ignored'] = '1'
  return last?.answer ?? 'null'
}

// coalesce makes the call only when no answer was kept for the key.
function withIdempotency(idempotencyKey: string, name: string, args: object, result: string) {
  const key = literal(idempotencyKey, 'text')
  const request = literal({ name, args }, 'jsonb')
  return `coalesce(private.kept_answer(${key},${request}),private.keep_answer(${key},${result}))`
}

// Counted by role backend, in a transaction that ends before the call begins.
function countRate(rule: string, address: string, claims?: string) {
  const args = `${literal(rule, 'text')},${literal(address, 'text')}`
  return `begin;${setRole('backend')}select private.count_rate(${args})${
    withClaims(claims)
  };commit;`
}

// Whatever function counts leaves the rate in a setting of its transaction.
const rateColumn = `current_setting('private.rate',true) as rate`

/** Puts the counted rate into the headers of the answer, also when it is the refusal. */
async function withRateHeaders(c: CallContext, query: Promise<Rows>): Promise<Rows> {
  try {
    const rows = await query
    setRateHeaders(c, rows.at(-1)?.rate?.split(','))
    return rows
  } catch (error) {
    const { code, hint } = error as pg.DatabaseError
    if (code === 'PT429') setRateHeaders(c, hint?.split(','))
    throw error
  }
}

export function setRateHeaders(c: CallContext, [limit, remaining, reset]: string[] = []) {
  if (!reset || Number(limit) >= 1_000_000) return
  const headers = c.get('headers')
  headers['RateLimit-Limit'] = limit
  headers['RateLimit-Remaining'] = remaining
  headers['RateLimit-Reset'] = reset
}

const backendQuery = (name: BackendFunction, args: Record<string, unknown>) =>
  `select to_json(${backendCall(name, args)})::text as answer${withClaims()}`

/** Calls one of the functions that role `backend` may execute, for nobody in particular. */
export async function backend<T>(name: BackendFunction, args: Record<string, unknown>): Promise<T> {
  const rows = await sendQuery(setRole('backend') + backendQuery(name, args))
  return JSON.parse(rows.at(-1)?.answer ?? 'null')
}

/** As `backend`, on a connection of its own: works also when every other one is taken. */
export async function backendOnReserve<T>(
  name: BackendFunction,
  args: Record<string, unknown>,
): Promise<T> {
  const rows = await sendQuery(setRole('backend') + backendQuery(name, args), reservePool)
  return JSON.parse(rows.at(-1)?.answer ?? 'null')
}

saveAlarmsWith((alarm) => backendOnReserve('raise_alarm', alarm))
