import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { newAddress, testFromAddresses } from '../support/addresses.ts'
import {
  database,
  guest,
  inboxOf,
  newEmail,
  newPhone,
  type Reply,
  signUp,
} from '../support/client.ts'
import { ageCodes, countAccounts, normalizedIdentifier, signUpByPhone } from '../support/codes.ts'
import { bearer } from '../support/races.ts'
import { ageHits, hitsByRule } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { refusal } from '../support/problems.ts'
import {
  forgotFrom,
  postFrom,
  registerFrom,
  requestResetCodeFrom,
  resendFrom,
  reset,
  wrong,
} from './codes-from.ts'

withRates(defaultRates(/^code_/))

beforeEach(async () => {
  await database().query('delete from private.rate_hits where true')
})

const limited = refusal(429, 'rate_limited')

testFromAddresses(
  'REG-17 two codes an hour and four a day from one address, six and ten from all strangers',
  async () => {
    const phone = newPhone()
    const addresses = Array.from({ length: 6 }, newAddress)
    const subjects = [
      normalizedIdentifier(phone),
      ...addresses.flatMap((at) => [at, `${at} ${normalizedIdentifier(phone)}`]),
    ]
    const ask = async (from: string) => {
      await ageCodes(phone, 45)
      return await resendFrom(from, phone, 'register')
    }
    expect(await ask(addresses[0]!)).toMatchObject({ status: 202 })
    expect(
      await postFrom(addresses[0]!, '/register', { identifier: phone, password: randomUUID() }),
    )
      .toMatchObject(refusal(429, 'otp_resend_too_soon'))
    await ageCodes(phone, 45)
    await registerFrom(addresses[0]!, phone)
    const third = await ask(addresses[0]!)
    expect(third).toMatchObject(limited)
    expect(third.body.error.retryAfter).toBeGreaterThan(3400)
    expect(third.body.error.retryAfter).toBeLessThanOrEqual(3600)
    for (const at of addresses.slice(1, 3)) {
      for (const status of [202, 202, 429]) expect(await ask(at)).toMatchObject({ status })
    }
    // All unknown addresses together get six codes an hour. A refused request sends
    // no code and does not count.
    for (let more = 0; more < 5; more++) expect(await ask(addresses[3]!)).toMatchObject(limited)
    expect(
      await hitsByRule('code%', addresses[3]!, `${addresses[3]} ${normalizedIdentifier(phone)}`),
    ).toEqual([])
    expect(await hitsByRule('code_unknown_all%', normalizedIdentifier(phone)))
      .toEqual([['code_unknown_all_day', 6], ['code_unknown_all_hour', 6]])

    await ageHits(3600, ...subjects)
    for (const at of [addresses[0]!, addresses[3]!]) {
      for (const status of [202, 202, 429]) expect(await ask(at)).toMatchObject({ status })
    }
    await ageHits(3600, ...subjects)
    // An unknown address gets four codes a day, and all of them together get ten. Registering
    // again does not bypass this.
    for (const at of [addresses[0]!, addresses[5]!]) {
      await ageCodes(phone, 45)
      const refused = await postFrom(at, '/register', { identifier: phone, password: randomUUID() })
      expect(refused).toMatchObject(limited)
      expect(refused.body.error.retryAfter).toBeGreaterThan(70_000)
      expect(refused.body.error.retryAfter).toBeLessThanOrEqual(86_400)
    }
    expect(await inboxOf(phone)).toHaveLength(5 + 4)
  },
)

