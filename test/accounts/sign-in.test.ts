import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import {
  database,
  guest,
  newEmail,
  newPhone,
  projectUrl,
  publishableKey,
  type Reply,
  signIn,
  signUp,
} from '../support/client.ts'
import {
  ageCodes,
  countSessions,
  registerPhone,
  signUpByPhone,
  verifyCode,
  wrongCode,
} from '../support/codes.ts'
import { race } from '../support/races.ts'
import { refusal } from '../support/problems.ts'

const login = (identifier: unknown, password: unknown, more: object = {}) =>
  guest.post('/auth/login', { identifier, password, ...more })
const wrong = refusal(401, 'invalid_credentials')

const unlinked = 'لا توجد هوية مرتبطة بهذا الحساب'

test('a session says whose it is, and its tokens work in the project', async () => {
  const identifier = newEmail()
  const password = randomUUID()
  await guest.post('/auth/register', { identifier, password, fullName: 'منيرة الصباح' })
  const began = Date.now()
  const { status, body } = await login(identifier, password)
  const ended = Date.now()
  expect(status).toBe(200)
  const identity = {
    id: expect.any(String),
    type: 'individual',
    status: 'active',
    displayName: 'منيرة الصباح',
    avatarUrl: null,
    unread: 0,
  }
  expect(body).toEqual({
    accessToken: expect.any(String),
    refreshToken: expect.any(String),
    tokenType: 'bearer',
    // The real Auth returns the seconds left when it responds, which may be a few less than an hour.
    expiresIn: expect.toSatisfy((seconds) => seconds >= 3590 && seconds <= 3600),
    expiresAt: expect.any(String),
    user: {
      id: expect.any(String),
      email: identifier,
      emailProven: false,
      phone: null,
      fullName: 'منيرة الصباح',
      avatarUrl: null,
      language: 'ar',
      termsVersion: null,
      providers: [],
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{1,6}\+00:00$/),
    },
    activeIdentity: identity,
    identities: [identity],
    realtimeTopic: expect.any(String),
  })
  // `expiresAt` has whole seconds and is an hour after some moment between `began` and `ended`.
  expect(Date.parse(body.expiresAt)).toBeGreaterThan(began + 3_599_000 - 1)
  expect(Date.parse(body.expiresAt)).toBeLessThanOrEqual(ended + 3_600_000)

  const client = createClient(projectUrl, publishableKey, { db: { schema: 'api' } })
  await client.auth.setSession({ access_token: body.accessToken, refresh_token: body.refreshToken })
  expect((await client.auth.getUser()).data.user?.id).toBe(body.user.id)
  const { data, error } = await client.rpc('get_me')
  expect(error).toBeNull()
  expect([data].flat()[0].user.email).toBe(identifier)
  await client.auth.signOut()
  expect(await countSessions(body.user.id)).toBe(0)
})

test('every spelling of a phone or email signs in to its account', async () => {
  const { identifier: phone, password } = await signUpByPhone()
  for (const typed of [phone, `965${phone}`, `+965${phone}`, ` ${phone} `]) {
    expect(await login(typed, password)).toMatchObject({ status: 200 })
  }
  const person = await signUp()
  for (const typed of [person.identifier.toUpperCase(), ` ${person.identifier}\n`]) {
    expect(await login(typed, person.password)).toMatchObject({ status: 200 })
  }
})

test('REG-04 whoever has registered can sign in at the first try', async () => {
  const pair = async (first: (body: object) => Promise<Reply>) => {
    const body = { identifier: newEmail(), password: randomUUID() }
    expect(await first(body)).toMatchObject({ status: 201 })
    return await guest.post('/auth/login', body)
  }
  const whole = (reply: Reply) => {
    expect(reply).toMatchObject({
      status: 200,
      body: { activeIdentity: { type: 'individual', status: 'active' } },
    })
    expect(reply.body.identities).toHaveLength(1)
    expect(JSON.stringify(reply.body)).not.toContain(unlinked)
  }
  const oneAfterAnother = async () => {
    for (let i = 0; i < 50; i++) whole(await pair((body) => guest.post('/auth/register', body)))
  }
  await Promise.all(Array.from({ length: 4 }, oneAfterAnother))
  const atOnce = Array.from(
    { length: 50 },
    () => pair((body) => guest.post('/auth/register', body)),
  )
  for (const reply of await Promise.all(atOnce)) whole(reply)
})

