/** Plans, and subscribing to them. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { area, body, json, mine, problems, route, send } from '../http/route.ts'
import { Invoice } from './schemas.ts'

const tags = ['plans']

const Plan = z.object({
  id: z.uuid(),
  code: z.string(),
  nameAr: z.string(),
  nameEn: z.string(),
  audience: z.enum(['individual', 'office', 'company']),
  price: z.number().openapi({ description: 'KWD per interval.' }),
  intervalDays: z.int(),
  activeListings: z.int(),
  listingDays: z.int(),
  photosPerListing: z.int(),
  featuredCredits: z.int(),
}).openapi('Plan')

const CurrentPlan = z.object({
  plan: Plan,
  subscription: z.object({
    startsAt: z.string(),
    endsAt: z.string(),
    payWith: z.enum(['invoice', 'wallet']),
    renews: z.boolean(),
  }).nullable().openapi({ description: 'null on the free plan.' }),
  usage: z.object({
    activeListings: z.object({ limit: z.int(), used: z.int() }),
    photosPerListing: z.object({ limit: z.int() }),
    featuredCredits: z.object({ limit: z.int(), left: z.int() }),
  }),
}).openapi('CurrentPlan')

const list = route({
  ...mine,
  tags,
  operationId: 'list_plans',
  method: 'get',
  path: '/',
  summary: 'List the available plans',
  responses: {
    200: json(z.object({ items: z.array(Plan) }).openapi('Plans'), 'In display order.'),
    ...problems(401, 403),
  },
})

const current = route({
  ...mine,
  tags,
  operationId: 'current_plan',
  method: 'get',
  path: '/current',
  summary: 'Get the current plan of the acting identity and its usage',
  responses: { 200: json(CurrentPlan, 'The current plan.'), ...problems(401, 403) },
})

const subscribe = route({
  ...mine,
  tags,
  operationId: 'subscribe_plan',
  method: 'post',
  path: '/subscribe',
  summary: 'Subscribe to a plan, by invoice or from the wallet',
  request: body(z.strictObject({ planId: z.uuid(), payWith: z.enum(['invoice', 'wallet']) })),
  responses: {
    201: json(
      z.object({ invoice: Invoice, current: CurrentPlan }).openapi('Subscribed'),
      'The invoice, open or paid, and the plan that holds now.',
    ),
    ...problems(402, 404),
  },
})

const cancel = route({
  ...mine,
  tags,
  operationId: 'cancel_plan',
  method: 'post',
  path: '/cancel',
  summary: 'Cancel the renewal of my plan',
  responses: { 200: json(CurrentPlan, 'It stays active until endsAt.'), ...problems(404) },
})

export const plans = area()
  .openapi(list, async (c) => send(c, await call(c, 'list_plans', {})))
  .openapi(current, async (c) => send(c, await call(c, 'current_plan', {})))
  .openapi(
    subscribe,
    async (c) =>
      send(c, await call(c, 'subscribe_plan', c.req.valid('json'), { idempotent: true }), 201),
  )
  .openapi(cancel, async (c) => send(c, await call(c, 'cancel_plan', {}, { idempotent: true })))
