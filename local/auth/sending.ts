// The endpoints that send or accept codes. This project's hooks reject every send, so Auth never issues a
// code, and only the error responses are implemented.
import { transaction } from './database.ts'
import { type Answer, AuthError, badRequest, forbidden, unprocessable } from './errors.ts'
import { runHook } from './hooks.ts'
import {
  audience,
  type AuthRequest,
  type Context,
  readBody,
  requireUser,
  validEmail,
  validPhone,
} from './request.ts'
import { findByEmail, findByPhone, isBanned, type User, userJson } from './users.ts'

const nothing: Answer = { status: 200, body: {} }
const signupsOff = () => unprocessable('signup_disabled', 'Signups not allowed for this instance')

export function signup(context: Context, request: AuthRequest): Answer {
  const params = readBody(request, { email: 'string', phone: 'string' })
  if (!params.email && !params.phone && !context.config.anonymous) {
    throw unprocessable('anonymous_provider_disabled', 'Anonymous sign-ins are disabled')
  }
  if (!context.config.signups) throw signupsOff()
  throw new AuthError(501, 'not_supported', 'The embedded stack takes no public sign-ups.')
}

export async function otp(context: Context, request: AuthRequest): Promise<Answer> {
  const params = readBody(request, {
    email: 'string',
    phone: 'string',
    create_user: 'boolean',
    channel: 'string',
  })
  if (params.email && params.phone) {
    throw badRequest('Only an email address or phone number should be provided')
  }
  if (params.email && params.channel) {
    throw badRequest('Channel should only be specified with Phone OTP')
  }
  if (!params.email && !params.phone) throw badRequest('One of email or phone must be set')
  const user = await findEither(context, request, params)
  // create_user is true unless the caller sends false.
  const create = JSON.parse(request.body.toString()).create_user !== false
  if (!user && !create) throw unprocessable('otp_disabled', 'Signups not allowed for otp')
  const known = user && (params.email ? user.email_confirmed_at : user.phone_confirmed_at)
  if (!known) throw signupsOff()
  if (params.email) await sendEmail(context, request, user, 'magiclink')
  else await sendSms(context, request, user, user.phone!)
  return nothing
}

export async function recover(context: Context, request: AuthRequest): Promise<Answer> {
  const params = readBody(request, { email: 'string' })
  if (!context.config.email) {
    throw badRequest('Email logins are disabled', 'email_provider_disabled')
  }
  if (!params.email) throw badRequest('Password recovery requires an email')
  const email = validEmail(params.email)
  const user = await findByEmail(context.pool, email, audience(request))
  if (user) await sendEmail(context, request, user, 'recovery')
  return nothing
}

export async function reauthenticate(context: Context, request: AuthRequest): Promise<Answer> {
  const { user } = await requireUser(context, request)
  if (user.email) {
    if (!user.email_confirmed_at) {
      throw unprocessable('email_not_confirmed', 'Please verify your email first.')
    }
    await sendEmail(context, request, user, 'reauthentication')
  } else if (user.phone) {
    if (!user.phone_confirmed_at) {
      throw unprocessable('phone_not_confirmed', 'Please verify your phone first.')
    }
    await sendSms(context, request, user, user.phone)
  }
  throw badRequest('Reauthentication requires the user to have an email or a phone number')
}

