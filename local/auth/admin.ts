import { createHash, randomBytes } from 'node:crypto'
import { admin, auditTraits, writeAudit } from './audit.ts'
import { banUntil } from './ban.ts'
import { transaction, type Tx } from './database.ts'
import { type Answer, AuthError, badRequest, internal, unprocessable } from './errors.ts'
import { checkStrength, isBcrypt } from './passwords.ts'
import {
  audience,
  type AuthRequest,
  type Context,
  isUuid,
  readBody,
  requireAdmin,
  validEmail,
  validPhone,
} from './request.ts'
import {
  clearOneTimeTokens,
  confirmEmail,
  confirmPhone,
  createIdentity,
  emailTaken,
  findByPhone,
  findUser,
  mergeMetadata,
  setPassword,
  updateIdentity,
  updateUser,
  type User,
  userJson,
} from './users.ts'

const shape = {
  id: 'string',
  aud: 'string',
  role: 'string',
  email: 'string',
  phone: 'string',
  password: 'string',
  password_hash: 'string',
  email_confirm: 'boolean',
  phone_confirm: 'boolean',
  user_metadata: 'object',
  app_metadata: 'object',
  ban_duration: 'string',
} as const

type Params = ReturnType<typeof readBody<typeof shape>>

export async function adminUsers(context: Context, request: AuthRequest): Promise<Answer> {
  await requireAdmin(context, request)
  const id = request.path.split('/')[3]
  if (id === undefined) {
    if (request.method === 'GET') return await listUsers(context, request)
    if (request.method === 'POST') return await createUser(context, request)
    return { status: 405 }
  }
  if (!isUuid(id)) {
    throw new AuthError(404, 'validation_failed', 'user_id must be an UUID')
  }
  const user = await findUser(context.pool, id)
  if (!user) throw new AuthError(404, 'user_not_found', 'User not found')
  if (request.method === 'GET') return { status: 200, body: userJson(user) }
  if (request.method === 'PUT') return await changeUser(context, request, user)
  if (request.method === 'DELETE') return await deleteUser(context, request, user)
  return { status: 405 }
}

async function listUsers(context: Context, request: AuthRequest): Promise<Answer> {
  const number = (name: string, otherwise: number) => {
    const text = request.query.get(name)
    if (!text) return otherwise
    if (!/^\d{1,9}$/.test(text)) {
      throw badRequest(`Bad Pagination Parameters: ${name} is not a number`)
    }
    return Math.max(1, Number(text))
  }
  const page = number('page', 1)
  const size = number('per_page', 50)
  const filter = request.query.get('filter') ?? ''
  const aud = audience(request)
  const { rows } = await context.pool.query(
    `select *, count(*) over ()::int as total from auth.users
     where aud = $1 and ($2 = '' or email like '%' || $2 || '%'
       or raw_user_meta_data ->> 'full_name' ilike '%' || $2 || '%')
     order by created_at desc limit $3 offset $4`,
    [aud, filter, size, (page - 1) * size],
  )
  const total = rows[0]?.total ?? 0
  const last = Math.max(1, Math.ceil(total / size))
  const link = (to: number, rel: string) =>
    `</admin/users?page=${to}&per_page=${size}>; rel="${rel}"`
  const links = [...(page < last ? [link(page + 1, 'next')] : []), link(last, 'last')]
  return {
    status: 200,
    headers: { 'x-total-count': String(total), link: links.join(', ') },
    // As in the real Auth, the list leaves out the users' identities.
    body: { users: rows.map((row) => ({ ...userJson(row), identities: null })), aud },
  }
}

async function createUser(context: Context, request: AuthRequest): Promise<Answer> {
  const params = readBody(request, shape)
  const aud = params.aud || audience(request)
  if (!params.email && !params.phone) {
    throw badRequest('Cannot create a user without either an email or phone')
  }
  const email = params.email ? validEmail(params.email) : null
  if (email && await emailTaken(context.pool, email, aud)) {
    throw unprocessable(
      'email_exists',
      'A user with this email address has already been registered',
    )
  }
  const phone = params.phone ? validPhone(params.phone) : null
  if (phone && await findByPhone(context.pool, phone, aud)) {
    throw unprocessable('phone_exists', 'Phone number already registered by another user')
  }
  const hash = await newHash(context, params)
  const id = params.id || crypto.randomUUID()
  if (!isUuid(id)) throw badRequest('ID must conform to the uuid v4 format')
  const ban = banUntil(params.ban_duration)
  try {
    const user = await transaction(context.pool, async (tx) => {
      const user = await insertUser(tx, { id, aud, email, phone, hash }, params.user_metadata ?? {})
      if (email) await createIdentity(tx, user, 'email', { email })
      if (phone) await createIdentity(tx, user, 'phone', { phone })
      const provider = email ? 'email' : 'phone'
      await writeAudit(context, tx, admin, 'user_signedup', { ...auditTraits(user), provider })
      await applyChanges(tx, user, { ...params, role: params.role || 'authenticated' }, ban)
      await confirm(tx, user, params)
      return (await findUser(tx, user.id))!
    })
    return { status: 200, body: userJson(user) }
  } catch (error) {
    throw databaseError('Database error creating new user', error)
  }
}

