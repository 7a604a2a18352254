import { z } from '@hono/zod-openapi'
import { type Args, call } from '../../_shared/database/db.ts'
import { invalidField } from '../../_shared/errors/refusal.ts'
import { IdentityRecord } from '../accounts/schemas.ts'
import { area, body, forAdmins, json, pageOf, route, send, sendNothing } from '../http/route.ts'
import { jsonOrCsv, sendList } from './csv.ts'
import { AuditQuery, ModerationQuery, StatsQuery, UserQuery } from './schemas-lists.ts'
import {
  AdminStats,
  AdminUser,
  AdminUserPage,
  AuditEntry,
  Decided,
  Decision,
  IdentityStatus,
  ModerationPage,
  PayoutList,
  Reason,
  UserIdentifier,
  UserStatus,
} from './schemas.ts'

const tags = ['admin']
const asCsv =
  'With `Accept: text/csv` up to 10,000 rows from `cursor` on, which needs a proof (`X-Proof`) and is ' +
  'kept in the audit trail.'
const OneUser = z.strictObject({ userId: z.uuid() })

const users = route({
  ...forAdmins,
  proof: true,
  tags,
  operationId: 'list_users',
  method: 'get',
  path: '/users',
  summary: 'List accounts, newest first or as sorted',
  description:
    'Every account with its identities. `since` and `until` are about when it was created. ' +
    '`type` and `identityStatus` together find accounts of which one identity is both. ' + asCsv,
  request: {
    query: UserQuery,
  },
  responses: { 200: jsonOrCsv(pageOf('AdminUserList', AdminUser), 'A page of accounts.') },
})

const user = route({
  ...forAdmins,
  tags,
  operationId: 'get_user',
  method: 'get',
  path: '/users/{userId}',
  summary: 'Get an account with its identities and audit entries',
  description:
    'With what an administrator needs for a decision: identities in full, how many sessions and ' +
    'listings there are, what administrators did before.',
  errors: ['user_not_found'],
  request: { params: OneUser },
  responses: { 200: json(AdminUserPage, 'The account.') },
})

const userStatus = route({
  ...forAdmins,
  proof: true,
  tags,
  operationId: 'set_user_status',
  method: 'patch',
  path: '/users/{userId}/status',
  summary: 'Suspend or ban an account, or make it active again; its sessions end at once',
  description:
    'Suspends an account, for good or until a time, bans it, or makes it active again. Its ' +
    'sessions end at once. The reason is kept in the audit trail, and a suspended user reads ' +
    'it. To ban needs a proof (`X-Proof`).',
  errors: ['user_not_found', 'admin_self', 'admin_target', 'status_transition_invalid'],
  request: { params: OneUser, ...body(UserStatus) },
  responses: { 200: json(AdminUser, 'The changed account.') },
})

const userIdentifier = route({
  ...forAdmins,
  proof: true,
  tags,
  operationId: 'set_user_identifier',
  method: 'patch',
  path: '/users/{userId}/identifier',
  summary: 'Set the phone or email of an account: all that opened it until now ends',
  description:
    'What an administrator sets counts as proven. The password, codes, known addresses and sessions ' +
    'go; the old one and the other proven one are told, and the person sets a new password by ' +
    '“Forgot password”. `removeOther` takes the other one and providers off as well. Needs a proof (`X-Proof`).',
  errors: [
    'user_not_found',
    'admin_self',
    'admin_target',
    'phone_taken',
    'email_taken',
    'status_transition_invalid',
  ],
  request: { params: OneUser, ...body(UserIdentifier) },
  responses: { 200: json(AdminUser, 'The changed account.') },
})

const openPayout = route({
  ...forAdmins,
  proof: true,
  tags,
  operationId: 'open_payout',
  method: 'post',
  path: '/users/{userId}/payout',
  summary: 'Pay out the money of a banned account',
  description:
    'What is in its wallets goes back to the payments that it came by, the newest first. The rest waits ' +
    'until 120 days after the newest payment, then it is `wallet_payout` in the moderation list. When the ' +
    'ban is lifted, what was not paid returns to the wallets. Can be repeated. Needs a proof (`X-Proof`).',
  errors: ['user_not_found', 'admin_self', 'admin_target', 'status_transition_invalid'],
  request: { params: OneUser, ...body(z.strictObject({ reason: Reason })) },
  responses: { 200: json(PayoutList, 'What is owed to the account.') },
})

const deleteUser = route({
  ...forAdmins,
  proof: true,
  tags,
  operationId: 'delete_user',
  method: 'delete',
  path: '/users/{userId}',
  summary: 'Delete an account: it becomes anonymous for good, financial records stay',
  description:
    'Makes the account anonymous for good: there is no way back. Invoices and payments stay. ' +
    'The reason, as a parameter or in the body, is kept in the audit trail. Needs a proof (`X-Proof`).',
  errors: ['user_not_found', 'admin_self', 'admin_target'],
  request: {
    params: OneUser,
    query: z.strictObject({
      reason: Reason.optional().describe('Why, for clients that send no body.'),
    }),
    body: {
      required: false,
      content: {
        'application/json': {
          // If there is no body or an empty one, the reason comes from the query parameter.
          schema: z.strictObject({ reason: Reason.optional() }).openapi({ required: ['reason'] }),
        },
      },
    },
  },
  responses: { 204: { description: 'Gone.' } },
})

