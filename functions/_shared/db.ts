/**
 * The one door to Postgres: a request becomes one call of one SQL function, sent with role and
 * claims as one simple-protocol message. One round trip, and good through a transaction pooler.
 */
import { keepAlarmsWith } from './alarms.ts'
import type { CallContext } from './context.ts'
import { sha256OfShort } from './crypto.ts'
import type { Database } from './database.types.ts'
import { literal } from './literals.ts'
import { reservePool, type Rows, sendQuery } from './pools.ts'
import { throwIfError } from './refusal.ts'
import { mayBeOld, queryReplica } from './replicas.ts'
import { backendSignatures, facadeSignatures, signatures } from './signatures.ts'

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

/** Texts in answers are in the caller's language, `private.in_english`. */
const inEnglish = ` and set_config('facade.language','en',true) is not null`

/** The database knows no proof but by its hash; one that no session has counts for nothing. */
const withProof = (proof: string | undefined) =>
  proof !== undefined && /^[\w+/=-]{1,100}$/.test(proof)
    ? ` and set_config('facade.proof',${literal(sha256OfShort(proof), 'text')},true) is not null`
    : ''

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
    withClaims(claims) + withProof(c.get('proof')) + (c.get('english') ? inEnglish : ''),
  ].join('')

  const near = role === 'anon' && !options.rate && !before.length && mayBeOld.has(name)
  const ask = async () => (near && await queryReplica(name, text)) || await sendQuery(text)
  const rows = await withRateHeaders(c, ask())
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
    const { code, hint } = error as { code?: string; hint?: string }
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

keepAlarmsWith({
  save: (alarm) => backendOnReserve('raise_alarm', alarm),
  settle: (alarm) => backendOnReserve('settle_alarms', alarm),
})
