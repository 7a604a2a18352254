import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { text } from '../../_shared/input/texts.ts'
import { IdentityChanges } from '../accounts/schemas.ts'
import {
  acting,
  area,
  body,
  Cursor,
  json,
  Limit,
  mine,
  PageQuery,
  route,
  send,
  slowlyChanged,
} from '../http/route.ts'
import { Fields, PropertyPage, statuses } from '../properties/schemas.ts'
import {
  LeadPage,
  OrganisationList,
  OrganisationPage,
  OrganisationProfile,
  OrganisationStats,
} from './schemas.ts'

const tags = ['organisations']
const OneOrganisation = z.strictObject({ id: z.uuid() })

const OrganisationFilters = z.strictObject({
  q: text(200).optional().describe('Words of the name, or their beginnings.'),
  governorateId: text(60).optional().describe('Those in this governorate.'),
  areaId: text(60).optional().describe('Those in this area.'),
  sort: z.enum(['rating', 'listings', 'newest']).default('rating').describe(
    'The best rated, those with most listings, or the newest first.',
  ),
  cursor: Cursor.optional(),
  limit: Limit,
})

const ListingsQuery = z.strictObject({
  status: z.enum(statuses).optional().describe('Listings in this state.'),
  cursor: Cursor.optional(),
  limit: Limit,
})

const names = {
  company: { one: 'company', many: 'companies', own: 'my company' },
  office: { one: 'office', many: 'offices', own: 'my office' },
} as const

const leads = route({
  ...acting,
  tags,
  operationId: 'list_leads',
  method: 'get',
  path: '/leads',
  summary: 'List my leads, newest first',
  description:
    'Who asked for a way to contact the acting identity, whatever its type. Each kind of contact of a ' +
    'person counts once a day.',
  request: { query: PageQuery },
  responses: { 200: json(LeadPage, 'Of the acting identity.') },
})

export const organisations = area()
organisations.openapi(leads, async (c) => {
  const { cursor, limit } = c.req.valid('query')
  return send(c, await call(c, 'list_leads', { pageCursor: cursor, pageSize: limit }))
})
for (const { one, many, own } of Object.values(names)) {
  const itself = { ...mine, needs: one }

  const list = route({
    tags,
    operationId: `list_${many}`,
    method: 'get',
    path: `/${many}`,
    guestCache: slowlyChanged,
    summary: `List verified ${many}`,
    description: 'Those that are active and verified.',
    errors: ['area_invalid'],
    request: { query: OrganisationFilters },
    responses: { 200: json(OrganisationList, 'In the requested order.') },
  })

  const get = route({
    tags,
    operationId: `get_${one}`,
    method: 'get',
    path: `/${one}/{id}`,
    guestCache: slowlyChanged,
    summary: `Get a verified ${one}, with its newest listings and a summary of its reviews`,
    description: 'With its ten newest listings and a summary of its reviews.',
    errors: ['org_not_found'],
    request: { params: OneOrganisation, query: z.strictObject({ fields: Fields }) },
    responses: { 200: json(OrganisationPage, 'Its page.') },
  })

  const profile = route({
    ...itself,
    tags,
    operationId: `get_${one}_profile`,
    method: 'get',
    path: `/${one}/profile`,
    summary: `Get the profile of ${own}`,
    description: 'As the public record, with its state.',
    responses: { 200: json(OrganisationProfile, 'As it is now.') },
  })

  const change = route({
    ...itself,
    tags,
    operationId: `update_${one}_profile`,
    method: 'patch',
    path: `/${one}/profile`,
    summary: `Change the profile of ${own}; a new name or licence is verified first`,
    description:
      'Fields that are left out stay, null clears. New names, a new licence number and a later date ' +
      'wait as `pendingChanges` until an administrator has seen them; until then the old goes on.',
    errors: [
      'licence_expired',
      'area_invalid',
      'identities_full',
      'not_found',
      'status_transition_invalid',
    ],
    request: body(IdentityChanges),
    responses: {
      200: json(OrganisationProfile, 'Changed.'),
    },
  })

  const listings = route({
    ...itself,
    tags,
    operationId: `list_${one}_listings`,
    method: 'get',
    path: `/${one}/listings`,
    summary: `List the listings of ${own}, newest first`,
    description: 'Whole records, newest first.',
    request: { query: ListingsQuery },
    responses: { 200: json(PropertyPage, 'All, or those of one status.') },
  })

  const leads = route({
    ...itself,
    tags,
    operationId: `list_${one}_leads`,
    method: 'get',
    path: `/${one}/leads`,
    summary: `List the leads of ${own}, newest first`,
    description:
      'Who asked for a way to contact it. Each kind of contact of a person counts once a day.',
    request: { query: PageQuery },
    responses: { 200: json(LeadPage, 'Each kind of contact counts once a day.') },
  })

  const stats = route({
    ...itself,
    tags,
    operationId: `get_${one}_stats`,
    method: 'get',
    path: `/${one}/stats`,
    summary: `Get the statistics of ${own}`,
    description: 'The figures of this moment.',
    responses: { 200: json(OrganisationStats, 'The current figures.') },
  })

  organisations
    .openapi(list, async (c) => {
      const { cursor, limit, ...filters } = c.req.valid('query')
      const page = { type: one, ...filters, pageCursor: cursor, pageSize: limit }
      return send(c, await call(c, 'list_organisations', page))
    })
    .openapi(
      profile,
      async (c) => send(c, await call(c, 'get_organisation_profile', { type: one })),
    )
    .openapi(change, async (c) => {
      const fields = c.req.valid('json')
      return send(c, await call(c, 'update_organisation_profile', { type: one, fields }))
    })
    .openapi(listings, async (c) => {
      const { cursor, limit, status } = c.req.valid('query')
      const page = { type: one, status, pageCursor: cursor, pageSize: limit }
      return send(c, await call(c, 'list_organisation_listings', page))
    })
    .openapi(leads, async (c) => {
      const { cursor, limit } = c.req.valid('query')
      const page = { type: one, pageCursor: cursor, pageSize: limit }
      return send(c, await call(c, 'list_organisation_leads', page))
    })
    .openapi(stats, async (c) => send(c, await call(c, 'get_organisation_stats', { type: one })))
    .openapi(get, async (c) => {
      const { id } = c.req.valid('param')
      const { fields } = c.req.valid('query')
      const args = { type: one, identityId: id, fields }
      return send(c, await call(c, 'get_organisation', args, { isText: true }))
    })
}
