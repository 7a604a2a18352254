// Checks every response in the suite against the OpenAPI description.
import { variable } from '../../local/config/environment.ts'
import { validatorOf } from '../../local/docs/validators.ts'
import { recordAnswer } from './answered-codes.ts'
import { onReply, type Reply, secretKey } from './client.ts'
import { recordExample } from './examples.ts'
import { seen } from './known-fields.ts'
import { codesIn, description, everyOperation, type Operation, type Schema } from './openapi.ts'

const validate = validatorOf(description.components.schemas)

const patterns = everyOperation.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`),
}))

/** Returns the operation of a request; a path without parameters takes precedence. */
export function operationOf(method: string, path: string): Operation | undefined {
  // HTTP clients resolve dot segments before they send a path.
  const bare = URL.parse(`http://api${path}`)?.pathname ?? path
  return patterns
    .filter(({ operation, pattern }) =>
      operation.method === (method === 'HEAD' ? 'GET' : method) && pattern.test(bare)
    )
    .map(({ operation }) => operation)
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0]
}

const elsewhere: Record<string, string> = { 404: 'route_not_found', 405: 'method_not_allowed' }
// The OpenAPI description does not cover the documentation pages and the descriptions themselves.
const undescribed = ['/openapi.json', '/asyncapi.json', '/docs']
const problem = { $ref: '#/components/schemas/Problem' }

const { error: described } = description.components.schemas.Problem!.properties!
const detailsOf = (described as { 'x-details': Record<string, string[]> })['x-details']
const allDetails = [...new Set(Object.values(detailsOf).flat().map((one) => one.replace('?', '')))]

function faultsOfDetails(error: Record<string, unknown>): string[] {
  const own = detailsOf[String(error.code)] ?? []
  return allDetails.flatMap((detail) => {
    if (!(detail in error)) return own.includes(detail) ? [`no ${detail}`] : []
    return own.some((one) => one.replace('?', '') === detail) ? [] : [`${detail} of another code`]
  })
}

export function faultsOf(method: string, path: string, { status, body, headers }: Reply): string[] {
  const faults: string[] = []
  const holds = (schema: Schema) => {
    const wrong = validate(schema, body)
    if (wrong) faults.push(wrong)
  }
  const [bare] = path.split('?')
  const operation = operationOf(method, path)
  if (!operation) {
    if (undescribed.includes(bare!) && status === 200 || method === 'OPTIONS') return []
    if (body?.error?.code !== elsewhere[status]) faults.push(`${status} where there is no route`)
    holds(problem)
  } else if (!operation.responses[status]) {
    faults.push(`${status} is not among ${Object.keys(operation.responses)}`)
  } else if (method !== 'HEAD') {
    const content = operation.responses[status].content
    if (!content) {
      if (body !== null) faults.push('a body where none is described')
    } else {
      // A response that is not JSON is a file with its own content type.
      const type = headers.get('content-type')?.toLowerCase() ?? 'none'
      const described = content[type] ?? content[type.split(';')[0]!]
      const json = content['application/json']
      if (!described || described === json && type !== 'application/json; charset=utf-8') {
        faults.push(`content type ${type}`)
      }
      if (json && (described === json || !described)) holds(json.schema)
      const code = body?.error?.code
      if (status >= 400 && !codesIn(operation.responses[status]).includes(code)) {
        faults.push(`${code} is not among its codes`)
      }
    }
  }
  if (body?.error?.code) faults.push(...faultsOfDetails(body.error))
  if (status >= 500 && !cleanFailure(status, body?.error?.code)) faults.push('a 5xx')
  if ([429, 503].includes(status)) {
    const { code, retryAfter } = body?.error ?? {}
    const seconds = notConfigured.test(code) ? null : `${retryAfter}`
    if (headers.get('retry-after') !== seconds) faults.push('another Retry-After than in the body')
  }
  if (headers.get('x-api-version') !== '2026-11-01') faults.push('no X-Api-Version')
  const seen = JSON.stringify(body) + [...headers.values()].join()
  for (const secret of secrets) if (seen.includes(secret)) faults.push('a secret')
  return faults
}

const notConfigured = /_(disabled|not_configured)$/

/** Whether a 5xx is allowed, because the database is briefly unavailable or a provider failed. */
const cleanFailure = (status: number, code?: string) =>
  status === 503 || ['sms_send_failed', 'payment_provider_error'].includes(code ?? '')

// ISO-13: keys with full rights must not appear in any response.
const secrets = [secretKey, new URL(variable('DATABASE_URL')!).password].filter(Boolean)

export function bodyAsSeen(
  method: string,
  path: string,
  { status, body }: Pick<Reply, 'status' | 'body'>,
): unknown {
  const content = operationOf(method, path)?.responses[status]?.content?.['application/json']
  return content && typeof body !== 'string'
    ? seen(body, content.schema, description.components.schemas)
    : body
}

onReply((method, path, reply, sent) => {
  reply.body = bodyAsSeen(method, path, reply)
  const operation = operationOf(method, path)
  const faults = faultsOf(method, path, reply)
  const code = reply.body?.error?.code
  if (operation && code) recordAnswer(operation.id, code)
  if (!faults.length) {
    if (operation && method !== 'HEAD') recordExample(operation, path, sent, reply, validate)
    return
  }
  throw new Error(
    `${method} ${path} answered ${reply.status}, not as described: ${faults.join('; ')}\n` +
      JSON.stringify(reply.body)?.slice(0, 2000),
  )
})
