/** One shape for every failure, and the one place where failures get it. */
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { routePath } from 'hono/route'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { alarm } from './alarms.ts'
import { type ErrorCode, errors, fieldTexts, isErrorCode } from './errors.ts'
import type { Env } from '../api/http/route.ts'

export type Field = { path: string; code: string }
export type Detail = Record<string, unknown> & { fields?: Field[]; retryAfter?: number }

/** A refusal of the contract, thrown where the facade itself decides. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly detail: Detail
  constructor(code: ErrorCode, detail: Detail = {}) {
    super(code)
    this.code = code
    this.detail = detail
  }
}

/** What a backend function answers instead of raising, so that what it counted stays counted. */
export type Returned = { error?: { code: string; detail: Detail; rule?: string } }

export function refuseReturned(answer: Returned) {
  if (!answer.error) return
  // The service's ceiling of codes is somebody running up the bill: it also raises the alarm.
  if (answer.error.rule === 'code_service') alarm('code_ceiling', 'codes')
  throw new Refusal(answer.error.code as ErrorCode, answer.error.detail)
}

export const Problem = z
  .object({
    error: z.looseObject({
      code: z.string().openapi({ example: 'property_not_found' }),
      message: z.string().openapi({ description: 'Arabic, or English with Accept-Language: en.' }),
      messageEn: z.string(),
      fields: z
        .array(z.object({ path: z.string(), code: z.string(), message: z.string() }))
        .optional(),
      retryAfter: z.int().optional().openapi({ description: 'Seconds, also in Retry-After.' }),
      requestId: z.string(),
    }),
  })
  .openapi('Problem')

/** Of every answer in JSON; c.json alone leaves the character set unsaid. */
export const jsonHeaders = { 'Content-Type': 'application/json; charset=UTF-8' }

/** The contract's answer to a failure; extra facts of a code stand beside its text. */
export function problem(c: Context<Env>, code: ErrorCode, detail: Detail = {}) {
  const [status] = errors[code]
  if (detail.retryAfter !== undefined) c.header('Retry-After', String(detail.retryAfter))
  else if (status === 429 || status === 503) c.header('Retry-After', '2')
  c.header('Cache-Control', 'no-store')
  c.set('errorCode', code)
  const english = prefersEnglish(c.req.header('accept-language'))
  const error = worded(code, detail, { english, requestId: c.get('requestId') })
  return c.json({ error }, status as ContentfulStatusCode, jsonHeaders)
}

/** What an error says: code, texts, facts, and the number under which the log has it. */
export function worded(
  code: ErrorCode,
  detail: Detail,
  { english, requestId }: { english: boolean; requestId: string },
) {
  const [, ar, en] = errors[code]
  const { fields, ...facts } = detail
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (_, name) => {
      const given = name === 'seconds'
        ? detail.retryAfter
        : name === 'type'
        ? typeName(facts.required, text === en)
        : facts[name]
      return name === 'requestId' ? requestId : String(given ?? '')
    })
  return {
    code,
    message: fill(english ? en : ar),
    messageEn: fill(en),
    ...facts,
    ...(fields && { fields: fields.map((field) => ({ ...field, message: say(field, english) })) }),
    requestId,
  }
}

const typeNames: Record<string, [ar: string, en: string]> = {
  individual: ['فرد', 'individual'],
  company: ['شركة', 'company'],
  office: ['مكتب عقاري', 'office'],
}

const typeName = (type: unknown, english: boolean) => typeNames[String(type)]?.[Number(english)]

function say({ code }: Field, english: boolean) {
  const known = code as keyof typeof fieldTexts
  const [ar, en] = isErrorCode(code)
    ? errors[code].slice(1) as unknown as [string, string]
    : Object.hasOwn(fieldTexts, code)
    ? fieldTexts[known]
    : fieldTexts.invalid
  return english ? en : ar
}

export const prefersEnglish = (header = '') => /^\s*en\b/i.test(header)

// More tell nobody anything, and an answer must not outgrow what was asked.
const mostFields = 50

/** Turns what a schema finds into the contract's 422: a code of the table wins over the general one. */
export function invalid(c: Context<Env>, error: z.ZodError) {
  return problem(c, ...found(error))
}

