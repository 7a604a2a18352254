import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import {
  asCaller,
  database,
  guest,
  inboxOf,
  newPhone,
  projectUrl,
  secretKey,
  signIn,
  signUp,
} from '../support/client.ts'
import {
  ageCodes,
  countAccounts,
  registerPhone,
  requestResetCode,
  verifyCode,
} from '../support/codes.ts'
import { race } from '../support/races.ts'
import { insertListing } from '../support/fixtures.ts'
import { refusal } from '../support/problems.ts'
import { register, reset } from './password-requests.ts'

const admin = createClient(projectUrl, secretKey, { auth: { persistSession: false } }).auth.admin

const phoneTaken = {
  status: 409,
  body: { error: { code: 'phone_taken', message: 'رقم الهاتف مسجل بالفعل' } },
}

const emailTaken = {
  status: 409,
  body: { error: { code: 'email_taken', message: 'البريد الإلكتروني مسجل بالفعل' } },
}

test('REG-02 G-11 of thirty registrations of one phone in three spellings one gets through', async () => {
  for (let round = 0; round < 10; round++) {
    const phone = newPhone()
    const spelled = (i: number) => ['+965', '965', ''][i % 3] + phone
    const shots = () =>
      Array.from({ length: 30 }, (_, i) => ({
        path: '/auth/register',
        body: { identifier: spelled(i), password: randomUUID() },
      }))
    const replies = await race(shots())
    const won = replies.filter(({ status }) => status === 201)
    expect(won).toHaveLength(1)
    const lost = replies.filter((reply) => reply !== won[0])
    for (const reply of lost) expect(reply).toMatchObject(refusal(429, 'otp_resend_too_soon'))
    expect(await inboxOf(phone)).toHaveLength(1)

    const { code } = (await inboxOf(phone))[0]!
    expect(await verifyCode(spelled(round), code)).toMatchObject({ status: 200 })
    for (const reply of await race(shots())) expect(reply).toMatchObject(phoneTaken)
    expect(await countAccounts(phone)).toBe(1)
    expect(await inboxOf(phone)).toHaveLength(1)
  }
})

test('REG-03 G-11 of many registrations of one email at once one gets through', async () => {
  for (let round = 0; round < 10; round++) {
    const name = randomUUID()
    const spellings = [
      `${name}@münchen.example`,
      `${name}@xn--mnchen-3ya.example`,
      `${name}@mu\u0308nchen.example`,
      ` ${name}@MÜNCHEN.example `,
      `${name.toUpperCase()}@XN--MNCHEN-3YA.EXAMPLE`,
    ]
    const bodies = Array.from({ length: 50 }, (_, i) => ({
      identifier: spellings[i % spellings.length],
      password: randomUUID(),
    }))
    const replies = await race(bodies.map((body) => ({ path: '/auth/register', body })))
    const winner = replies.findIndex(({ status }) => status === 201)
    for (const [i, reply] of replies.entries()) {
      expect(reply).toMatchObject(i === winner ? { status: 201 } : emailTaken)
    }
    expect(await countAccounts(spellings[1]!)).toBe(1)
    for (const identifier of round ? [] : spellings) {
      expect(await guest.post('/auth/login', { identifier, password: bodies[winner]!.password }))
        .toMatchObject({ status: 200, body: { user: { email: spellings[1] } } })
    }
  }
})

test("a code with its attempt gives the account with that attempt's password", async () => {
  const mine = await registerPhone()
  await ageCodes(mine.phone, 45)
  const theirs = await registerPhone(mine.phone)
  expect(await verifyCode(mine.phone, mine.code, mine.registrationId)).toMatchObject({
    status: 200,
  })
  expect(await signIn(mine.phone, mine.password)).toBeDefined()
  expect(await guest.post('/auth/login', { identifier: mine.phone, password: theirs.password }))
    .toMatchObject(refusal(401, 'invalid_credentials'))
  expect(await verifyCode(mine.phone, theirs.code, theirs.registrationId))
    .toMatchObject(refusal(422, 'otp_invalid'))
})

test("no stranger's password survives on a number that somebody else verifies", async () => {
  const stranger = await registerPhone()
  await ageCodes(stranger.phone, 45)
  const owner = await registerPhone(stranger.phone)
  // The owner's client sends only the number and the code. The service cannot tell whose password to
  // use, so the account gets none.
  expect(await verifyCode(owner.phone, owner.code)).toMatchObject({ status: 200 })
  for (const { password } of [stranger, owner]) {
    expect(await guest.post('/auth/login', { identifier: owner.phone, password }))
      .toMatchObject(refusal(401, 'invalid_credentials'))
  }
  const code = await requestResetCode(owner.phone)
  const password = randomUUID()
  expect(await reset(owner.phone, code, password)).toMatchObject({ status: 204 })
  expect(await signIn(owner.phone, password)).toBeDefined()
})

test('nothing stored can be read back: no code, no password in clear', async () => {
  const { phone, code, password, registrationId } = await registerPhone()
  const { rows } = await database().query(
    `select registrations::text as attempt, codes::text as code
     from private.registrations join private.codes on codes.registration_id = registrations.id
     where registrations.id = $1`,
    [registrationId],
  )
  expect(rows).toHaveLength(1)
  const [{ attempt, code: storedCode }] = rows
  expect(attempt).toContain(phone)
  expect(attempt).not.toContain(password)
  expect(storedCode.replace(phone, '')).not.toContain(code)
  for (const table of ['registrations', 'codes', 'rates', 'rate_hits']) {
    const read = asCaller(undefined, (client) => client.query(`select from private.${table}`))
    await expect(read).rejects.toMatchObject({ code: '42501' })
  }
})

test('REG-25 who registers the address of a deleted account begins anew', async () => {
  const old = await signUp('سالم الأول')
  const seller = await signUp()
  const property = await insertListing(seller.identityId)
  expect(await old.post(`/favorites/${property}`)).toMatchObject({ status: 200 })
  await admin.deleteUser(old.id)

  const { identifier, password } = old
  expect(await guest.post('/auth/login', { identifier, password })).toMatchObject({ status: 401 })
  expect(await register(identifier, { password, fullName: 'سالم الثاني' }))
    .toMatchObject({ status: 201 })
  const anew = await signIn(identifier, password)
  expect(anew.id).not.toBe(old.id)
  const { body } = await anew.get('/auth/me')
  expect(body).toMatchObject({ user: { fullName: 'سالم الثاني', email: identifier } })
  expect(body.identities).toHaveLength(1)
  expect((await anew.get('/favorites/ids')).body).toEqual({ ids: [] })
  expect((await anew.get('/favorites')).body.items).toEqual([])
  expect(await old.get('/auth/me')).toMatchObject({ status: 401 })
})
