/** What every area shares: the app it hangs on, who is calling, how an answer leaves. */
import { createRoute, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { type ErrorCode, errors } from '../../_shared/errors.ts'
import { inQuery } from '../../_shared/numbers.ts'
import { invalid, jsonHeaders, Problem, problem, stumbled } from '../../_shared/problem.ts'
import { bounded, measured, shaped } from './checks.ts'
import type { Caller } from '../../_shared/tokens.ts'
import { limitedRead, limitedRefusals } from './worker-rates.ts'

export type Env = {
  Variables: {
    requestId: string
    caller: Caller
    /** The client's address; IPv6 by /64. */
    address: string
    /** The body as it came, if there is one. */
    body?: Uint8Array
    /** X-Expect-Identity, if sent. */
    expectIdentity?: string
    /** Idempotency-Key, if sent. */
    idempotencyKey?: string
    /** The route needs a token, so the database refuses a caller that is not in order. */
    required?: boolean
    errorCode?: string
    /** What stands behind a failure, for the log only. */
    cause?: string
  }
}

/** An area's routes. Broken input is 422 here; a route without a body or query takes none. */
export function area() {
  const app = new OpenAPIHono<Env>({
    defaultHook: (result, c) => (result.success ? undefined : invalid(c, result.error)),
  })
  return app
}

/** Looks at a request before its route does: gives the refusal, or nothing. */
export type Check = (c: Context<Env>) => Response | undefined | void | Promise<Response | undefined>

/** One after another, with no wait for those that need none. */
const checked = (checks: readonly Check[]): MiddlewareHandler<Env> => async (c, next) => {
  for (const check of checks) {
    const looked = check(c)
    const refused = looked instanceof Promise ? await looked : looked
    if (refused) return refused
  }
  await next()
}

/** A route of the API: as createRoute, with what nobody asked for refused, and checks of its own. */
export function route<
  const R extends Omit<RouteConfig, 'middleware'> & {
    operationId: string
    checks?: readonly Check[]
    /** Refused however often: a provider that sends again what we did not understand. */
    unlimited?: boolean
    /** What a key is called that the route does not know, where it has a code of its own. */
    unknownKey?: ErrorCode
  },
>({ checks = [], unlimited = false, unknownKey, ...config }: R) {
  const { request = {}, security, method } = config
  guard(request)
  const upload = request.body?.content['multipart/form-data'] !== undefined
  const reads = method === 'get'
  const counted = reads || config['x-read']
  const limited = config.tags?.[0] !== 'service' && counted
  // Size, token, shape: the order of the contract. Uploads read their own body, part by part.
  const inOrder = checked([
    ...(reads ? [] : [upload ? measured : bounded]),
    ...checks,
    ...(limited ? [limitedRead] : []),
    shaped(unknownKey),
    ...(reads || request.body ? [] : [withoutBody]),
    ...(request.query ? [] : [withoutQuery]),
  ])
  return createRoute({
    ...config,
    middleware: counted || unlimited ? inOrder : [limitedRefusals, inOrder],
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

/** What the schemas of a route stumble over is refused as what they do not take. */
function guard({ params, query, headers, body }: Input) {
  const contents = Object.values(body?.content ?? {}).map((one) =>
    one && 'schema' in one && one.schema
  )
  for (const schema of [params, query, headers, ...contents]) {
    if (!(schema instanceof z.ZodType)) continue
    const parse = schema.safeParseAsync.bind(schema)
    schema.safeParseAsync = (given) =>
      parse(given).catch((error) => ({ success: false, error: stumbled(error) }))
  }
}

/** 401 before anything else is looked at, unless the request carries a valid token. */
export const signedIn: Check = (c) => {
  const caller = c.get('caller')
  if (caller.role === 'anon') return problem(c, caller.ignored ?? 'token_missing')
  c.set('required', true)
}

const withoutBody: Check = async (c) => {
  const text = await c.req.text()
  if (text && text.trim() !== '{}') {
    return problem(c, 'validation_failed', { fields: [{ path: '', code: 'unknown' }] })
  }
}

const nothing = z.strictObject({})

const withoutQuery: Check = (c) => {
  if (!c.req.url.includes('?')) return
  const { error } = nothing.safeParse(c.req.query())
  if (error) return invalid(c, error)
}

/** For routes that need a token. Spread it into the route. */
export const mine = { security: [{ bearer: [] }], checks: [signedIn] }

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

export const Limit = inQuery(z.int().min(1).max(50)).default(20)

const damaged = { error: 'cursor_invalid' }

/** The opaque place after the last row seen; the database reads it. */
export const Cursor = z.string(damaged).min(1, damaged).max(4000, damaged)

export const PageQuery = z.strictObject({ cursor: Cursor.optional(), limit: Limit })

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })

/** Sends JSON as Postgres wrote it. The suite holds it against the route's schema. */
export function send(c: Context<Env>, text: string, status: ContentfulStatusCode = 200) {
  // The route's type wants a value; parsing the text again to please it would be work for nothing.
  return c.body(text, status, jsonHeaders) as never
}
