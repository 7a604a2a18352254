import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { invalidField } from '../../_shared/errors/refusal.ts'
import { area, body, forAdmins, json, pageOf, route, send, sendNothing } from '../http/route.ts'
import { algorithms, begin, timeout, userHandle, verifyNew } from './passkeys.ts'
import { Attestation, CreationOptions, Passkey, PasskeyName } from './schemas-passkeys.ts'

const ofAdmin = { ...forAdmins, tags: ['sign-in'] }

const options = route({
  ...ofAdmin,
  operationId: 'begin_passkey',
  method: 'post',
  path: '/passkeys/options',
  proof: true,
  summary: 'Begin to add a passkey',
  description:
    'A passkey serves the pages of one host, that of `Origin`, whatever the port; an origin that is not in ' +
    '`CORS_ORIGINS`, or has an address in place of a name, is 422 at `Origin`. Needs a proof (`X-Proof`), ' +
    'for the first one by password or code.',
  errors: ['passkeys_full'],
  responses: { 200: json(CreationOptions, 'What the browser is asked for.') },
})

const add = route({
  ...ofAdmin,
  operationId: 'add_passkey',
  method: 'post',
  path: '/passkeys',
  proof: true,
  summary: 'Add a passkey to my account',
  description:
    'Up to five. The challenge of the options is used up by this, whatever comes of it; what does not ' +
    'verify, and what somebody has already, is 422 at `attestation`. From the first one on the account ' +
    'proves by passkeys alone. Every administrator is told. Needs a proof (`X-Proof`).',
  errors: ['passkeys_full'],
  request: body(z.strictObject({
    attestation: Attestation,
    name: PasskeyName.optional().describe('To tell it from others.'),
  })),
  responses: { 201: json(Passkey, 'Added.') },
})

const list = route({
  ...ofAdmin,
  operationId: 'list_passkeys',
  method: 'get',
  path: '/passkeys',
  summary: 'List my passkeys',
  description: 'All of them: there are no further pages.',
  responses: { 200: json(pageOf('PasskeyPage', Passkey), 'Oldest first.') },
})

const remove = route({
  ...ofAdmin,
  operationId: 'remove_passkey',
  method: 'delete',
  path: '/passkeys/{passkeyId}',
  proof: true,
  summary: 'Remove one of my passkeys',
  description:
    'Without any the account proves by password or code again. One that is lost and the last is removed by ' +
    'another administrator, with a row of `admin_acts`. Every administrator is told. Needs a proof (`X-Proof`).',
  errors: ['not_found'],
  request: { params: z.strictObject({ passkeyId: z.uuid().describe('From the list.') }) },
  responses: { 204: { description: 'Removed.' } },
})

export const passkeys = area()
  .openapi(options, async (c) => {
    const { accountId, name, displayName, challenge, rpId, passkeys } = await begin(c, true)
    return send(
      c,
      JSON.stringify({
        challenge,
        rp: { id: rpId, name: rpId },
        user: { id: userHandle(accountId), name, displayName },
        pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
        timeout,
        attestation: 'none',
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
        excludeCredentials: passkeys,
      }),
    )
  })
  .openapi(add, async (c) => {
    const { attestation, name } = c.req.valid('json')
    const verified = await verifyNew(c, attestation)
    if (!verified) throw invalidField('attestation', 'invalid')
    return send(c, await call(c, 'add_passkey', { ...verified, name }), 201)
  })
  .openapi(list, async (c) => send(c, await call(c, 'list_passkeys', {})))
  .openapi(remove, async (c) => {
    await call(c, 'remove_passkey', c.req.valid('param'))
    return sendNothing(c)
  })
