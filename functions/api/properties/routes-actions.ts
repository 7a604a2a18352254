import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import { acting, area, body, json, route, send, sendNothing } from '../http/route.ts'
import { NewAuction } from './schemas-writing.ts'
import { OneProperty, Property } from './schemas.ts'

export const tags = ['properties']
export const property = json(Property, 'The listing.')

/** Actions that change a listing's state and need only its id. */
const actions: Action[] = [
  {
    path: 'publish',
    operationId: 'publish_property',
    summary: 'Publish my draft, or submit it for review',
    description:
      'What publishing needs stands at `POST /properties`. At most 60 an hour, or as many as ' +
      'the plan allows, together with resume and renew.',
    errors: [
      'terms_not_accepted',
      'account_unproven',
      'price_required',
      'contact_missing',
      'quota_exceeded',
      'duplicate_listing',
    ],
  },
  {
    path: 'pause',
    operationId: 'pause_property',
    summary: 'Pause my active listing; its remaining time is kept',
    description: 'Hides it; the time that it has left is kept.',
  },
  {
    path: 'resume',
    operationId: 'resume_property',
    summary: 'Resume my paused listing',
    description: 'Shows it again for the time that it had left.',
    errors: ['terms_not_accepted', 'contact_missing', 'quota_exceeded', 'duplicate_listing'],
  },
  {
    path: 'renew',
    operationId: 'renew_property',
    summary: 'Renew my listing that ends within 7 days, or expired within 90',
    description:
      'Shows it for a new period of the plan, which is added to the end where that lies ahead. It ' +
      'keeps its place among the newest.',
    errors: ['terms_not_accepted', 'contact_missing', 'quota_exceeded', 'duplicate_listing'],
  },
  {
    path: 'archive',
    operationId: 'archive_property',
    summary: 'Archive my listing',
    description: 'Puts it away; it can be restored.',
  },
  {
    path: 'restore',
    operationId: 'restore_property',
    summary: 'Restore my archived listing as a draft',
    description: 'It is a draft again.',
    errors: ['drafts_full'],
  },
  {
    path: 'mark-sold',
    operationId: 'mark_property_sold',
    summary: 'Mark my listing for sale as sold',
    description: 'Also a paused or expired one. It can be seen by link for 30 days more.',
  },
  {
    path: 'mark-rented',
    operationId: 'mark_property_rented',
    summary: 'Mark my listing for rent as rented',
    description: 'Also a paused or expired one. It can be seen by link for 30 days more.',
  },
  {
    path: 'mark-exchanged',
    operationId: 'mark_property_exchanged',
    summary: 'Mark my listing for exchange as exchanged',
    description: 'Also a paused or expired one. It can be seen by link for 30 days more.',
  },
  {
    path: 'confirm-available',
    operationId: 'confirm_property_available',
    summary: 'Confirm that my active listing is still available',
    description: 'Sets `confirmedAt`, which shows others that it is up to date.',
  },
]

type Action = {
  path: string
  operationId: string
  summary: string
  description: string
  errors?: ErrorCode[]
}

const actionRoute = ({ path, errors = [], ...action }: Action) =>
  route({
    ...acting,
    tags,
    ...action,
    method: 'post',
    path: `/{id}/${path}`,
    errors: ['property_not_found', 'property_state_conflict', ...errors],
    request: { params: OneProperty },
    responses: { 200: property },
  })

const contact = route({
  ...acting,
  tags,
  operationId: 'contact_property',
  method: 'post',
  path: '/{id}/contact',
  summary: 'Get a way to contact the owner; counts as a lead',
  description:
    'Of what the owner allows: `call` gives a phone, `whatsapp` an address to open, `chat` a ' +
    'conversation. Counts as a lead of the owner. At most 30 numbers a day; a new conversation counts ' +
    'as at `POST /conversations`. What the owner does not offer is refused before it counts, with ' +
    'what is offered in `allowed`. Refused where one has blocked the other.',
  errors: [
    'terms_not_accepted',
    'property_not_found',
    'property_state_conflict',
    'blocked',
    'account_unproven',
    'recipient_proven_only',
  ],
  idempotent: true,
  request: {
    params: OneProperty,
    ...body(
      z.strictObject({
        kind: z.enum(['call', 'whatsapp', 'chat']).describe('Which way of contact.'),
      })
        .openapi('ContactKind', { description: 'One of the ways that the listing allows.' }),
    ),
  },
  responses: {
    200: json(
      z.object({
        phone: z.string().optional().describe('Of kind `call`: with country code.'),
        whatsappUrl: z.url().optional().describe('Of kind `whatsapp`: to be opened.'),
        conversationId: z.uuid().optional().describe('Of kind `chat`: with the owner.'),
      }).openapi('Contact', { description: 'The way of contact that was asked for.' }),
      'The requested way of contact.',
    ),
  },
})

const setAuction = route({
  ...acting,
  tags,
  operationId: 'set_auction',
  method: 'post',
  path: '/{id}/auction',
  summary: 'Set an auction for my listing',
  description:
    'For a listing of type SALE. It starts in the future, lasts at least an hour and ends within ' +
    '90 days and before the listing does (422 `too_big`; publishing a draft asks again); until it ' +
    'starts it can be set anew.',
  errors: ['property_not_found', 'property_state_conflict', 'field_not_for_type'],
  idempotent: true,
  request: { params: OneProperty, ...body(NewAuction) },
  responses: {
    201: json(Property, 'The listing with its auction.'),
  },
})

const removeAuction = route({
  ...acting,
  tags,
  operationId: 'remove_auction',
  method: 'delete',
  path: '/{id}/auction',
  summary: 'Remove an auction that is not running',
  description: 'Before it starts.',
  errors: ['property_not_found', 'property_state_conflict', 'field_not_for_type'],
  request: { params: OneProperty },
  responses: { 204: { description: 'Removed.' } },
})

export const propertyActions = area()
  .openapi(contact, async (c) => {
    const args = { propertyId: c.req.valid('param').id, ...c.req.valid('json') }
    // Chats are not counted here, but when their conversation is opened.
    const options = args.kind === 'chat'
      ? {}
      : { rate: 'contact', precheck: 'precheck_contact' } as const
    return send(c, await call(c, 'contact_property', args, options))
  })
  .openapi(setAuction, async (c) => {
    const args = { propertyId: c.req.valid('param').id, ...c.req.valid('json') }
    return send(c, await call(c, 'set_auction', args), 201)
  })
  .openapi(removeAuction, async (c) => {
    await call(c, 'remove_auction', { propertyId: c.req.valid('param').id })
    return sendNothing(c)
  })

for (const action of actions) {
  propertyActions.openapi(
    actionRoute(action),
    async (c) => {
      const args = { propertyId: c.req.valid('param').id, action: action.path }
      return send(c, await call(c, 'act_on_property', args))
    },
  )
}
