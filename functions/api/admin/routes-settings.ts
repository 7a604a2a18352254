import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { text, upTo, visible } from '../../_shared/input/texts.ts'
import { Plan } from '../billing/routes-plans.ts'
import { area, body, forAdmins, json, Money, pageOf, route, send } from '../http/route.ts'

const tags = ['admin']

const version = z.int().describe(
  'Changes with every change. If it is another by now, nothing is saved (409 version_conflict).',
)
const changes = {
  ...forAdmins,
  proof: true,
  tags,
  method: 'patch',
} as const
const saved =
  'Send the `version` that the form showed: what was changed since is not overwritten. Needs a proof ' +
  '(`X-Proof`), and is kept in the audit trail.'

const AdminPlan = Plan.extend({
  onSale: z.boolean().describe('Whether it can be bought and renewed.'),
  version,
}).openapi('AdminPlan', { description: 'A plan, as administrators see it.' })

const plans = route({
  ...forAdmins,
  tags,
  operationId: 'list_admin_plans',
  method: 'get',
  path: '/plans',
  summary: 'List all plans, also those off sale',
  description: 'All of them, in the order in which people see them.',
  responses: { 200: json(pageOf('AdminPlanPage', AdminPlan), 'All plans.') },
})

const was = AdminPlan.shape
const name = visible(120).check(upTo(120)).min(2).optional()
const number = ({ description }: z.ZodType, min: number, max: number) =>
  z.int().min(min).max(max).optional().describe(description!)

const changePlan = route({
  ...changes,
  operationId: 'change_plan',
  path: '/plans/{planId}',
  summary: 'Change what a plan costs and gives',
  description:
    `What is not sent stays. What was sold stays as it was sold; who pays more or gets less is told. ${saved}`,
  errors: ['plan_not_found', 'version_conflict'],
  request: {
    params: z.strictObject({ planId: z.uuid() }),
    ...body(z.strictObject({
      version,
      nameAr: name,
      nameEn: name,
      price: Money.min(0).max(99_999_999_999.999).optional(),
      intervalDays: number(was.intervalDays, 1, 3660),
      activeListings: number(was.activeListings, 0, 1_000_000),
      listingDays: number(was.listingDays, 1, 3660),
      photosPerListing: number(was.photosPerListing, 0, 40),
      featuredCredits: number(was.featuredCredits, 0, 1_000_000),
      onSale: was.onSale.optional(),
    })),
  },
  responses: { 200: json(AdminPlan, 'The changed plan.') },
})

const Setting = z.object({
  name: z.string().openapi({ description: 'Its name.', example: 'review_listings' }),
  value: z.string().describe('As JSON.').openapi({ example: 'true' }),
  note: z.string().describe('What it does.'),
  version,
}).openapi('Setting', { description: 'A setting of the service.' })

const settings = route({
  ...forAdmins,
  tags,
  operationId: 'list_admin_settings',
  method: 'get',
  path: '/settings',
  summary: 'List the settings that administrators change',
  description: 'What each may be stands in the handbook.',
  responses: { 200: json(pageOf('SettingPage', Setting), 'By their names.') },
})

const changeSetting = route({
  ...changes,
  operationId: 'change_setting',
  path: '/settings',
  summary: 'Change a setting',
  description: `Its effects are those of a change in Studio. ${saved}`,
  errors: ['not_found', 'version_conflict'],
  request: body(z.strictObject({
    name: text(60).min(1).describe('One of those that are listed.'),
    version,
    value: text(20_000).min(1).describe('As JSON.').openapi({ example: 'true' }),
  })),
  responses: { 200: json(Setting, 'The changed setting.') },
})

export const adminSettings = area()
  .openapi(plans, async (c) => send(c, await call(c, 'list_admin_plans', {})))
  .openapi(changePlan, async (c) => {
    const given = { ...c.req.valid('param'), ...c.req.valid('json') }
    return send(c, await call(c, 'change_plan', given))
  })
  .openapi(settings, async (c) => send(c, await call(c, 'list_admin_settings', {})))
  .openapi(changeSetting, async (c) => {
    return send(c, await call(c, 'change_setting', c.req.valid('json')))
  })
