import { HTTPException } from 'hono/http-exception'
import { type ErrorCode, isErrorCode } from './errors.ts'

/**
 * `min` and `max` limit the characters of a text that is too short or too long; `format` is the format of a
 * picture.
 */
export type Field = { path: string; code: string; min?: number; max?: number; format?: string }
export type Detail = Record<string, unknown> & {
  fields?: Field[]
  retryAfter?: number
  /** Both texts, if an administrator wrote them. */
  said?: [ar: string, en: string]
}

export class Refusal extends Error {
  readonly code: ErrorCode
  readonly detail: Detail
  constructor(code: ErrorCode, detail: Detail = {}) {
    super(code)
    this.code = code
    this.detail = detail
  }
}

export const invalidFields = (...fields: Field[]) => new Refusal('validation_failed', { fields })

/** Refuses one field. If `code` is in the error table, it takes the place of validation_failed. */
export const invalidField = (path: string, code: string) =>
  new Refusal(isErrorCode(code) ? code : 'validation_failed', { fields: [{ path, code }] })

/** A backend function returns this instead of raising, so that its counting is not rolled back. */
export type MaybeError = { error?: { code: string; detail: Detail; rule?: string } }

export function throwIfError({ error }: MaybeError) {
  if (error) throw new Refusal(error.code as ErrorCode, error.detail)
}

type DatabaseError = { code?: string; message: string; detail?: string; routine?: string }

/** Describes a failure without a client's values, which messages of Postgres and parsers repeat. */
export function causeOf(thrown: Error): string {
  const { code = '', message, routine = '' } = thrown as DatabaseError
  const says = code.startsWith('PT') || !/^[0-9A-Z]{5}$/.test(code) ? message : routine
  return `${code} ${thrown instanceof SyntaxError ? thrown.name : says}`.trim()
}

export const stackLinesOf = ({ name, stack = '' }: Error) =>
  [name, ...stack.match(/^ +at .+$/gm) ?? []].join('\n')

/** Error codes for single SQLSTATEs. classifyError handles whole classes; all others are `internal`. */
const codesBySqlState: Record<string, ErrorCode> = {
  '23502': 'validation_failed', // not_null_violation
  '23514': 'validation_failed', // check_violation
  '23503': 'not_found', // foreign_key_violation
  '40001': 'service_unavailable', // serialization_failure
  '40P01': 'service_unavailable', // deadlock_detected
  '25006': 'service_unavailable', // read_only_sql_transaction: set when the disk is full
  '25P03': 'service_unavailable', // idle_in_transaction_session_timeout
  '55P03': 'service_unavailable', // lock_not_available
  '57014': 'service_unavailable', // query_canceled: the statement's time limit
  '57P01': 'service_unavailable', // admin_shutdown
  '57P02': 'service_unavailable', // crash_shutdown
  '57P03': 'service_unavailable', // cannot_connect_now
}

/**
 * Returns the error code of anything thrown. A value beyond Postgres' limits (54) is the client's fault;
 * `ofPeople` is false if a provider sent the value.
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
  // If a function lacks a right on a table, the fault is ours, and the code stays `internal`.
  if (state === '42501' && /^permission denied for function/.test(message)) {
    return { code: caller.role === 'anon' ? 'token_missing' : 'admin_only' }
  }
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
