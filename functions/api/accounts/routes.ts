import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend, call } from '../../_shared/database/db.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'
import { Code, Password, PersonName } from '../../_shared/input/identifiers.ts'
import { area, body, json, mine, pageOf, route, send, sendNothing, Time } from '../http/route.ts'
import { callerAsUser, verifyOwnCode, verifyPassword } from './reauthenticate.ts'
import {
  Closing,
  IdentityChanges,
  IdentityRecord,
  Me,
  NewIdentity,
  Switched,
  TermsVersion,
  User,
} from './schemas.ts'

const tags = ['accounts']
const OneIdentity = z.strictObject({ identityId: z.uuid() })

const me = route({
  ...mine,
  tags,
  operationId: 'get_me',
  method: 'get',
  path: '/me',
  summary: 'Get my profile, my identities and the active one',
  description:
    'Ask it at the start of an app: it says who acts, and the name of the Realtime channel.',
  responses: { 200: json(Me, 'The calling account.') },
})

const changeMe = route({
  ...mine,
  tags,
  operationId: 'update_me',
  method: 'patch',
  path: '/me',
  summary: 'Change my name, language or picture',
  description: 'Fields that are left out stay as they are.',
  errors: ['not_found'],
  request: body(z.strictObject({
    fullName: PersonName.optional(),
    language: User.shape.language.optional(),
    avatarMediaId: z.uuid().nullable().optional().describe(
      'From POST /media/upload/avatar; null removes the picture.',
    ),
  })),
  responses: { 200: json(Me, 'The changed profile.') },
})

const acceptTerms = route({
  ...mine,
  tags,
  operationId: 'accept_terms',
  method: 'post',
  path: '/me/terms',
  summary: 'Accept the present terms',
  description:
    'Send the `version` of `terms` of `GET /meta/app` that the person has read. From `requiredFrom` on ' +
    'publishing, opening conversations, messages and reviews are 403 `terms_not_accepted` without. ' +
    'Again is the same.',
  errors: ['terms_outdated'],
  request: body(z.strictObject({ version: TermsVersion.describe('The one that was read.') })),
  responses: { 204: { description: 'Accepted.' } },
})

const money = z.enum(['refund', 'give_up']).optional().describe(
  'Needed with money in a wallet. `refund`: it goes back to the payments that it came by, the newest ' +
    'first; support pays out the rest. `give_up`: of at most 20.000 in all.',
)

const Leaving = z.union([
  z.strictObject({ password: Password, money }),
  z.strictObject({ code: Code, money }),
])

async function proveLeaving(c: ApiContext, given: z.infer<typeof Leaving>) {
  const user = await callerAsUser(c)
  await ('code' in given
    ? verifyOwnCode(c, user, 'delete', given.code)
    : verifyPassword(c, user, given.password))
  return user.id
}

const deleteMe = route({
  ...mine,
  tags,
  operationId: 'request_deletion',
  method: 'post',
  path: '/me/delete',
  summary: 'Request the deletion of my account in 14 days; signing in again cancels it',
  description:
    'Confirmed by the password, or by a code (`POST /auth/otp/resend` with purpose `delete`). ' +
    'In 14 days the account is anonymous for good; until then signing in cancels it. What is ' +
    'open, such as an auction, comes first. With money in a wallet `money` says what becomes of it ' +
    'then; nothing moves before.',
  errors: [
    'invalid_credentials',
    'otp_invalid',
    'otp_expired',
    'otp_locked',
    'account_has_obligations',
    'last_admin',
  ],
  request: body(Leaving),
  responses: {
    202: json(
      z.object({ deleteAt: Time.describe('When it is carried out.') }).openapi('Deletion', {
        description: 'A deletion that was requested.',
      }),
      'Requested.',
    ),
  },
})

const list = route({
  ...mine,
  tags,
  operationId: 'list_identities',
  method: 'get',
  path: '/identities',
  summary: 'List my identities, of any status',
  description:
    'The individual identity that every account has, and those of companies and offices.',
  responses: { 200: json(pageOf('IdentityPage', IdentityRecord), 'Oldest first.') },
})

const add = route({
  ...mine,
  tags,
  operationId: 'add_identity',
  method: 'post',
  path: '/identities',
  summary: 'Request a company or office identity',
  description:
    'The identity waits as `pending_verification` until an administrator has checked its ' +
    'licence, whoever else claims the same number; a notification says so. Then `POST /auth/identity/switch` acts as it.',
  errors: ['licence_expired', 'area_invalid', 'identities_full'],
  idempotent: true,
  request: body(NewIdentity),
  responses: {
    201: json(IdentityRecord, 'The identity, which awaits verification by an admin.'),
  },
})

