/** How every area declares its routes, reads pages and sends answers. */
import { createRoute, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { ApiContext, ApiEnv } from '../../_shared/context.ts'
import { jsonHeaders } from '../../_shared/error-body.ts'
import { type ErrorCode, errors } from '../../_shared/errors.ts'
import { inQuery } from '../../_shared/numbers.ts'
import { thrownAsZodError } from '../../_shared/validation.ts'
import {
  type Check,
  inOrder,
  readBody,
  rejectBody,
  rejectLargeUpload,
  rejectQuery,
  requireToken,
  validateEnvelope,
} from './checks.ts'
import { invalid, Problem } from './problem.ts'
import { limitReads, limitRefusedWrites } from './worker-rates.ts'

/** The routes of an area. Broken input is 422 here; a route without a body or query takes none. */
export const area = () =>
  new OpenAPIHono<ApiEnv>({
    defaultHook: (result, c) => (result.success ? undefined : invalid(c, result.error)),
  })

/** A route of the API: as createRoute, with the checks of every route and those of its own. */
export function route<
  const R extends Omit<RouteConfig, 'middleware'> & {
    operationId: string
    checks?: readonly Check[]
    /** Refused writes are not counted: for a provider that sends again what was not understood. */
    unlimited?: boolean
    /** The code for a key that the route does not know, where it has its own. */
    unknownKey?: ErrorCode
  },
>({ checks = [], unlimited = false, unknownKey, ...config }: R) {
  const { request = {}, security, method } = config
  catchThrowingValidators(request)
  const upload = request.body?.content['multipart/form-data'] !== undefined
  const reads = method === 'get'
  const isRead = reads || config['x-read']
  const limited = config.tags?.[0] !== 'service' && isRead
  // Size, token, form: the order of the contract. Uploads read their own body, part by part.
  const all = inOrder([
    ...(reads ? [] : [upload ? rejectLargeUpload : readBody]),
    ...checks,
    ...(limited ? [limitReads] : []),
    validateEnvelope(unknownKey),
    ...(reads || request.body ? [] : [rejectBody]),
    ...(request.query ? [] : [rejectQuery]),
  ])
  return createRoute({
    ...config,
    middleware: isRead || unlimited ? all : [limitRefusedWrites, all],
    responses: {
      ...problems(
        ...(security ? [401, 403, 409] : []),
        ...(reads ? [] : [400, 408, 413, 415]),
      ),
      // With a token, X-Expect-Identity makes a public route as strict as the others.
      ...(security ? {} : withExpectIdentity),
      ...config.responses,
    },
  } as unknown as R)
}

type Input = NonNullable<RouteConfig['request']>

/** Input that makes a schema of a route throw is refused as invalid input. */
function catchThrowingValidators({ params, query, headers, body }: Input) {
  const contents = Object.values(body?.content ?? {}).map((one) =>
    one && 'schema' in one && one.schema
  )
  for (const schema of [params, query, headers, ...contents]) {
    if (!(schema instanceof z.ZodType)) continue
    const parse = schema.safeParseAsync.bind(schema)
    schema.safeParseAsync = (given) =>
      parse(given).catch((error) => ({ success: false, error: thrownAsZodError(error) }))
  }
}

/** For routes that need a token. Spread it into the route. */
export const mine = { security: [{ bearer: [] }], checks: [requireToken] }

export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { 'application/json': { schema } },
})

export const body = <T extends z.ZodType>(schema: T) => ({
  body: { required: true, content: { 'application/json': { schema } } },
})

/** The refusals of a route by status, each with the codes of the table that have it. */
export const problems = (...statuses: number[]) =>
  Object.fromEntries([...statuses, 422, 429, 500, 503, 504].map((status) => [
    status,
    json(Problem, codesOf(status).join(', ')),
  ]))

const codesOf = (status: number) =>
  Object.entries(errors).filter(([, [of]]) => of === status).map(([code]) => code)

const withExpectIdentity = Object.fromEntries(
  [401, 403, 409].map((status) => [
    status,
    json(Problem, 'Only with a token and X-Expect-Identity.'),
  ]),
)

/** A moment, as Postgres writes it. */
export const Time = z.iso.datetime({ offset: true })

export const Limit = inQuery(z.int().min(1).max(50)).default(20)

const malformed = { error: 'cursor_invalid' }

/** The opaque place after the last row seen; the database reads it. */
export const Cursor = z.string(malformed).min(1, malformed).max(4000, malformed)

export const PageQuery = z.strictObject({ cursor: Cursor.optional(), limit: Limit })

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })

/** Sends JSON as Postgres wrote it. The suite holds it against the route's schema. */
export function send(c: ApiContext, text: string, status: ContentfulStatusCode = 200) {
  // The route's type wants a value; parsing the text again to please it would be work for nothing.
  return c.body(text, status, jsonHeaders) as never
}
