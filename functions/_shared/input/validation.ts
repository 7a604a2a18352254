import { z } from '@hono/zod-openapi'
import { type ErrorCode, type fieldTexts, isErrorCode } from '../errors/errors.ts'
import type { Detail, Field } from '../errors/refusal.ts'

// More fields would not help the client, and an answer must not outgrow its request.
const maxFields = 50

export function validationError(error: z.ZodError): [ErrorCode, Detail] {
  const fields = error.issues.slice(0, maxFields).flatMap(fieldsOf).slice(0, maxFields)
  const special = fields.find(({ code }) => isErrorCode(code))
  return [special ? special.code as ErrorCode : 'validation_failed', { fields }]
}

/** Treats input that makes a validator throw as invalid and not as our failure, but logs it. */
export function thrownAsZodError(thrown: unknown): z.ZodError {
  console.error(JSON.stringify({ validator: String(thrown) }))
  return new z.ZodError([{ code: 'custom', path: [], message: 'Invalid input', input: undefined }])
}

type Issue = z.core.$ZodIssue

function fieldsOf(issue: Issue): Field[] {
  const path = issue.path.map(String).join('.')
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
  if (isErrorCode(issue.message)) return [{ path, code: issue.message }]
  if (issue.code === 'too_big' && issue.origin === 'string') {
    return [{ path, code: 'too_long', max: Number(issue.maximum) }]
  }
  return [{ path, code: fieldCode(issue) }]
}

function fieldCode(issue: Issue): keyof typeof fieldTexts {
  if (issue.code === 'too_small' || issue.code === 'too_big') return issue.code
  // Only Zod's message shows that the value was missing.
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return 'required'
  }
  return 'invalid'
}
