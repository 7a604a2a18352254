/** The API's OpenAPI description, from which the tests of all routes derive their requests. */
import { randomUUID } from 'node:crypto'
import { exactly } from '../../functions/api/http/plain-schemas.ts'
import { variable } from '../../local/config/environment.ts'
import { resolveIn, type Schema } from '../../local/docs/validators.ts'

export type { Schema }

type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}
type Content = Record<string, { schema: Schema; example?: object; examples?: object }>
type Described = {
  operationId: string
  security?: unknown[]
  tags: string[]
  description: string
  parameters?: (Parameter | Reference)[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Answer | Reference>
}
type Reference = { $ref: string }
type Answer = { content?: Content; headers?: object }
type Document = {
  info: { version: string }
  paths: Record<string, Record<string, Described>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    responses: Record<string, Answer>
  }
}

export type Operation = {
  id: string
  method: string
  path: string
  secured: boolean
  tags: string[]
  parameters: Parameter[]
  body?: Schema
  bodyRequired: boolean
  /** Whether the operation takes a form instead of JSON, which is so for files. */
  form: boolean
  responses: Record<string, Answer>
  codes: string[]
}

/** The description as served, for client generators. */
export const plainDescription: Document = await (
  await fetch(`${variable('SUPABASE_URL')}/functions/v1/api/openapi.json`)
).json()
/** The description with its unions, which the plain one simplifies. */
export const description = exactly(plainDescription)

function dereference<T extends object>(value: T | Reference): T {
  if (!('$ref' in value)) return value
  const steps = value.$ref.split('/').slice(1)
  return steps.reduce((part, step) => Object(part)[step], description as object) as T
}

const mapValues = <T, U>(record: Record<string, T>, change: (value: T) => U) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

export const codesIn = ({ content }: Answer) =>
  Object.keys(content?.['application/json']?.examples ?? {})

export const everyOperation: Operation[] = Object.entries(description.paths).flatMap((
  [path, methods],
) =>
  Object.entries(methods).map(([method, described]) => ({
    id: described.operationId,
    method: method.toUpperCase(),
    path,
    // An empty requirement means that the token may be left out.
    secured: described.security!.some((needed) => Object.keys(needed as object).length) &&
      described.security!.every((needed) => Object.keys(needed as object).length),
    tags: described.tags,
    parameters: (described.parameters ?? []).map(dereference),
    body: described.requestBody?.content['application/json']?.schema,
    bodyRequired: described.requestBody?.required === true,
    form: described.requestBody?.content['multipart/form-data'] !== undefined,
    responses: mapValues(described.responses, dereference),
    codes: Object.values(described.responses).flatMap((answer) => codesIn(dereference(answer))),
  }))
)

/**
 * The operations that respond in the usual way. This excludes sign-in with a provider that is not configured,
 * which returns 503, and webhooks, which check their signature before anything else (PAY-03, PAY-15).
 */
export const operations = everyOperation.filter(({ id }) =>
  (variable('SOCIAL_ISSUER_URL') || !id.startsWith('sign_in_with_')) &&
  !id.startsWith('receive_webhook')
)

/** Whether an operation also calls Auth, for example to sign up, in or out, or to change a phone or email. */
export const talksToAuth = ({ tags, id, path }: Operation) =>
  tags.includes('sign-in') || ['request_deletion', 'request_closing', 'get_health'].includes(id) ||
  /^\/auth\/me\/(phone|email|providers)/.test(path)

export const resolve = resolveIn(description.components.schemas)

/** Returns the schema itself, the first member of a union that is not null, or an `allOf` merged into one. */
export function concreteSchema(schema: Schema): Schema {
  const { allOf = [], ...rest } = resolve(schema)
  const found: Schema = Object.assign({}, ...allOf.map(concreteSchema), rest)
  const [first] = (found.anyOf ?? found.oneOf ?? []).filter((one) => resolve(one).type !== 'null')
  return first ? concreteSchema(first) : found
}

export const typeOf = (schema: Schema) =>
  [concreteSchema(schema).type].flat().find((one) => one !== 'null')

const texts: Record<string, () => string> = {
  uuid: randomUUID,
  email: () => `${randomUUID()}@example.com`,
  uri: () => 'https://example.com/',
  date: () => '2030-01-31',
  'date-time': () => '2030-01-31T00:00:00Z',
}

