/** Actions on a listing: its states, its contact, its auction. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { area, body, json, mine, problems, route, send, sendNothing } from '../http/route.ts'
import { NewAuction } from './schemas-fields.ts'
import { OneProperty, Property } from './schemas.ts'

export const tags = ['properties']
export const property = json(Property, 'The listing.')

const actions = [
  ['publish', 'publish_property', 'Publish my draft, or submit it for review'],
  ['pause', 'pause_property', 'Pause my active listing; its remaining time is kept'],
  ['resume', 'resume_property', 'Resume my paused listing'],
  ['renew', 'renew_property', 'Renew my listing that expired within 90 days'],
  ['archive', 'archive_property', 'Archive my listing'],
  ['restore', 'restore_property', 'Restore my archived listing as a draft'],
  ['mark-sold', 'mark_property_sold', 'Mark my listing for sale as sold'],
  ['mark-rented', 'mark_property_rented', 'Mark my listing for rent as rented'],
  ['mark-exchanged', 'mark_property_exchanged', 'Mark my listing for exchange as exchanged'],
  [
    'confirm-available',
    'confirm_property_available',
    'Confirm that my active listing is still available',
  ],
] as const

const actionRoute = ([path, operationId, summary]: (typeof actions)[number]) =>
  route({
    ...mine,
    tags,
    operationId,
    method: 'post',
    path: `/{id}/${path}`,
    summary,
    request: { params: OneProperty },
    responses: { 200: property, ...problems(401, 402, 403, 404, 409) },
  })

const contact = route({
  ...mine,
  tags,
  operationId: 'contact_property',
  method: 'post',
  path: '/{id}/contact',
  summary: 'Get a way to contact the owner; counts as a lead',
  request: {
    params: OneProperty,
    ...body(z.strictObject({ kind: z.enum(['call', 'whatsapp', 'chat']) }).openapi('ContactKind')),
  },
  responses: {
    200: json(
      z.object({
        phone: z.string().optional(),
        whatsappUrl: z.url().optional(),
        conversationId: z.uuid().optional(),
      }).openapi('Contact'),
      'The requested way of contact.',
    ),
    ...problems(400, 401, 403, 404, 409, 413, 415),
  },
})

const setAuction = route({
  ...mine,
  tags,
  operationId: 'set_auction',
  method: 'post',
  path: '/{id}/auction',
  summary: 'Set an auction for my listing',
  request: { params: OneProperty, ...body(NewAuction) },
  responses: {
    201: json(Property, 'The listing with its auction.'),
    ...problems(400, 401, 403, 404, 409, 413, 415),
  },
})

const removeAuction = route({
  ...mine,
  tags,
  operationId: 'remove_auction',
  method: 'delete',
  path: '/{id}/auction',
  summary: 'Remove an auction that is not running',
  request: { params: OneProperty },
  responses: { 204: { description: 'Removed.' }, ...problems(401, 403, 404, 409) },
})

export const propertyActions = area()
  .openapi(contact, async (c) => {
    const args = { propertyId: c.req.valid('param').id, ...c.req.valid('json') }
    const options = { rate: 'contact', idempotent: true }
    return send(c, await call(c, 'contact_property', args, options))
  })
  .openapi(setAuction, async (c) => {
    const args = { propertyId: c.req.valid('param').id, ...c.req.valid('json') }
    return send(c, await call(c, 'set_auction', args, { idempotent: true }), 201)
  })
  .openapi(removeAuction, async (c) => {
    await call(c, 'remove_auction', { propertyId: c.req.valid('param').id })
    return sendNothing(c)
  })

for (const action of actions) {
  propertyActions.openapi(
    actionRoute(action),
    async (c) => send(c, await call(c, action[1], { propertyId: c.req.valid('param').id })),
  )
}
