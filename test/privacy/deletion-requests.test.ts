import { expect, test } from 'vitest'
import { database, guest, inboxOf, signIn, signUp } from '../support/client.ts'
import { ageCodes, codeSentBy, signUpByPhone, wrongCode } from '../support/codes.ts'
import { refusal } from '../support/problems.ts'
import { drain } from '../support/jobs.ts'
import { logIn, wrong } from '../accounts/password-requests.ts'

test('requesting deletion signs out, and signing in again cancels it', async () => {
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

test('a code for a deletion is sent to who is signed in, and to nobody else', async () => {
  const [person, other] = [await signUpByPhone(), await signUp()]
  const resend = { identifier: person.identifier, purpose: 'delete' }
  expect(await guest.post('/auth/otp/resend', resend)).toMatchObject(refusal(401, 'token_missing'))
  expect(await other.post('/auth/otp/resend', resend)).toMatchObject({ status: 202 })
  await ageCodes(person.identifier, 45)
  await codeSentBy(person.identifier, () => person.post('/auth/otp/resend', resend))
  // One came at registration.
  expect(await inboxOf(person.identifier)).toHaveLength(2)
  await person.post('/auth/logout')
  expect(await person.post('/auth/otp/resend', resend)).toMatchObject(refusal(401, 'token_invalid'))
})

test('a code for a deletion lives five minutes and five wrong tries', async () => {
  const request = async (seconds: number) => {
    const person = await signUpByPhone()
    const { identifier } = person
    await ageCodes(identifier, 45)
    const resend = { identifier, purpose: 'delete' }
    const [code] = await codeSentBy(identifier, () => person.post('/auth/otp/resend', resend))
    await ageCodes(identifier, seconds)
    return { code, confirm: (code: string) => person.post('/auth/me/delete', { code }) }
  }
  const late = await request(301)
  expect(await late.confirm(late.code)).toMatchObject(refusal(410, 'otp_expired'))
  const guessed = await request(0)
  for (let tries = 1; tries <= 5; tries++) {
    expect(await guessed.confirm(wrongCode(guessed.code, tries)))
      .toMatchObject(refusal(422, 'otp_invalid'))
  }
  expect(await guessed.confirm(guessed.code)).toMatchObject(refusal(429, 'otp_locked'))
})

test('a requested deletion is carried out after fourteen days', async () => {
  const person = await signUpByPhone()
  const { identifier, password } = person
  await ageCodes(identifier, 45)
  const resend = { identifier, purpose: 'delete' }
  const [code] = await codeSentBy(identifier, () => person.post('/auth/otp/resend', resend))
  expect(await person.post('/auth/me/delete', { code: wrongCode(code) }))
    .toMatchObject(refusal(422, 'otp_invalid'))
  expect(await person.post('/auth/me/delete', { code })).toMatchObject({ status: 202 })
  const deleteDue = () => drain('delete_due_accounts')
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
  await deleteDue()
  expect(await users()).toMatchObject([{ status: 'deletion_requested', user: true }])
  await days(1)
  await deleteDue()
  expect(await users()).toEqual([{ status: 'deleted', phone: null, user: false }])
  expect(await logIn(identifier, password)).toMatchObject(wrong)
})
