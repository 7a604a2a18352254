import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { displayName, identityType } from '../accounts/schemas.ts'
import {
  area,
  Count,
  json,
  pageOf,
  PageQuery,
  Picture,
  route,
  send,
  slowlyChanged,
} from '../http/route.ts'
import { Fields, Listed } from '../properties/schemas.ts'
import { medianResponseMinutes, rating } from './schemas.ts'

const tags = ['organisations']
const OneIdentity = z.strictObject({ id: z.uuid() })

const Advertiser = z
  .object({
    identityId: z.uuid(),
    type: identityType,
    displayName,
    avatarUrl: Picture,
    verified: z.boolean().describe('A company or office whose licence an administrator has seen.'),
    memberSince: z.string().openapi({ example: '2026-11' }).describe(
      'The month in which the identity began, in Kuwait.',
    ),
    ...rating,
    activeListingsCount: Count.describe('How many of its listings everybody sees now.'),
    medianResponseMinutes,
  })
  .openapi('Advertiser', { description: 'Whoever lists, as everybody sees it.' })

const get = route({
  tags,
  operationId: 'get_advertiser',
  method: 'get',
  path: '/{id}',
  guestCache: slowlyChanged,
  summary: 'Get whose listings they are: a verified company or office, or a person who lists',
  description: 'A person is shown as long as something of theirs is listed.',
  errors: ['identity_not_found'],
  request: { params: OneIdentity },
  responses: { 200: json(Advertiser, 'As everybody sees it.') },
})

const listings = route({
  tags,
  operationId: 'list_advertiser_listings',
  method: 'get',
  path: '/{id}/listings',
  guestCache: slowlyChanged,
  summary: 'List what an advertiser has listed, newest first',
  description: 'For sale, rent and exchange, the newest first.',
  errors: ['identity_not_found'],
  request: { params: OneIdentity, query: PageQuery.extend({ fields: Fields }) },
  responses: { 200: json(pageOf('AdvertiserListingsPage', Listed), 'The newest first.') },
})

export const advertisers = area()
  .openapi(get, async (c) => {
    const args = { identityId: c.req.valid('param').id }
    return send(c, await call(c, 'get_advertiser', args, { isText: true }))
  })
  .openapi(listings, async (c) => {
    const { cursor, limit, fields } = c.req.valid('query')
    const args = {
      identityId: c.req.valid('param').id,
      fields,
      pageCursor: cursor,
      pageSize: limit,
    }
    return send(c, await call(c, 'list_advertiser_listings', args, { isText: true }))
  })
