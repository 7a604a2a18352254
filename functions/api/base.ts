import { z } from '@hono/zod-openapi'
import { backendOnReserve } from '../_shared/database/db.ts'
import { diskWasFull } from '../_shared/database/pools.ts'
import { alarm } from '../_shared/errors/alarms.ts'
import { errors } from '../_shared/errors/errors.ts'
import { withTimeout } from '../_shared/errors/timeout.ts'
import { gauge } from '../_shared/figures/families.ts'
import { mayReadMetrics, metrics } from '../_shared/figures/metrics.ts'
import { fetchService } from '../_shared/outside/http-client.ts'
import { smsAsWanted, smsState } from '../_shared/outside/messages.ts'
import { env } from '../_shared/settings/env.ts'
import { paymentState } from '../payments/configured-providers.ts'
import { area, json, rarelyChanged, route, send, withoutToken } from './http/route.ts'

const tags = ['service']
const state = z.enum(['ok', 'down']).describe('Whether this part answers.')

const health = route({
  ...withoutToken,
  tags,
  operationId: 'get_health',
  method: 'get',
  path: '/health',
  summary: 'Health of the service and of the parts that it depends on',
  description:
    'Always 200 while it answers: look at `status`. Asks the parts at most once in two seconds. A service whose jobs have not run for five ' +
    'minutes, or that lacks a row that it needs (a rate, a setting, a word), is degraded too, and in ' +
    'production one that can send no SMS, unless it is deployed so (`ALLOW_NO_SMS`). Nothing in it ' +
    'is secret.',
  responses: {
    200: json(
      z.object({
        status: z.enum(['ok', 'degraded']).describe(
          '`degraded` where a part or the jobs fail, a row is gone that is needed, or no SMS can be sent.',
        ),
        database: z.enum(['ok', 'down', 'read_only', 'full']).describe(
          '`read_only`, `full`: it answers, and whatever writes is 503.',
        ),
        auth: state,
        storage: state,
        realtime: state,
        sms: z.enum(['live', 'mock', 'off']).describe('`mock`: shown in the local inbox.'),
        payments: z.enum(['live', 'sandbox', 'off']).describe('`sandbox`: no money moves.'),
      }).openapi('Health', { description: 'How the service and its parts are.' }),
      'The parts; asked at most once in two seconds. Degraded is also a service whose jobs have not ' +
        'run for five minutes, or that lacks a row that it needs.',
    ),
  },
})

const table = route({
  ...withoutToken,
  tags,
  operationId: 'list_errors',
  method: 'get',
  path: '/errors',
  guestCache: rarelyChanged,
  summary: 'All error codes with their statuses and texts',
  description:
    'The table behind every `error.code`. Use it to check that a client knows all codes.',
  responses: {
    200: json(
      z.object({
        items: z.array(
          z.object({
            code: z.string().describe('What programs go by; it never changes.'),
            status: z.int().min(400).max(599).describe('The HTTP status that it comes with.'),
            ar: z.string().describe('The Arabic text, with {placeholders} for details.'),
            en: z.string().describe('The English text.'),
          }),
        ),
      }).openapi('Errors', { description: 'Every error that the API knows.' }),
      'All of them.',
    ),
  },
})

const timeLimit = 2000

/** Also checks the body, because Storage returns status 200 even if it has lost its database. */
async function isHealthy(path: string, check: (body: Record<string, unknown>) => boolean) {
  try {
    const response = await fetchService(path, {
      headers: { apikey: env.publishableKey },
      signal: AbortSignal.timeout(timeLimit),
    })
    const body = Object(await response.json())
    return response.ok && check(body)
  } catch {
    return false
  }
}

async function checkParts() {
  const [database, auth, storage, realtime] = await Promise.all([
    withTimeout(
      timeLimit,
      backendOnReserve<{ jobsRan: boolean; readOnly: boolean; rowsThere: boolean }>('health', {}),
      'timeout',
    ).catch(() => undefined),
    isHealthy('/auth/v1/health', ({ name }) => name === 'GoTrue'),
    isHealthy('/storage/v1/health', ({ healthy }) => healthy === true),
    isHealthy('/realtime/v1/api/ping', ({ message }) => message === 'Success'),
  ])
  // This is the only place that notices when the jobs stop running.
  if (database && !database.jobsRan) alarm('jobs_late', 'jobs')
  const stateOf = (up: unknown) => (up ? 'ok' : 'down')
  const refusesWrites = database?.readOnly ? 'read_only' : database && diskWasFull() && 'full'
  if (refusesWrites) alarm('writes_refused', 'database', { state: refusesWrites })
  const well = database?.jobsRan && database.rowsThere && !refusesWrites && auth && storage &&
    realtime && smsAsWanted
  return {
    status: well ? 'ok' : 'degraded',
    database: refusesWrites || stateOf(database),
    auth: stateOf(auth),
    storage: stateOf(storage),
    realtime: stateOf(realtime),
    sms: smsState,
    payments: paymentState,
  } as const
}

type Health = Awaited<ReturnType<typeof checkParts>>

let last: { at: number; health: Promise<Health> } | undefined

function currentHealth(): Promise<Health> {
  if (!last || Date.now() - last.at > 2000) last = { at: Date.now(), health: checkParts() }
  return last.health
}

const partFamily = ({ database, auth, storage, realtime }: Health) =>
  gauge(
    'marketplace_part_up',
    'Whether a part is ok, as GET /health says.',
    Object.entries({ database, auth, storage, realtime })
      .map(([part, state]) => ({ labels: { part }, value: Number(state === 'ok') })),
  )

const errorTable = JSON.stringify({
  items: Object.entries(errors).map(([code, [status, ar, en]]) => ({ code, status, ar, en })),
})

export const service = area()
  .openapi(health, async (c) => send(c, JSON.stringify(await currentHealth())))
  .openapi(table, (c) => send(c, errorTable))

// Not part of the OpenAPI description. Without the token, every method returns 404.
service.all('/metrics', async (c) => {
  const isRead = ['GET', 'HEAD'].includes(c.req.method)
  if (!isRead || !mayReadMetrics(c.req.header('authorization'))) return await c.notFound()
  const parts = currentHealth().then((health) => [partFamily(health)])
  const { type, text } = await metrics(c.req.header('accept'), parts)
  const { 'X-Auth-Ignored': _, ...headers } = c.get('headers')
  return new Response(text, { headers: { ...headers, 'Content-Type': type } })
})