const get = route({
  ...mine,
  tags,
  operationId: 'get_identity',
  method: 'get',
  path: '/identities/{identityId}',
  summary: 'Get one of my identities, of any status',
  description: 'The only place to see a company or office that is not verified yet, and why.',
  errors: ['identity_not_found'],
  request: { params: OneIdentity },
  responses: { 200: json(IdentityRecord, 'The identity.') },
})

const change = route({
  ...mine,
  tags,
  operationId: 'update_identity',
  method: 'patch',
  path: '/identities/{identityId}',
  summary: 'Change one of my company or office identities',
  description:
    'Fields that are left out stay, null clears. Of a verified identity new names, a new licence number ' +
    'and a later date wait as `pendingChanges`, and the old goes on; the old, sent again, takes them ' +
    'back. A rejected identity awaits a new decision.',
  errors: [
    'identity_not_found',
    'licence_expired',
    'area_invalid',
    'identities_full',
    'not_found',
    'status_transition_invalid',
  ],
  request: { params: OneIdentity, ...body(IdentityChanges) },
  responses: {
    200: json(IdentityRecord, 'Changed; new names and licences of a verified one wait.'),
  },
})

const close = route({
  ...mine,
  tags,
  operationId: 'request_closing',
  method: 'post',
  path: '/identities/{identityId}/close',
  summary: 'Close one of my companies or offices in 14 days',
  description:
    'Confirmed as a deletion of the account. From now on nobody sees it and it does not act; in 14 ' +
    'days it is closed for good, until then `DELETE` takes that back. What is open, such as an ' +
    'auction, comes first; `money` is about its own wallet. Again is the same.',
  errors: [
    'invalid_credentials',
    'otp_invalid',
    'otp_expired',
    'otp_locked',
    'identity_not_found',
    'status_transition_invalid',
    'account_has_obligations',
  ],
  request: { params: OneIdentity, ...body(Leaving) },
  responses: { 202: json(Closing, 'Requested.') },
})

const keep = route({
  ...mine,
  tags,
  operationId: 'cancel_closing',
  method: 'delete',
  path: '/identities/{identityId}/close',
  summary: 'Take back that one of my companies or offices is closed',
  description: 'It is as it was before. Where nothing is to be closed, nothing happens.',
  errors: ['identity_not_found', 'licence_in_use'],
  request: { params: OneIdentity },
  responses: { 204: { description: 'It stays.' } },
})

const switchTo = route({
  ...mine,
  tags,
  operationId: 'switch_identity',
  method: 'post',
  path: '/identity/switch',
  summary: 'Switch my active identity, on every device',
  description:
    'From the next request on the account acts as this identity, on every device and with the ' +
    'same tokens. Listings, favorites, conversations, plan and wallet are those of the acting ' +
    'identity.',
  errors: ['identity_not_found', 'identity_not_usable'],
  request: body(OneIdentity),
  responses: { 200: json(Switched, 'The new active identity.') },
})

export const accounts = area()
  .openapi(me, async (c) => send(c, await call(c, 'get_me', {})))
  .openapi(
    changeMe,
    async (c) => send(c, await call(c, 'update_me', { fields: c.req.valid('json') })),
  )
  .openapi(acceptTerms, async (c) => {
    await call(c, 'accept_terms', c.req.valid('json'))
    return sendNothing(c)
  })
  .openapi(deleteMe, async (c) => {
    const given = c.req.valid('json')
    const accountId = await proveLeaving(c, given)
    const deletion = await backend('request_deletion', { accountId, money: given.money })
    if (!deletion) throw new Refusal('token_invalid')
    return send(c, JSON.stringify(deletion), 202)
  })
  .openapi(list, async (c) => send(c, await call(c, 'list_identities', {})))
  .openapi(add, async (c) => {
    const { type, ...fields } = c.req.valid('json')
    return send(c, await call(c, 'add_identity', { type, fields }), 201)
  })
  .openapi(get, async (c) => send(c, await call(c, 'get_identity', c.req.valid('param'))))
  .openapi(change, async (c) => {
    const fields = c.req.valid('json')
    return send(c, await call(c, 'update_identity', { ...c.req.valid('param'), fields }))
  })
  .openapi(close, async (c) => {
    const given = c.req.valid('json')
    const closing = await backend('request_closing', {
      accountId: await proveLeaving(c, given),
      money: given.money,
      ...c.req.valid('param'),
    })
    if (!closing) throw new Refusal('token_invalid')
    return send(c, JSON.stringify(closing), 202)
  })
  .openapi(keep, async (c) => {
    await call(c, 'cancel_closing', c.req.valid('param'))
    return sendNothing(c)
  })
  .openapi(
    switchTo,
    async (c) => send(c, await call(c, 'switch_identity', c.req.valid('json'))),
  )
