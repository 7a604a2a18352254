import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import bcrypt from 'bcryptjs'
import pg from 'pg'
import { expect, test } from 'vitest'
import { variable } from '../../local/environment.ts'
import { readStack } from '../../local/stack/stack.ts'
import {
  database,
  guest,
  inboxOf,
  lastMessage,
  newEmail,
  newPhone,
  type Person,
  projectUrl,
  publishableKey,
  type Reply,
  secretKey,
  signIn,
  signUp,
} from '../support/client.ts'
import {
  ageCodes,
  codeSentBy,
  codeTries,
  countSessions,
  requestResetCode,
  signUpByPhone,
  wrongCode,
} from '../support/codes.ts'
import { race } from '../support/races.ts'
import { notificationsOf } from '../support/notifications.ts'
import { refusal } from '../support/problems.ts'
import { testLocally } from '../support/facade.ts'
import { drain } from '../support/jobs.ts'

const forgot = (identifier: unknown) => guest.post('/auth/password/forgot', { identifier })
const reset = (identifier: string, code: string, newPassword: string, again = newPassword) =>
  guest.post('/auth/password/reset', { identifier, code, newPassword, confirmPassword: again })
const { admin } = createClient(projectUrl, secretKey, { auth: { persistSession: false } }).auth
const sql = (text: string, values: unknown[]) => database().query(text, values)

/** The embedded database in the role of Auth. */
const authDatabase = () =>
  readStack({
    ...process.env,
    PORT: new URL(projectUrl).port,
    LOCAL_DATA: variable('LOCAL_STACK'),
  }).databaseUrl('supabase_auth_admin')

const wrong = refusal(401, 'invalid_credentials')

const logIn = (identifier: string, password: string) =>
  guest.post('/auth/login', { identifier, password })

const strip = ({ status, body, headers }: Reply) => {
  const names = [...headers.keys()].filter((name) => name !== 'date')
  return { status, body, names }
}

test('REG-21 asking for a code tells nothing, and only an account in order gets one', async () => {
  const phone = await signUpByPhone()
  const email = await signUp()
  const suspended = await signUpByPhone()
  await database().query(
    `update public.accounts set status = 'suspended', status_reason = 'سبب' where id = $1`,
    [suspended.id],
  )
  const unknownPhone = newPhone()
  const unknownEmail = newEmail()
  const replies = []
  for (
    const identifier of [
      phone.identifier,
      email.identifier,
      suspended.identifier,
      unknownPhone,
      unknownEmail,
    ]
  ) {
    const before = (await inboxOf(identifier)).length
    replies.push(await forgot(identifier))
    // Too soon is kept silent as well.
    replies.push(await forgot(identifier))
    const sent = [phone, email].some((person) => person.identifier === identifier)
    if (sent) await expect.poll(() => inboxOf(identifier)).toHaveLength(before + 1)
    else expect(await inboxOf(identifier)).toHaveLength(before)
  }
  for (const reply of replies) expect(strip(reply)).toEqual(strip(replies[0]!))
  expect(replies[0]).toMatchObject({ status: 202, body: { resendAfter: 45 } })
  // Whoever is unknown cannot be told apart by guessing either.
  for (const identifier of [unknownPhone, email.identifier, suspended.identifier]) {
    expect(await reset(identifier, '000000', randomUUID()))
      .toMatchObject({ status: 422, body: { error: { code: 'otp_invalid', attemptsLeft: 4 } } })
  }
  expect(await forgot('41234567')).toMatchObject(refusal(422, 'identifier_invalid'))
})

test('a reset by SMS sets the password, ends every session and proves nothing of an email', async () => {
  const person = await signUpByPhone()
  const other = await signIn(person.identifier, person.password)
  const code = await requestResetCode(person.identifier)
  const password = randomUUID()
  expect(await reset(person.identifier, code, password)).toMatchObject({ status: 204, body: null })
  expect(await countSessions(person.id)).toBe(0)
  for (const gone of [person, other]) {
    expect(await gone.get('/auth/me')).toMatchObject({ status: 401 })
  }
  expect(await logIn(person.identifier, person.password)).toMatchObject(wrong)
  expect(await signIn(person.identifier, password)).toBeDefined()
})

test('an email that received a code is proven, and only then', async () => {
  const person = await signUp()
  const proven = async () => {
    const { rows } = await database().query(
      'select email_proven from public.accounts where id = $1',
      [person.id],
    )
    return rows[0].email_proven
  }
  const code = await requestResetCode(person.identifier)
  expect((await lastMessage(person.identifier)).body).toContain(code)
  expect(await proven()).toBe(false)
  expect(await reset(person.identifier.toUpperCase(), code, randomUUID()))
    .toMatchObject({ status: 204 })
  expect(await proven()).toBe(true)
})

