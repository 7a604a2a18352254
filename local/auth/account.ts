import { writeAudit } from './audit.ts'
import { transaction } from './database.ts'
import { type Answer, badRequest, forbidden, unprocessable } from './errors.ts'
import { checkStrength } from './passwords.ts'
import {
  audience,
  type AuthRequest,
  type Context,
  readBody,
  requireUser,
  validEmail,
  validPhone,
} from './request.ts'
import { sendEmail, sendSms } from './sending.ts'
import {
  emailTaken,
  findByPhone,
  mergeMetadata,
  setPassword,
  updateUser,
  type User,
  userJson,
} from './users.ts'

export async function getUser(context: Context, request: AuthRequest): Promise<Answer> {
  const { claims, user } = await requireUser(context, request)
  if (audience(request, claims) !== claims.aud) {
    throw badRequest("Token audience doesn't match request audience")
  }
  return { status: 200, body: userJson(user) }
}

export async function putUser(context: Context, request: AuthRequest): Promise<Answer> {
  const { claims, user, session } = await requireUser(context, request)
  const params = readBody(request, {
    email: 'string',
    phone: 'string',
    password: 'string',
    current_password: 'string',
    data: 'object',
    app_metadata: 'object',
  })
  const email = params.email ? validEmail(params.email) : user.email ?? ''
  const phone = params.phone ? validPhone(params.phone) : user.phone ?? ''
  const { password, data } = params
  if (password !== undefined) checkStrength(password, context.config.passwordLength)
  if (params.app_metadata) {
    throw forbidden('not_admin', 'Updating app_metadata requires admin privileges')
  }
  const aud = audience(request, claims)
  const newEmail = email !== (user.email ?? '')
  const newPhone = phone !== (user.phone ?? '')
  if (newEmail && await emailTaken(context.pool, email, aud, user.id)) {
    throw unprocessable(
      'email_exists',
      'A user with this email address has already been registered',
    )
  }
  if (newPhone && await findByPhone(context.pool, phone, aud)) {
    throw unprocessable('phone_exists', 'A user with this phone number has already been registered')
  }
  const hash = password === undefined
    ? undefined
    : await newHash(context, user, password, params.current_password)
  await transaction(context.pool, async (tx) => {
    if (hash !== undefined) {
      await setPassword(tx, user, hash, session?.id)
      await writeAudit(context, tx, user, 'user_updated_password')
    }
    if (data) {
      const metadata = mergeMetadata(user.raw_user_meta_data, data)
      await updateUser(tx, user, { raw_user_meta_data: metadata })
    }
    await writeAudit(context, tx, user, 'user_modified')
  })
  if (newEmail) await sendEmail(context, request, user, 'email_change')
  if (newPhone) await sendSms(context, request, user, phone)
  return { status: 200, body: userJson(user) }
}

async function newHash(
  context: Context,
  user: User,
  password: string,
  current: string | undefined,
): Promise<string> {
  const old = user.encrypted_password
  // The real Auth skips this check in recovery sessions. There are none here, because no code is ever sent.
  if (old && context.config.currentPassword) {
    const message = 'Current password required when setting new password.'
    if (!current) throw badRequest(message, 'current_password_required')
    if (!await context.passwords.matches(current, old)) {
      throw badRequest(message, 'current_password_invalid')
    }
  }
  if (old && await context.passwords.matches(password, old)) {
    throw unprocessable(
      'same_password',
      'New password should be different from the old password.',
    )
  }
  return await context.passwords.hash(password)
}

export async function logout(context: Context, request: AuthRequest): Promise<Answer> {
  const { user, session } = await requireUser(context, request)
  const scope = request.query.get('scope') || 'global'
  if (!['global', 'local', 'others'].includes(scope)) {
    throw badRequest(`Unsupported logout scope ${JSON.stringify(scope)}`)
  }
  await transaction(context.pool, async (tx) => {
    await writeAudit(context, tx, user, 'logout')
    if (!session || scope === 'global') {
      await tx.query('delete from auth.sessions where user_id = $1', [user.id])
    } else if (scope === 'local') {
      await tx.query('delete from auth.sessions where id = $1', [session.id])
    } else {
      await tx.query('delete from auth.sessions where user_id = $1 and id <> $2', [
        user.id,
        session.id,
      ])
    }
  })
  return { status: 204 }
}
