// Passwords, emails and phones can be changed only through the facade, which limits guesses. Auth has to
// refuse direct changes, because clients can reach it at `/auth/v1` with the public key.
import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { describe, expect, test } from 'vitest'
import {
  database,
  newEmail,
  newPhone,
  type Person,
  projectUrl,
  secretKey,
  signIn,
  signUp,
} from '../support/client.ts'
import {
  countSessions,
  normalizedIdentifier,
  requestResetCode,
  signUpByPhone,
} from '../support/codes.ts'
import { drain } from '../support/jobs.ts'
import { notificationsOf } from '../support/notifications.ts'
import { waitUntil } from '../support/wait.ts'
import { announcePassword, atAuth, logIn, reset, sessionOf, wrong } from './password-requests.ts'

const { admin } = createClient(projectUrl, secretKey, { auth: { persistSession: false } }).auth

const refused = [409, 'PT409']
const passwordOf = async ({ id }: Person) =>
  (await database().query('select encrypted_password as hash from auth.users where id = $1', [id]))
    .rows[0].hash

async function expectRefused(by: Person) {
  const hash = await passwordOf(by)
  const sessions = await countSessions(by.id)
  const change = { password: randomUUID(), current_password: by.password }
  expect((await atAuth(by, change))[0]).toBeGreaterThanOrEqual(409)
  expect(await passwordOf(by)).toBe(hash)
  expect(await countSessions(by.id)).toBe(sessions)
}

describe('REG-28 a password at the direct door', () => {
  test('is refused even with the present one, and everybody whom it concerns is told', async () => {
    const person = await signUpByPhone()
    await signIn(person.identifier, person.password)
    const change = { password: randomUUID(), current_password: person.password }
    expect(await atAuth(person, { ...change, current_password: 'not this one' }))
      .toEqual([400, 'current_password_invalid'])
    await expectRefused(person)
    expect(await atAuth(person, change)).toEqual(refused)
    expect(await atAuth(person, { data: { theme: 'dark' } })).toEqual([200, undefined])
    expect(await logIn(person.identifier, person.password)).toMatchObject({ status: 200 })

    // The database remembers only the account of the last refused change, which other tests may overwrite,
    // so the change is repeated.
    await waitUntil('the account is told', async () => {
      await atAuth(person, change)
      await drain('report_refused_password')
      return (await notificationsOf(person, 'security_password')).length > 0
    })
    const { rows } = await database().query(
      `select kind from private.alarms where subject_id = $1`,
      [person.id],
    )
    expect(rows).toEqual([{ kind: 'password_refused_at_auth' }])
    expect((await notificationsOf(person, 'security_password'))[0].bodyEn)
      .toContain('which was refused')
  })

  test('is refused to the secret key as well', async () => {
    const person = await signUp()
    const { error } = await admin.updateUserById(person.id, { password: randomUUID() })
    expect(error).toBeTruthy()
    expect(await logIn(person.identifier, person.password)).toMatchObject({ status: 200 })
    expect(await person.get('/auth/me')).toMatchObject({ status: 200 })
  })

  test('takes no announcement of another session, of a reset, or of a while ago', async () => {
    const person = await signUp()
    const other = await signIn(person.identifier, person.password)
    await announcePassword(person.id, sessionOf(person))
    await expectRefused(other)
    await announcePassword(person.id)
    await expectRefused(other)
    await database().query(
      'update private.announced_passwords set expires_at = now() where account_id = $1',
      [person.id],
    )
    await expectRefused(person)

    await announcePassword(person.id, sessionOf(person))
    const password = randomUUID()
    const change = { password, current_password: person.password }
    expect(await atAuth(person, change)).toEqual([200, undefined])
    expect(await countSessions(person.id)).toBe(1)
    // The announcement allowed one change and is used up.
    await expectRefused({ ...person, password })
  })

  test('is not let in by the changes that its owner makes meanwhile', async () => {
    const owner = await signUp()
    let { password } = owner
    for (let round = 0; round < 5; round++) {
      const other = await signIn(owner.identifier, password)
      const next = randomUUID()
      const theirs = randomUUID()
      const [change, ...guesses] = await Promise.all([
        owner.post('/auth/password/change', { currentPassword: password, newPassword: next }),
        ...Array.from(
          { length: 4 },
          () => atAuth(other, { password: theirs, current_password: password }),
        ),
      ])
      expect(change).toMatchObject({ status: 204 })
      for (const [status] of guesses) expect(status).toBeGreaterThanOrEqual(400)
      expect(await logIn(owner.identifier, theirs)).toMatchObject(wrong)
      password = next
    }
  })

  test('changes two at a time only by who announced them', async () => {
    const first = await signUp()
    const second = await signIn(first.identifier, first.password)
    const passwords = [randomUUID(), randomUUID()]
    const replies = await Promise.all(
      [first, second].map((person, i) =>
        person.post('/auth/password/change', {
          currentPassword: first.password,
          newPassword: passwords[i],
        })
      ),
    )
    const done = replies.map(({ status }) => status === 204)
    expect(done).toContain(true)
    const works = await Promise.all(
      passwords.map(async (password) => (await logIn(first.identifier, password)).status === 200),
    )
    expect(works.filter(Boolean)).toHaveLength(1)
    expect(done[works.indexOf(true)]).toBe(true)
  })

  test('comes by a code while somebody is signed in with the old one', async () => {
    const person = await signUpByPhone()
    const { identifier } = person
    const fresh = randomUUID()
    expect(await reset(identifier, await requestResetCode(identifier), fresh))
      .toMatchObject({ status: 204 })
    expect(await countSessions(person.id)).toBe(0)
    expect(await logIn(identifier, fresh)).toMatchObject({ status: 200 })
  })
})

describe('REG-28 email and phone at Auth', () => {
  const rowOf = async (id: string) =>
    (await database().query('select email, phone from auth.users where id = $1', [id])).rows[0]

  test('are changed by nobody there, with whatever key', async () => {
    const person = await signUp()
    const before = await rowOf(person.id)
    const email = newEmail()
    const phone = normalizedIdentifier(newPhone())
    for (
      const change of [
        { email },
        { email, email_confirm: true },
        { phone },
        { phone, phone_confirm: true },
        { email, phone, password: randomUUID() },
      ]
    ) {
      const { error } = await admin.updateUserById(person.id, change)
      expect(error, JSON.stringify(change)).toBeTruthy()
      expect((await atAuth(person, change))[0]).toBeGreaterThanOrEqual(400)
    }
    expect(await rowOf(person.id)).toEqual(before)
    expect((await person.get('/auth/me')).body.user)
      .toMatchObject({ email: person.identifier, phone: null })
    const { rows } = await database().query(
      `select from auth.identities where user_id = $1 and identity_data::text like any ($2)`,
      [person.id, [`%${email}%`, `%${phone.slice(1)}%`]],
    )
    expect(rows).toEqual([])
  })

  test('are those of a user whom Auth makes, or only marks as deleted', async () => {
    const email = newEmail()
    const { data } = await admin.createUser({ email, password: randomUUID(), email_confirm: true })
    expect(await rowOf(data.user!.id)).toMatchObject({ email })
    expect((await admin.deleteUser(data.user!.id, true)).error).toBe(null)
    expect((await rowOf(data.user!.id)).email).not.toBe(email)
  })

  test('are changed by SQL, and the account follows', async () => {
    const person = await signUp()
    const email = newEmail()
    await database().query('update auth.users set email = $2 where id = $1', [person.id, email])
    expect((await person.get('/auth/me')).body.user).toMatchObject({ email })
  })
})
