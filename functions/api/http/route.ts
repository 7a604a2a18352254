import { createRoute, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import type { ApiEnv } from '../../_shared/caller/context.ts'
import { inQuery } from '../../_shared/input/numbers.ts'
import { read, readJson } from '../../_shared/input/validation.ts'
import { rarelyChanged, send, sendNothing, sendPage, sendTagged, slowlyChanged } from './answers.ts'
import { bodyLimitOf } from './body-limit.ts'
import {
  cacheForGuests,
  dropEmptyBody,
  inOrder,
  readBody,
  rejectBody,
  rejectLargeUpload,
  rejectQuery,
  requireToken,
  validateEnvelope,
} from './checks.ts'
import { announceEnd } from './deprecation.ts'
import { invalid } from './problem.ts'
import type { RouteDefinition } from './route-definition.ts'
import { limitReads, limitRefusedWrites } from './worker-rates.ts'

export { rarelyChanged, send, sendNothing, sendPage, sendTagged, slowlyChanged }

/** Creates the router of an area. It responds with 422 to invalid input. */
export const area = () =>
  new OpenAPIHono<ApiEnv>({
    defaultHook: (result, c) => (result.success ? undefined : invalid(c, result.error)),
  })

export function route<R extends RouteDefinition>(definition: R) {
  const { checks = [], unlimited = false, unknownKey, guestCache, ownCache, request = {}, method } =
    definition
  setParsing(request)
  const upload = request.body?.content['multipart/form-data'] !== undefined
  const isGet = method === 'get'
  const isRead = isGet || definition.reads
  const limited = definition.tags[0] !== 'service' && isRead
  // The contract requires this order: size, token, form. Uploads read their own body, one part at a time. A
  // route without a declared body or query accepts none.
  const all = inOrder([
    ...(isGet ? [] : [upload ? rejectLargeUpload : readBody(bodyLimitOf(jsonOf(request)))]),
    ...checks,
    ...(guestCache ? [cacheForGuests(guestCache, ownCache)] : []),
    ...(limited ? [definition.limit ?? limitReads] : []),
    validateEnvelope(unknownKey, definition.idempotent),
    ...(isGet || request.body?.required ? [] : [request.body ? dropEmptyBody : rejectBody]),
    ...(request.query ? [] : [rejectQuery]),
  ])
  const middleware = [
    ...(definition.deprecatedSince ? [announceEnd(definition.deprecatedSince)] : []),
    ...(isRead || unlimited ? [] : [limitRefusedWrites]),
    all,
  ]
  return createRoute({ ...definition, middleware } as unknown as R)
}

type Input = NonNullable<RouteConfig['request']>

/** Returns the schema of a route's JSON body. Undefined if there is none. */
function jsonOf({ body }: Input) {
  const content = body?.content['application/json']
  return content && 'schema' in content && content.schema instanceof z.ZodType
    ? content.schema
    : undefined
}

function setParsing({ params, query, headers, body }: Input) {
  const contents = Object.values(body?.content ?? {}).map((one) =>
    one && 'schema' in one && one.schema
  )
  for (const schema of [params, query, headers, ...contents]) {
    if (!(schema instanceof z.ZodType)) continue
    const readInput = contents.includes(schema) ? readJson : read
    // Our schemas are synchronous, and Zod optimizes only synchronous parsing.
    // deno-lint-ignore require-await
    schema.safeParseAsync = async (given) => readInput(schema, given)
  }
}

/**
 * For callers with a token. A route spreads one of these four objects; with none of them, the token is
 * optional.
 */
export const mine = { security: [{ bearer: [] }], checks: [requireToken] }
/** For callers who act as their active identity, of any type. */
export const acting = { ...mine, needs: 'identity' } as const
export const forAdmins = { ...mine, needs: 'admin' } as const
/** For callers who cannot have a token yet, and for other services such as payment providers. */
export const withoutToken = { security: [] }

export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { 'application/json': { schema } },
})

export const body = <T extends z.ZodType>(schema: T) => ({
  body: { required: true, content: { 'application/json': { schema } } },
})

export const Time = z.iso.datetime({ offset: true })

/** A + that a client forgot to encode arrives as a space. */
export const TimeInQuery = z.preprocess(
  (given) => typeof given === 'string' ? given.replace(' ', '+') : given,
  Time,
)

export const Count = z.int().min(0)

/** The general form of vocabulary codes. Only the database knows which codes exist. */
export const likeCode = { pattern: '^[A-Za-z0-9_-]{1,60}$' }

export const Latitude = z.number().min(-90).max(90).openapi({ example: 29.335 })
  .describe('Degrees north.')
export const Longitude = z.number().min(-180).max(180).openapi({ example: 48.076 })
  .describe('Degrees east.')

export const Picture = z.url().nullable().describe('Address of the picture; null without one.')

export const Money = z.number().openapi({ example: 650 })
  .describe('An amount of Kuwaiti dinars, exact to the fils: at most three decimals.')

/**
 * Gives each field its own description or, without one, the description of the record's field with the same
 * name.
 */
export const describedAs = <Fields extends Record<string, z.ZodType>>(
  record: Record<string, z.ZodType>,
  fields: Fields,
) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const description = field.description ?? record[name]?.description
      return [name, description ? field.describe(description) : field]
    }),
  ) as Fields

export const MoneyOrNull = Money.nullable()

/** Makes a component nullable in this place only. nullable() would make it nullable wherever it is used. */
export const orNull = <T extends z.ZodType>(component: T) => z.union([component, z.null()])

export const Limit = inQuery(z.int().min(1).max(50)).default(20).openapi({
  type: 'integer',
  minimum: 1,
  maximum: 50,
  default: 20,
  description: 'How many items a page has at most.',
})

export const booleanInQuery = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((given) => given === 'true')
    .optional()
    .openapi({ type: 'boolean', description })

const malformed = { error: 'cursor_invalid' }

/** The opaque cursor after the last row. Only the database interprets it. */
export const Cursor = z.string(malformed).min(1, malformed).max(4000, malformed).describe(
  'nextCursor of the page before; nothing for the first page.',
)

export const PageQuery = z.strictObject({ cursor: Cursor.optional(), limit: Limit })

export const sortBy = <const Field extends string>(...fields: Field[]) =>
  z.enum(['newest', 'oldest', ...fields, ...fields.map((field) => `-${field}` as const)])

/** Returns the schema of a page. It is called `name` in the OpenAPI description. */
export const pageOf = <T extends z.ZodType>(name: string, item: T) => pageFields(item).openapi(name)

/** For pages that have other fields besides the items and the cursor. */
export const pageFields = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe(
      'The cursor of the next page; null on the last one.',
    ),
  })
