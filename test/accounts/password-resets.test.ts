import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  database,
  guest,
  inboxOf,
  lastMessage,
  newEmail,
  newPhone,
  type Reply,
  signIn,
  signUp,
} from '../support/client.ts'
import {
  ageCodes,
  codeTries,
  countSessions,
  requestResetCode,
  signUpByPhone,
  wrongCode,
} from '../support/codes.ts'
import { race } from '../support/races.ts'
import { refusal } from '../support/problems.ts'
import { logIn, reset, wrong } from './password-requests.ts'

const forgot = (identifier: unknown) => guest.post('/auth/password/forgot', { identifier })

const strip = ({ status, body, headers }: Reply) => {
  const names = [...headers.keys()].filter((name) => name !== 'date')
  return { status, body: { ...body, resetId: typeof body.resetId }, names }
}

test('REG-21 asking for a code reveals nothing, and only an account in good standing gets one', async () => {
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
    // This second request comes too soon and is silently ignored.
    replies.push(await forgot(identifier))
    const sent = [phone, email].some((person) => person.identifier === identifier)
    if (sent) await expect.poll(() => inboxOf(identifier)).toHaveLength(before + 1)
    else expect(await inboxOf(identifier)).toHaveLength(before)
  }
  for (const reply of replies) expect(strip(reply)).toEqual(strip(replies[0]!))
  expect(replies[0]).toMatchObject({ status: 202, body: { resendAfter: 45 } })
  for (const identifier of [unknownPhone, email.identifier, suspended.identifier]) {
    expect(await reset(identifier, '000000', randomUUID()))
      .toMatchObject({ status: 422, body: { error: { code: 'otp_invalid', attemptsLeft: 4 } } })
  }
  expect(await forgot('41234567')).toMatchObject(refusal(422, 'identifier_invalid'))
})

test('a reset by SMS sets the password, ends every session and verifies no email', async () => {
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

test('an email is verified once it has received a code, and only then', async () => {
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

test('REG-22 a reset needs a fresh code and a valid new password', async () => {
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
