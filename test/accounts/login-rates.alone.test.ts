import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { newAddress, tally, testFromAddresses } from '../support/addresses.ts'
import { database, newEmail, newPhone, type Person, signUp } from '../support/client.ts'
import {
  countSessions,
  normalizedIdentifier,
  registerPhone,
  signUpByPhone,
} from '../support/codes.ts'
import { race, type RawRequest, sendRaw } from '../support/races.ts'
import { ageHits, hitsByRule, plantHits } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { signInAs } from './social-sign-in.ts'
import { refusal } from '../support/problems.ts'

withRates(defaultRates(/^login_/, /^sign_ins$/))

let from: string

const topicOf = async (id: string) =>
  (await database().query('select topic from public.accounts where id = $1', [id])).rows[0].topic

beforeEach(async () => {
  from = newAddress()
  await database().query('delete from private.rate_hits where true')
})

const logInShot = (identifier: string, password = 'wrong one', at = from): RawRequest => ({
  path: '/auth/login',
  body: { identifier, password },
  from: at,
})
const logIn = (identifier: string, password?: string, at?: string) =>
  sendRaw(logInShot(identifier, password, at))
const by = (person: Person, path: string, body: object, at = from) =>
  sendRaw({ path, body, from: at, headers: [['Authorization', `Bearer ${person.accessToken}`]] })

const wrong = refusal(401, 'invalid_credentials')
const limited = refusal(429, 'rate_limited')

async function signUpAt(address: string) {
  const person = await signUp()
  expect(await logIn(person.identifier, person.password, address)).toMatchObject({ status: 200 })
  return person
}

testFromAddresses('ten failed sign-ins, and only from there; successes are free', async () => {
  const { identifier, password } = await signUp()
  for (let i = 0; i < 3; i++) expect((await logIn(identifier, password)).status).toBe(200)
  for (let i = 0; i < 9; i++) expect((await logIn(identifier)).status).toBe(401)
  for (let i = 0; i < 2; i++) expect((await logIn(identifier, password)).status).toBe(200)
  expect((await logIn(identifier.toUpperCase())).status).toBe(401)
  const locked = await logIn(identifier, password)
  expect(locked).toMatchObject(limited)
  expect(locked.body.error.retryAfter).toBeLessThanOrEqual(900)
  expect(await logIn(identifier, password, newAddress())).toMatchObject({ status: 200 })
  expect(await logIn(newEmail())).toMatchObject(wrong)
  await ageHits(900, `${from} ${identifier}`)
  expect(await logIn(identifier, password)).toMatchObject({ status: 200 })
})

testFromAddresses('thirty guesses at a password at once are ten', async () => {
  const { identifier, password } = await signUp()
  const replies = await race(Array.from({ length: 30 }, () => logInShot(identifier)))
  expect(tally(replies.map(({ status }) => status))).toEqual({ 401: 10, 429: 20 })
  expect(await logIn(identifier, password)).toMatchObject(limited)
})

testFromAddresses(
  'three hundred failed sign-ins from one address of those who are not known there',
  async () => {
    const [home, neighbour] = [await signUpAt(from), await signUpAt(from)]
    await plantHits('login_address', from, 298)
    const { identifier, password } = await signUp()
    expect(await logIn(newEmail())).toMatchObject(wrong)
    // Failed sign-ins to an account that is known at this address count only towards the
    // limit of this account there.
    for (let i = 0; i < 10; i++) expect(await logIn(home.identifier)).toMatchObject(wrong)
    expect(await logIn(newPhone())).toMatchObject(wrong)
    expect(await logIn(identifier, password)).toMatchObject(limited)
    expect(await logIn(newEmail())).toMatchObject(limited)
    expect(await logIn(identifier, password, newAddress())).toMatchObject({ status: 200 })
    expect(await hitsByRule('login_address', from)).toEqual([['login_address', 300]])

    // Accounts known at the address can still sign in there; each has ten tries.
    expect(await logIn(home.identifier, home.password)).toMatchObject(limited)
    for (let i = 0; i < 9; i++) expect(await logIn(neighbour.identifier)).toMatchObject(wrong)
    expect(await logIn(neighbour.identifier, neighbour.password)).toMatchObject({ status: 200 })
    const change = { currentPassword: neighbour.password, newPassword: randomUUID() }
    expect(await by(neighbour, '/auth/password/change', change)).toMatchObject({ status: 204 })
  },
)

