import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import {
  acting,
  area,
  body,
  json,
  MoneyOrNull,
  pageOf,
  PageQuery,
  route,
  send,
  sendNothing,
  sendTagged,
  slowlyChanged,
  Time,
} from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { limitMisses } from '../http/worker-rates.ts'
import { property, tags } from './routes-actions.ts'
import { NewProperty, PropertyChanges } from './schemas-writing.ts'
import {
  Fields,
  FoundProperty,
  Listed,
  OneProperty,
  OnePropertyOrNumber,
  Property,
  PropertyPage,
  statuses,
} from './schemas.ts'

const page = json(PropertyPage, 'Whole records, newest first.')

const PricePoint = z
  .object({
    price: MoneyOrNull.describe('null: it had none.'),
    changedAt: Time.describe('From when on it was the price.'),
  })
  .openapi('PricePoint', { description: 'A price that a listing had.' })

const create = route({
  ...acting,
  tags,
  operationId: 'create_property',
  method: 'post',
  path: '/',
  summary: 'Create a listing, as a draft or published at once',
  description:
    'A draft needs `type` alone. Publishing needs `type`, `kind`, `areaId`, `titleAr`, a ' +
    '`price` for SALE and RENT, `landAreaM2` or `builtAreaM2`, and for EXCHANGE `descriptionAr` ' +
    'or something wanted; a way to reach the owner (422 `contact_missing` with the `kinds` that have ' +
    'no number, where `allowChat` is off); and room in the plan (402 `quota_exceeded` with `limit` and `used`). ' +
    'A listing that repeats an active one of the same identity is 409 `duplicate_listing` with its `propertyId`. ' +
    'Where administrators review listings it is `pending_review` first. At most 300 an hour, and 50 ' +
    'drafts, or twice as many as the plan shows (409 `drafts_full` with `limit` and `used`).',
  errors: [
    'terms_not_accepted',
    'account_unproven',
    'price_required',
    'contact_missing',
    'field_not_for_type',
    'area_invalid',
    'location_outside_area',
    'quota_exceeded',
    'duplicate_listing',
    'drafts_full',
  ],
  idempotent: true,
  request: body(NewProperty),
  responses: {
    201: json(Property, 'The listing: draft, active or pending_review.'),
  },
})

const move = route({
  ...acting,
  tags,
  operationId: 'move_properties',
  method: 'post',
  path: '/move',
  summary: 'Move my listings to another identity of my account',
  description:
    'All of them or none, within the plan of the other identity: drafts, active, paused and ' +
    'expired ones without an auction, changes that wait or an open report. Number, prices, ' +
    'favorites and dates stay; phone numbers and `isDirect` follow the new owner; conversations ' +
    'and leads stay where they are. Where listings are reviewed, active ones wait for it.',
  errors: [
    'property_not_found',
    'identity_not_found',
    'property_state_conflict',
    'duplicate_listing',
    'drafts_full',
    'quota_exceeded',
    'contact_missing',
  ],
  request: body(
    z.strictObject({
      ids: z.array(z.uuid()).min(1).max(50).describe('Listings of the acting identity.'),
      identityId: z.uuid().describe('Another identity of the account, in order.'),
    }).openapi('PropertyMove', { description: 'Listings, and the identity that gets them.' }),
  ),
  responses: {
    200: json(
      z.object({
        items: z.array(z.object({
          id: z.uuid(),
          status: z.enum(statuses).describe('pending_review where listings are reviewed.'),
        })).describe('In the order given.'),
      }).openapi('MovedProperties', { description: 'Listings that have another owner now.' }),
      'They belong to the other identity.',
    ),
  },
})

const listMine = route({
  ...acting,
  tags,
  operationId: 'list_my_properties',
  method: 'get',
  path: '/mine',
  summary: 'List my own listings, newest first',
  description: 'Whole records in every state, newest first.',
  request: {
    query: PageQuery.extend({
      status: z.enum(statuses).optional().describe('Listings in this state.'),
    }),
  },
  responses: { 200: page },
})

const read = route({
  tags,
  operationId: 'get_property',
  method: 'get',
  path: '/{id}',
  guestCache: 's-maxage=10',
  summary: 'Get a listing',
  description:
    'With a token `isFavorite` is that of the acting identity, and its own listing is shown in ' +
    'any state. Sold, rented and exchanged ones can be seen by link for 30 days; everything ' +
    'else that the caller may not see is 404. By `refNo` (`KW-104233`) a stranger gets ' +
    '`ClosedProperty` of these, and may be wrong 60 times a minute. Contact numbers are never in ' +
    'it: see `POST /properties/{id}/contact`.',
  errors: ['property_not_found'],
  request: { params: OnePropertyOrNumber },
  responses: {
    200: json(
      FoundProperty,
      'The listing; `available` stands in a closed one alone.',
    ),
    304: { description: 'A guest has it already: If-None-Match.' },
  },
})

