import { HTTPException } from 'hono/http-exception'
import { type ErrorCode, isErrorCode } from './errors.ts'

/**
 * `min` and `max`: the permitted number of characters, for too_short and too_long. `format`: the detected
 * format of a picture.
 */
export type Field = { path: string; code: string; min?: number; max?: number; format?: string }
export type Detail = Record<string, unknown> & {
  fields?: Field[]
  retryAfter?: number
  /** The Arabic and English text, if an administrator wrote them. */
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

/** Refuses one field. If `code` is an error of its own, it replaces validation_failed. */
export const invalidField = (path: string, code: string) =>
  new Refusal(isErrorCode(code) ? code : 'validation_failed', { fields: [{ path, code }] })

/** A backend function returns this instead of raising an error, which would roll back what it has counted. */
export type MaybeError = { error?: { code: string; detail: Detail; rule?: string } }

export function throwIfError({ error }: MaybeError) {
  if (error) throw new Refusal(error.code as ErrorCode, error.detail)
}

type DatabaseError = { code?: string; message: string; detail?: string; routine?: string }

/** Describes a failure without the client's values that error messages of Postgres and of parsers quote. */
export function causeOf(thrown: Error): string {
  const { code = '', message, routine = '' } = thrown as DatabaseError
  const says = code.startsWith('PT') || !/^[0-9A-Z]{5}$/.test(code) ? message : routine
  return `${code} ${thrown instanceof SyntaxError ? thrown.name : says}`.trim()
}

export const stackLinesOf = ({ name, stack = '' }: Error) =>
  [name, ...stack.match(/^ +at .+$/gm) ?? []].join('\n')

/**
 * Error codes for individual SQLSTATEs. classifyError handles whole classes; anything else becomes
 * `internal`.
 */
const codesBySqlState: Record<string, ErrorCode> = {
  '23502': 'validation_failed', // not_null_violation
  '23514': 'validation_failed', // check_violation
  '23503': 'not_found', // foreign_key_violation
  '40001': 'service_unavailable', // serialization_failure
  '40P01': 'service_unavailable', // deadlock_detected
  '25006': 'service_unavailable', // read_only_sql_transaction: Supabase sets it when the disk is full
  '25P03': 'service_unavailable', // idle_in_transaction_session_timeout
  '55P03': 'service_unavailable', // lock_not_available
  '57014': 'service_unavailable', // query_canceled: the statement timeout
  '57P01': 'service_unavailable', // admin_shutdown
  '57P02': 'service_unavailable', // crash_shutdown
  '57P03': 'service_unavailable', // cannot_connect_now
}

/**
 * Maps anything thrown to an error code. A value that exceeds a limit of Postgres (class 54) is the client's
 * fault, unless `ofPeople` is false because a provider sent the value.
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
  // A function without the privilege to use a table is a bug of ours, which stays `internal`.
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
