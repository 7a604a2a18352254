import { randomUUID } from 'node:crypto'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { database, projectUrl } from '../../test/support/client.ts'
import {
  admin,
  auth,
  newEmail,
  newPhone,
  newUser,
  secret,
  server,
  signedIn,
} from './support/client.ts'

describe('signing in', () => {
  test('returns a token, a refresh token and the user', async () => {
    const { email, password } = await newUser({ user_metadata: { name: 'سالم' } })
    const given = { email: email.toUpperCase(), password }
    const { status, headers, body } = await auth(
      'POST',
      '/token?grant_type=password',
      given,
      secret,
    )
    expect(status).toBe(200)
    expect(headers.get('sb-auth-user-id')).toBe(body.user.id)
    expect(body).toMatchObject({
      token_type: 'bearer',
      expires_in: 3600,
      user: {
        aud: 'authenticated',
        role: 'authenticated',
        email,
        phone: '',
        app_metadata: { provider: 'email', providers: ['email'] },
        user_metadata: { name: 'سالم' },
        is_anonymous: false,
      },
    })
    expect(body.expires_at - Date.now() / 1000).toBeGreaterThan(3500)
    expect(body.user.identities).toHaveLength(1)
    expect(body.user.identities[0]).toMatchObject({ id: body.user.id, provider: 'email', email })
    expect(body.user.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/)
  })

  test('accepts a phone with and without a plus, and returns it without', async () => {
    const phone = newPhone()
    const password = randomUUID()
    await admin.createUser({ phone: `+${phone}`, password, phone_confirm: true })
    for (const spelling of [phone, `+${phone}`]) {
      const { data } = await server().auth.signInWithPassword({ phone: spelling, password })
      expect(data.user).toMatchObject({ phone, email: '' })
    }
  })

  test('returns an ES256 token that the published keys verify', async () => {
    const { id, email, session } = await signedIn()
    const jwks = createRemoteJWKSet(new URL(`${projectUrl}/auth/v1/.well-known/jwks.json`))
    const { payload } = await jwtVerify(session.access_token, jwks, {
      issuer: `${projectUrl}/auth/v1`,
      audience: 'authenticated',
    })
    expect(decodeProtectedHeader(session.access_token)).toMatchObject({ alg: 'ES256', typ: 'JWT' })
    expect(payload).toMatchObject({
      sub: id,
      email,
      phone: '',
      role: 'authenticated',
      aal: 'aal1',
      amr: [{ method: 'password', timestamp: expect.any(Number) }],
      session_id: expect.any(String),
      is_anonymous: false,
    })
  })

  test('returns the same error for a wrong password and for an unknown user', async () => {
    const { email } = await newUser()
    const wrong = await server().auth.signInWithPassword({ email, password: 'wrong-password' })
    const unknown = await server().auth.signInWithPassword({
      email: newEmail(),
      password: 'wrong-password',
    })
    expect(wrong.error).toMatchObject({ status: 400, code: 'invalid_credentials' })
    expect(unknown.error).toEqual(wrong.error)
  })

  test('reports an unconfirmed email only after the right password', async () => {
    const { id, email, password } = await newUser({ email_confirm: false })
    // The project never leaves an email unconfirmed, so the test changes the row with SQL.
    await database().query('update auth.users set email_confirmed_at = null where id = $1', [id])
    const wrong = await server().auth.signInWithPassword({ email, password: 'wrong-password' })
    const right = await server().auth.signInWithPassword({ email, password })
    expect(wrong.error?.code).toBe('invalid_credentials')
    expect(right.error).toMatchObject({ status: 400, code: 'email_not_confirmed' })
  })

  test('rejects malformed bodies', async () => {
    const grant = '/token?grant_type=password'
    const send = async (body: unknown) => (await auth('POST', grant, body, secret)).body.error_code
    const both = { email: newEmail(), phone: newPhone(), password: 'x' }
    expect(await send(both)).toBe('validation_failed')
    expect(await send({})).toBe('validation_failed')
    expect(await send({ email: 1, password: 'x' })).toBe('bad_json')
    expect(await send('{')).toBe('bad_json')
    const magic = await auth('POST', '/token?grant_type=magic', {}, secret)
    expect([magic.status, magic.body.error_code]).toEqual([400, 'invalid_credentials'])
    expect((await auth('POST', grant, { password: 'x'.repeat(1_100_000) })).status).toBe(413)
  })
})