const update = route({
  ...acting,
  tags,
  operationId: 'update_property',
  method: 'patch',
  path: '/{id}',
  summary: 'Change my listing',
  description:
    'Fields that are left out stay, null clears. With `If-Match` only if nobody has changed it ' +
    'meanwhile. Where administrators review listings, changes of price, place, title or ' +
    'pictures show as `pendingChanges` until they are decided.',
  errors: [
    'property_not_found',
    'property_state_conflict',
    'version_conflict',
    'type_immutable',
    'price_required',
    'contact_missing',
    'field_not_for_type',
    'area_invalid',
    'location_outside_area',
  ],
  request: {
    params: OneProperty,
    headers: z.object({
      'if-match': z.string().regex(/^(\*|(W\/)?("?)[0-9]{1,9}\3)$/).optional().describe(
        'The version that the change is meant for; `*` is any.',
      ),
    }),
    ...body(PropertyChanges),
  },
  responses: { 200: property },
})

const remove = route({
  ...acting,
  tags,
  operationId: 'delete_property',
  method: 'delete',
  path: '/{id}',
  summary: 'Delete my listing',
  description:
    'Nobody sees it any more, and it cannot be restored: to put it away, archive it. Can be ' +
    'repeated.',
  errors: ['property_not_found'],
  request: { params: OneProperty },
  responses: { 204: { description: 'It is gone.' } },
})

const prices = route({
  tags,
  operationId: 'list_price_history',
  method: 'get',
  path: '/{id}/price-history',
  guestCache: slowlyChanged,
  summary: 'List the prices of a listing since it was first published',
  description: 'Since it was first published, newest first.',
  errors: ['property_not_found'],
  request: { params: OneProperty, query: PageQuery },
  responses: {
    200: json(
      pageOf('PriceHistory', PricePoint),
      'Newest first.',
    ),
  },
})

const similar = route({
  tags,
  operationId: 'list_similar_properties',
  method: 'get',
  path: '/{id}/similar',
  guestCache: slowlyChanged,
  summary: 'List similar listings, at most ten, two of an account',
  description: 'Of the same type and kind nearby, the nearest in price first, at most ten.',
  errors: ['property_not_found'],
  request: { params: OneProperty, query: z.strictObject({ fields: Fields }) },
  responses: { 200: json(pageOf('SimilarPage', Listed), 'The nearest in price first.') },
})

export const properties = area()
  .openapi(create, async (c) => {
    const { publish, uploadSessionId, ...fields } = c.req.valid('json')
    const args = { fields, publish, uploadSessionId }
    const created = await call(c, 'create_property', args)
    return send(c, created, 201)
  })
  .openapi(move, async (c) => send(c, await call(c, 'move_properties', c.req.valid('json'))))
  .openapi(listMine, async (c) => {
    const { cursor, limit, status } = c.req.valid('query')
    const args = { status, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_my_properties', args))
  })
  .openapi(read, async (c) => {
    const { id } = c.req.valid('param')
    const text = { isText: true }
    return sendTagged(
      c,
      typeof id === 'number'
        ? await limitMisses(c, () => call(c, 'get_property_by_number', { refNo: id }, text))
        : await call(c, 'get_property', { propertyId: id }, text),
    )
  })
  .openapi(update, async (c) => {
    const version = c.req.valid('header')['if-match']?.match(/[0-9]+/)?.[0]
    const changed = await call(c, 'update_property', {
      propertyId: c.req.valid('param').id,
      fields: c.req.valid('json'),
      expectedVersion: version === undefined ? undefined : Number(version),
    })
    return send(c, changed)
  })
  .openapi(remove, async (c) => {
    await call(c, 'delete_property', { propertyId: c.req.valid('param').id })
    return sendNothing(c)
  })
  .openapi(prices, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    const args = { propertyId: c.req.valid('param').id, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_price_history', args))
  })
  .openapi(similar, async (c) => {
    const args = { propertyId: c.req.valid('param').id, ...c.req.valid('query') }
    const work = () => call(c, 'list_similar_properties', args, { isText: true })
    return send(c, await inSearchQueue(c, work))
  })