test('REG-20 a refused sign-in gets the same answer, whatever the reason', async () => {
  const known = await signUp()
  const suspended = await signUp()
  await database().query(
    `update public.accounts set status = 'suspended', status_reason = 'سبب' where id = $1`,
    [suspended.id],
  )
  const attempt = await registerPhone()
  const replies: Reply[] = []
  for (
    const identifier of [
      newEmail(),
      known.identifier,
      newPhone(),
      attempt.phone,
      suspended.identifier,
    ]
  ) {
    replies.push(await login(identifier, 'not the password'))
  }
  const strip = ({ status, body, headers }: Reply) => {
    const { requestId: _id, ...error } = body.error
    const varying = ['date', 'x-request-id', 'content-length']
    return { status, error, headers: [...headers].filter(([name]) => !varying.includes(name)) }
  }
  for (const reply of replies) expect(strip(reply)).toEqual(strip(replies[0]!))
  expect(replies[0]).toMatchObject(wrong)
  expect(replies[0]!.body.error.message).toBe('بيانات الدخول غير صحيحة')

  expect(await login(suspended.identifier, suspended.password))
    .toMatchObject(refusal(403, 'account_suspended'))
  expect(await login(attempt.phone, attempt.password))
    .toMatchObject(refusal(403, 'account_awaiting_otp'))
})

test('only its own password reveals that an attempt waits for its code', async () => {
  const first = await registerPhone()
  await ageCodes(first.phone, 45)
  const second = await registerPhone(first.phone)
  for (const { password } of [first, second]) {
    expect(await login(first.phone, password)).toMatchObject({
      status: 403,
      body: {
        error: {
          code: 'account_awaiting_otp',
          message: 'يرجى إدخال رمز التحقق المرسل إلى هاتفك لتفعيل الحساب',
        },
      },
    })
  }
  await verifyCode(second.phone, wrongCode(second.code), second.registrationId)
  expect(await verifyCode(second.phone, second.code, second.registrationId))
    .toMatchObject({ status: 200 })
  expect(await login(first.phone, first.password)).toMatchObject(wrong)
  expect(await signIn(second.phone, second.password)).toBeDefined()
})

test('nobody can be the decoy account that unknown identifiers are checked against', async () => {
  await login(newEmail(), randomUUID())
  const identifier = 'decoy@accounts.invalid'
  expect(await guest.post('/auth/register', { identifier, password: randomUUID() }))
    .toMatchObject(refusal(422, 'identifier_invalid'))
  expect(await login(identifier, randomUUID())).toMatchObject(wrong)
})

test('REG-24 a short password is simply wrong, and an extra field is refused', async () => {
  const { identifier, password } = await signUp()
  for (const short of ['123456', '1234567', '1', password.slice(0, 7)]) {
    expect(await login(identifier, short)).toMatchObject(wrong)
  }
  expect(await login(identifier, password, { email: identifier, phone: '51234567' }))
    .toMatchObject(refusal(422, 'validation_failed'))
  expect(await guest.post('/auth/login', { email: identifier, password }))
    .toMatchObject({ status: 422 })
  expect(await login(identifier, password, { admin: true })).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed', fields: [{ path: 'admin', code: 'unknown' }] } },
  })
})

