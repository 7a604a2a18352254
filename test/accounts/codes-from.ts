import { randomUUID } from 'node:crypto'
import { newPhone } from '../support/client.ts'
import { type Attempt, codeSentBy } from '../support/codes.ts'
import { type RawRequest, sendRaw } from '../support/races.ts'
import { refusal } from '../support/problems.ts'

export const postFrom = (
  from: string,
  path: string,
  body: object,
  more: Partial<RawRequest> = {},
) => sendRaw({ path: `/auth${path}`, body, from, ...more })

export const resendFrom = (
  from: string,
  identifier: string,
  purpose: string,
  registrationId?: string,
) => postFrom(from, '/otp/resend', { identifier, purpose, registrationId })

export const forgotFrom = (from: string, identifier: string) =>
  postFrom(from, '/password/forgot', { identifier })

export const resetRequest = (
  from: string,
  identifier: string,
  code: string,
  resetId?: string,
): RawRequest => ({
  path: '/auth/password/reset',
  body: { identifier, code, resetId, newPassword: 'another one', confirmPassword: 'another one' },
  from,
})

export const reset = (from: string, identifier: string, code: string, resetId?: string) =>
  sendRaw(resetRequest(from, identifier, code, resetId))

export const wrong = refusal(422, 'otp_invalid')

export async function registerFrom(from: string, phone = newPhone()): Promise<Attempt> {
  const password = randomUUID()
  const [code, { body }] = await codeSentBy(
    phone,
    () => postFrom(from, '/register', { identifier: phone, password }),
  )
  return { phone, password, registrationId: body.registrationId, code }
}

export async function requestResetCodeFrom(from: string, identifier: string) {
  const [code] = await codeSentBy(identifier, () => forgotFrom(from, identifier))
  return code
}
