// The wire formats of Supabase Auth, as the unchanged supabase-js and plain requests see them. What
// is written here holds for the stand-in and for a hosted project alike.
import { createClient } from '@supabase/supabase-js'
import bcrypt from 'bcryptjs'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { randomInt, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, projectUrl, publishableKey, secretKey } from '../../test/support/client.ts'

const stateless = { auth: { persistSession: false, autoRefreshToken: false } }
const client = () => createClient(projectUrl, publishableKey, stateless)
// Passwords are tried with the secret key only: a captcha stands before everybody else.
const server = () => createClient(projectUrl, secretKey, stateless)
const { admin } = server().auth

const newEmail = () => `${randomUUID()}@example.com`
const newPhone = () => `9655${String(randomInt(10_000_000)).padStart(7, '0')}`

// deno-lint-ignore no-explicit-any
type Reply = { status: number; headers: Headers; body: any }

/** A plain request to Auth with the public key. */
async function auth(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(`${projectUrl}/auth/v1${path}`, {
    method,
    headers: { apikey: publishableKey, 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const secret = { apikey: secretKey }
const refresh = (token: string) =>
  auth('POST', '/token?grant_type=refresh_token', { refresh_token: token })

/** Somebody with a confirmed email. */
async function newUser(more: Parameters<typeof admin.createUser>[0] = {}) {
  const email = newEmail()
  const password = randomUUID()
  const made = await admin.createUser({ email, password, email_confirm: true, ...more })
  if (made.error) throw made.error
  return { id: made.data.user.id, email, password }
}

async function signedIn() {
  const user = await newUser()
  const signIn = async () => {
    const { email, password } = user
    const { data, error } = await server().auth.signInWithPassword({ email, password })
    if (error) throw error
    return data.session!
  }
  return { ...user, signIn, session: await signIn() }
}

describe('signing in', () => {
  test('answers a token, a refresh token and the user', async () => {
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

  test('takes a phone with and without plus, and shows it without', async () => {
    const phone = newPhone()
    const password = randomUUID()
    await admin.createUser({ phone: `+${phone}`, password, phone_confirm: true })
    for (const spelling of [phone, `+${phone}`]) {
      const { data } = await server().auth.signInWithPassword({ phone: spelling, password })
      expect(data.user).toMatchObject({ phone, email: '' })
    }
  })

  test('gives an ES256 token that the published keys verify', async () => {
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

  test('says the same of a wrong password and of somebody unknown', async () => {
    const { email } = await newUser()
    const wrong = await server().auth.signInWithPassword({ email, password: 'wrong-password' })
    const unknown = await server().auth.signInWithPassword({
      email: newEmail(),
      password: 'wrong-password',
    })
    expect(wrong.error).toMatchObject({ status: 400, code: 'invalid_credentials' })
    expect(unknown.error).toEqual(wrong.error)
  })

  test('tells that an email is not confirmed only after the right password', async () => {
    const { email, password } = await newUser({ email_confirm: false })
    const wrong = await server().auth.signInWithPassword({ email, password: 'wrong-password' })
    const right = await server().auth.signInWithPassword({ email, password })
    expect(wrong.error?.code).toBe('invalid_credentials')
    expect(right.error).toMatchObject({ status: 400, code: 'email_not_confirmed' })
  })

  test('refuses bodies of the wrong shape', async () => {
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

describe('errors', () => {
  test('have the old shape without a version and the new one with it', async () => {
    const grant = '/token?grant_type=password'
    const wrong = { email: 'a@b.co', password: 'x' }
    const old = await auth('POST', grant, wrong, secret)
    expect(old.body).toEqual({
      code: 400,
      error_code: 'invalid_credentials',
      msg: 'Invalid login credentials',
    })
    const version = { 'x-supabase-api-version': '2024-01-01' }
    const versioned = await auth('POST', grant, wrong, { ...secret, ...version })
    expect(versioned.body).toEqual({
      code: 'invalid_credentials',
      message: 'Invalid login credentials',
    })
    expect(versioned.headers.get('x-sb-error-code')).toBe('invalid_credentials')
    expect(versioned.headers.get('x-supabase-api-version')).toBe('2024-01-01')
  })

  test('of OAuth have no code', async () => {
    const { status, body } = await auth('POST', '/token?grant_type=refresh_token', {})
    expect(status).toBe(400)
    expect(body).toEqual({
      error: 'invalid_request',
      error_description: expect.any(String),
    })
  })
})

describe('refreshing', () => {
  test('gives a new token each time, of the same session', async () => {
    const { session, id } = await signedIn()
    const first = await refresh(session.refresh_token)
    const second = await refresh(first.body.refresh_token)
    expect([first.status, second.status]).toEqual([200, 200])
    const tokens = [session.refresh_token, first.body.refresh_token, second.body.refresh_token]
    expect(new Set(tokens).size).toBe(3)
    const { rows } = await database().query('select id from auth.sessions where user_id = $1', [id])
    expect(rows).toHaveLength(1)
  })

  test('with the token before gives the present one: its answer was lost', async () => {
    const { session } = await signedIn()
    const { body } = await refresh(session.refresh_token)
    const again = await refresh(session.refresh_token)
    expect(again.status).toBe(200)
    expect(again.body.refresh_token).toBe(body.refresh_token)
  })

  test('twenty times at once succeeds for all, with one token at the end', async () => {
    const { session } = await signedIn()
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => refresh(session.refresh_token)),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(new Set(replies.map(({ body }) => body.refresh_token)).size).toBe(1)
    expect((await refresh(replies[0].body.refresh_token)).status).toBe(200)
  })

  test('with a token of long ago ends the whole family', async () => {
    const { session, id } = await signedIn()
    const second = await refresh(session.refresh_token)
    const third = await refresh(second.body.refresh_token)
    // As if the ten seconds had passed in which several may ask at once.
    await database().query(
      "update auth.sessions set refreshed_at = refreshed_at - interval '1 minute' where user_id = $1",
      [id],
    )
    const reused = await refresh(session.refresh_token)
    expect(reused.status).toBe(400)
    expect(reused.body.error_code).toBe('refresh_token_already_used')
    expect((await refresh(third.body.refresh_token)).status).toBe(400)
  })

  test('refuses what is no refresh token', async () => {
    expect((await refresh('abcdefghijkl')).body.error_code).toBe('refresh_token_not_found')
    expect((await refresh('nonsense')).body.error_code).toBe('validation_failed')
    const { session } = await signedIn()
    const last = session.refresh_token.at(-2) === 'A' ? 'B' : 'A'
    const bent = session.refresh_token.slice(0, -2) + last + session.refresh_token.at(-1)
    expect((await refresh(bent)).status).toBe(400)
    expect((await refresh(session.refresh_token)).status).toBe(200)
  })
})

describe('the user', () => {
  test('is shown to who has a token, a user and a session', async () => {
    const { session, email, id } = await signedIn()
    const { access_token: token } = session
    expect((await auth('GET', '/user', undefined, bearer(token))).body.email).toBe(email)
    expect((await auth('GET', '/user')).body.error_code).toBe('no_authorization')
    const bent = await auth('GET', '/user', undefined, bearer(`${token.slice(0, -4)}AAAA`))
    expect([bent.status, bent.body.error_code]).toEqual([403, 'bad_jwt'])
    await database().query('delete from auth.sessions where user_id = $1', [id])
    const gone = await auth('GET', '/user', undefined, bearer(token))
    expect([gone.status, gone.body.error_code]).toEqual([403, 'session_not_found'])
    await admin.deleteUser(id)
    const nobody = await auth('GET', '/user', undefined, bearer(token))
    expect([nobody.status, nobody.body.error_code]).toEqual([403, 'user_not_found'])
  })

  test('merges data one level deep; null takes a key out', async () => {
    const { session } = await signedIn()
    const put = (data: object) => auth('PUT', '/user', { data }, bearer(session.access_token))
    await put({ colour: 'blue', deep: { a: 1 } })
    const { body } = await put({ colour: null, deep: { b: 2 } })
    expect(body.user_metadata).toMatchObject({ deep: { b: 2 } })
    expect(body.user_metadata).not.toHaveProperty('colour')
  })

  test('changes the password and so ends the other sessions', async () => {
    const { session, signIn, email, password } = await signedIn()
    const other = await signIn()
    const put = (body: object) => auth('PUT', '/user', body, bearer(session.access_token))
    const known = { current_password: password }
    expect((await put({ password, ...known })).body.error_code).toBe('same_password')
    // Before the present password is looked at.
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

  test('gives nobody rights, and no unproven email or phone', async () => {
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

async function rowOf(id: string) {
  const { rows } = await database().query('select * from auth.users where id = $1', [id])
  return rows[0]
}

describe('signing out', () => {
  test('ends this session, the others, or all', async () => {
    const { session, signIn } = await signedIn()
    const [second, third] = [await signIn(), await signIn()]
    const works = async ({ access_token }: { access_token: string }) =>
      (await auth('GET', '/user', undefined, bearer(access_token))).status === 200
    const out = (scope: string, token: string) =>
      auth('POST', `/logout?scope=${scope}`, undefined, bearer(token))
    expect((await out('nowhere', session.access_token)).status).toBe(400)
    expect((await out('local', session.access_token)).status).toBe(204)
    expect([await works(session), await works(second)]).toEqual([false, true])
    expect((await refresh(session.refresh_token)).status).toBe(400)
    expect((await out('others', second.access_token)).status).toBe(204)
    expect([await works(second), await works(third)]).toEqual([true, false])
    expect((await out('global', second.access_token)).status).toBe(204)
    expect(await works(second)).toBe(false)
  })
})

/** What a stranger might ask of Auth about an email or phone, with or without an account. */
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

/** Everything that Auth and we keep of a user. */
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
  test('is answered before a captcha that nobody can solve, whoever is asked about', async () => {
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
        for (const asked of [body, known[i]![1], right]) {
          replies.push(await auth('POST', path, { ...asked, ...solved }))
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

  test('passes that captcha with a key or a token that is not the secret one', async () => {
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
    // What carries its own proof is exempt.
    expect((await refresh(session.refresh_token)).status).toBe(200)
    expect((await auth('POST', '/token?grant_type=pkce', {})).body.error_code)
      .toBe('validation_failed')
    const flow = await auth('POST', '/token?grant_type=pkce', {
      auth_code: 'x',
      code_verifier: 'y',
    })
    expect([flow.status, flow.body.error_code]).toEqual([404, 'flow_state_not_found'])
  })

  test('makes an account, and with the secret key only by the administration', async () => {
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

  test('sends a code or takes one, nor does the secret key', async () => {
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
    expect((await auth('GET', '/reauthenticate')).status).toBe(401)
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

  test('adds a second factor, nor does a token', async () => {
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
    expect((await auth('POST', '/factors', { factor_type: 'totp' })).status).toBe(401)
  })

  test('signs in by a provider that nobody knows', async () => {
    const { status, body } = await auth('POST', '/token?grant_type=id_token', {
      provider: 'azure',
      id_token: 'a.b.c',
    })
    expect([status, body.error_code]).toEqual([400, 'validation_failed'])
  })
})

describe('administration', () => {
  test('needs the secret key', async () => {
    const { session } = await signedIn()
    const asked = await auth('GET', '/admin/users', undefined, bearer(session.access_token))
    expect([asked.status, asked.body.error_code]).toEqual([403, 'not_admin'])
    expect((await auth('GET', '/admin/users')).status).toBe(401)
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

  test('knows an email and a phone once', async () => {
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

  test('takes a bcrypt hash instead of a password', async () => {
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

  test('ends every session with a new password', async () => {
    const { id, session } = await signedIn()
    await admin.updateUserById(id, { password: randomUUID() })
    expect((await refresh(session.refresh_token)).status).toBe(400)
    expect((await auth('GET', '/user', undefined, bearer(session.access_token))).status).toBe(403)
  })

  test('bans at once, and says so before it looks at the password', async () => {
    const { id, email, session } = await signedIn()
    await admin.updateUserById(id, { ban_duration: '24h' })
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

describe('the doors', () => {
  test('want an API key that is known, and no secret one from a browser', async () => {
    const settings = (headers: Record<string, string>) =>
      fetch(`${projectUrl}/auth/v1/settings`, { headers }).then(({ status }) => status)
    expect(await settings({})).toBe(401)
    expect(await settings({ apikey: 'sb_publishable_unknown' })).toBe(401)
    expect(await settings({ apikey: publishableKey, ...bearer(secretKey) })).toBe(401)
    expect(await settings({ apikey: secretKey, 'user-agent': 'Mozilla/5.0' })).toBe(401)
    expect(await settings({ apikey: publishableKey })).toBe(200)
  })

  test('tell how the project is set', async () => {
    expect((await auth('GET', '/settings')).body).toMatchObject({
      disable_signup: true,
      mailer_autoconfirm: false,
      phone_autoconfirm: false,
      external: { email: true, phone: true, anonymous_users: false },
    })
    expect((await auth('GET', '/health')).body).toMatchObject({ name: 'GoTrue' })
  })

  test('publish the keys to everybody, to be kept for ten minutes', async () => {
    const response = await fetch(`${projectUrl}/auth/v1/.well-known/jwks.json`)
    expect(response.headers.get('cache-control')).toBe('public, max-age=600')
    const { keys } = await response.json()
    expect(keys[0]).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    expect(keys[0]).not.toHaveProperty('d')
  })

  test('believe another address only from the secret key', async () => {
    const { id, session } = await signedIn()
    const address = '203.0.113.7'
    const named = { 'sb-forwarded-for': address, 'x-forwarded-for': address }
    const seen = async (apikey: string) => {
      await auth(
        'POST',
        '/token?grant_type=refresh_token',
        { refresh_token: session.refresh_token },
        { apikey, ...named },
      )
      const { rows } = await database().query(
        'select host(ip) as ip from auth.sessions where user_id = $1',
        [id],
      )
      return rows[0].ip
    }
    expect(await seen(publishableKey)).not.toBe(address)
    expect(await seen(secretKey)).toBe(address)
  })
})
