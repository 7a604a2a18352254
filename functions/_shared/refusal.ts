/** Refusals: thrown by the functions, returned or raised by the database, each with a stable code. */
import { HTTPException } from 'hono/http-exception'
import { type ErrorCode, isErrorCode } from './errors.ts'

/** `max` of a text that is too long: how many characters it may have. */
export type Field = { path: string; code: string; max?: number }
export type Detail = Record<string, unknown> & { fields?: Field[]; retryAfter?: number }

/** A refusal of the contract, thrown where the functions themselves decide. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly detail: Detail
  constructor(code: ErrorCode, detail: Detail = {}) {
    super(code)
    this.code = code
    this.detail = detail
  }
}

/** 422 for these fields. */
export const invalidFields = (...fields: Field[]) => new Refusal('validation_failed', { fields })

/** The refusal of one field; a code of the table wins over the general one. */
export const invalidField = (path: string, code: string) =>
  new Refusal(isErrorCode(code) ? code : 'validation_failed', { fields: [{ path, code }] })

/** What a backend function returns instead of raising, so that what it counted stays counted. */
export type MaybeError = { error?: { code: string; detail: Detail; rule?: string } }

export function throwIfError({ error }: MaybeError) {
  if (error) throw new Refusal(error.code as ErrorCode, error.detail)
}

type DatabaseError = { code?: string; message: string; detail?: string; routine?: string }

/** What a log line and an alarm say of a failure: never what was sent, which Postgres and parsers repeat. */
export function causeOf(thrown: Error): string {
  const { code = '', message, routine = '' } = thrown as DatabaseError
  const says = code.startsWith('PT') || !/^[0-9A-Z]{5}$/.test(code) ? message : routine
  return `${code} ${thrown instanceof SyntaxError ? thrown.name : says}`.trim()
}

/** Where it was thrown, without its message. */
export const placesOf = ({ name, stack = '' }: Error) =>
  [name, ...stack.match(/^ +at .+$/gm) ?? []].join('\n')

/** SQLSTATEs that say what the caller did; of all others the details are for the log alone. */
const codesBySqlState: Record<string, ErrorCode> = {
  '23502': 'validation_failed', // not_null_violation
  '23514': 'validation_failed', // check_violation
  '23503': 'not_found', // foreign_key_violation
  '40001': 'service_unavailable', // serialization_failure
  '40P01': 'service_unavailable', // deadlock_detected
  '25006': 'service_unavailable', // read_only_sql_transaction: a full disk makes the platform do so
  '25P03': 'service_unavailable', // idle_in_transaction_session_timeout
  '55P03': 'service_unavailable', // lock_not_available
  '57014': 'service_unavailable', // query_canceled: the statement's time limit
  '57P01': 'service_unavailable', // admin_shutdown
  '57P02': 'service_unavailable', // crash_shutdown
  '57P03': 'service_unavailable', // cannot_connect_now
}

/**
 * Code and details of anything thrown; `cause` is what stands behind a failure, for the log only. What
 * Postgres cannot do with what it is given is what people have sent, unless a provider has (`ofPeople`).
 */
export function classifyError(
  thrown: Error,
  caller: { role: string },
  ofPeople = true,
): { code: ErrorCode; detail?: Detail; cause?: string } {
  if (thrown instanceof Refusal) return { code: thrown.code, detail: thrown.detail }
  if (thrown instanceof HTTPException) return { code: 'body_not_json' }
  const { code: state = '', message, detail } = thrown as DatabaseError
  if (/^PT[45]\d\d$/.test(state) && isErrorCode(message)) {
    return { code: message, detail: JSON.parse(detail || '{}') }
  }
  if (state === '42501') return { code: caller.role === 'anon' ? 'token_missing' : 'admin_only' }
  // data_exception, program_limit_exceeded
  if (/^22/.test(state) || ofPeople && /^54/.test(state)) {
    return { code: 'validation_failed', cause: causeOf(thrown) }
  }
  const known = codesBySqlState[state] ??
    // connection_exception, insufficient_resources
    (/^(08|53)/.test(state) || isConnectionError(state) ? 'service_unavailable' : undefined)
  const cause = known && known !== 'service_unavailable' ? undefined : causeOf(thrown)
  return { code: known ?? 'internal', cause }
}

const isConnectionError = (code: string) =>
  ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'POOL'].includes(code)