/** Inserts a user. As in the real Auth, separate updates then set the other columns and fire triggers. */
async function insertUser(
  tx: Tx,
  row: { id: string; aud: string; email: string | null; phone: string | null; hash: string },
  userMetadata: Record<string, unknown>,
): Promise<User> {
  const providers = [...(row.email ? ['email'] : []), ...(row.phone ? ['phone'] : [])]
  const { rows } = await tx.query<User>(
    `insert into auth.users
       (instance_id, id, aud, role, email, phone, encrypted_password, confirmation_token,
        recovery_token, email_change_token_current, email_change_token_new, email_change,
        phone_change_token, phone_change, reauthentication_token, raw_app_meta_data,
        raw_user_meta_data, created_at, updated_at)
     values ('00000000-0000-0000-0000-000000000000', $1, $2, '', $3, $4, $5, '', '', '', '', '',
        '', '', '', $6, $7, clock_timestamp(), clock_timestamp())
     returning *`,
    [
      row.id,
      row.aud,
      row.email,
      row.phone,
      row.hash,
      { provider: providers[0], providers },
      userMetadata,
    ],
  )
  return rows[0]!
}

async function newHash(context: Context, params: Params): Promise<string> {
  if (params.password !== undefined && params.password_hash) {
    throw badRequest('Only a password or a password hash should be provided')
  }
  if (params.password_hash) {
    if (isBcrypt(params.password_hash)) return params.password_hash
    // The real Auth also accepts argon2 and Firebase scrypt.
    throw internal('Error creating user')
  }
  const password = params.password || randomBytes(48).toString('base64')
  if (Buffer.byteLength(password) > 72) {
    throw badRequest('bcrypt: password length exceeds 72 bytes')
  }
  return await context.passwords.hash(password)
}

async function changeUser(context: Context, request: AuthRequest, user: User): Promise<Answer> {
  const params = readBody(request, shape)
  const email = params.email ? validEmail(params.email) : undefined
  const phone = params.phone ? validPhone(params.phone) : undefined
  const ban = banUntil(params.ban_duration)
  let hash: string | undefined
  if (params.password !== undefined) {
    checkStrength(params.password, context.config.passwordLength)
    hash = await context.passwords.hash(params.password)
  }
  try {
    const changed = await transaction(context.pool, async (tx) => {
      // Email and phone are marked as confirmed before their new values are stored.
      await confirm(tx, user, params)
      if (hash !== undefined) await setPassword(tx, user, hash)
      if (email) {
        const data = { email, email_verified: params.email_confirm }
        if (!await updateIdentity(tx, user, 'email', data)) {
          await createIdentity(tx, user, 'email', data)
        }
        await updateUser(tx, user, { email })
      }
      if (phone) {
        const data = { phone, phone_verified: params.phone_confirm }
        if (!await updateIdentity(tx, user, 'phone', data)) {
          await createIdentity(tx, user, 'phone', data)
        }
        await updateUser(tx, user, { phone })
      }
      if (params.user_metadata) {
        const metadata = mergeMetadata(user.raw_user_meta_data, params.user_metadata)
        await updateUser(tx, user, { raw_user_meta_data: metadata })
      }
      await applyChanges(tx, user, params, ban)
      await writeAudit(context, tx, admin, 'user_modified', auditTraits(user))
      return (await findUser(tx, user.id))!
    })
    return { status: 200, body: userJson(changed) }
  } catch (error) {
    throw databaseError('Error updating user', error)
  }
}

async function confirm(tx: Tx, user: User, params: Params) {
  if (params.email_confirm) await confirmEmail(tx, user)
  if (params.phone_confirm) await confirmPhone(tx, user)
}

async function applyChanges(tx: Tx, user: User, params: Params, ban: string | null | undefined) {
  if (params.role) await updateUser(tx, user, { role: params.role.trim() })
  if (params.app_metadata) {
    const metadata = mergeMetadata(user.raw_app_meta_data, params.app_metadata)
    await updateUser(tx, user, { raw_app_meta_data: metadata })
  }
  if (ban !== undefined) await updateUser(tx, user, { banned_until: ban })
}

async function deleteUser(context: Context, request: AuthRequest, user: User): Promise<Answer> {
  const soft = request.body.length > 0 &&
    readBody(request, { should_soft_delete: 'boolean' }).should_soft_delete
  try {
    await transaction(context.pool, async (tx) => {
      await writeAudit(context, tx, admin, 'user_deleted', auditTraits(user))
      if (!soft) await tx.query('delete from auth.users where id = $1', [user.id])
      else if (!user.deleted_at) await softDelete(tx, user)
    })
  } catch (error) {
    throw databaseError(
      soft ? 'Error soft deleting user' : 'Database error deleting user',
      error,
    )
  }
  return { status: 200, body: {} }
}

async function softDelete(tx: Tx, user: User) {
  const hidden = (value: string) => createHash('sha256').update(user.id + value).digest('base64url')
  await updateUser(tx, user, {
    encrypted_password: null,
    confirmation_token: '',
    recovery_token: '',
    email_change_token_current: '',
    email_change_token_new: '',
    phone_change_token: '',
    email: hidden(user.email ?? ''),
    phone: hidden(user.phone ?? '').slice(0, 15),
    email_change: hidden(user.email_change ?? ''),
    phone_change: hidden(user.phone_change ?? '').slice(0, 15),
    deleted_at: new Date().toISOString(),
  })
  await clearOneTimeTokens(tx, user)
  await updateUser(tx, user, { raw_user_meta_data: {}, raw_app_meta_data: {} })
  await tx.query('delete from auth.sessions where user_id = $1', [user.id])
  for (const identity of user.identities) {
    await tx.query(
      "update auth.identities set identity_data = '{}', provider_id = $2 where id = $1",
      [identity.id, hidden(`${identity.provider}:${identity.provider_id}`)],
    )
  }
}

/** Logs an error from the database and returns a generic 500 instead, as the real Auth does. */
function databaseError(message: string, error: unknown): Error {
  if (error instanceof AuthError) return error
  console.error(`auth: ${message}: ${(error as Error).message}`)
  return internal(message, error)
}
