import { type Answer, AuthError, badRequest, unprocessable } from './errors.ts'
import { type AuthRequest, type Context, isUuid, readBody, requireUser } from './request.ts'

const names: Record<string, string> = { phone: 'Phone', totp: 'TOTP', webauthn: 'WebAuthn' }

/** Handles /factors and /factors/:id. Enrolling a factor always fails, so no user ever has one. */
export async function factors(context: Context, request: AuthRequest): Promise<Answer> {
  await requireUser(context, request)
  const id = request.path.split('/')[2]
  if (id !== undefined) {
    if (!isUuid(id)) throw new AuthError(404, 'validation_failed', 'factor_id must be an UUID')
    throw new AuthError(404, 'mfa_factor_not_found', 'Factor not found')
  }
  if (request.method !== 'POST') throw new AuthError(405, '', 'Method Not Allowed')
  const { factor_type: type = '' } = readBody(request, { factor_type: 'string' })
  if (!Object.hasOwn(names, type)) {
    throw badRequest('factor_type needs to be totp, phone, or webauthn')
  }
  throw unprocessable(
    `mfa_${type}_enroll_not_enabled`,
    `MFA enroll is disabled for ${names[type]}`,
  )
}
