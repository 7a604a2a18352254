/** How every area declares its routes, reads pages and sends answers. */
import { createRoute, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import type { ApiEnv } from '../../_shared/context.ts'
import { type ErrorCode, errors } from '../../_shared/errors.ts'
import { inQuery } from '../../_shared/numbers.ts'
import { thrownAsZodError } from '../../_shared/validation.ts'
import { rarelyChanged, send, sendNothing, sendPage, sendTagged, slowlyChanged } from './answers.ts'
import {
  cacheForGuests,
  type Check,
  type GuestCache,
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

export { rarelyChanged, send, sendNothing, sendPage, sendTagged, slowlyChanged }

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
    /** How long caches may keep an answer to a guest; else not at all. */
    guestCache?: GuestCache
  },
>({ checks = [], unlimited = false, unknownKey, guestCache, ...config }: R) {
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
    ...(guestCache ? [cacheForGuests(guestCache)] : []),
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
      ...(guestCache ? { 200: { ...config.responses[200], headers: cacheHeaders } } : {}),
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
    // Nothing in a schema waits for anything, and only what is parsed at once is compiled.
    // deno-lint-ignore require-await
    schema.safeParseAsync = async (given) => {
      try {
        return schema.safeParse(given)
      } catch (error) {
        return { success: false, error: thrownAsZodError(error) }
      }
    }
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

const cacheHeaders = {
  'Cache-Control': {
    description:
      'Without a token public, with how long caches may keep it; else private, no-store.',
    schema: { type: 'string' },
  },
}

/** A moment, as Postgres writes it. */
export const Time = z.iso.datetime({ offset: true })

export const Limit = inQuery(z.int().min(1).max(50)).default(20)

const malformed = { error: 'cursor_invalid' }

/** The opaque place after the last row seen; the database reads it. */
export const Cursor = z.string(malformed).min(1, malformed).max(4000, malformed)

export const PageQuery = z.strictObject({ cursor: Cursor.optional(), limit: Limit })

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })
