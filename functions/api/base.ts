/** The service itself: health, the table of errors, the description of the API. */
import { z } from '@hono/zod-openapi'
import { alarm } from '../_shared/alarms.ts'
import { backendOnReserve } from '../_shared/db.ts'
import { env } from '../_shared/env.ts'
import { jsonHeaders } from '../_shared/error-body.ts'
import { errors } from '../_shared/errors.ts'
import { withTimeout } from '../_shared/timeout.ts'
import { paymentState } from '../payments/providers.ts'
import { smsState } from './accounts/code-senders.ts'
import { area, json, problems, route } from './http/route.ts'

const tags = ['service']
const state = z.enum(['ok', 'down'])

const health = route({
  tags,
  operationId: 'get_health',
  method: 'get',
  path: '/health',
  summary: 'Whether the parts that this stands on answer',
  responses: {
    200: json(
      z.object({
        status: z.enum(['ok', 'degraded']),
        database: state,
        auth: state,
        storage: state,
        realtime: state,
        sms: z.enum(['live', 'mock', 'off']),
        payments: z.enum(['live', 'sandbox', 'off']),
      }).openapi('Health'),
      'The parts; asked at most once in two seconds. Degraded is also a service whose jobs have not ' +
        'run for five minutes.',
    ),
    ...problems(),
  },
})

const table = route({
  tags,
  operationId: 'list_errors',
  method: 'get',
  path: '/errors',
  summary: 'Every error code with its status and texts',
  responses: {
    200: json(
      z.object({
        items: z.array(
          z.object({ code: z.string(), status: z.int(), ar: z.string(), en: z.string() }),
        ),
      }).openapi('Errors'),
      'All of them.',
    ),
    ...problems(),
  },
})

const patience = 2000

/** Whether a part says that it is well: Storage tells a lost database with status 200. */
async function isWell(path: string, says: (body: Record<string, unknown>) => boolean) {
  try {
    const response = await fetch(`${env.supabaseUrl}${path}`, {
      headers: { apikey: env.publishableKey },
      signal: AbortSignal.timeout(patience),
    })
    const body = Object(await response.json())
    return response.ok && says(body)
  } catch {
    return false
  }
}

async function look() {
  const [database, auth, storage, realtime] = await Promise.all([
    withTimeout(patience, backendOnReserve<{ jobsRan: boolean }>('health', {}), 'timeout')
      .catch(() => undefined),
    isWell('/auth/v1/health', ({ name }) => name === 'GoTrue'),
    isWell('/storage/v1/health', ({ healthy }) => healthy === true),
    isWell('/realtime/v1/api/ping', ({ message }) => message === 'Success'),
  ])
  // Of what nobody does any more nobody complains.
  if (database && !database.jobsRan) alarm('jobs_late', 'jobs')
  const say = (up: unknown) => (up ? 'ok' : 'down')
  return {
    status: database?.jobsRan && auth && storage && realtime ? 'ok' : 'degraded',
    database: say(database),
    auth: say(auth),
    storage: say(storage),
    realtime: say(realtime),
    sms: smsState,
    payments: paymentState,
  } as const
}

let last: { at: number; seen: ReturnType<typeof look> } | undefined

const items = Object.entries(errors).map(([code, [status, ar, en]]) => ({ code, status, ar, en }))

export const service = area()
  .openapi(health, async (c) => {
    if (!last || Date.now() - last.at > 2000) last = { at: Date.now(), seen: look() }
    return c.json(await last.seen, 200, jsonHeaders)
  })
  .openapi(table, (c) => {
    c.header('Cache-Control', 'public, max-age=3600')
    return c.json({ items }, 200, jsonHeaders)
  })
