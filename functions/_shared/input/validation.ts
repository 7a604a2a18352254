import { z } from '@hono/zod-openapi'
import { type ErrorCode, fieldTexts, isErrorCode } from '../errors/errors.ts'
import { log } from '../errors/log.ts'
import type { Detail, Field } from '../errors/refusal.ts'

// More fields would not help the client, and a response should not become larger than its request.
const maxFields = 50

export function validationError(error: z.ZodError): [ErrorCode, Detail] {
  const found = error.issues.slice(0, maxFields).flatMap(fieldsOf).slice(0, maxFields)
  // If a field has several problems, report only the most specific one.
  const byPath = new Map<string, Field>()
  for (const field of found) {
    const known = byPath.get(field.path)
    if (!known || known.code === 'invalid') byPath.set(field.path, field)
  }
  const fields = [...byPath.values()]
  const special = fields.find(({ code }) => isErrorCode(code))
  return [special ? special.code as ErrorCode : 'validation_failed', { fields }]
}

type Parsed<T extends z.ZodType> = z.ZodSafeParseResult<z.output<T>>

/**
 * Parses input with a schema. A null counts as a missing field unless the schema accepts null. Each issue
 * includes the input, which tells a missing value from a wrong one.
 */
export function read<T extends z.ZodType>(schema: T, given: unknown): Parsed<T> {
  try {
    const parsed = schema.safeParse(given, { reportInput: true })
    const nulls = parsed.success ? [] : nullsAmong(parsed.error.issues, given)
    return nulls.length ? read(schema, withoutKeys(given, nulls)) : parsed
  } catch (error) {
    return { success: false, error: thrownAsZodError(error) as z.ZodError<z.output<T>> }
  }
}

/** Parses a JSON body. In fields that accept null, an empty string counts as null. */
export function readJson<T extends z.ZodType>(schema: T, given: unknown): Parsed<T> {
  const emptied = emptyTextsIn(given)
  if (!emptied.length) return read(schema, given)
  const body = structuredClone(given)
  for (const path of emptied) setAt(body, path, null)
  try {
    const { error } = schema.safeParse(body, { reportInput: true })
    const refused = new Set(nullsAmong(error?.issues ?? [], body).map(String))
    for (const path of emptied) if (refused.has(String(path))) setAt(body, path, '')
  } catch {
    return read(schema, given)
  }
  return read(schema, body)
}

/**
 * Input that makes a validator throw is treated as invalid, not as an internal error. The exception is
 * logged.
 */
export function thrownAsZodError(thrown: unknown): z.ZodError {
  log('error', { validator: String(thrown) })
  return new z.ZodError([{ code: 'custom', path: [], message: 'Invalid input', input: undefined }])
}

type Path = PropertyKey[]
const mismatches = ['invalid_type', 'invalid_value', 'invalid_union']

// deno-lint-ignore no-explicit-any
const valueAt = (given: any, path: Path) => path.reduce((value, key) => value?.[key], given)

/** Returns the paths of all fields that were refused because they are null. */
function nullsAmong(issues: readonly Issue[], given: unknown, within: Path = []): Path[] {
  return issues.flatMap((issue) => {
    const path = [...within, ...issue.path]
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => [...path, key]).filter((each) => valueAt(given, each) === null)
    }
    if (mismatches.includes(issue.code) && valueAt(given, path) === null) {
      return typeof path.at(-1) === 'string' ? [path] : []
    }
    return issue.code === 'invalid_union'
      ? issue.errors.flatMap((inner) => nullsAmong(inner, given, path))
      : []
  })
}

function emptyTextsIn(given: unknown, within: Path = []): Path[] {
  if (typeof given !== 'object' || given === null) return []
  return Object.entries(given).flatMap(([key, value]) => {
    if (value !== '') return emptyTextsIn(value, [...within, key])
    return Array.isArray(given) ? [] : [[...within, key]]
  })
}

const setAt = (given: unknown, path: Path, value: unknown) =>
  valueAt(given, path.slice(0, -1))[path.at(-1)!] = value

function withoutKeys(given: unknown, paths: Path[]): unknown {
  const rest = structuredClone(given)
  for (const path of paths) delete valueAt(rest, path.slice(0, -1))[path.at(-1)!]
  return rest
}

/**
 * A field that is nice to have: a value that does not match the schema is dropped instead of being refused.
 */
export const forInformation = <T extends z.ZodType>(schema: T) =>
  z.preprocess(
    // As everywhere, the schema refuses null, and `read` then treats it as a missing field.
    (given) => given === null || schema.safeParse(given).success ? given : undefined,
    schema.optional(),
  ).optional()

type Issue = z.core.$ZodIssue

function fieldsOf(issue: Issue): Field[] {
  const path = issue.path.map(String).join('.')
  if (issue.input === undefined && mismatches.includes(issue.code)) {
    return [{ path, code: 'required' }]
  }
  if (issue.code === 'invalid_union' && issue.errors.length) {
    // For a union, report the issues of the member that has the fewest.
    const [nearest] = issue.errors.toSorted((one, other) => one.length - other.length)
    return nearest.flatMap((inner) => fieldsOf({ ...inner, path: [...issue.path, ...inner.path] }))
  }
  if (issue.code === 'unrecognized_keys') {
    const code = isErrorCode(issue.message) ? issue.message : 'unknown'
    return issue.keys.slice(0, maxFields).map((key) => {
      const name = key.slice(0, 100)
      return { path: path ? `${path}.${name}` : name, code }
    })
  }
  if (isErrorCode(issue.message) || Object.hasOwn(fieldTexts, issue.message)) {
    return [{ path, code: issue.message }]
  }
  if (issue.code === 'too_small') {
    return [
      issue.origin === 'string'
        ? { path, code: 'too_short', min: Number(issue.minimum) }
        : { path, code: 'too_small' },
    ]
  }
  if (issue.code === 'too_big') {
    return [
      issue.origin === 'string'
        ? { path, code: 'too_long', max: Number(issue.maximum) }
        : { path, code: 'too_big' },
    ]
  }
  return [{ path, code: 'invalid' }]
}
