import { z } from '@hono/zod-openapi'
import { call } from '../_shared/database/db.ts'
import { typed } from '../_shared/input/texts.ts'
import {
  acting,
  area,
  body,
  Cursor,
  json,
  Limit,
  pageFields,
  route,
  send,
  sendNothing,
  slowlyChanged,
  Time,
} from './http/route.ts'
import { Party, ReviewSummary } from './organisations/schemas.ts'

const tags = ['reviews']
const OneReview = z.strictObject({ id: z.uuid() })
const rating = z.int().min(1).max(5).describe('1 is the worst, 5 the best.')
const Review = z
  .object({
    id: z.uuid(),
    identityId: z.uuid().describe('The reviewed identity.'),
    propertyId: z.uuid().nullable().describe('The listing that it is about; null: none.'),
    author: Party,
    rating,
    comment: z.string().nullable().describe('null: a rating alone.'),
    reply: z.string().nullable().describe('Of whoever was reviewed; null: none yet.'),
    createdAt: Time,
    editedAt: Time.nullable().describe('When the author last changed it; null: never.'),
    repliedAt: Time.nullable().describe('When the reply was written; null: none yet.'),
    isMine: z.boolean().describe('Whether the acting identity wrote it.'),
  })
  .openapi('Review', { description: 'What somebody says of an identity.' })

const Words = typed(1000)
const comment = Words.nullish().describe('null or nothing: a rating alone.')

const list = route({
  tags,
  operationId: 'list_reviews',
  method: 'get',
  path: '/',
  guestCache: slowlyChanged,
  summary: 'List the reviews of an identity, newest first',
  description: 'With average, count and histogram of all reviews, not of this page alone.',
  errors: ['identity_not_found'],
  request: {
    query: z.strictObject({
      identityId: z.uuid().describe('Who was reviewed.'),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
  },
  responses: {
    200: json(
      pageFields(Review).extend(ReviewSummary.shape).openapi('ReviewPage'),
      'With average, count and histogram of all reviews.',
    ),
  },
})

const create = route({
  ...acting,
  tags,
  operationId: 'create_review',
  method: 'post',
  path: '/',
  summary: 'Review an identity after contacting it',
  description:
    'Needs a real contact before: a conversation with messages from both sides, or a lead of an ' +
    'account with a proven phone or email. An account writes one review of each identity, and no other for ' +
    'two years where administrators have hidden it.',
  errors: [
    'terms_not_accepted',
    'identity_not_found',
    'property_not_found',
    'account_unproven',
    'review_not_eligible',
    'review_hidden',
    'review_exists',
    'review_self',
  ],
  idempotent: true,
  request: body(z.strictObject({
    identityId: z.uuid().describe('Who is reviewed.'),
    propertyId: z.uuid().nullish().describe('The listing that it is about.'),
    rating,
    comment,
  })),
  responses: { 201: json(Review, 'The new review.') },
})

const change = route({
  ...acting,
  tags,
  operationId: 'update_review',
  method: 'patch',
  path: '/{id}',
  summary: 'Change my review, within 48 hours',
  description: 'Within 48 hours. Fields that are left out stay; null clears the comment.',
  errors: ['terms_not_accepted', 'not_found', 'review_edit_closed'],
  request: { params: OneReview, ...body(z.strictObject({ rating: rating.optional(), comment })) },
  responses: { 200: json(Review, 'As it is now.') },
})

const remove = route({
  ...acting,
  tags,
  operationId: 'delete_review',
  method: 'delete',
  path: '/{id}',
  summary: 'Delete my review',
  description: 'At any time.',
  errors: ['not_found'],
  request: { params: OneReview },
  responses: { 204: { description: 'Gone.' } },
})

const reply = route({
  ...acting,
  tags,
  operationId: 'reply_to_review',
  method: 'post',
  path: '/{id}/reply',
  summary: 'Reply to a review of me; within 48 hours a second reply replaces the first',
  description: 'By whoever was reviewed. Within 48 hours a second reply replaces the first.',
  errors: ['terms_not_accepted', 'not_found', 'review_edit_closed'],
  idempotent: true,
  request: {
    params: OneReview,
    ...body(z.strictObject({
      body: Words.openapi({ minLength: 1, description: 'The reply.' }),
    })),
  },
  responses: { 200: json(Review, 'The review with the reply.') },
})

export const reviews = area()
  .openapi(list, async (c) => {
    const { identityId, cursor, limit } = c.req.valid('query')
    const page = { identityId, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_reviews', page))
  })
  .openapi(create, async (c) => {
    const { comment, propertyId, ...review } = c.req.valid('json')
    const given = { ...review, comment: comment ?? undefined, propertyId: propertyId ?? undefined }
    return send(c, await call(c, 'create_review', given), 201)
  })
  .openapi(change, async (c) => {
    const fields = c.req.valid('json')
    return send(c, await call(c, 'update_review', { reviewId: c.req.valid('param').id, fields }))
  })
  .openapi(remove, async (c) => {
    await call(c, 'delete_review', { reviewId: c.req.valid('param').id })
    return sendNothing(c)
  })
  .openapi(reply, async (c) => {
    const given = { reviewId: c.req.valid('param').id, ...c.req.valid('json') }
    return send(c, await call(c, 'reply_to_review', given))
  })
