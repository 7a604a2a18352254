import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, secretKey } from '../../test/support/client.ts'
import {
  admin,
  auth,
  bearer,
  client,
  newEmail,
  newPhone,
  newUser,
  refresh,
  secret,
  server,
  signedIn,
} from './support/client.ts'

const questions = (email: string, phone: string): [path: string, body: object][] => [
  ['/signup', { email, password: randomUUID() }],
  ['/signup', { phone, password: randomUUID() }],
  ['/signup', { email, password: randomUUID(), data: { role: 'admin' } }],
  ['/signup', {}],
  ['/otp', { email }],
  ['/otp', { phone }],
  ['/otp', { phone, create_user: false }],
  ['/magiclink', { email }],
  ['/recover', { email }],
  ['/resend', { type: 'signup', email }],
  ['/resend', { type: 'sms', phone }],
  ['/resend', { type: 'email_change', email }],
  ['/token?grant_type=password', { email, password: 'wrong-password' }],
  ['/token?grant_type=password', { phone, password: 'wrong-password' }],
  ['/token?grant_type=web3', { email }],
  ['/token', { email }],
]

async function rowsOf(id: string) {
  const { rows } = await database().query(
    `select
       (select to_jsonb(users) from auth.users where id = $1) as user,
       (select jsonb_agg(identities order by id) from auth.identities where user_id = $1)
         as identities,
       (select jsonb_agg(sessions order by id) from auth.sessions where user_id = $1) as sessions,
       (select to_jsonb(accounts) from public.accounts where id = $1) as account,
       (select jsonb_agg(codes order by id) from private.codes where account_id = $1) as codes`,
    [id],
  )
  return rows[0]
}

const oneTimeTokens = async () => {
  const { rows } = await database().query('select * from auth.one_time_tokens')
  return rows
}