/** Returns a value that fits the schema, with only the required properties or with all. */
export function sampleOf(given: Schema, all = false): unknown {
  const schema = concreteSchema(given)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum.find((one) => one !== null)
  if (schema.example !== undefined) return schema.example
  switch (typeOf(schema)) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => all || schema.required?.includes(name))
          .map(([name, one]) => [name, sampleOf(one, all)]),
      )
    case 'array':
      return Array.from(
        { length: Math.max(schema.minItems ?? 0, all ? 1 : 0) },
        () => sampleOf(schema.items ?? {}, all),
      )
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, Math.min(1, schema.maximum ?? 1))
    case 'boolean':
      return true
    default:
      return texts[schema.format ?? '']?.() ?? 'عقار'.padEnd(schema.minLength ?? 0, 'ا')
  }
}

export function pathOf(operation: Operation, values: Record<string, string> = {}): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name) => {
    const { schema } = operation.parameters.find((one) => one.name === name)!
    return values[name] ?? encodeURIComponent(String(sampleOf(schema)))
  })
}

export function queryOf(operation: Operation, values: Record<string, string> = {}): string {
  const required = operation.parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name, schema }) => [name, querySamples[name] ?? String(sampleOf(schema))])
  const query = new URLSearchParams({ ...Object.fromEntries(required), ...values })
  return query.size ? `?${query}` : ''
}

// Values of query parameters whose form a schema cannot describe.
const querySamples: Record<string, string> = { bbox: '47.9,29.2,48.1,29.4' }

/** Returns a body that the operation accepts: its required fields or, if it has none, one field. */
function sampleBody({ id, body }: Operation): Record<string, unknown> | undefined {
  if (!body) return undefined
  const sample = { ...sampleOf(body) as object, ...bodySamples[id] }
  const [first] = Object.entries(concreteSchema(body).properties ?? {})
  return Object.keys(sample).length || !first ? sample : { [first[0]]: sampleOf(first[1], true) }
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

// Fields of bodies whose rules a schema cannot describe.
const bodySamples: Record<string, object> = {
  add_identity: { licenceNo: 'KW/1234' },
  set_auction: { startsAt: inDays(1), endsAt: inDays(3) },
}

export type Input = { in: 'path' | 'query' | 'body'; name: string; schema: Schema }

export function inputsOf(operation: Operation): Input[] {
  const parameters = operation.parameters
    .filter((one) => one.in !== 'header')
    .map((one) => ({ in: one.in as 'path' | 'query', name: one.name, schema: one.schema }))
  return [...parameters, ...(operation.body ? leavesOf(operation.body) : [])]
}

function leavesOf(given: Schema, path = ''): Input[] {
  const schema = concreteSchema(given)
  const under = (name: string) => (path ? `${path}.${name}` : name)
  if (schema.properties) {
    return Object.entries(schema.properties).flatMap(([name, one]) => leavesOf(one, under(name)))
  }
  const inside = schema.items ? leavesOf(schema.items, under('0')) : []
  return [...inside, { in: 'body', name: path, schema }]
}

/** Returns the maximum length of a text; a text with a pattern or format is short and counts as 0. */
function longestOf(given: Schema): number {
  const schema = concreteSchema(given)
  if (typeOf(schema) !== 'string') return 0
  const isFormed = schema.pattern || schema.format || schema.enum || schema.const !== undefined
  return schema.maxLength ?? (isFormed ? 0 : Infinity)
}

/** Returns the limit of a body: 8 KiB, or 256 KiB for webhooks and where a text may exceed 400 characters. */
export function bodyLimit({ id, body }: Operation): number {
  const texts = body ? leavesOf(body).map(({ schema }) => longestOf(schema)) : []
  const isLarge = id.startsWith('receive_webhook') || texts.some((longest) => longest > 400)
  return (isLarge ? 256 : 8) * 1024
}

export function requestWith(operation: Operation, input?: Input, value?: unknown) {
  const at = (where: Input['in']) =>
    input?.in === where ? { [input.name]: String(value) } : undefined
  const body = sampleBody(operation)
  if (body && input?.in === 'body') put(body, operation.body!, input.name.split('.'), value)
  const encoded = at('path') && { [input!.name]: encodeURIComponent(String(value)) }
  return { path: pathOf(operation, encoded) + queryOf(operation, at('query')), body }
}

function put(
  body: Record<string, unknown>,
  schema: Schema,
  [head, ...rest]: string[],
  value: unknown,
) {
  if (!rest.length) {
    body[head!] = value
    return
  }
  const inner = concreteSchema(schema).properties?.[head!] ?? concreteSchema(schema).items!
  body[head!] = structuredClone(sampleOf(inner, true))
  put(body[head!] as Record<string, unknown>, inner, rest, value)
}
