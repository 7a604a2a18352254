// All access to Postgres goes through this file. Each request calls one SQL function. The role, the claims
// and the call are sent as one simple-protocol message: this takes one round trip and works with a
// transaction pooler.
import type { CallContext } from '../caller/context.ts'
import { keepAlarmsWith } from '../errors/alarms.ts'
import { throwIfError } from '../errors/refusal.ts'
import { sha256OfShort } from '../input/hashes.ts'
import { literal } from './literals.ts'
import { reservePool, type Rows, sendQuery } from './pools.ts'
import { mayBeOld, queryReplica } from './replicas.ts'
import { backendSignatures, facadeSignatures, signatures } from './signatures.ts'

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S

type Value<Type> = Type extends `${infer Plain}?` ? Value<Plain>
  : Type extends `${infer One}[]` ? Value<One>[]
  : Type extends 'uuid' | 'text' | 'date' | 'interval' | 'timestamp with time zone' ? string
  : Type extends 'integer' | 'bigint' | 'numeric' ? number
  : Type extends 'boolean' ? boolean
  : unknown

type WithDefault = `${string}?`

type Arguments<Types> =
  & {
    [K in keyof Types & string as Types[K] extends WithDefault ? never : Camel<K>]:
      | Value<Types[K]>
      | undefined
  }
  & {
    [K in keyof Types & string as Types[K] extends WithDefault ? Camel<K> : never]?: Value<Types[K]>
  }

type Callables = typeof signatures & typeof facadeSignatures

/**
 * Functions in `api`, and functions in `private` that `api` functions wrap or that only this server calls.
 */
export type Callable = keyof Callables

export type Args<Name extends Callable> = keyof Callables[Name] extends never
  ? Record<string, never>
  : Arguments<Callables[Name]>

export type BackendFunction = keyof typeof backendSignatures

export type BackendCall = { name: BackendFunction; args: Record<string, unknown> }

type Options = {
  /**
   * A rate limit that is counted in its own transaction, for calls that cost us something even if they fail.
   */
  rate?: string
  /**
   * A function with the same arguments that runs first and refuses requests that must not count against the
   * rate.
   */
  precheck?: keyof typeof facadeSignatures
  /** True if the function returns its JSON as text. It is then not parsed and serialized again. */
  isText?: boolean
  /** Statement timeout in milliseconds. */
  time?: number
  /** True if everyone may make this call during maintenance mode, not only administrators. */
  always?: boolean
  /**
   * Backend functions that run first, in the same transaction. If one of them returns an {error}, it is
   * thrown.
   */
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
 * Sets the claims in the WHERE clause, which Postgres evaluates before the select list. A SET statement would
 * add a tenth to the time of a small call, and pg_stat_statements would store its whole text.
 */
const withClaims = (claims = `''`) => ` where ${setClaims(claims)}`

const setClaims = (claims: string) => `set_config('request.jwt.claims',${claims},true) is not null`

/** Also refuses users during maintenance mode, before Postgres evaluates the select list. */
const withClaimsIfOpen = (claims = `''`) =>
  ` where case when ${setClaims(claims)} then private.require_open() end`

const inEnglish = ` and set_config('facade.language','en',true) is not null`

/**
 * The proof of a recent re-authentication. The database stores only its hash. A malformed proof is ignored.
 */
const withProof = (proof: string | undefined) =>
  proof !== undefined && /^[\w+/=-]{1,100}$/.test(proof)
    ? ` and set_config('facade.proof',${literal(sha256OfShort(proof), 'text')},true) is not null`
    : ''

/**
 * Calls a function as the caller and returns JSON text. Throws Postgres errors unchanged; see
 * `classifyError`.
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
  // Functions that charge money take the key as an argument and store it with the payment.
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
  const precheck = options.precheck && apiCall(options.precheck, { ...args, idempotencyKey })
  const text = [
    // The precheck runs before the `begin` of the rate: an error inside that transaction would leave the
    // connection in a failed transaction.
    ...(precheck ? [setRole(role), `select ${precheck}${withClaimsIfOpen(claims)};`] : []),
    // A call refused because of maintenance mode is not counted.
    ...(options.rate ? [setRole(role), `select${withClaimsIfOpen(claims)};`] : []),
    ...(options.rate ? [countRate(options.rate, c.get('address'), claims)] : []),
    ...(before.length ? [setRole('backend')] : []),
    ...before.map(({ name, args }) =>
      `select ${backendCall(name, args)} as before${withClaims()};`
    ),
    setRole(role),
    ...(options.rate ? [`select private.require_rate()${withClaims(claims)};`] : []),
    ...(expectIdentity
      ? [
        `select private.expect_identity(${literal(expectIdentity, 'uuid')})${
          options.always ? withClaims(claims) : withClaimsIfOpen(claims)
        };`,
      ]
      : []),
    ...(options.time ? [`set local statement_timeout=${options.time};`] : []),
    `select ${result}::text as answer,${rateColumn}` +
    // Tells whether the session of a verified token has ended.
    (role === 'authenticated' && !c.get('required') ? ',private.is_ignored() as ignored' : '') +
    (options.always ? withClaims(claims) : withClaimsIfOpen(claims)) +
    withProof(c.get('proof')) + (c.get('english') ? inEnglish : ''),
  ].join('')

  const near = role === 'anon' && !options.rate && !before.length && mayBeOld.has(name)
  const ask = async () => (near && await queryReplica(name, text)) || await sendQuery(text)
  const rows = await withRateHeaders(c, ask())
  const returned = rows.find((row) => row?.before)?.before
  if (returned) throwIfError(JSON.parse(returned))
  // A function that finds nothing may return no rows.
  const last = rows.at(-1)
  if (last?.ignored === 't') c.get('headers')['X-Auth-Ignored'] = '1'
  return last?.answer ?? 'null'
}

// coalesce evaluates the call only if no response is stored under the key.
function withIdempotency(idempotencyKey: string, name: string, args: object, result: string) {
  const key = literal(idempotencyKey, 'text')
  const request = literal({ name, args }, 'jsonb')
  return `coalesce(private.stored_answer(${key},${request}),private.store_answer(${key},${result}))`
}

// Role backend counts the rate in a separate transaction, which commits before the call begins.
function countRate(rule: string, address: string, claims?: string) {
  const args = `${literal(rule, 'text')},${literal(address, 'text')}`
  return `begin;${setRole('backend')}select private.count_rate(${args})${
    withClaims(claims)
  };commit;`
}

// Functions that count a rate store the result in this setting for the rest of the transaction.
const rateColumn = `current_setting('private.rate',true) as rate`

/** Adds the rate to the response headers, even if the request is refused. */
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

/** Calls a function as role `backend`, without a caller. `time` is the statement timeout in milliseconds. */
export async function backend<T>(
  name: BackendFunction,
  args: Record<string, unknown>,
  time?: number,
): Promise<T> {
  const limit = time ? `set local statement_timeout=${time};` : ''
  const rows = await sendQuery(setRole('backend') + limit + backendQuery(name, args))
  return JSON.parse(rows.at(-1)?.answer ?? 'null')
}

/** Same as `backend`, but on the reserved connection, so that it works when all others are in use. */
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