test('REG-22 a reset is refused for anything but a fresh code and a good new password', async () => {
  const person = await signUpByPhone()
  const { identifier } = person
  const other = await signUpByPhone()
  const code = await requestResetCode(identifier)
  const fine = randomUUID()

  expect(await reset(identifier, code, '1234567')).toMatchObject({
    status: 422,
    body: { error: { code: 'password_too_short', fields: [{ path: 'newPassword' }] } },
  })
  expect(await reset(identifier, code, 'a'.repeat(73)))
    .toMatchObject(refusal(422, 'password_too_long'))
  expect(await reset(identifier, code, fine, randomUUID())).toMatchObject({
    status: 422,
    body: { error: { code: 'password_mismatch', fields: [{ path: 'confirmPassword' }] } },
  })
  expect(await guest.post('/auth/password/reset', { identifier, code, newPassword: fine }))
    .toMatchObject({ status: 422 })
  expect(await codeTries(identifier)).toEqual([0])

  expect(await reset(other.identifier, code, fine)).toMatchObject(refusal(422, 'otp_invalid'))
  expect(await reset(identifier, wrongCode(code), fine)).toMatchObject({
    status: 422,
    body: { error: { code: 'otp_invalid', attemptsLeft: 4 } },
  })
  // The old password is no new one; the code is not lost by trying.
  expect(await reset(identifier, code, person.password)).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed', fields: [{ path: 'newPassword' }] } },
  })
  expect(await countSessions(person.id)).toBe(1)

  await ageCodes(identifier, 301)
  expect(await reset(identifier, code, fine)).toMatchObject(refusal(410, 'otp_expired'))
  const fresh = await requestResetCode(identifier)
  expect(await reset(identifier, fresh, fine)).toMatchObject({ status: 204 })
  expect(await reset(identifier, fresh, randomUUID())).toMatchObject(refusal(422, 'otp_invalid'))
  expect(await signIn(identifier, fine)).toBeDefined()
  expect(await signIn(other.identifier, other.password)).toBeDefined()
})

test('REG-22 passwords of 8 code points and of 72 bytes can be set', async () => {
  const { identifier } = await signUpByPhone()
  for (const password of ['😀'.repeat(8), 'ك'.repeat(36)]) {
    await ageCodes(identifier, 45)
    const code = await requestResetCode(identifier)
    expect(await reset(identifier, code, password)).toMatchObject({ status: 204 })
    expect(await signIn(identifier, password)).toBeDefined()
  }
})

test('REG-22 of twenty resets at once one wins, and only its password signs in', async () => {
  const { id, identifier } = await signUpByPhone()
  const code = await requestResetCode(identifier)
  const passwords = Array.from({ length: 20 }, () => randomUUID())
  const replies = await race(passwords.map((password) => ({
    path: '/auth/password/reset',
    body: { identifier, code, newPassword: password, confirmPassword: password },
  })))
  const winner = replies.findIndex(({ status }) => status === 204)
  for (const [i, reply] of replies.entries()) {
    if (i !== winner) expect(reply).toMatchObject(refusal(422, 'otp_invalid'))
  }
  expect(await countSessions(id)).toBe(0)
  expect(await logIn(identifier, passwords[winner]!)).toMatchObject({ status: 200 })
  expect(await logIn(identifier, passwords[(winner + 1) % 20]!)).toMatchObject(wrong)
})

test('after five wrong codes a reset needs a new one', async () => {
  const { identifier } = await signUpByPhone()
  const code = await requestResetCode(identifier)
  for (let by = 1; by <= 5; by++) {
    expect(await reset(identifier, wrongCode(code, by), randomUUID())).toMatchObject({
      status: 422,
    })
  }
  const locked = await reset(identifier, code, randomUUID())
  expect(locked).toMatchObject(refusal(429, 'otp_locked'))
  expect(locked.headers.get('retry-after')).toBe(String(locked.body.error.retryAfter))
})

