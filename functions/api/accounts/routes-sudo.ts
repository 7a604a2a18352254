import { z } from '@hono/zod-openapi'
import { newProof } from '../../_shared/auth/secrets.ts'
import { backend, call } from '../../_shared/database/db.ts'
import { sha256OfShort } from '../../_shared/input/hashes.ts'
import { Code, Password } from '../../_shared/input/identifiers.ts'
import { mailWorks } from '../../_shared/outside/messages.ts'
import { area, body, Count, forAdmins, json, route, send } from '../http/route.ts'
import { callerAsUser, verifyOwnCode, verifyPassword } from './reauthenticate.ts'

const prove = route({
  ...forAdmins,
  tags: ['sign-in'],
  operationId: 'prove_admin',
  method: 'post',
  path: '/sudo',
  summary: 'Prove once more who I am, for what an access token alone does not do',
  description:
    'Takes the current password, whose tries are counted like those of a sign-in, or a code of ' +
    '`POST /auth/otp/resend` with purpose `sudo`. Where an account has neither a password, as after a ' +
    'sign-up by Google or Apple, nor a phone nor an email that mail reaches, an empty object within five ' +
    'minutes of a sign-in by its provider is enough, once for each sign-in. Send `proof` as `X-Proof` for ' +
    'ten minutes; it counts in this session alone, and ends with it, with the password, and with the next ' +
    'proof.',
  errors: ['invalid_credentials', 'otp_invalid', 'otp_expired', 'otp_locked'],
  request: body(
    z.strictObject({
      currentPassword: Password.optional(),
      code: Code.optional().describe('Of `POST /auth/otp/resend` with purpose `sudo`.'),
    }).refine((given) => given.currentPassword === undefined || given.code === undefined, {
      error: 'invalid',
      path: ['code'],
    }),
  ),
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

export const sudo = area()
  .openapi(prove, async (c) => {
    const { currentPassword, code } = c.req.valid('json')
    await call(c, 'require_admin', {})
    const user = await callerAsUser(c)
    if (currentPassword !== undefined) await verifyPassword(c, user, currentPassword)
    else if (code !== undefined) await verifyOwnCode(c, user, 'sudo', code)
    const proof = newProof()
    await backend('save_proof', {
      accountId: user.id,
      sessionId: c.var.caller.sessionId!,
      way: currentPassword !== undefined ? 'password' : code !== undefined ? 'code' : 'provider',
      hash: sha256OfShort(proof),
      mailWorks,
    })
    return send(c, JSON.stringify({ proof, expiresIn: 600 }))
  })
