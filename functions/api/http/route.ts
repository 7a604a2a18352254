/** How every area declares its routes, reads pages and sends answers. */
import { createRoute, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import type { ApiEnv } from '../../_shared/context.ts'
import { inQuery } from '../../_shared/numbers.ts'
import { thrownAsZodError } from '../../_shared/validation.ts'
import { rarelyChanged, send, sendNothing, sendPage, sendTagged, slowlyChanged } from './answers.ts'
import {
  cacheForGuests,
  inOrder,
  readBody,
  rejectBody,
  rejectLargeUpload,
  rejectQuery,
  requireToken,
  validateEnvelope,
} from './checks.ts'
import { bodyLimitOf } from './body-limit.ts'
import type { RouteDefinition } from './route-definition.ts'
import { invalid } from './problem.ts'
import { limitReads, limitRefusedWrites } from './worker-rates.ts'

export { rarelyChanged, send, sendNothing, sendPage, sendTagged, slowlyChanged }

/** The routes of an area. Broken input is 422 here; a route without a body or query takes none. */
export const area = () =>
  new OpenAPIHono<ApiEnv>({
    defaultHook: (result, c) => (result.success ? undefined : invalid(c, result.error)),
  })

/** A route of the API: as createRoute, with the checks of every route and those of its own. */
export function route<R extends RouteDefinition>(definition: R) {
  const { checks = [], unlimited = false, unknownKey, guestCache, ownCache, request = {}, method } =
    definition
  catchThrowingValidators(request)
  const upload = request.body?.content['multipart/form-data'] !== undefined
  const isGet = method === 'get'
  const isRead = isGet || definition.reads
  const limited = definition.tags[0] !== 'service' && isRead
  // Size, token, form: the order of the contract. Uploads read their own body, part by part.
  const all = inOrder([
    ...(isGet ? [] : [upload ? rejectLargeUpload : readBody(bodyLimitOf(jsonOf(request)))]),
    ...checks,
    ...(guestCache ? [cacheForGuests(guestCache, ownCache)] : []),
    ...(limited ? [definition.limit ?? limitReads] : []),
    validateEnvelope(unknownKey, definition.idempotent),
    ...(isGet || request.body ? [] : [rejectBody]),
    ...(request.query ? [] : [rejectQuery]),
  ])
  const middleware = isRead || unlimited ? all : [limitRefusedWrites, all]
  return createRoute({ ...definition, middleware } as unknown as R)
}

type Input = NonNullable<RouteConfig['request']>

/** The schema of the JSON that a route takes; webhooks take what they are sent. */
function jsonOf({ body }: Input) {
  const content = body?.content['application/json']
  return content && 'schema' in content && content.schema instanceof z.ZodType
    ? content.schema
    : undefined
}

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

/** Who may call; one of these is spread into a route. Without any, a token is optional. */
export const mine = { security: [{ bearer: [] }], checks: [requireToken] }
/** As the active identity, whatever its type. */
export const acting = { ...mine, needs: 'identity' } as const
export const forAdmins = { ...mine, needs: 'admin' } as const
/** For those who cannot have a token yet, and for machines. */
export const withoutToken = { security: [] }

export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { 'application/json': { schema } },
})

export const body = <T extends z.ZodType>(schema: T, example?: z.input<T>) => ({
  body: {
    required: true,
    content: { 'application/json': { schema, ...(example && { example }) } },
  },
})

/** A moment, as Postgres writes it. */
export const Time = z.iso.datetime({ offset: true })

/** How many. */
export const Count = z.int().min(0)

export const Latitude = z.number().min(-90).max(90).openapi({ example: 29.335 })
  .describe('Degrees north.')
export const Longitude = z.number().min(-180).max(180).openapi({ example: 48.076 })
  .describe('Degrees east.')

/** The address of a picture that may be missing. */
export const Picture = z.url().nullable().describe('Address of the picture; null without one.')

/** An amount of KWD with the decimals that it has, at most three. */
export const Money = z.number().openapi({ example: 650 })
  .describe('An amount of Kuwaiti dinars, exact to the fils: at most three decimals.')

/** What a route takes, each with the sentence of the record's field of that name, unless it has its own. */
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

/** What is a component, or null: nullable() would make the component so for everybody. */
export const orNull = <T extends z.ZodType>(component: T) => z.union([component, z.null()])

export const Limit = inQuery(z.int().min(1).max(50)).default(20).openapi({
  type: 'integer',
  minimum: 1,
  maximum: 50,
  default: 20,
  description: 'How many items a page has at most.',
})

/** true or false in a query string; anything else is refused. */
export const booleanInQuery = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((given) => given === 'true')
    .optional()
    .openapi({ type: 'boolean', description })

const malformed = { error: 'cursor_invalid' }

/** The opaque cursor after the last row seen; the database reads it. */
export const Cursor = z.string(malformed).min(1, malformed).max(4000, malformed).describe(
  'nextCursor of the page before; nothing for the first page.',
)

export const PageQuery = z.strictObject({ cursor: Cursor.optional(), limit: Limit })

/** How a list is sorted: by time, or by these and, with - before it, backwards. */
export const sortBy = <const Field extends string>(...fields: Field[]) =>
  z.enum(['newest', 'oldest', ...fields, ...fields.map((field) => `-${field}` as const)])

/** A page of a list, by the name that it has in the description. */
export const pageOf = <T extends z.ZodType>(name: string, item: T) => pageFields(item).openapi(name)

/** As pageOf, for a page that has more than its items. */
export const pageFields = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe(
      'The cursor of the next page; null on the last one.',
    ),
  })