/** Code and fields of what a schema finds. */
export function found(error: z.ZodError): [ErrorCode, Detail] {
  const fields = error.issues.slice(0, mostFields).flatMap(fieldsOf).slice(0, mostFields)
  const special = fields.find(({ code }) => isErrorCode(code))
  return [special ? special.code as ErrorCode : 'validation_failed', { fields }]
}

/** What makes a validator throw is not what it takes: never our failure, but worth a line. */
export function stumbled(thrown: unknown): z.ZodError {
  console.error(JSON.stringify({ validator: String(thrown) }))
  return new z.ZodError([{ code: 'custom', path: [], message: 'Invalid input', input: undefined }])
}

type Issue = z.core.$ZodIssue

function fieldsOf(issue: Issue): Field[] {
  const path = issue.path.map(String).join('.')
  if (issue.code === 'invalid_union' && issue.errors.length) {
    // Of several shapes, what is missing to the nearest.
    const [nearest] = issue.errors.toSorted((one, other) => one.length - other.length)
    return nearest.flatMap((inner) => fieldsOf({ ...inner, path: [...issue.path, ...inner.path] }))
  }
  if (issue.code === 'unrecognized_keys') {
    const code = isErrorCode(issue.message) ? issue.message : 'unknown'
    return issue.keys.slice(0, mostFields).map((key) => {
      const name = key.slice(0, 100)
      return { path: path ? `${path}.${name}` : name, code }
    })
  }
  if (isErrorCode(issue.message)) return [{ path, code: issue.message }]
  return [{ path, code: fieldCode(issue) }]
}

function fieldCode(issue: Issue): keyof typeof fieldTexts {
  if (issue.code === 'too_small' || issue.code === 'too_big') return issue.code
  // Zod names what it got in the text only.
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return 'required'
  }
  return 'invalid'
}

type DatabaseError = { code?: string; message: string; detail?: string }

/** SQLSTATEs that say what the caller did; everything else is ours and keeps its details to the log. */
const states: Record<string, ErrorCode> = {
  '23502': 'validation_failed', // not_null_violation
  '23514': 'validation_failed', // check_violation
  '23503': 'not_found', // foreign_key_violation
  '40001': 'service_unavailable', // serialization_failure
  '40P01': 'service_unavailable', // deadlock_detected
  '53300': 'service_unavailable', // too_many_connections
  '55P03': 'service_unavailable', // lock_not_available
  '57014': 'service_unavailable', // query_canceled: the statement's time limit
  '57P01': 'service_unavailable', // admin_shutdown
  '57P02': 'service_unavailable', // crash_shutdown
  '57P03': 'service_unavailable', // cannot_connect_now
}

/** Any thrown thing as the contract's answer. What nobody foresaw is logged whole and shown as 500. */
export function onError(thrown: Error, c: Context<Env>) {
  const { code, detail, cause } = reasonOf(thrown, c.var.caller)
  if (cause) c.set('cause', cause)
  if (code === 'internal') {
    const { requestId } = c.var
    console.error(JSON.stringify({ requestId, stack: thrown.stack }))
    alarm('internal', `${c.req.method} ${routePath(c, -1)}`, { requestId, name: thrown.name })
  }
  return problem(c, code, detail)
}

/** Code and facts of a thrown thing; `cause` is what stands behind a failure, for the log only. */
export function reasonOf(
  thrown: Error,
  caller: { role: string },
): { code: ErrorCode; detail?: Detail; cause?: string } {
  if (thrown instanceof Refusal) return { code: thrown.code, detail: thrown.detail }
  if (thrown instanceof HTTPException) return { code: 'body_not_json' }
  const { code: state = '', message, detail } = thrown as DatabaseError
  if (/^PT[45]\d\d$/.test(state) && isErrorCode(message)) {
    return { code: message, detail: JSON.parse(detail || '{}') }
  }
  if (state === '42501') return { code: caller.role === 'anon' ? 'token_missing' : 'admin_only' }
  const known = states[state] ??
    (/^(08|22)/.test(state) || isConnectionError(state)
      ? state.startsWith('22') ? 'validation_failed' : 'service_unavailable'
      : undefined)
  const cause = known && known !== 'service_unavailable' ? undefined : `${state} ${thrown.message}`
  return { code: known ?? 'internal', cause: cause?.trim() }
}

const isConnectionError = (code: string) =>
  ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'POOL'].includes(code)
