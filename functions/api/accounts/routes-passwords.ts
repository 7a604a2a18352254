import { z } from '@hono/zod-openapi'
import { addressArgs, codeHmac } from '../../_shared/auth/secrets.ts'
import {
  changePassword,
  discardSession,
  invalidNewPassword,
  resetPassword,
  signIn,
} from '../../_shared/auth/supabase-auth.ts'
import { backend } from '../../_shared/database/db.ts'
import { type MaybeError, Refusal, throwIfError } from '../../_shared/errors/refusal.ts'
import { Code, Identifier, NewPassword, Password } from '../../_shared/input/identifiers.ts'
import { area, body, json, mine, route, send, sendNothing, withoutToken } from '../http/route.ts'
import { requestCode, smsFor } from './codes.ts'
import { callerAsUser, ofCaller, verifyPassword } from './reauthenticate.ts'
import { resendAfter } from './schemas.ts'

const tags = ['sign-in']

const forgot = route({
  ...withoutToken,
  tags,
  operationId: 'forgot_password',
  method: 'post',
  path: '/password/forgot',
  summary: 'Request a code to set a new password',
  description:
    'The answer is always the same and comes before anything is sent, so it does not tell ' +
    'whether there is such an account. Go on with `POST /auth/password/reset`, naming `resetId`.',
  errors: ['sms_not_configured', 'rate_limited'],
  unlimited: true,
  request: body(z.strictObject({ identifier: Identifier, smsFor })),
  responses: {
    202: json(
      z.object({
        resendAfter,
        resetId: z.uuid().describe('Names this attempt, whether or not there is such an account.'),
      }).openapi('CodeRequested', {
        description: 'A code is on its way, if there is such an account.',
      }),
      'Always, whether or not there is such an account.',
    ),
  },
})

const same = { error: 'password_mismatch', path: ['confirmPassword'] }

const reset = route({
  ...withoutToken,
  tags,
  operationId: 'reset_password',
  method: 'post',
  path: '/password/reset',
  summary: 'Set a new password with a code; all sessions end',
  description:
    'Takes the code of `POST /auth/password/forgot`. Every session of the account ends: sign in ' +
    'with the new password. Send `resetId` along: then nobody else at your address can use up your ' +
    'tries, nor does it matter from where you go on.',
  errors: ['otp_invalid', 'otp_expired', 'otp_locked', 'rate_limited'],
  unlimited: true,
  request: body(
    z.strictObject({
      identifier: Identifier,
      code: Code,
      resetId: z.uuid().optional().describe('From the request for this code.'),
      newPassword: NewPassword,
      confirmPassword: z.string().max(288).describe('The same password once more.'),
    }).refine((given) => given.newPassword === given.confirmPassword, same),
  ),
  responses: { 204: { description: 'Set.' } },
})

const change = route({
  ...mine,
  tags,
  operationId: 'change_password',
  method: 'post',
  path: '/password/change',
  summary: 'Change my password; my other sessions end',
  description:
    'Needs the current password, whose tries are counted like those of a sign-in. This session ' +
    'stays.',
  errors: ['invalid_credentials'],
  request: body(z.strictObject({ currentPassword: Password, newPassword: NewPassword })),
  responses: { 204: { description: 'Changed.' } },
})

async function isCurrentPassword(identifier: Identifier, password: string, address: string) {
  const tokens = await signIn(identifier, password, address)
  if (tokens && !('denied' in tokens)) await discardSession(tokens)
  return tokens !== undefined
}

const reported = ['code_address', 'code_unsent_address', 'code_service']

type Verified = MaybeError & { codeId: string; accountId: string | null }

export const passwords = area()
  .openapi(forgot, async (c) => {
    const { identifier, smsFor } = c.req.valid('json')
    const answer = await requestCode(c, identifier, 'reset', { smsFor })
    // Reports limits of the client address and of the whole service. A limit of the identifier is not
    // reported, so that such requests get the usual response.
    if (reported.includes(answer.error?.rule ?? '')) throwIfError(answer)
    const { resendAfter, resetId } = answer
    return send(c, JSON.stringify({ resendAfter, resetId }), 202)
  })
  .openapi(reset, async (c) => {
    const { identifier, code, resetId, newPassword } = c.req.valid('json')
    const verified = await backend<Verified>('verify_code', {
      purpose: 'reset',
      identifier: identifier.value,
      hmac: codeHmac('reset', identifier.value, code),
      ...addressArgs(c.var.address),
      resetId,
    })
    throwIfError(verified)
    if (!verified.accountId) throw new Refusal('otp_invalid', { attemptsLeft: 0 })
    try {
      if (await isCurrentPassword(identifier, newPassword, c.var.address)) {
        throw invalidNewPassword()
      }
      await resetPassword(verified.accountId, identifier, newPassword)
    } catch (error) {
      await backend('release_code', { codeId: verified.codeId })
      throw error
    }
    return sendNothing(c)
  })
  .openapi(change, async (c) => {
    const { currentPassword, newPassword } = c.req.valid('json')
    await verifyPassword(c, await callerAsUser(c), currentPassword)
    const passwords = { current: currentPassword, next: newPassword }
    await ofCaller(c, changePassword(c.var.caller.token!, passwords, c.var.address))
    return sendNothing(c)
  })
