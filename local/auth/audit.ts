import type { Tx } from './database.ts'
import type { Context } from './request.ts'
import type { User } from './users.ts'

export const admin = 'service_role'

const types = {
  login: 'account',
  logout: 'account',
  user_signedup: 'team',
  user_deleted: 'team',
  token_refreshed: 'token',
  user_modified: 'user',
  user_updated_password: 'user',
}

export async function writeAudit(
  { auditLog }: Context,
  tx: Tx,
  actor: User | typeof admin,
  action: keyof typeof types,
  traits?: Record<string, unknown>,
): Promise<void> {
  if (!auditLog) return
  const noActor = '00000000-0000-0000-0000-000000000000'
  const by = actor === admin
    ? { actor_id: noActor, actor_username: admin }
    : { actor_id: actor.id, actor_username: actor.phone || actor.email || '' }
  const name = actor === admin ? undefined : actor.raw_user_meta_data?.full_name
  const payload = {
    action,
    ...by,
    ...(name === undefined ? {} : { actor_name: name }),
    actor_via_sso: false,
    log_type: types[action],
    ...(traits && { traits }),
  }
  await tx.query(
    `insert into auth.audit_log_entries (instance_id, id, payload, created_at)
     values ($1, gen_random_uuid(), $2, clock_timestamp())`,
    [noActor, payload],
  )
}

export const auditTraits = (user: User) => ({
  user_email: user.email ?? '',
  user_id: user.id,
  user_phone: user.phone ?? '',
})