describe('REG-06 nothing with the public key', () => {
  test('gets past a captcha that nobody can solve, whether or not the account exists', async () => {
    const { id, email, password } = await newUser()
    const phone = newPhone()
    const other = await admin.createUser({ phone, password, phone_confirm: true })
    const before = [await rowsOf(id), await rowsOf(other.data.user!.id)]
    const fresh: [email: string, phone: string] = [newEmail(), newPhone()]
    const known = questions(email, phone)
    for (const [i, [path, body]] of questions(...fresh).entries()) {
      const right = { ...known[i]![1], ...(path.endsWith('=password') && { password }) }
      for (const solved of [{}, { gotrue_meta_security: { captcha_token: 'XXXX.DUMMY.TOKEN' } }]) {
        const replies = []
        for (const attempt of [body, known[i]![1], right]) {
          replies.push(await auth('POST', path, { ...attempt, ...solved }))
        }
        for (const { status, headers, body } of replies) {
          expect([status, body.error_code], path).toEqual([400, 'captcha_failed'])
          expect(headers.get('sb-auth-user-id')).toBeNull()
          expect(body).toEqual(replies[0]!.body)
        }
        expect(await oneTimeTokens(), path).toEqual([])
      }
    }
    expect([await rowsOf(id), await rowsOf(other.data.user!.id)]).toEqual(before)
    const { rows } = await database().query(
      'select from auth.users where email = $1 or phone = $2',
      fresh,
    )
    expect(rows).toEqual([])
  })

  test('gets past that captcha with another key or a token', async () => {
    const { email, password, session } = await signedIn()
    const grant = '/token?grant_type=password'
    const send = async (headers: Record<string, string>, body: unknown = { email, password }) => {
      const reply = await auth('POST', grant, body, headers)
      return reply.body.error_code
    }
    expect(await send({})).toBe('captcha_failed')
    expect(await send(bearer(session.access_token))).toBe('captcha_failed')
    expect(await send({ ...secret, ...bearer(session.access_token) })).toBe('captcha_failed')
    expect(await send({}, '{')).toBe('bad_json')
    expect(await send({}, { email, password, gotrue_meta_security: 'x' })).toBe('bad_json')
    expect(await send({ ...secret, ...bearer(secretKey) })).toBeUndefined()
    // Grants that carry their own credentials, such as a refresh token, need no captcha.
    expect((await refresh(session.refresh_token)).status).toBe(200)
    expect((await auth('POST', '/token?grant_type=pkce', {})).body.error_code)
      .toBe('validation_failed')
    const flow = await auth('POST', '/token?grant_type=pkce', {
      auth_code: 'x',
      code_verifier: 'y',
    })
    expect([flow.status, flow.body.error_code]).toEqual([404, 'flow_state_not_found'])
  })

  test('creates an account; the secret key does so only by the admin API', async () => {
    const { email } = await newUser()
    const password = randomUUID()
    const fresh = [newEmail(), newPhone()]
    const { auth: asServer } = server()
    expect((await client().auth.signUp({ email: fresh[0], password })).error?.code)
      .toBe('captcha_failed')
    expect((await client().auth.signInAnonymously()).error?.code).toBe('captcha_failed')
    expect((await asServer.signUp({ email: fresh[0], password })).error?.code)
      .toBe('signup_disabled')
    expect((await asServer.signUp({ phone: fresh[1], password })).error?.code)
      .toBe('signup_disabled')
    expect((await asServer.signUp({ email, password })).error?.code).toBe('signup_disabled')
    expect((await asServer.signInAnonymously()).error?.code).toBe('anonymous_provider_disabled')
    expect((await asServer.signInWithOtp({ email: fresh[0] })).error?.code).toBe('signup_disabled')
    expect((await asServer.signInWithOtp({ phone: fresh[1] })).error?.code).toBe('signup_disabled')
    const shut = { shouldCreateUser: false }
    expect((await asServer.signInWithOtp({ phone: fresh[1], options: shut })).error)
      .toMatchObject({ status: 422, code: 'otp_disabled' })
    const { rows } = await database().query(
      'select from auth.users where email = $1 or phone = $2',
      fresh,
    )
    expect(rows).toEqual([])
  })

  test('sends or accepts a code, not even with the secret key', async () => {
    const { id, email, session } = await signedIn()
    const before = await rowsOf(id)
    const asServer = server().auth
    expect((await asServer.signInWithOtp({ email })).error).not.toBeNull()
    expect((await asServer.resetPasswordForEmail(email)).error).not.toBeNull()
    expect((await asServer.resetPasswordForEmail(newEmail())).error).toBeNull()
    const resend = (body: object) => auth('POST', '/resend', body, secret)
    expect((await resend({ type: 'signup', email })).body).toEqual({})
    expect((await resend({ type: 'sms', phone: newPhone() })).body).toEqual({})
    expect((await resend({ type: 'other', email })).status).toBe(400)
    const again = await auth('GET', '/reauthenticate', undefined, bearer(session.access_token))
    expect(again.status).toBe(403)
    expect((await auth('GET', '/reauthenticate')).status).toBe(403)
    for (const type of ['email', 'recovery', 'magiclink', 'signup'] as const) {
      const { error } = await client().auth.verifyOtp({ email, token: '123456', type })
      expect(error).toMatchObject({ status: 403, code: 'otp_expired' })
      const nobody = await client().auth.verifyOtp({ email: newEmail(), token: '123456', type })
      expect(nobody.error).toEqual(error)
    }
    const phone = await client().auth.verifyOtp({ phone: newPhone(), token: '1', type: 'sms' })
    expect(phone.error).toMatchObject({ status: 403, code: 'otp_expired' })
    const hash = await client().auth.verifyOtp({ token_hash: 'x', type: 'recovery' })
    expect(hash.error).toMatchObject({ status: 403, code: 'otp_expired' })
    expect((await auth('POST', '/verify', { email })).status).toBe(400)
    expect(await rowsOf(id)).toEqual(before)
    expect(await oneTimeTokens()).toEqual([])
  })

  test('enrols a second factor, not even with a token', async () => {
    const { session } = await signedIn()
    const token = bearer(session.access_token)
    const ask = async (method: string, path: string, body?: object, headers = token) => {
      const reply = await auth(method, path, body, headers)
      return [reply.status, reply.body.error_code]
    }
    const { error } = await client().auth.mfa.enroll({ factorType: 'totp' })
    expect(error).not.toBeNull()
    for (const factor_type of ['totp', 'phone', 'webauthn']) {
      expect(await ask('POST', '/factors', { factor_type }))
        .toEqual([422, `mfa_${factor_type}_enroll_not_enabled`])
    }
    expect(await ask('POST', '/factors', { factor_type: 'x' })).toEqual([400, 'validation_failed'])
    expect(await ask('DELETE', `/factors/${randomUUID()}`)).toEqual([404, 'mfa_factor_not_found'])
    expect(await ask('POST', `/factors/${randomUUID()}/challenge`))
      .toEqual([404, 'mfa_factor_not_found'])
    expect(await ask('POST', '/factors/x/verify')).toEqual([404, 'validation_failed'])
    expect((await auth('POST', '/factors', { factor_type: 'totp' })).status).toBe(403)
  })

  test('signs in by an unknown provider', async () => {
    const { status, body } = await auth('POST', '/token?grant_type=id_token', {
      provider: 'azure',
      id_token: 'a.b.c',
    })
    expect([status, body.error_code]).toEqual([400, 'validation_failed'])
  })
})
