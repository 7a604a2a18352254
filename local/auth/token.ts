import { writeAudit } from './audit.ts'
import { transaction } from './database.ts'
import { type Answer, AuthError, badRequest, internal, unprocessable } from './errors.ts'
import { checkStrength } from './passwords.ts'
import { audience, type AuthRequest, type Context, plainPhone, readBody } from './request.ts'
import { refreshGrant } from './refresh.ts'
import { startSession } from './sessions.ts'
import { idTokenGrant } from './social.ts'
import { findByEmail, findByPhone, isBanned } from './users.ts'

export function token(context: Context, request: AuthRequest): Promise<Answer> {
  switch (request.query.get('grant_type')) {
    case 'password':
      return passwordGrant(context, request)
    case 'refresh_token':
      return refreshGrant(context, request)
    case 'id_token':
      return idTokenGrant(context, request)
    case 'pkce':
      return pkceGrant(request)
    default:
      throw badRequest('unsupported_grant_type', 'invalid_credentials')
  }
}

/** Always throws: auth codes come from redirects and emailed links, and this project has neither. */
function pkceGrant(request: AuthRequest): never {
  const { auth_code: code, code_verifier: verifier } = readBody(request, {
    auth_code: 'string',
    code_verifier: 'string',
  })
  if (!code || !verifier) {
    throw badRequest('invalid request: both auth code and code verifier should be non-empty')
  }
  const message = 'invalid flow state, no valid flow state found'
  throw new AuthError(404, 'flow_state_not_found', message)
}

async function passwordGrant(context: Context, request: AuthRequest): Promise<Answer> {
  const { config } = context
  const params = readBody(request, { email: 'string', phone: 'string', password: 'string' })
  const { email, phone, password = '' } = params
  if (email && phone) {
    throw badRequest('Only an email address or phone number should be provided on login.')
  }
  if (!email && !phone) throw badRequest('missing email or phone')
  if (email && !config.email) {
    throw unprocessable('email_provider_disabled', 'Email logins are disabled')
  }
  if (phone && !config.phone) {
    throw unprocessable('phone_provider_disabled', 'Phone logins are disabled')
  }
  const aud = audience(request)
  const found = email
    ? findByEmail(context.pool, email, aud)
    : findByPhone(context.pool, plainPhone(phone!), aud)
  const user = await found.catch((error) => {
    throw internal('Database error querying schema', error)
  })
  const refused = () => badRequest('Invalid login credentials', 'invalid_credentials')
  // As in the real Auth, no hash is computed for an unknown user, so this response comes sooner.
  if (!user) throw refused()
  if (isBanned(user)) throw badRequest('User is banned', 'user_banned')
  const hash = user.encrypted_password
  if (!hash || !await context.passwords.matches(password, hash)) throw refused()
  if (email && !user.email_confirmed_at) {
    throw badRequest('Email not confirmed', 'email_not_confirmed')
  }
  if (phone && !user.phone_confirmed_at) {
    throw badRequest('Phone not confirmed', 'phone_not_confirmed')
  }
  const { headers, body } = await transaction(context.pool, async (tx) => {
    await writeAudit(context, tx, user, 'login', { provider: email ? 'email' : 'phone' })
    return await startSession(context, tx, request, user, 'password')
  })
  return {
    status: 200,
    headers,
    body: { ...body, ...weakPassword(password, config.passwordLength) },
  }
}

/** Returns `weak_password` if the current rules would reject this (correct) password. */
function weakPassword(password: string, minimum: number) {
  try {
    checkStrength(password, minimum)
  } catch (error) {
    if (error instanceof AuthError && error.reasons) {
      return { weak_password: { message: error.message, reasons: error.reasons } }
    }
  }
  return {}
}