testFromAddresses(
  'a refusal for suspension or a pending code reveals nothing about a guess',
  async () => {
    const attempt = await registerPhone()
    for (let i = 0; i < 12; i++) {
      expect(await logIn(attempt.phone, attempt.password))
        .toMatchObject(refusal(403, 'account_awaiting_otp'))
    }
    const suspended = await signUp()
    await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
      suspended.id,
    ])
    for (let i = 0; i < 12; i++) {
      expect(await logIn(suspended.identifier, suspended.password))
        .toMatchObject(refusal(403, 'account_suspended'))
    }
    expect(
      await hitsByRule('login%', normalizedIdentifier(attempt.phone), suspended.identifier, from),
    ).toEqual([])
  },
)

testFromAddresses(
  'strangers share a hundred failures an hour, then have one try each; the owner still gets in',
  async () => {
    const home = newAddress()
    const { id, identifier, password } = await signUpAt(home)
    await plantHits('login_unknown_all', identifier, 98)
    expect(await logIn(identifier)).toMatchObject(wrong)
    // A correct password does not count as a failure, regardless of the address.
    expect(await logIn(identifier, password, newAddress())).toMatchObject({ status: 200 })
    expect(await logIn(identifier, 'wrong one', newAddress())).toMatchObject(wrong)
    expect(await hitsByRule('login_unknown%', identifier)).toEqual([['login_unknown_all', 100]])

    const late = newAddress()
    expect(await logIn(identifier, 'wrong one', late)).toMatchObject(wrong)
    const locked = await logIn(identifier, password, late)
    expect(locked).toMatchObject(limited)
    expect(locked.headers.get('retry-after')).toBe(String(locked.body.error.retryAfter))
    expect(locked.body.error.retryAfter).toBeGreaterThan(3400)
    expect(locked.body.error.retryAfter).toBeLessThanOrEqual(3600)
    expect(await hitsByRule('login_%', late, `${late} ${identifier}`))
      .toEqual([['login_address', 1], ['login_identifier', 1], ['login_unknown', 1]])

    for (let i = 0; i < 9; i++) {
      expect(await logIn(identifier, 'wrong one', home)).toMatchObject(wrong)
    }
    expect(await logIn(identifier, password, home)).toMatchObject({ status: 200 })
    // A new address has one try; after a successful sign-in it counts as known.
    const hotel = newAddress()
    expect(await logIn(identifier, password, hotel)).toMatchObject({ status: 200 })
    for (let i = 0; i < 3; i++) {
      expect(await logIn(identifier, 'wrong one', hotel)).toMatchObject(wrong)
    }
    expect(await logIn(identifier, password, hotel)).toMatchObject({ status: 200 })
    await database().query(
      `update private.known_addresses set known_until = now() - interval '1 second'
       where account_id = $1`,
      [id],
    )
    expect(await logIn(identifier, 'wrong one', hotel)).toMatchObject(wrong)
    expect(await logIn(identifier, 'wrong one', hotel)).toMatchObject(limited)

    await ageHits(3600, identifier, `${late} ${identifier}`)
    expect(await logIn(identifier, 'wrong one', late)).toMatchObject(wrong)
    expect(await hitsByRule('login_unknown_all', identifier)).toEqual([['login_unknown_all', 1]])
  },
)

testFromAddresses('an identifier without an account is counted exactly alike', async () => {
  const { identifier: known } = await signUp()
  const phone = (await registerPhone()).phone
  const outcomes = []
  for (const identifier of [known, newEmail(), phone, newPhone()]) {
    await plantHits('login_unknown_all', normalizedIdentifier(identifier), 92)
    const addresses = [newAddress(), newAddress()]
    const replies = []
    for (const at of addresses) {
      for (let i = 0; i < 7; i++) replies.push(await logIn(identifier, 'wrong one', at))
    }
    outcomes.push(replies.map(({ status, body: { error } }) => [status, error.code]))
    const subjects = addresses.flatMap((at) => [at, `${at} ${normalizedIdentifier(identifier)}`])
    outcomes.push(await hitsByRule('login%', normalizedIdentifier(identifier), ...subjects))
  }
  for (const [i, outcome] of outcomes.entries()) expect(outcome).toEqual(outcomes[i % 2])
  const statuses = (outcomes[0] as [number, string][]).map(([status]) => status)
  expect(statuses).toEqual([...Array(7).fill(401), 401, 401, ...Array(5).fill(429)])
})

