import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database } from '../../test/support/client.ts'
import {
  admin,
  auth,
  bearer,
  newEmail,
  newPhone,
  rowOf,
  server,
  signedIn,
} from './support/client.ts'

describe('the user', () => {
  test('is returned to a caller with a token, a user and a session', async () => {
    const { session, email, id } = await signedIn()
    const { access_token: token } = session
    expect((await auth('GET', '/user', undefined, bearer(token))).body.email).toBe(email)
    expect((await auth('GET', '/user')).body.error_code).toBe('bad_jwt')
    const bent = await auth('GET', '/user', undefined, bearer(`${token.slice(0, -4)}AAAA`))
    expect([bent.status, bent.body.error_code]).toEqual([403, 'bad_jwt'])
    await database().query('delete from auth.sessions where user_id = $1', [id])
    const gone = await auth('GET', '/user', undefined, bearer(token))
    expect([gone.status, gone.body.error_code]).toEqual([403, 'session_not_found'])
    await admin.deleteUser(id)
    const nobody = await auth('GET', '/user', undefined, bearer(token))
    expect([nobody.status, nobody.body.error_code]).toEqual([403, 'user_not_found'])
  })

  test('merges data one level deep; null removes a key', async () => {
    const { session } = await signedIn()
    const put = (data: object) => auth('PUT', '/user', { data }, bearer(session.access_token))
    await put({ colour: 'blue', deep: { a: 1 } })
    const { body } = await put({ colour: null, deep: { b: 2 } })
    expect(body.user_metadata).toMatchObject({ deep: { b: 2 } })
    expect(body.user_metadata).not.toHaveProperty('colour')
  })

  test('changes the password and so ends the other sessions', async () => {
    const { id, session, signIn, email, password } = await signedIn()
    await database().query(
      'select private.announce_password($1, id) from auth.sessions where user_id = $1',
      [id],
    )
    const other = await signIn()
    const put = (body: object) => auth('PUT', '/user', body, bearer(session.access_token))
    const known = { current_password: password }
    expect((await put({ password, ...known })).body.error_code).toBe('same_password')
    // The strength of the new password is checked before the current password.
    const weak = await put({ password: 'short' })
    expect(weak.status).toBe(422)
    expect(weak.body).toMatchObject({
      error_code: 'weak_password',
      weak_password: { reasons: ['length'] },
    })
    const unproven: [given: object, code: string][] = [
      [{}, 'current_password_required'],
      [{ current_password: '' }, 'current_password_required'],
      [{ current_password: null }, 'current_password_required'],
      [{ current_password: `new-${password}` }, 'current_password_invalid'],
      [{ current_password: 7 }, 'bad_json'],
    ]
    for (const [given, code] of unproven) {
      const { status, body } = await put({ password: `new-${password}`, ...given })
      expect([status, body.error_code]).toEqual([400, code])
    }
    expect((await put({ password: `new-${password}`, ...known })).status).toBe(200)
    expect((await auth('GET', '/user', undefined, bearer(other.access_token))).status).toBe(403)
    expect((await auth('GET', '/user', undefined, bearer(session.access_token))).status).toBe(200)
    const { error } = await server().auth.signInWithPassword({
      email,
      password: `new-${password}`,
    })
    expect(error).toBeNull()
  })

  test('cannot grant rights, nor set an unconfirmed email or phone', async () => {
    const { session, id, email } = await signedIn()
    const put = (body: object) => auth('PUT', '/user', body, bearer(session.access_token))
    const rights = await put({ app_metadata: { role: 'admin' } })
    expect([rights.status, rights.body.error_code]).toEqual([403, 'not_admin'])
    const before = await rowOf(id)
    await put({ role: 'service_role', aud: 'x', email_confirm: true, phone_confirm: true })
    expect((await put({ email: newEmail() })).status).toBeGreaterThanOrEqual(400)
    expect((await put({ phone: newPhone() })).status).toBeGreaterThanOrEqual(400)
    const { data: taken } = await admin.createUser({ email: newEmail(), password: randomUUID() })
    const other = await put({ email: taken.user!.email })
    expect(other.body.error_code).toBe('email_exists')
    const after = await rowOf(id)
    expect(after).toEqual({ ...before, updated_at: after.updated_at })
    expect(after.email).toBe(email)
  })
})
