import { type Db, rfc3339, type Tx } from './database.ts'

export type Metadata = Record<string, unknown>

export type Identity = {
  id: string
  provider_id: string
  user_id: string
  identity_data: Metadata
  provider: string
  last_sign_in_at: string | null
  created_at: string
  updated_at: string
  email: string | null
}

export type User = {
  id: string
  aud: string
  role: string
  email: string | null
  phone: string | null
  encrypted_password: string | null
  email_confirmed_at: string | null
  phone_confirmed_at: string | null
  banned_until: string | null
  deleted_at: string | null
  email_change: string | null
  phone_change: string | null
  raw_app_meta_data: Metadata | null
  raw_user_meta_data: Metadata | null
  is_anonymous: boolean
  identities: Identity[]
  [column: string]: unknown
}

const select = `
  select users.*, coalesce(
    (select jsonb_agg(identities order by identities.created_at)
      from auth.identities where identities.user_id = users.id),
    '[]'
  ) as identities
  from auth.users`
const nonSso = "instance_id = '00000000-0000-0000-0000-000000000000' and is_sso_user = false"

async function find(db: Db, where: string, values: unknown[]): Promise<User | undefined> {
  const { rows } = await db.query(`${select} where ${where}`, values)
  return rows[0]
}

export const findUser = (db: Db, id: string) => find(db, 'id = $1', [id])
export const findByEmail = (db: Db, email: string, aud: string) =>
  find(db, `lower(email) = $1 and aud = $2 and ${nonSso}`, [email.toLowerCase(), aud])
export const findByPhone = (db: Db, phone: string, aud: string) =>
  find(db, `phone = $1 and aud = $2 and ${nonSso}`, [phone, aud])

export async function emailTaken(db: Db, email: string, aud: string, except?: string) {
  const { rowCount } = await db.query(
    `select from auth.users where aud = $2 and id is distinct from $3 and id in (
       select id from auth.users where lower(email) = $1 and is_sso_user = false
       union all
       select user_id from auth.identities where email = $1 and provider not like 'sso:%'
     ) limit 1`,
    [email.toLowerCase(), aud, except ?? null],
  )
  return rowCount! > 0
}

/** Updates columns of a user and copies the new row, including generated columns, into `user`. */
export async function updateUser(tx: Tx, user: User, changes: Metadata): Promise<void> {
  const names = Object.keys(changes)
  const assignments = names.map((name, index) => `${name} = $${index + 2}`).join(', ')
  const { rows } = await tx.query(
    `update auth.users set ${assignments}, updated_at = clock_timestamp() where id = $1
     returning *`,
    [user.id, ...Object.values(changes)],
  )
  Object.assign(user, rows[0])
}

/** Merges changes into metadata one level deep; null removes a key. */
export function mergeMetadata(old: Metadata | null, changes: Metadata): Metadata {
  const result = { ...old, ...changes }
  for (const [key, value] of Object.entries(changes)) if (value === null) delete result[key]
  return result
}

export async function confirmEmail(tx: Tx, user: User): Promise<void> {
  await updateUser(tx, user, {
    confirmation_token: '',
    email_confirmed_at: new Date().toISOString(),
    raw_user_meta_data: mergeMetadata(user.raw_user_meta_data, { email_verified: true }),
  })
  await clearOneTimeTokens(tx, user)
}

export async function confirmPhone(tx: Tx, user: User): Promise<void> {
  await updateUser(tx, user, {
    confirmation_token: '',
    phone_confirmed_at: new Date().toISOString(),
  })
  await clearOneTimeTokens(tx, user)
}

export async function clearOneTimeTokens(tx: Tx, user: User) {
  await tx.query('delete from auth.one_time_tokens where user_id = $1', [user.id])
}

/** Stores a new password hash, deletes pending codes and ends all sessions except `keep`. */
export async function setPassword(tx: Tx, user: User, hash: string | null, keep?: string) {
  await updateUser(tx, user, {
    encrypted_password: hash,
    confirmation_token: '',
    confirmation_sent_at: null,
    recovery_token: '',
    recovery_sent_at: null,
    email_change_token_current: '',
    email_change_token_new: '',
    email_change_sent_at: null,
    phone_change_token: '',
    phone_change_sent_at: null,
    reauthentication_token: '',
    reauthentication_sent_at: null,
  })
  await clearOneTimeTokens(tx, user)
  await tx.query('delete from auth.sessions where user_id = $1 and id is distinct from $2', [
    user.id,
    keep ?? null,
  ])
}

export async function createIdentity(
  tx: Tx,
  user: User,
  provider: 'email' | 'phone',
  data: Metadata,
): Promise<void> {
  await tx.query(
    `insert into auth.identities
       (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
     values ($1, $2, $3, $4, now(), clock_timestamp(), clock_timestamp())`,
    [
      user.id,
      user.id,
      { sub: user.id, email_verified: false, phone_verified: false, ...data },
      provider,
    ],
  )
}

export async function updateIdentity(
  tx: Tx,
  user: User,
  provider: 'email' | 'phone',
  data: Metadata,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update auth.identities set identity_data = identity_data || $3, updated_at = now()
     where user_id = $1 and provider = $2`,
    [user.id, provider, data],
  )
  return rowCount! > 0
}

export const isBanned = (user: User) =>
  user.banned_until !== null && Date.parse(user.banned_until) > Date.now()

const shownWhenSet = [
  'email_confirmed_at',
  'invited_at',
  'phone_confirmed_at',
  'confirmation_sent_at',
  'confirmed_at',
  'recovery_sent_at',
  'email_change_sent_at',
  'phone_change_sent_at',
  'reauthentication_sent_at',
  'last_sign_in_at',
  'banned_until',
  'deleted_at',
]

export function userJson(user: User): Metadata {
  const optional: Metadata = {}
  for (const name of shownWhenSet) if (user[name]) optional[name] = user[name]
  if (user.email_change) optional.new_email = user.email_change
  if (user.phone_change) optional.new_phone = user.phone_change
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email ?? '',
    phone: user.phone ?? '',
    ...optional,
    app_metadata: user.raw_app_meta_data ?? {},
    user_metadata: user.raw_user_meta_data ?? {},
    identities: (user.identities ?? []).map(identityJson),
    created_at: user.created_at,
    updated_at: user.updated_at,
    is_anonymous: user.is_anonymous,
  }
}

function identityJson(identity: Identity): Metadata {
  const time = (value: string | null) => value && rfc3339(value)
  return {
    identity_id: identity.id,
    id: identity.provider_id,
    user_id: identity.user_id,
    identity_data: identity.identity_data,
    provider: identity.provider,
    last_sign_in_at: time(identity.last_sign_in_at),
    created_at: time(identity.created_at),
    updated_at: time(identity.updated_at),
    ...(identity.email ? { email: identity.email } : {}),
  }
}
