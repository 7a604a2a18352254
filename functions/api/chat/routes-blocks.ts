import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import {
  area,
  json,
  mine,
  pageOf,
  PageQuery,
  route,
  send,
  sendNothing,
  Time,
} from '../http/route.ts'
import { Party } from '../organisations/schemas.ts'

const tags = ['chat']
const OneIdentity = z.strictObject({ identityId: z.uuid() })

const Block = Party.extend({ createdAt: Time }).openapi('Block', {
  description: 'Somebody whom the account blocks.',
})

const list = route({
  ...mine,
  tags,
  operationId: 'list_blocks',
  method: 'get',
  path: '/',
  summary: 'List whom I block, newest first',
  description: 'Of the account: a block holds for all of its identities.',
  request: { query: PageQuery },
  responses: { 200: json(pageOf('BlockPage', Block), 'Of the account.') },
})

const block = route({
  ...mine,
  tags,
  operationId: 'block_identity',
  method: 'post',
  path: '/{identityId}',
  summary: 'Block an identity: neither can write to the other',
  description:
    'Neither can write to the other any more, and the other no longer sees when I am there or ' +
    'typing. What the identity lists is left out of my searches, feed, map and similar listings. ' +
    'They are not told. Can be repeated. At most 500.',
  errors: ['identity_not_found', 'blocks_full'],
  request: { params: OneIdentity },
  responses: { 204: { description: 'Blocked.' } },
})

const unblock = route({
  ...mine,
  tags,
  operationId: 'unblock_identity',
  method: 'delete',
  path: '/{identityId}',
  summary: 'Unblock an identity',
  description: 'Can be repeated.',
  request: { params: OneIdentity },
  responses: { 204: { description: 'Not blocked.' } },
})

export const blocks = area()
  .openapi(list, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    return send(c, await call(c, 'list_blocks', { pageCursor: cursor, pageSize: limit }))
  })
  .openapi(block, async (c) => {
    await call(c, 'block_identity', c.req.valid('param'))
    return sendNothing(c)
  })
  .openapi(unblock, async (c) => {
    await call(c, 'unblock_identity', c.req.valid('param'))
    return sendNothing(c)
  })