test('REG-24 other shapes and sizes are refused before anything is hashed', async () => {
  const { identifier, password } = await signUp()
  const odd = [[identifier], { value: identifier }, 7, true]
  for (const shape of odd) {
    expect(await login(shape, password)).toMatchObject({
      status: 422,
      body: { error: { code: 'identifier_invalid', fields: [{ path: 'identifier' }] } },
    })
    expect(await login(identifier, shape)).toMatchObject({
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path: 'password' }] } },
    })
  }
  expect(await login(identifier, '')).toMatchObject({ status: 422 })
  expect(await login(identifier, 'x'.repeat(1024))).toMatchObject(wrong)
  // An identifier that cannot exist gets the same response as a wrong one.
  const marks = '\u0650\u0651'.repeat(1500)
  for (const long of ['x'.repeat(7000), marks, `${identifier}${marks}`]) {
    expect(await login(long, password)).toMatchObject(wrong)
    expect(await login(identifier, long)).toMatchObject(wrong)
  }
  expect(await login(identifier, 'x'.repeat(1_000_000)))
    .toMatchObject(refusal(413, 'body_too_large'))
  expect(await guest.post('/auth/login', '{"identifier":')).toMatchObject(
    refusal(400, 'body_not_json'),
  )
  for (const body of ['[]', '"text"', 'null', '7']) {
    expect(await guest.post('/auth/login', body)).toMatchObject({ status: 422 })
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  expect(await guest.post('/auth/login', 'identifier=a&password=b', { headers }))
    .toMatchObject(refusal(415, 'content_type_unsupported'))
})

test("a refresh token is a string; somebody else's or a damaged one is refused", async () => {
  const person = await signUp()
  for (const refreshToken of ['x', 'abcdefghijkl', `${person.refreshToken}x`, person.accessToken]) {
    expect(await guest.post('/auth/refresh', { refreshToken }))
      .toMatchObject(refusal(401, 'token_invalid'))
  }
  for (const refreshToken of [7, null, undefined, '', ['x'], 'x'.repeat(1025)]) {
    expect(await guest.post('/auth/refresh', { refreshToken })).toMatchObject({ status: 422 })
  }
  const { status, body } = await guest.post('/auth/refresh', { refreshToken: person.refreshToken })
  expect(status).toBe(200)
  expect(body).toMatchObject({ user: { id: person.id }, activeIdentity: { id: person.identityId } })
  expect(body.refreshToken).not.toBe(person.refreshToken)
})

test('OPS-04 answers declare their type and are not cached', async () => {
  const person = await signUp()
  const replies = [
    await person.get('/auth/me'),
    await guest.post('/auth/login', { identifier: person.identifier, password: person.password }),
    await guest.post('/auth/login', {}),
    await guest.get('/auth/me'),
    await guest.get('/auth/nothing'),
    await guest.get('/auth/login'),
    await guest.post('/auth/login', '{'),
  ]
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 422, 401, 404, 405, 400])
  for (const { headers, body } of replies) {
    expect(headers.get('content-type')).toMatch(/^application\/json; charset=utf-8$/i)
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-api-version')).toBe('2026-11-01')
    expect(headers.get('vary')).toMatch(/\bAuthorization\b/)
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    if (body.error) expect(body.error.requestId).toBe(headers.get('x-request-id'))
    expect(headers.get('server')).toBeNull()
    expect(headers.get('x-powered-by')).toBeNull()
  }
  expect(replies[5]!.headers.get('allow')).toBe('POST')
})

test('a bad token is ignored where none is needed, and the answer says so', async () => {
  const person = await signUp()
  const headers = { authorization: 'Bearer nonsense' }
  const { identifier, password } = person
  const reply = await guest.post('/auth/login', { identifier, password }, { headers })
  expect(reply.status).toBe(200)
  expect(reply.headers.get('x-auth-ignored')).toBe('1')
  const public_ = await person.get('/errors')
  expect(public_.headers.get('x-auth-ignored')).toBeNull()
})

test('sign-ins at once all succeed, each with a session of its own', async () => {
  const { id, identifier, password } = await signUp()
  const shots = Array.from({ length: 10 }, () => ({
    path: '/auth/login',
    body: { identifier, password },
  }))
  const replies = await race(shots)
  expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect(await countSessions(id)).toBe(11)
})

test('signing in repairs an account whose individual identity is missing', async () => {
  const { id, identifier, password } = await signUp()
  await database().query('update public.accounts set active_identity_id = null where id = $1', [id])
  await database().query('delete from public.identities where account_id = $1', [id])
  await database().query('delete from public.individual_profiles where account_id = $1', [id])
  const { status, body } = await login(identifier, password)
  expect(status).toBe(200)
  expect(body.activeIdentity).toMatchObject({ type: 'individual', status: 'active' })
  expect(body.identities).toEqual([body.activeIdentity])
})
