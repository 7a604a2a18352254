/** Administration: accounts, identities, moderation, the audit trail, figures. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { IdentityRecord } from '../accounts/schemas.ts'
import {
  area,
  body,
  Cursor,
  json,
  Limit,
  mine,
  pageOf,
  problems,
  route,
  send,
  sendNothing,
} from '../http/route.ts'
import {
  accountStatuses,
  AdminStats,
  AdminUser,
  AdminUserPage,
  AuditEntry,
  AuditQuery,
  Decided,
  Decision,
  IdentityStatus,
  ModerationItem,
  moderationKinds,
  Reason,
  UserStatus,
} from './schemas.ts'

const tags = ['admin']
const OneUser = z.strictObject({ userId: z.uuid() })

const users = route({
  ...mine,
  tags,
  operationId: 'list_users',
  method: 'get',
  path: '/users',
  summary: 'List accounts, newest first',
  request: {
    query: z.strictObject({
      q: z.string().min(3).max(120).optional().openapi({
        description: 'A part of an email, phone or name, or the id of an account or identity.',
      }),
      status: z.enum(accountStatuses).optional(),
      type: z.enum(['individual', 'company', 'office']).optional(),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
  },
  responses: { 200: json(pageOf(AdminUser), 'A page of accounts.'), ...problems(401, 403) },
})

const user = route({
  ...mine,
  tags,
  operationId: 'get_user',
  method: 'get',
  path: '/users/{userId}',
  summary: 'Get an account with its identities and audit entries',
  request: { params: OneUser },
  responses: { 200: json(AdminUserPage, 'The account.'), ...problems(401, 403, 404) },
})

const userStatus = route({
  ...mine,
  tags,
  operationId: 'set_user_status',
  method: 'patch',
  path: '/users/{userId}/status',
  summary: 'Suspend or ban an account, or make it active again; its sessions end at once',
  request: { params: OneUser, ...body(UserStatus) },
  responses: { 200: json(AdminUser, 'The changed account.'), ...problems(401, 403, 404, 409) },
})

const deleteUser = route({
  ...mine,
  tags,
  operationId: 'delete_user',
  method: 'delete',
  path: '/users/{userId}',
  summary: 'Delete an account: it becomes anonymous for good, financial records stay',
  request: { params: OneUser, ...body(z.strictObject({ reason: Reason })) },
  responses: { 204: { description: 'Gone.' }, ...problems(401, 403, 404, 409) },
})

const identityStatus = route({
  ...mine,
  tags,
  operationId: 'set_identity_status',
  method: 'patch',
  path: '/identities/{identityId}/status',
  summary: 'Verify, reject or suspend an identity, or undo that',
  request: {
    params: z.strictObject({ identityId: z.uuid() }),
    ...body(IdentityStatus),
  },
  responses: {
    200: json(IdentityRecord, 'The changed identity.'),
    ...problems(401, 403, 404, 409),
  },
})

const moderation = route({
  ...mine,
  tags,
  operationId: 'list_moderation',
  method: 'get',
  path: '/moderation',
  summary: 'List what awaits a decision, oldest first',
  request: {
    query: z.strictObject({
      kind: z.enum(moderationKinds).optional(),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
  },
  responses: { 200: json(pageOf(ModerationItem), 'A page of items.'), ...problems(401, 403) },
})

const decide = route({
  ...mine,
  tags,
  operationId: 'decide_moderation',
  method: 'post',
  path: '/moderation/{id}/decide',
  summary: 'Approve or reject an item, suspend or restore a listing, decide on a report',
  request: { params: z.strictObject({ id: z.uuid() }), ...body(Decision) },
  responses: {
    200: json(Decided, 'The result of the decision.'),
    ...problems(401, 402, 403, 404, 409),
  },
})

const audit = route({
  ...mine,
  tags,
  operationId: 'list_audit',
  method: 'get',
  path: '/audit',
  summary: 'List the audit trail of admins, newest first',
  request: { query: AuditQuery },
  responses: { 200: json(pageOf(AuditEntry), 'A page of entries.'), ...problems(401, 403) },
})

const stats = route({
  ...mine,
  tags,
  operationId: 'get_admin_stats',
  method: 'get',
  path: '/stats',
  summary: 'Get figures of accounts, identities, listings and pending decisions',
  responses: { 200: json(AdminStats, 'The current figures.'), ...problems(401, 403) },
})

export const admin = area()
  .openapi(users, async (c) => {
    const { cursor, limit, ...filters } = c.req.valid('query')
    const page = { ...filters, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_users', page))
  })
  .openapi(user, async (c) => send(c, await call(c, 'get_user', c.req.valid('param'))))
  .openapi(userStatus, async (c) => {
    const given = { ...c.req.valid('param'), ...c.req.valid('json') }
    return send(c, await call(c, 'set_user_status', given))
  })
  .openapi(deleteUser, async (c) => {
    await call(c, 'delete_user', { ...c.req.valid('param'), ...c.req.valid('json') })
    return sendNothing(c)
  })
  .openapi(identityStatus, async (c) => {
    const given = { ...c.req.valid('param'), ...c.req.valid('json') }
    return send(c, await call(c, 'set_identity_status', given))
  })
  .openapi(moderation, async (c) => {
    const { cursor, limit, kind } = c.req.valid('query')
    const page = { kind, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_moderation', page))
  })
  .openapi(decide, async (c) => {
    const given = { ...c.req.valid('param'), ...c.req.valid('json') }
    return send(c, await call(c, 'decide_moderation', given))
  })
  .openapi(audit, async (c) => {
    const { cursor, limit, ...filters } = c.req.valid('query')
    const page = { ...filters, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_audit', page))
  })
  .openapi(stats, async (c) => send(c, await call(c, 'get_admin_stats', {})))
