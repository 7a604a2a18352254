import { z } from '@hono/zod-openapi'
import { type ErrorCode, fieldTexts, isErrorCode } from '../errors/errors.ts'
import type { Detail, Field } from '../errors/refusal.ts'

// More fields would not help the client, and an answer must not outgrow its request.
const maxFields = 50

export function validationError(error: z.ZodError): [ErrorCode, Detail] {
  const found = error.issues.slice(0, maxFields).flatMap(fieldsOf).slice(0, maxFields)
  // Of a field with several problems one is reported, the most telling.
  const byPath = new Map<string, Field>()
  for (const field of found) {
    const known = byPath.get(field.path)
    if (!known || known.code === 'invalid') byPath.set(field.path, field)
  }
  const fields = [...byPath.values()]
  const special = fields.find(({ code }) => isErrorCode(code))
  return [special ? special.code as ErrorCode : 'validation_failed', { fields }]
}

/** Reads input. Each issue has the value that it is about, so that a missing one is told from a wrong one. */
export function read<T extends z.ZodType>(
  schema: T,
  given: unknown,
): z.ZodSafeParseResult<z.output<T>> {
  try {
    return schema.safeParse(given, { reportInput: true })
  } catch (error) {
    return { success: false, error: thrownAsZodError(error) as z.ZodError<z.output<T>> }
  }
}

/** Treats input that makes a validator throw as invalid and not as our failure, but logs it. */
export function thrownAsZodError(thrown: unknown): z.ZodError {
  console.error(JSON.stringify({ validator: String(thrown) }))
  return new z.ZodError([{ code: 'custom', path: [], message: 'Invalid input', input: undefined }])
}

type Issue = z.core.$ZodIssue

function fieldsOf(issue: Issue): Field[] {
  const path = issue.path.map(String).join('.')
  // A rule between fields is custom, and says what it finds of a field that is not there.
  if (issue.input === undefined && issue.code !== 'custom') return [{ path, code: 'required' }]
  if (issue.code === 'invalid_union' && issue.errors.length) {
    // For a union, the issues of the member that has the fewest are reported.
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