export async function resend(context: Context, request: AuthRequest): Promise<Answer> {
  const params = readBody(request, { type: 'string', email: 'string', phone: 'string' })
  const { type = '', email, phone } = params
  if (!['signup', 'email_change', 'sms', 'phone_change'].includes(type)) {
    throw badRequest('Missing one of these types: signup, email_change, sms, phone_change')
  }
  if (!email && type === 'signup') throw badRequest('Type provided requires an email address')
  if (!phone && type === 'sms') throw badRequest('Type provided requires a phone number')
  if (email && phone) {
    throw badRequest('Only an email address or phone number should be provided.')
  }
  if (!email && !phone) throw badRequest('Missing email address or phone number')
  const user = await findEither(context, request, params)
  if (!user) return nothing
  if (type === 'signup' && !user.email_confirmed_at) {
    await sendEmail(context, request, user, 'signup')
  } else if (type === 'sms' && !user.phone_confirmed_at) {
    await sendSms(context, request, user, user.phone!)
  } else if (type === 'email_change' && user.email_change) {
    await sendEmail(context, request, user, 'email_change')
  } else if (type === 'phone_change' && user.phone_change) {
    await sendSms(context, request, user, user.phone_change)
  }
  return nothing
}

async function findEither(
  context: Context,
  request: AuthRequest,
  { email, phone }: { email?: string; phone?: string },
) {
  const aud = audience(request)
  if (email) {
    if (!context.config.email) {
      throw badRequest('Email logins are disabled', 'email_provider_disabled')
    }
    return await findByEmail(context.pool, validEmail(email), aud)
  }
  if (!context.config.phone) {
    throw badRequest('Unsupported phone provider', 'phone_provider_disabled')
  }
  return await findByPhone(context.pool, validPhone(phone!), aud)
}

const emailTypes = ['signup', 'invite', 'magiclink', 'recovery', 'email', 'email_change']
const types = [...emailTypes, 'sms', 'phone_change']

export async function verify(context: Context, request: AuthRequest): Promise<Answer> {
  const params = readBody(request, {
    type: 'string',
    token: 'string',
    token_hash: 'string',
    email: 'string',
    phone: 'string',
  })
  const { type = '', token, token_hash: hash, email, phone } = params
  if (!type) throw badRequest('Verify requires a verification type')
  if (Boolean(token) === Boolean(hash)) {
    throw badRequest('Verify requires either a token or a token hash')
  }
  if (hash) {
    if (email || phone) throw badRequest('Only the token_hash and type should be provided')
    if (!emailTypes.includes(type)) throw badRequest('Invalid email verification type')
    throw forbidden('otp_expired', 'Email link is invalid or has expired')
  }
  let user: User | undefined
  if (phone && !email && !emailTypes.includes(type)) {
    user = await findByPhone(context.pool, validPhone(phone), audience(request))
  } else if (email && !phone && emailTypes.includes(type)) {
    user = await findByEmail(context.pool, emailToVerify(email), audience(request))
  } else if (!types.includes(type)) {
    throw badRequest('Unsupported verification type')
  } else {
    throw badRequest('Only an email address or phone number should be provided on verify')
  }
  if (user && isBanned(user)) throw forbidden('user_banned', 'User is banned')
  throw forbidden('otp_expired', 'Token has expired or is invalid')
}

function emailToVerify(email: string) {
  try {
    return validEmail(email)
  } catch {
    throw unprocessable('validation_failed', 'Invalid email format')
  }
}

const digits = () =>
  String(crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000)
    .padStart(6, '0')

/** Calls the SMS hook, then always throws: this stand-in never sends an SMS, even if the hook allows it. */
export async function sendSms(context: Context, request: AuthRequest, user: User, phone: string) {
  await transaction(context.pool, async (tx) => {
    await runHook(tx, context.config.hooks, 'send_sms', request, {
      user: userJson(user),
      sms: { otp: digits(), phone },
    })
    throw unprocessable('sms_send_failed', 'Error sending sms OTP: no SMS provider is set up')
  })
}

export async function sendEmail(
  context: Context,
  request: AuthRequest,
  user: User,
  action: string,
) {
  await transaction(context.pool, async (tx) => {
    await runHook(tx, context.config.hooks, 'send_email', request, {
      user: userJson(user),
      email_data: { token: digits(), token_hash: '', email_action_type: action },
    })
    throw new AuthError(500, 'unexpected_failure', `Error sending ${action} email`)
  })
}