testFromAddresses('strangers who ask for codes do not silence the owner', async () => {
  const home = newAddress()
  const person = await signUpByPhone()
  const { identifier } = person
  await database().query('delete from private.rate_hits where true')
  const { body: { accessToken } } = await postFrom(
    home,
    '/login',
    { identifier, password: person.password },
  )
  const sent = async () => (await inboxOf(identifier)).length - 1 // the first was sent at registration
  for (let i = 0; i < 6; i++) {
    expect(await forgotFrom(newAddress(), identifier)).toMatchObject({ status: 202 })
  }
  await expect.poll(sent).toBe(6)
  // Strangers get the same response whether or not a code is sent to the owner.
  for (let i = 0; i < 3; i++) {
    expect(await forgotFrom(newAddress(), identifier)).toMatchObject({ status: 202 })
  }
  const code = await requestResetCodeFrom(home, identifier)
  expect(await sent()).toBe(7)
  const toDelete = () =>
    postFrom(home, '/otp/resend', { identifier, purpose: 'delete' }, {
      headers: [bearer({ accessToken })],
    })
  // A code is sent no sooner than 45 seconds after the last one, and at most five an hour and ten a day,
  // even to a known address.
  expect(await resendFrom(home, identifier, 'reset')).toMatchObject(
    refusal(429, 'otp_resend_too_soon'),
  )
  for (const status of [202, 202, 202, 202, 429]) {
    await ageCodes(identifier, 45)
    expect(await toDelete()).toMatchObject({ status })
  }
  await ageHits(3600, home, `${home} ${normalizedIdentifier(identifier)}`)
  for (const status of [202, 202, 202, 202, 202, 429]) {
    await ageCodes(identifier, 45)
    expect(await toDelete()).toMatchObject({ status })
  }
  await ageHits(3600, home, `${home} ${normalizedIdentifier(identifier)}`)
  const day = await resendFrom(home, identifier, 'reset')
  expect(day).toMatchObject(limited)
  expect(day.body.error.retryAfter).toBeGreaterThan(70_000)
  expect(await sent()).toBe(6 + 10)
  await ageCodes(identifier, -45 * 9)
  expect(await reset(home, identifier, code)).toMatchObject({ status: 204 })
})

testFromAddresses("a stranger's request a moment earlier drops nobody's request", async () => {
  const person = await signUp()
  const [home, stranger] = [newAddress(), newAddress()]
  const first = await requestResetCodeFrom(stranger, person.identifier)
  const second = await requestResetCodeFrom(home, person.identifier)
  expect(first).not.toBe(second)
  // Both codes were sent to the owner, so either is accepted.
  expect(await reset(home, person.identifier, second)).toMatchObject({ status: 204 })
  const again = await signUp()
  await requestResetCodeFrom(home, again.identifier)
  const other = await requestResetCodeFrom(stranger, again.identifier)
  expect(await reset(home, again.identifier, other)).toMatchObject({ status: 204 })
  // A new code for the same address replaces the previous one.
  const last = await signUp()
  const old = await requestResetCodeFrom(home, last.identifier)
  await ageCodes(last.identifier, 45)
  const fresh = await requestResetCodeFrom(home, last.identifier)
  expect(await reset(home, last.identifier, old)).toMatchObject(wrong)
  expect(await reset(home, last.identifier, fresh)).toMatchObject({ status: 204 })
})

testFromAddresses('codes do not reveal who has an account', async () => {
  const phone = await signUpByPhone()
  const email = await signUp()
  const outcomes: [number, string][][] = []
  for (const identifier of [phone.identifier, email.identifier, newPhone(), newEmail()]) {
    await database().query('delete from private.rate_hits where true')
    await ageCodes(identifier, 7200)
    const addresses = Array.from({ length: 5 }, newAddress)
    const replies: Reply[] = []
    for (const at of addresses) {
      replies.push(await forgotFrom(at, identifier))
      replies.push(await resendFrom(at, identifier, 'reset'))
      await ageCodes(identifier, 45)
      for (let i = 0; i < 2; i++) replies.push(await resendFrom(at, identifier, 'reset'))
      await ageCodes(identifier, 45)
    }
    const [at, ...others] = addresses
    for (let i = 0; i < 7; i++) replies.push(await reset(at!, identifier, '0000000'.slice(1)))
    for (const other of others) replies.push(await reset(other, identifier, '000001'))
    replies.push(await reset(newAddress(), identifier, '000002'))
    outcomes.push(replies.map(({ status, body }) => [
      status,
      body.error && `${body.error.code} ${body.error.attemptsLeft}`,
    ]))
  }
  for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
  expect(new Set(outcomes[0]!.map(([status]) => status))).toEqual(new Set([202, 422, 429]))
})

test('no address is stored in clear beside a code or an account', async () => {
  const person = await signUpByPhone()
  await guest.post('/auth/password/forgot', { identifier: person.identifier })
  const { rows } = await database().query(
    `select requested_by, mark
     from private.codes join private.known_addresses using (account_id)
     where account_id = $1`,
    [person.id],
  )
  expect(rows).toHaveLength(1)
  const [{ requested_by, mark }] = rows
  expect([requested_by.length, mark.length]).toEqual([32, 32])
  expect(mark.equals(requested_by)).toBe(false)
  expect(await countAccounts(person.identifier)).toBe(1)
})