const identityStatus = route({
  ...forAdmins,
  tags,
  operationId: 'set_identity_status',
  method: 'patch',
  path: '/identities/{identityId}/status',
  summary: 'Verify, reject or suspend an identity, or undo that',
  description:
    '`active` verifies a company or office that waits, or lifts a suspension. Its owner is ' +
    'notified with the reason.',
  errors: [
    'identity_not_found',
    'admin_self',
    'licence_expired',
    'documents_changed',
    'licence_in_use',
    'status_transition_invalid',
  ],
  request: {
    params: z.strictObject({ identityId: z.uuid() }),
    ...body(IdentityStatus),
  },
  responses: {
    200: json(IdentityRecord, 'The changed identity.'),
  },
})

const moderation = route({
  ...forAdmins,
  proof: true,
  tags,
  operationId: 'list_moderation',
  method: 'get',
  path: '/moderation',
  summary: 'List what awaits a decision, oldest first or as sorted',
  description:
    'Listings that await publishing, changes of published listings, companies and offices that ' +
    'await verification, reports, and money of deleted accounts that no payment takes back; `decisions` says what can be decided on each. A filter or ' +
    'sort that only one kind has, such as `listingType` or `price`, leaves out the others. ' +
    asCsv,
  request: { query: ModerationQuery },
  responses: { 200: jsonOrCsv(ModerationPage, 'A page of items.') },
})

const decide = route({
  ...forAdmins,
  proof: true,
  tags,
  operationId: 'decide_moderation',
  method: 'post',
  path: '/moderation/{id}/decide',
  summary: 'Approve or reject an item, suspend or restore a listing, decide on a report',
  description:
    'Takes one of the `decisions` of the item. A listing or an identity can be suspended or ' +
    'restored at any time by its own id. What is decided about an identity is what ' +
    '`PATCH /admin/identities/{identityId}/status` does. To reject, suspend or uphold needs a reason, ' +
    'which the owner reads. Send the `version` of the item that you show: a listing that was ' +
    'changed meanwhile is not decided about unseen; nor is a company or office with other ' +
    '`documents` than `documentIds` names. Money of a deleted account is `paid_out`, with the reference ' +
    'of your transfer as `note`, or `written_off`; both need a proof (`X-Proof`).',
  errors: [
    'not_found',
    'admin_self',
    'licence_expired',
    'documents_changed',
    'licence_in_use',
    'status_transition_invalid',
    'version_conflict',
  ],
  request: { params: z.strictObject({ id: z.uuid() }), ...body(Decision) },
  responses: {
    200: json(Decided, 'The result of the decision.'),
  },
})

const audit = route({
  ...forAdmins,
  proof: true,
  tags,
  operationId: 'list_audit',
  method: 'get',
  path: '/audit',
  summary: 'List the audit trail of admins, newest or oldest first',
  description:
    'Everything that administrators did, in the API, in Studio or by SQL. Entries are only ever ' +
    'added. ' + asCsv,
  request: { query: AuditQuery },
  responses: { 200: jsonOrCsv(pageOf('AuditPage', AuditEntry), 'A page of entries.') },
})

const stats = route({
  ...forAdmins,
  tags,
  operationId: 'get_admin_stats',
  method: 'get',
  path: '/stats',
  summary: 'Get figures of accounts, identities, listings and pending decisions',
  description: 'The figures of this moment and, with `days`, of each of the last days.',
  request: { query: StatsQuery },
  responses: { 200: json(AdminStats, 'The current figures.') },
})

export const admin = area()
  .openapi(users, async (c) => {
    const ask = (page: Args<'list_users'>) => call(c, 'list_users', page)
    return await sendList(c, 'users', c.req.valid('query'), ask)
  })
  .openapi(user, async (c) => send(c, await call(c, 'get_user', c.req.valid('param'))))
  .openapi(userStatus, async (c) => {
    const given = { ...c.req.valid('param'), ...c.req.valid('json') }
    return send(c, await call(c, 'set_user_status', given))
  })
  .openapi(userIdentifier, async (c) => {
    const given = c.req.valid('json')
    const { value } = 'phone' in given ? given.phone : given.email
    const { reason, removeOther } = given
    const set = { ...c.req.valid('param'), value, reason, removeOther }
    return send(c, await call(c, 'set_user_identifier', set))
  })
  .openapi(openPayout, async (c) => {
    const given = { ...c.req.valid('param'), ...c.req.valid('json') }
    return send(c, await call(c, 'open_payout', given))
  })
  .openapi(deleteUser, async (c) => {
    const reason = c.req.valid('json')?.reason ?? c.req.valid('query').reason
    if (reason === undefined) throw invalidField('reason', 'required')
    await call(c, 'delete_user', { ...c.req.valid('param'), reason })
    return sendNothing(c)
  })
  .openapi(identityStatus, async (c) => {
    const given = { ...c.req.valid('param'), ...c.req.valid('json') }
    return send(c, await call(c, 'set_identity_status', given))
  })
  .openapi(moderation, async (c) => {
    const ask = (page: Args<'list_moderation'>) => call(c, 'list_moderation', page)
    return await sendList(c, 'moderation', c.req.valid('query'), ask)
  })
  .openapi(decide, async (c) => {
    const given = { ...c.req.valid('param'), ...c.req.valid('json') }
    return send(c, await call(c, 'decide_moderation', given))
  })
  .openapi(audit, async (c) => {
    const ask = (page: Args<'list_audit'>) => call(c, 'list_audit', page)
    return await sendList(c, 'audit', c.req.valid('query'), ask)
  })
  .openapi(stats, async (c) => send(c, await call(c, 'get_admin_stats', c.req.valid('query'))))
