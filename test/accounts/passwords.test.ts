import { randomUUID } from 'node:crypto'
import bcrypt from 'bcrypt'
import pg from 'pg'
import { expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { readStack } from '../../local/config/stack.ts'
import {
  database,
  guest,
  newEmail,
  type Person,
  projectUrl,
  signIn,
  signUp,
} from '../support/client.ts'
import { countSessions, requestResetCode, signUpByPhone } from '../support/codes.ts'
import { notificationsOf } from '../support/notifications.ts'
import { refusal } from '../support/problems.ts'
import { testLocally } from '../support/facade.ts'
import { announcePassword, atAuth, logIn, reset, sessionOf, wrong } from './password-requests.ts'

const sql = (text: string, values: unknown[]) => database().query(text, values)

const authDatabase = () =>
  readStack({
    ...process.env,
    PORT: new URL(projectUrl).port,
    LOCAL_DATA: variable('LOCAL_STACK'),
  }).databaseUrl('supabase_auth_admin')

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

test('past the facade, too, a new password needs the present one', async () => {
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
  await announcePassword(person.id, sessionOf(person))
  expect(await atAuth(person, { password, current_password: person.password }))
    .toEqual([200, undefined])
  expect(await other.get('/auth/me')).toMatchObject(refusal(401, 'token_invalid'))
  expect(await logIn(person.identifier, password)).toMatchObject({ status: 200 })
})

test('any password that Auth accepted signs in, changes and deletes; ours are whole characters', async () => {
  const person = await signUp()
  const { identifier } = person
  let current_password = person.password
  for (const password of ['\0'.repeat(8), `a\0b${randomUUID()}`, `\ud800 ${randomUUID()}`]) {
    await announcePassword(person.id, sessionOf(person))
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
  await announcePassword(person.id, sessionOf(person))
  expect(await atAuth(person, { password: odd, current_password: newPassword }))
    .toEqual([200, undefined])
  expect(await person.post('/auth/me/delete', { password: odd })).toMatchObject({ status: 202 })
})

test('a changed password notifies its account, whoever changed it', async () => {
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
  await reset(identifier, await requestResetCode(identifier), third)
  await again(third)

  await sql('update auth.users set encrypted_password = $2 where id = $1', [
    id,
    bcrypt.hashSync(second, 6),
  ])
  await again(second)
})

test('nothing but a changed password notifies of one', async () => {
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

/**
 * Returns notifications of changed passwords. Those of refused changes are left out: a
 * job may send them at any time.
 */
const changesToldTo = async (person: Person) =>
  (await notificationsOf(person, 'security_password'))
    .filter(({ bodyEn }) => !bodyEn.includes('was refused'))

/** Returns a hash as Auth stores it when it encrypts hashes with the key of this id. */
const encrypted = (key_id: string) =>
  JSON.stringify({ key_id, alg: 'aes-gcm-hkdf', data: 'AAAA', nonce: 'AAAAAAAAAAAAAAAA' })

testLocally(
  'REG-28 Auth writes a hash under another key in a sign-in that was announced, and no other',
  async () => {
    const person = await signUp()
    const asAuth = new pg.Client(authDatabase())
    await asAuth.connect()
    const write = (hash: string, more = '') =>
      asAuth.query(`update auth.users set encrypted_password = $2${more} where id = $1`, [
        person.id,
        hash,
      ])
    const refused = { code: 'PT409' }
    try {
      await sql('delete from private.announced_sign_ins where subject = $1', [person.id])
      await expect(write(encrypted('old'))).rejects.toMatchObject(refused)
      // The facade announces a rehash when it counts a sign-in attempt, whether or
      // not the password is correct.
      await logIn(person.identifier, 'not this one')
      await expect(write(bcrypt.hashSync(randomUUID(), 6))).rejects.toMatchObject(refused)
      await write(encrypted('old'))
      await write(encrypted('new'))
      await expect(write(encrypted('new').replace('AAAA', 'BBBB'))).rejects.toMatchObject(refused)
      expect(await changesToldTo(person)).toEqual([])

      // A password change writes other columns besides the hash, so it needs its own announcement, regardless
      // of the key that encrypts the hash.
      const change = (hash: string) => write(hash, `, reauthentication_token = ''`)
      await expect(change(encrypted('newest'))).rejects.toMatchObject(refused)
      expect(await changesToldTo(person)).toEqual([])
      await announcePassword(person.id, sessionOf(person))
      await change(encrypted('newest'))
      expect(await changesToldTo(person)).toHaveLength(1)
      // The announcement is used up, so only the rehash of a sign-in is accepted.
      await expect(change(encrypted('newer'))).rejects.toMatchObject(refused)
      await write(encrypted('newer'))
    } finally {
      await asAuth.end()
    }
  },
)
