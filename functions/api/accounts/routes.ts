/** The calling account: its profile, its identities, its deletion. */
import { z } from '@hono/zod-openapi'
import { backend, call } from '../../_shared/db.ts'
import { Code, Password, PersonName } from '../../_shared/identifiers.ts'
import { Refusal } from '../../_shared/refusal.ts'
import { area, body, json, mine, pageOf, problems, route, send, Time } from '../http/route.ts'
import { identifierOf, verifyDeletionCode, verifyPassword } from './reauthenticate.ts'
import { IdentityChanges, IdentityRecord, Me, NewIdentity, Switched } from './schemas.ts'

const tags = ['accounts']
const OneIdentity = z.strictObject({ identityId: z.uuid() })

const me = route({
  ...mine,
  tags,
  operationId: 'get_me',
  method: 'get',
  path: '/me',
  summary: 'Get my profile, my identities and the active one',
  responses: { 200: json(Me, 'The calling account.'), ...problems(401, 403) },
})

const changeMe = route({
  ...mine,
  tags,
  operationId: 'update_me',
  method: 'patch',
  path: '/me',
  summary: 'Change my name, language or picture',
  request: body(z.strictObject({
    fullName: PersonName.optional(),
    language: z.enum(['ar', 'en']).optional(),
    avatarMediaId: z.uuid().nullable().optional().openapi({
      description: 'From POST /media/upload/avatar; null removes the picture.',
    }),
  })),
  responses: { 200: json(Me, 'The changed profile.'), ...problems(400, 401, 403, 404) },
})

const deleteMe = route({
  ...mine,
  tags,
  operationId: 'request_deletion',
  method: 'post',
  path: '/me/delete',
  summary: 'Request the deletion of my account in 14 days; signing in again cancels it',
  request: body(z.union([z.strictObject({ password: Password }), z.strictObject({ code: Code })])),
  responses: {
    202: json(
      z.object({ deleteAt: Time }).openapi('Deletion'),
      'Requested.',
    ),
    ...problems(400, 401, 403, 409, 410),
  },
})

const list = route({
  ...mine,
  tags,
  operationId: 'list_identities',
  method: 'get',
  path: '/identities',
  summary: 'List my identities, of any status',
  responses: { 200: json(pageOf(IdentityRecord), 'Oldest first.'), ...problems(401, 403) },
})

const add = route({
  ...mine,
  tags,
  operationId: 'add_identity',
  method: 'post',
  path: '/identities',
  summary: 'Request a company or office identity',
  request: body(NewIdentity),
  responses: {
    201: json(IdentityRecord, 'The identity, which awaits verification by an admin.'),
    ...problems(400, 401, 403, 409),
  },
})

const get = route({
  ...mine,
  tags,
  operationId: 'get_identity',
  method: 'get',
  path: '/identities/{identityId}',
  summary: 'Get one of my identities, of any status',
  request: { params: OneIdentity },
  responses: { 200: json(IdentityRecord, 'The identity.'), ...problems(401, 403, 404) },
})

const change = route({
  ...mine,
  tags,
  operationId: 'update_identity',
  method: 'patch',
  path: '/identities/{identityId}',
  summary: 'Change one of my company or office identities',
  request: { params: OneIdentity, ...body(IdentityChanges) },
  responses: {
    200: json(IdentityRecord, 'Changed; a new name or licence is verified again.'),
    ...problems(400, 401, 403, 404, 409),
  },
})

const switchTo = route({
  ...mine,
  tags,
  operationId: 'switch_identity',
  method: 'post',
  path: '/identity/switch',
  summary: 'Switch my active identity, on every device',
  request: body(OneIdentity),
  responses: { 200: json(Switched, 'The new active identity.'), ...problems(400, 401, 403, 404) },
})

export const accounts = area()
  .openapi(me, async (c) => send(c, await call(c, 'get_me', {})))
  .openapi(
    changeMe,
    async (c) => send(c, await call(c, 'update_me', { fields: c.req.valid('json') })),
  )
  .openapi(deleteMe, async (c) => {
    const given = c.req.valid('json')
    const { user } = JSON.parse(await call(c, 'get_me', {}))
    const identifier = identifierOf(user)
    await ('code' in given
      ? verifyDeletionCode(user.id, identifier, given.code, c.var.address)
      : verifyPassword(identifier, given.password, c.var.address))
    const deletion = await backend('request_deletion', { accountId: user.id })
    if (!deletion) throw new Refusal('token_invalid')
    return send(c, JSON.stringify(deletion), 202)
  })
  .openapi(list, async (c) => send(c, await call(c, 'list_identities', {})))
  .openapi(add, async (c) => {
    const { type, ...fields } = c.req.valid('json')
    return send(c, await call(c, 'add_identity', { type, fields }, { idempotent: true }), 201)
  })
  .openapi(get, async (c) => send(c, await call(c, 'get_identity', c.req.valid('param'))))
  .openapi(change, async (c) => {
    const fields = c.req.valid('json')
    return send(c, await call(c, 'update_identity', { ...c.req.valid('param'), fields }))
  })
  .openapi(
    switchTo,
    async (c) => send(c, await call(c, 'switch_identity', c.req.valid('json'))),
  )
