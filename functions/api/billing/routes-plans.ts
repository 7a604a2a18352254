/** Plans, and subscribing to them. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { acting, area, body, json, mine, route, send } from '../http/route.ts'
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
  description: 'Of every audience; an identity can subscribe to those of its own type.',
  responses: {
    200: json(z.object({ items: z.array(Plan) }).openapi('Plans'), 'In display order.'),
  },
})

const current = route({
  ...acting,
  tags,
  operationId: 'current_plan',
  method: 'get',
  path: '/current',
  summary: 'Get the current plan of the acting identity and its usage',
  description:
    'The plan that holds now, and how much of it is used. Without a subscription it is the free ' +
    'one.',
  responses: { 200: json(CurrentPlan, 'The current plan.') },
})

const subscribe = route({
  ...acting,
  tags,
  operationId: 'subscribe_plan',
  method: 'post',
  path: '/subscribe',
  summary: 'Subscribe to a plan, by invoice or from the wallet',
  description:
    'With `payWith` `wallet` it is paid and holds at once. With `invoice` pay the invoice ' +
    '(`POST /payments/charge`): the plan holds from then on.',
  errors: ['plan_not_found', 'plan_audience_mismatch', 'already_subscribed', 'wallet_insufficient'],
  idempotent: true,
  request: body(z.strictObject({ planId: z.uuid(), payWith: z.enum(['invoice', 'wallet']) })),
  responses: {
    201: json(
      z.object({ invoice: Invoice, current: CurrentPlan }).openapi('Subscribed'),
      'The invoice, open or paid, and the plan that holds now.',
    ),
  },
})

const cancel = route({
  ...acting,
  tags,
  operationId: 'cancel_plan',
  method: 'post',
  path: '/cancel',
  summary: 'Cancel the renewal of my plan',
  description: 'The plan stays until the end of what is paid, and does not renew.',
  errors: ['plan_not_found'],
  idempotent: true,
  responses: { 200: json(CurrentPlan, 'It stays active until endsAt.') },
})

export const plans = area()
  .openapi(list, async (c) => send(c, await call(c, 'list_plans', {})))
  .openapi(current, async (c) => send(c, await call(c, 'current_plan', {})))
  .openapi(
    subscribe,
    async (c) => send(c, await call(c, 'subscribe_plan', c.req.valid('json')), 201),
  )
  .openapi(cancel, async (c) => send(c, await call(c, 'cancel_plan', {})))