test('changing the password needs the present one and ends the other sessions', async () => {
  const person = await signUp()
  const { identifier, password } = person
  const other = await signIn(identifier, password)
  const change = (currentPassword: unknown, newPassword: unknown) =>
    person.post('/auth/password/change', { currentPassword, newPassword })

  expect(await change('not this one', randomUUID())).toMatchObject(wrong)
  expect(await change(password, '1234567')).toMatchObject(refusal(422, 'password_too_short'))
  expect(await change(password, 'a'.repeat(73))).toMatchObject(refusal(422, 'password_too_long'))
  expect(await change(password, password)).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed', fields: [{ path: 'newPassword' }] } },
  })
  expect(await change(undefined, randomUUID())).toMatchObject({ status: 422 })
  expect(await guest.post('/auth/password/change', {})).toMatchObject(refusal(401, 'token_missing'))
  expect(await countSessions(person.id)).toBe(2)

  const fresh = randomUUID()
  expect(await change(password, fresh)).toMatchObject({ status: 204, body: null })
  expect(await person.get('/auth/me')).toMatchObject({ status: 200 })
  expect(await other.get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
  expect(await countSessions(person.id)).toBe(1)
  expect(await logIn(identifier, password)).toMatchObject(wrong)
  expect(await logIn(identifier, fresh)).toMatchObject({ status: 200 })
})

