import { randomUUID } from 'node:crypto'
import bcrypt from 'bcrypt'
import { describe, expect, test } from 'vitest'
import { database, publishableKey, secretKey } from '../../test/support/client.ts'
import {
  admin,
  auth,
  bearer,
  newEmail,
  newPhone,
  newUser,
  refresh,
  rowOf,
  server,
  signedIn,
} from './support/client.ts'

describe('the admin API', () => {
  test('needs the secret key', async () => {
    const { session } = await signedIn()
    const reply = await auth('GET', '/admin/users', undefined, bearer(session.access_token))
    expect([reply.status, reply.body.error_code]).toEqual([403, 'not_admin'])
    expect((await auth('GET', '/admin/users')).status).toBe(403)
    const created = await auth(
      'POST',
      '/admin/users',
      { email: newEmail() },
      bearer(publishableKey),
    )
    expect(created.status).toBe(403)
  })

  test('creates, shows, lists, changes and deletes', async () => {
    const { id, email } = await newUser({ app_metadata: { plan: 'x' }, user_metadata: { a: 1 } })
    const { data: shown } = await admin.getUserById(id)
    expect(shown.user).toMatchObject({
      email,
      app_metadata: { provider: 'email', providers: ['email'], plan: 'x' },
      user_metadata: { a: 1 },
    })
    const { data: list } = await admin.listUsers({ page: 1, perPage: 2 })
    expect(list.users.length).toBeGreaterThan(0)
    const { data: changed } = await admin.updateUserById(id, {
      user_metadata: { a: null, b: 2 },
      app_metadata: { plan: 'y' },
    })
    expect(changed.user?.user_metadata).toMatchObject({ b: 2 })
    expect(changed.user?.user_metadata).not.toHaveProperty('a')
    expect(changed.user?.app_metadata).toMatchObject({ plan: 'y', provider: 'email' })
    expect((await admin.deleteUser(id)).error).toBeNull()
    expect((await admin.getUserById(id)).error).toMatchObject({
      status: 404,
      code: 'user_not_found',
    })
    const odd = await auth('GET', '/admin/users/me', undefined, { apikey: secretKey })
    expect([odd.status, odd.body.error_code]).toEqual([404, 'validation_failed'])
  })

  test('accepts each email and phone only once', async () => {
    const { email } = await newUser()
    const phone = newPhone()
    await admin.createUser({ phone, password: randomUUID(), phone_confirm: true })
    expect((await admin.createUser({ email: email.toUpperCase() })).error)
      .toMatchObject({ status: 422, code: 'email_exists' })
    expect((await admin.createUser({ phone: `+${phone}` })).error)
      .toMatchObject({ status: 422, code: 'phone_exists' })
    expect((await admin.createUser({})).error).toMatchObject({
      status: 400,
      code: 'validation_failed',
    })
  })

  test('accepts a bcrypt hash instead of a password', async () => {
    const email = newEmail()
    const password = randomUUID()
    const { error } = await admin.createUser({
      email,
      email_confirm: true,
      password_hash: bcrypt.hashSync(password, 6),
    })
    expect(error).toBeNull()
    const { data } = await server().auth.signInWithPassword({ email, password })
    expect(data.session).not.toBeNull()
  })

  test('accepts a hash that bcrypt cannot read, which no password matches', async () => {
    const email = newEmail()
    const password_hash = `$2x$10$${'a'.repeat(53)}`
    expect((await admin.createUser({ email, email_confirm: true, password_hash })).error).toBeNull()
    const { error } = await server().auth.signInWithPassword({ email, password: 'a' })
    expect(error).toMatchObject({ status: 400, code: 'invalid_credentials' })
    await signedIn()
  })

  test('ends every session when it sets a new password', async () => {
    const { id, session } = await signedIn()
    await database().query('select private.announce_password($1)', [id])
    await admin.updateUserById(id, { password: randomUUID() })
    expect((await refresh(session.refresh_token)).status).toBe(400)
    expect((await auth('GET', '/user', undefined, bearer(session.access_token))).status).toBe(403)
  })

  test('bans at once, and reports a ban before it checks the password', async () => {
    const { id, email, session } = await signedIn()
    // The project rejects bans through the API (test/admin/auth-pages.test.ts), so the test sets the column.
    await database().query(
      `update auth.users set banned_until = now() + interval '1 day' where id = $1`,
      [id],
    )
    const { error } = await server().auth.signInWithPassword({ email, password: 'wrong-password' })
    expect(error).toMatchObject({ status: 400, code: 'user_banned' })
    expect((await refresh(session.refresh_token)).body.error_code).toBe('user_banned')
    expect((await auth('GET', '/user', undefined, bearer(session.access_token))).status).toBe(403)
    await admin.updateUserById(id, { ban_duration: 'none' })
    expect((await refresh(session.refresh_token)).status).toBe(200)
  })

  test('writes the rows that Auth writes', async () => {
    const { id, email } = await newUser()
    const row = await rowOf(id)
    expect(row).toMatchObject({
      instance_id: '00000000-0000-0000-0000-000000000000',
      aud: 'authenticated',
      role: 'authenticated',
      email,
      phone: null,
      confirmation_token: '',
      recovery_token: '',
      email_change: '',
      email_change_token_new: '',
      reauthentication_token: '',
      is_sso_user: false,
    })
    expect(row.encrypted_password).toMatch(/^\$2a\$\d\d\$/)
    expect(row.confirmed_at).toEqual(row.email_confirmed_at)
    const { rows } = await database().query(
      'select provider, provider_id, identity_data, email from auth.identities where user_id = $1',
      [id],
    )
    expect(rows).toEqual([
      {
        provider: 'email',
        provider_id: id,
        identity_data: { sub: id, email, email_verified: false, phone_verified: false },
        email,
      },
    ])
  })
})