testFromAddresses('guesses from many addresses at once are no more than one by one', async () => {
  const { identifier } = await signUp()
  await plantHits('login_unknown_all', identifier, 90)
  const addresses = Array.from({ length: 30 }, newAddress)
  const shots = addresses.map((at) => logInShot(identifier, 'wrong one', at))
  const first = await race(shots)
  // Ten tries of the limit that all unknown addresses share are left. The other 20 addresses use the one
  // try that each has of its own.
  expect(tally(first.map(({ status }) => status))).toEqual({ 401: 30 })
  const second = await race(shots)
  expect(tally(second.map(({ status }) => status))).toEqual({ 401: 10, 429: 20 })
  const third = await race(shots)
  expect(tally(third.map(({ status }) => status))).toEqual({ 429: 30 })
})

testFromAddresses(
  'asking for the present password again allows no more guesses at it',
  async () => {
    const asks: [path: string, body: (password: string) => object][] = [
      ['/auth/password/change', (currentPassword) => ({
        currentPassword,
        newPassword: randomUUID(),
      })],
      ['/auth/me/delete', (password) => ({ password })],
    ]
    for (const [path, body] of asks) {
      const person = await signUp()
      const at = newAddress()
      for (let i = 0; i < 10; i++) {
        expect(await by(person, path, body('wrong one'), at)).toMatchObject(wrong)
      }
      expect(await by(person, path, body(person.password), at)).toMatchObject(limited)
      expect(await logIn(person.identifier, person.password, at)).toMatchObject(limited)
      expect(await hitsByRule('login%', at, `${at} ${person.identifier}`, person.identifier))
        .toEqual([['login_address', 10], ['login_identifier', 10], ['login_unknown_all', 10]])
      // From a new address the correct password is accepted, and the try, which is counted before the
      // password is checked, is uncounted.
      const elsewhere = newAddress()
      expect((await by(person, path, body(person.password), elsewhere)).status).toBeLessThan(300)
      expect(await hitsByRule('%', elsewhere, `${elsewhere} ${person.identifier}`)).toEqual([])
    }
  },
)

testFromAddresses('sixty sign-ins an hour of one account succeed, from wherever', async () => {
  const { id, identifier, password } = await signUp()
  await plantHits('sign_ins', id, 58)
  expect(await logIn(identifier, password)).toMatchObject({ status: 200 })
  expect(await logIn(identifier)).toMatchObject(wrong)
  expect(await logIn(identifier, password, newAddress())).toMatchObject({ status: 200 })
  const sessions = await countSessions(id)
  const topic = await topicOf(id)
  const stranger = newAddress()
  const refused = await logIn(identifier, password, stranger)
  expect(refused).toMatchObject(limited)
  expect(refused.headers.get('retry-after')).toBe(String(refused.body.error.retryAfter))
  expect(refused.body.error.retryAfter).toBeGreaterThan(3400)
  // The refused sign-in leaves no session and does not count as a failure. Only a client that
  // knows the password learns that it was correct. The session received no events, so the
  // account's channel keeps its name.
  expect(await countSessions(id)).toBe(sessions)
  expect(await topicOf(id)).toBe(topic)
  expect(await hitsByRule('%', stranger, `${stranger} ${identifier}`)).toEqual([])
  expect(await logIn(identifier, 'wrong one', stranger)).toMatchObject(wrong)
  await ageHits(3600, id)
  expect(await logIn(identifier, password)).toMatchObject({ status: 200 })
})

testFromAddresses('sixty sign-ins are sixty when they arrive at once', async () => {
  const { id, identifier, password } = await signUp()
  await plantHits('sign_ins', id, 55)
  const shots = Array.from({ length: 12 }, () => logInShot(identifier, password))
  const replies = await race(shots.slice(0, 10))
  expect(tally(replies.map(({ status }) => status))).toEqual({ 200: 5, 429: 5 })
  expect(await countSessions(id)).toBe(6)
})

test('a session by a code or a provider is a sign-in like any other', async () => {
  const person = await signUpByPhone()
  expect(await hitsByRule('sign_ins', person.id)).toEqual([['sign_ins', 1]])
  const email = newEmail()
  const { body: { user } } = await signInAs('google', { email })
  expect(await hitsByRule('sign_ins', user.id)).toEqual([['sign_ins', 1]])
  await plantHits('sign_ins', user.id, 60)
  expect(await signInAs('apple', { email })).toMatchObject(limited)
  expect(await countSessions(user.id)).toBe(1)
})