/** Past the facade: what anybody may ask of Auth with the public key and a token. */
async function atAuth({ accessToken }: Person, body: object) {
  const response = await fetch(`${projectUrl}/auth/v1/user`, {
    method: 'PUT',
    headers: {
      apikey: publishableKey,
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  return [response.status, (await response.json()).error_code]
}

test('past the facade a new password needs the present one too', async () => {
  const person = await signUp()
  const other = await signIn(person.identifier, person.password)
  const password = randomUUID()
  for (const current_password of [undefined, null, '', 'not this one', password]) {
    const [status] = await atAuth(person, { password, current_password })
    expect(status, String(current_password)).toBe(400)
  }
  expect(await logIn(person.identifier, person.password)).toMatchObject({ status: 200 })
  expect(await other.get('/auth/me')).toMatchObject({ status: 200 })
  expect(await notificationsOf(person)).toEqual([])
  expect(await atAuth(person, { password, current_password: person.password }))
    .toEqual([200, undefined])
  expect(await other.get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
  expect(await logIn(person.identifier, password)).toMatchObject({ status: 200 })
})

test('whatever password Auth took signs in, changes and deletes; ours are whole characters', async () => {
  const person = await signUp()
  const { identifier } = person
  let current_password = person.password
  for (const password of ['\0'.repeat(8), `a\0b${randomUUID()}`, `\ud800 ${randomUUID()}`]) {
    expect(await atAuth(person, { password, current_password })).toEqual([200, undefined])
    current_password = password
    expect(await logIn(identifier, password)).toMatchObject({ status: 200 })
    expect(await logIn(identifier, `x${password}`)).toMatchObject(wrong)
    for (const newPassword of ['with\0 a NUL', 'half \ud800 of it']) {
      const change = { currentPassword: password, newPassword }
      expect(await person.post('/auth/password/change', change)).toMatchObject({
        status: 422,
        body: { error: { code: 'validation_failed', fields: [{ path: 'newPassword' }] } },
      })
      const registration = { identifier: newEmail(), password: newPassword }
      expect(await guest.post('/auth/register', registration)).toMatchObject({ status: 422 })
    }
  }
  const newPassword = randomUUID()
  const change = { currentPassword: current_password, newPassword }
  expect(await person.post('/auth/password/change', change)).toMatchObject({ status: 204 })
  const odd = '\0 and \udfff'.repeat(2)
  expect(await atAuth(person, { password: odd, current_password: newPassword }))
    .toEqual([200, undefined])
  expect(await person.post('/auth/me/delete', { password: odd })).toMatchObject({ status: 202 })
})

test('a changed password is told to its account, whoever changed it', async () => {
  const person = await signUpByPhone()
  const { id, identifier } = person
  const again = async (password: string) => {
    const [notice, ...more] = await notificationsOf(
      await signIn(identifier, password),
      'security_password',
    )
    await sql('delete from public.notifications where account_id = $1', [id])
    expect(more).toEqual([])
    expect(notice).toMatchObject({
      identityId: null,
      data: { route: 'sessions', entityId: null },
      bodyAr: expect.stringMatching(/^تم تغيير كلمة مرور حسابك في \d{4}\/\d\d\/\d\d \d\d:\d\d\./),
    })
    return password
  }
  const currentPassword = person.password
  const newPassword = randomUUID()
  await person.post('/auth/password/change', { currentPassword, newPassword })
  const second = await again(newPassword)

  const third = randomUUID()
  await atAuth(await signIn(identifier, second), { password: third, current_password: second })
  await again(third)

  const fourth = randomUUID()
  await reset(identifier, await requestResetCode(identifier), fourth)
  await again(fourth)

  const fifth = randomUUID()
  await admin.updateUserById(id, { password: fifth })
  await again(fifth)

  await sql('update auth.users set encrypted_password = $2 where id = $1', [
    id,
    bcrypt.hashSync(fourth, 6),
  ])
  await again(fourth)
})

test('what changes no password tells of none', async () => {
  const person = await signUp()
  expect(await atAuth(person, { data: { password: 'x' } })).toEqual([200, undefined])
  await logIn(person.identifier, 'not this one')
  await person.post('/auth/password/change', {
    currentPassword: 'not this one',
    newPassword: randomUUID(),
  })
  await sql('update auth.users set encrypted_password = encrypted_password where id = $1', [
    person.id,
  ])
  expect(await notificationsOf(person, 'security_password')).toEqual([])
})

testLocally('a hash that Auth writes anew at a sign-in is no new password', async () => {
  const person = await signUp()
  const asAuth = new pg.Client(authDatabase())
  await asAuth.connect()
  try {
    // So it encrypts the hash of a password that was right: this column alone.
    await asAuth.query('update auth.users set encrypted_password = $2 where id = $1', [
      person.id,
      bcrypt.hashSync(person.password, 6),
    ])
    expect(await notificationsOf(person, 'security_password')).toEqual([])
    // And so it writes a new one: with everything that waits for a code.
    await asAuth.query(
      `update auth.users set encrypted_password = $2, confirmation_token = '', recovery_token = '',
         reauthentication_token = '' where id = $1`,
      [person.id, bcrypt.hashSync(person.password, 6)],
    )
    expect(await notificationsOf(person, 'security_password')).toHaveLength(1)
  } finally {
    await asAuth.end()
  }
})

test('who asks to be deleted is signed out, and stays by signing in again', async () => {
  const person = await signUp()
  const { identifier, password } = person
  const other = await signIn(identifier, password)
  expect(await person.post('/auth/me/delete', { password: 'not this one' })).toMatchObject(wrong)
  expect(await person.post('/auth/me/delete', {})).toMatchObject({ status: 422 })
  expect(await person.post('/auth/me/delete', { password, code: '123456' }))
    .toMatchObject({ status: 422 })
  expect(await person.get('/auth/me')).toMatchObject({ status: 200 })

  const { status, body } = await person.post('/auth/me/delete', { password })
  expect(status).toBe(202)
  const days = (Date.parse(body.deleteAt) - Date.now()) / 86_400_000
  expect(days).toBeGreaterThan(13.99)
  expect(days).toBeLessThanOrEqual(14)
  for (const gone of [person, other]) {
    expect(await gone.get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
    expect(await guest.post('/auth/refresh', { refreshToken: gone.refreshToken }))
      .toMatchObject(refusal(401, 'token_invalid'))
  }
  const again = await signIn(identifier, password)
  const { rows } = await database().query(
    'select status, delete_at from public.accounts where id = $1',
    [person.id],
  )
  expect(rows).toEqual([{ status: 'active', delete_at: null }])
  expect((await again.get('/auth/me')).body.user.id).toBe(person.id)
})

test('after fourteen days a deletion that was asked for is carried out', async () => {
  const person = await signUpByPhone()
  const { identifier, password } = person
  await ageCodes(identifier, 45)
  const resend = { identifier, purpose: 'delete' }
  const [code] = await codeSentBy(identifier, () => guest.post('/auth/otp/resend', resend))
  expect(await person.post('/auth/me/delete', { code: wrongCode(code) }))
    .toMatchObject(refusal(422, 'otp_invalid'))
  expect(await person.post('/auth/me/delete', { code })).toMatchObject({ status: 202 })
  const sweep = () => drain('delete_due_accounts')
  const days = (count: number) =>
    database().query(
      `update public.accounts set delete_at = delete_at - make_interval(days => $2) where id = $1`,
      [person.id, count],
    )
  const users = async () => {
    const { rows } = await database().query(
      `select accounts.status, accounts.phone,
         exists (select from auth.users where users.id = accounts.id) as user
       from public.accounts where accounts.id = $1`,
      [person.id],
    )
    return rows
  }
  await days(13)
  await sweep()
  expect(await users()).toMatchObject([{ status: 'deletion_requested', user: true }])
  await days(1)
  await sweep()
  expect(await users()).toEqual([{ status: 'deleted', phone: null, user: false }])
  expect(await logIn(identifier, password)).toMatchObject(wrong)
})
