import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { acting, area, body, Count, json, mine, Money, route, send, Time } from '../http/route.ts'
import { Invoice } from './schemas.ts'

const tags = ['plans']

export const Plan = z.object({
  id: z.uuid(),
  code: z.string().describe('Its short name. Whoever has no other plan has the one called `free`.'),
  nameAr: z.string(),
  nameEn: z.string(),
  audience: z.enum(['individual', 'office', 'company']).describe('Which identities can have it.'),
  price: Money.openapi({ description: 'For one interval, in dinars.' }),
  intervalDays: Count.describe('How many days one payment lasts.'),
  activeListings: Count.describe('How many listings can be active at a time.'),
  listingDays: Count.describe('How many days a listing lives once published.'),
  photosPerListing: Count.describe('How many pictures a listing can have.'),
  featuredCredits: Count.describe('How many featured listings come with each interval.'),
}).openapi('Plan', { description: 'What can be subscribed to.' })

const payWith = z.enum(['invoice', 'wallet']).describe(
  'How it is paid and renewed: by invoices, or from the wallet by itself.',
)
const limit = Count.describe('How many the plan allows.')

const term = {
  startsAt: Time.describe('When it begins.'),
  endsAt: Time.describe('It is paid until then.'),
  payWith,
  renews: z.boolean().describe(
    'false once it is cancelled, another plan follows, or it was said that it is not renewed: it still ' +
      'runs to its end.',
  ),
}

const CurrentPlan = z.object({
  plan: Plan,
  subscription: z.object(term).nullable().describe('null on the free plan.'),
  next: z.object({ plan: Plan, ...term }).nullable().describe(
    'The plan that is paid and begins when the current one ends.',
  ),
  usage: z.object({
    activeListings: z.object({ limit, used: Count.describe('How many are active now.') })
      .describe('Listings that are active at a time.'),
    photosPerListing: z.object({ limit }).describe('Pictures of each listing.'),
    featuredCredits: z.object({ limit, left: Count.describe('How many have not been used.') })
      .describe('Featured listings of this interval.'),
  }).describe('How much of the plan is used.'),
}).openapi('CurrentPlan', { description: 'The plan that an identity has, and what is used of it.' })

const list = route({
  ...mine,
  tags,
  operationId: 'list_plans',
  method: 'get',
  path: '/',
  summary: 'List the available plans',
  description: 'Of every audience; an identity can subscribe to those of its own type.',
  responses: {
    200: json(
      z.object({ items: z.array(Plan) }).openapi('Plans', { description: 'All plans.' }),
      'In display order.',
    ),
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
    'The plan that holds now, with the price and quotas at which it was bought, how much of it is ' +
    'used, and the one that follows it. Without a subscription it is the free one.',
  responses: { 200: json(CurrentPlan, 'The current plan.') },
})

const subscribe = route({
  ...acting,
  tags,
  operationId: 'subscribe_plan',
  method: 'post',
  path: '/subscribe',
  summary: 'Subscribe to a plan, by invoice or from the wallet',
  description: 'With `payWith` `wallet` it is paid at once. With `invoice` pay the invoice ' +
    '(`POST /payments/charge`). A plan that is dearer by the day than the current one, or has more ' +
    'of any quota, holds from then on, and what is left of the current one goes over to it as time. ' +
    'Any other begins when the current one ends (`next`), which then renews no more; while one ' +
    'waits, another is refused. So does the same plan once its price or quotas have changed.',
  errors: ['plan_not_found', 'plan_audience_mismatch', 'already_subscribed', 'wallet_insufficient'],
  idempotent: true,
  request: body(z.strictObject({ planId: z.uuid(), payWith })),
  responses: {
    201: json(
      z.object({ invoice: Invoice, current: CurrentPlan }).openapi('Subscribed', {
        description: 'The invoice of a subscription, and the plan that holds now.',
      }),
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
  description:
    'The plan stays until the end of what is paid, and does not renew. Of a next plan an unpaid ' +
    'invoice is withdrawn; one that is paid stays.',
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
