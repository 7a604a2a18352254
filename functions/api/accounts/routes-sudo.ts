import { z } from '@hono/zod-openapi'
import { newProof } from '../../_shared/auth/secrets.ts'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend, call } from '../../_shared/database/db.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'
import { sha256OfShort } from '../../_shared/input/hashes.ts'
import { Code, Password } from '../../_shared/input/identifiers.ts'
import { mailWorks } from '../../_shared/outside/messages.ts'
import { area, body, Count, forAdmins, json, route, send } from '../http/route.ts'
import { begin, timeout, verifyProof } from './passkeys.ts'
import { callerAsUser, verifyOwnCode, verifyPassword } from './reauthenticate.ts'
import { Assertion, RequestOptions } from './schemas-passkeys.ts'

const Proving = z.strictObject({
  currentPassword: Password.optional(),
  code: Code.optional().describe('Of `POST /auth/otp/resend` with purpose `sudo`.'),
  assertion: Assertion.optional(),
}).refine((given) => Object.keys(given).length < 2, { error: 'invalid', path: ['code'] })
  .openapi({ maxProperties: 1 })

const prove = route({
  ...forAdmins,
  tags: ['sign-in'],
  operationId: 'prove_admin',
  method: 'post',
  path: '/sudo',
  summary: 'Prove once more who I am, for what an access token alone does not do',
  description:
    'Who has a passkey proves by that alone (`POST /auth/sudo/options` first): anything else is 403 ' +
    '`passkey_required`, and nothing is looked at. Else it takes the current password, whose tries are ' +
    'counted like those of a sign-in, or a code of ' +
    '`POST /auth/otp/resend` with purpose `sudo`. Where an account has neither a password, as after a ' +
    'sign-up by Google or Apple, nor a phone nor an email that mail reaches, an empty object within five ' +
    'minutes of a sign-in by its provider is enough, once for each sign-in. Send `proof` as `X-Proof` for ' +
    'ten minutes; it counts in this session alone, and ends with it, with the password, and with the next ' +
    'proof. Where the setting `admin_passkeys` is `required`, a proof by anything else adds a passkey and ' +
    'does nothing more.',
  errors: ['invalid_credentials', 'passkey_required', 'otp_invalid', 'otp_expired', 'otp_locked'],
  request: body(Proving),
  responses: {
    200: json(
      z.object({
        proof: z.string().describe('Secret: keep it in memory alone.'),
        expiresIn: Count.describe('Seconds until it counts no more.').openapi({ example: 600 }),
      }).openapi('SudoProof', { description: 'What an administrator sends as `X-Proof`.' }),
      'Proven.',
    ),
  },
})

const options = route({
  ...forAdmins,
  tags: ['sign-in'],
  operationId: 'begin_proof',
  method: 'post',
  path: '/sudo/options',
  summary: 'Begin to prove by a passkey',
  description:
    'For the page whose host is that of `Origin`, as for `POST /auth/passkeys/options`. 404 where no ' +
    'passkey of the account serves it.',
  errors: ['not_found'],
  responses: { 200: json(RequestOptions, 'What the browser is asked for.') },
})

type Given = z.output<typeof Proving>

/** Verifies the password, code or passkey that the caller sent. Returns which of them it was. */
async function verify(c: ApiContext, { currentPassword, code, assertion }: Given) {
  if (assertion) {
    const verified = await verifyProof(c, assertion)
    if (!verified) throw new Refusal('invalid_credentials')
    return { way: 'passkey', ...verified }
  }
  await call(c, 'require_admin_without_passkey', {})
  const user = await callerAsUser(c)
  if (currentPassword !== undefined) {
    await verifyPassword(c, user, currentPassword)
    return { way: 'password' }
  }
  if (code === undefined) return { way: 'provider' }
  await verifyOwnCode(c, user, 'sudo', code)
  return { way: 'code' }
}

export const sudo = area()
  .openapi(prove, async (c) => {
    const proven = await verify(c, c.req.valid('json'))
    const proof = newProof()
    await backend('save_proof', {
      ...proven,
      accountId: c.var.caller.sub!,
      sessionId: c.var.caller.sessionId!,
      hash: sha256OfShort(proof),
      mailWorks,
    })
    return send(c, JSON.stringify({ proof, expiresIn: 600 }))
  })
  .openapi(options, async (c) => {
    const { challenge, rpId, passkeys } = await begin(c, false)
    return send(
      c,
      JSON.stringify({
        challenge,
        rpId,
        timeout,
        userVerification: 'required',
        allowCredentials: passkeys,
      }),
    )
  })
