/** Requesting and guessing codes: what strangers can use up, and what they cannot. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { variable } from '../../local/environment.ts'
import { newAddress, spoofedHeaders, tally, testFromAddresses } from '../support/addresses.ts'
import {
  database,
  guest,
  inboxOf,
  newEmail,
  newPhone,
  type Reply,
  signUp,
} from '../support/client.ts'
import {
  ageCodes,
  type Attempt,
  codeSentBy,
  codeTries,
  countAccounts,
  normalizedIdentifier,
  signUpByPhone,
  wrongCode,
} from '../support/codes.ts'
import { race, type RawRequest, sendRaw } from '../support/races.ts'
import { ageHits, hitsByRule, plantHits } from '../support/rate-hits.ts'
import { enforceRates } from '../support/rates.ts'
import { refusal } from '../support/problems.ts'

let lift: () => Promise<void>
beforeAll(async () => {
  lift = await enforceRates(variable('DATABASE_URL')!, {
    code_address: 10,
    code_known_hour: 5,
    code_known_day: 10,
    code_stranger_hour: 2,
    code_stranger_day: 4,
    code_strangers_hour: 6,
    code_strangers_day: 10,
    code_wrong_identifier: 10,
    code_wrong_address: 60,
  })
})
afterAll(() => lift())

beforeEach(async () => {
  await database().query('delete from private.rate_hits where true')
})

const post = (from: string, path: string, body: object, more: Partial<RawRequest> = {}) =>
  sendRaw({ path: `/auth${path}`, body, from, ...more })
const resend = (from: string, identifier: string, purpose: string, registrationId?: string) =>
  post(from, '/otp/resend', { identifier, purpose, registrationId })
const forgot = (from: string, identifier: string) => post(from, '/password/forgot', { identifier })
const resetShot = (from: string, identifier: string, code: string): RawRequest => ({
  path: '/auth/password/reset',
  body: { identifier, code, newPassword: 'another one', confirmPassword: 'another one' },
  from,
})
const reset = (from: string, identifier: string, code: string) =>
  sendRaw(resetShot(from, identifier, code))
const verify = (from: string, identifier: string, code: string, registrationId?: string) =>
  post(from, '/register/verify-otp', { identifier, code, registrationId })

const wrong = refusal(422, 'otp_invalid')
const locked = refusal(429, 'otp_locked')
const limited = refusal(429, 'rate_limited')

/** An attempt to register a phone from an address, and the code that came. */
async function registerFrom(from: string, phone = newPhone()): Promise<Attempt> {
  const password = randomUUID()
  const [code, { body }] = await codeSentBy(
    phone,
    () => post(from, '/register', { identifier: phone, password }),
  )
  return { phone, password, registrationId: body.registrationId, code }
}

/** Requests a code for a password reset, and gives it. */
async function forgotten(from: string, identifier: string) {
  const [code] = await codeSentBy(identifier, () => forgot(from, identifier))
  return code
}

const wrongs = (right: string[], count: number) =>
  Array.from({ length: 1000 }, (_, by) => wrongCode(right[0]!, by + 1))
    .filter((code) => !right.includes(code)).slice(0, count)

/** Five wrong codes, of which the last says that none is left. */
async function fiveWrong(guess: (code: string) => Promise<Reply>, right: string) {
  for (const [i, code] of wrongs([right], 5).entries()) {
    expect(await guess(code)).toMatchObject({
      status: 422,
      body: { error: { code: 'otp_invalid', attemptsLeft: 4 - i } },
    })
  }
  expect(await guess(right)).toMatchObject(locked)
}

testFromAddresses(
  'REG-12 ten wrong codes an hour for one number and address, over all codes and headers',
  async () => {
    const from = newAddress()
    const first = await registerFrom(from)
    const { phone, registrationId } = first
    const body = (code: string) => ({ identifier: phone, code, registrationId })
    const guess = (code: string) =>
      post(from, '/register/verify-otp', body(code), { headers: spoofedHeaders() })
    await fiveWrong(guess, first.code)
    await ageCodes(phone, 45)
    const [second] = await codeSentBy(phone, () => resend(from, phone, 'register', registrationId))
    await fiveWrong(guess, second)
    await ageCodes(phone, 45)
    // Two codes an hour are what one address gets.
    const elsewhere = newAddress()
    const [third] = await codeSentBy(
      phone,
      () => resend(elsewhere, phone, 'register', registrationId),
    )
    const refused = await guess(third)
    expect(refused).toMatchObject(locked)
    const { retryAfter } = refused.body.error
    expect(refused.headers.get('retry-after')).toBe(String(retryAfter))
    expect(retryAfter).toBeGreaterThan(3500)
    expect(retryAfter).toBeLessThanOrEqual(3600)
    // Another purpose has no tries of its own, and what was not compared costs the code nothing.
    await forgot(elsewhere, phone)
    expect(await reset(from, phone, third)).toMatchObject(locked)
    expect((await codeTries(phone)).slice(0, 2)).toEqual([0, 0])
    expect(await verify(elsewhere, phone, third, registrationId)).toMatchObject({ status: 200 })
  },
)

testFromAddresses(
  'REG-12 strangers use up neither the tries nor the code of whoever asked for it',
  async () => {
    const [home, phone] = [newAddress(), newPhone()]
    const { code, registrationId } = await registerFrom(home, phone)
    const strangers = Array.from({ length: 5 }, newAddress)
    const guesses = wrongs([code], 20)
    for (const [i, at] of strangers.slice(0, 3).entries()) {
      expect(await verify(at, phone, guesses[i]!))
        .toMatchObject({ status: 422, body: { error: { attemptsLeft: 2 - i } } })
    }
    // All others share three tries, after which the right code is too late from them.
    for (const at of strangers) {
      expect(await verify(at, phone, code)).toMatchObject(locked)
      expect(await verify(at, phone, guesses[9]!, randomUUID())).toMatchObject(wrong)
    }
    for (const [i, guess] of guesses.slice(10, 14).entries()) {
      expect(await verify(home, phone, guess))
        .toMatchObject({ status: 422, body: { error: { attemptsLeft: 4 - i } } })
    }
    // Whoever names the attempt is not a stranger, from any address.
    const abroad = newAddress()
    expect(await verify(abroad, phone, code, registrationId)).toMatchObject({ status: 200 })
  },
)

testFromAddresses('REG-12 nobody compares more than eight times with a code', async () => {
  const home = newAddress()
  const person = await signUp()
  const code = await forgotten(home, person.identifier)
  const guesses = wrongs([code], 40)
  const replies = await race(
    guesses.map((guess, i) => resetShot(i % 4 ? newAddress() : home, person.identifier, guess)),
  )
  expect(tally(replies.map(({ status }) => status))).toEqual({ 422: 8, 429: 32 })
  const { rows } = await database().query(
    'select tries, stranger_tries from private.codes where identifier = $1',
    [person.identifier],
  )
  expect(rows).toEqual([{ tries: 5, stranger_tries: 3 }])
  expect(await reset(home, person.identifier, code)).toMatchObject(locked)
})

testFromAddresses('REG-12 a guess is a try of every code that it may hit', async () => {
  const [a, b, c] = [newAddress(), newAddress(), newAddress()]
  const { identifier, id } = await signUp()
  const codes = [await forgotten(a, identifier), await forgotten(b, identifier)]
  const kept = async () =>
    (await database().query(
      `select tries, stranger_tries from private.codes where account_id = $1 order by created_at`,
      [id],
    )).rows.map((row) => [row.tries, row.stranger_tries])
  const guesses = wrongs(codes, 20)
  await reset(a, identifier, guesses[0]!)
  expect(await kept()).toEqual([[1, 0], [0, 1]])
  await reset(c, identifier, guesses[1]!)
  expect(await kept()).toEqual([[1, 1], [0, 2]])
  await reset(c, identifier, guesses[2]!)
  await reset(c, identifier, guesses[3]!)
  // The second has no try left for strangers and is compared no more.
  expect(await kept()).toEqual([[1, 3], [0, 3]])
  expect(await reset(a, identifier, codes[1]!)).toMatchObject(wrong)
  expect(await kept()).toEqual([[2, 3], [0, 3]])
  // Each still has what it asked for; once one is used the other opens nothing.
  expect(await reset(b, identifier, codes[1]!)).toMatchObject({ status: 204 })
  expect(await reset(a, identifier, codes[0]!)).toMatchObject(wrong)
})

testFromAddresses('sixty wrong codes an hour from one address, whoever they are for', async () => {
  const [from, home] = [newAddress(), newAddress()]
  const { phone, code, registrationId } = await registerFrom(home)
  // Without a live code a guess counts for the address only.
  expect(await reset(from, newPhone(), '000000'))
    .toMatchObject({ status: 422, body: { error: { attemptsLeft: 0 } } })
  expect(await hitsByRule('code_wrong%', from)).toEqual([['code_wrong_address', 1]])
  await plantHits('code_wrong_address', from, 58)
  for (let more = 0; more < 2; more++) {
    expect(await reset(from, newEmail(), '000000')).toMatchObject(wrong)
  }
  for (const identifier of [newEmail(), phone]) {
    const refused = await verify(from, phone, code, registrationId)
    expect(refused).toMatchObject(locked)
    expect(refused.body.error.retryAfter).toBeGreaterThan(3400)
    expect(await reset(from, identifier, '000000')).toMatchObject(locked)
  }
  expect(await codeTries(phone)).toEqual([0])
  expect(await verify(home, phone, code)).toMatchObject({ status: 200 })
  expect(await hitsByRule('code_wrong%', home, `${home} ${normalizedIdentifier(phone)}`)).toEqual(
    [],
  )
})

testFromAddresses('wrong codes before any code was requested lock nothing', async () => {
  const person = await signUpByPhone()
  const unregistered = newPhone()
  for (let i = 0; i < 12; i++) {
    const at = newAddress()
    expect(await reset(at, person.identifier, '000000')).toMatchObject(wrong)
    expect(await verify(at, unregistered, '000000')).toMatchObject(wrong)
  }
  const home = newAddress()
  const code = await forgotten(home, person.identifier)
  expect(await reset(home, person.identifier, code)).toMatchObject({ status: 204 })
  const attempt = await registerFrom(home, unregistered)
  expect(await verify(home, unregistered, attempt.code)).toMatchObject({ status: 200 })
})

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
      return await resend(from, phone, 'register')
    }
    expect(await ask(addresses[0]!)).toMatchObject({ status: 202 })
    expect(await post(addresses[0]!, '/register', { identifier: phone, password: randomUUID() }))
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
    // Six in all; what is refused is not sent and uses nothing up.
    for (let more = 0; more < 5; more++) expect(await ask(addresses[3]!)).toMatchObject(limited)
    expect(
      await hitsByRule('code%', addresses[3]!, `${addresses[3]} ${normalizedIdentifier(phone)}`),
    ).toEqual([])
    expect(await hitsByRule('code_strangers%', normalizedIdentifier(phone)))
      .toEqual([['code_strangers_day', 6], ['code_strangers_hour', 6]])

    await ageHits(3600, ...subjects)
    for (const at of [addresses[0]!, addresses[3]!]) {
      for (const status of [202, 202, 429]) expect(await ask(at)).toMatchObject({ status })
    }
    await ageHits(3600, ...subjects)
    // Four a day from one address, ten from all: registering is no way around either.
    for (const at of [addresses[0]!, addresses[5]!]) {
      await ageCodes(phone, 45)
      const refused = await post(at, '/register', { identifier: phone, password: randomUUID() })
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
  await post(home, '/login', { identifier, password: person.password })
  const sent = async () => (await inboxOf(identifier)).length - 1 // one came at registration
  for (let i = 0; i < 6; i++) {
    expect(await forgot(newAddress(), identifier)).toMatchObject({ status: 202 })
  }
  await expect.poll(sent).toBe(6)
  // The answer to strangers stays the same, whatever is sent.
  for (let i = 0; i < 3; i++) {
    expect(await forgot(newAddress(), identifier)).toMatchObject({ status: 202 })
  }
  const code = await forgotten(home, identifier)
  expect(await sent()).toBe(7)
  // Not within 45 seconds, and no more than five an hour and ten a day, also at home.
  expect(await resend(home, identifier, 'reset')).toMatchObject(refusal(429, 'otp_resend_too_soon'))
  for (const status of [202, 202, 202, 202, 429]) {
    await ageCodes(identifier, 45)
    expect(await resend(home, identifier, 'delete')).toMatchObject({ status })
  }
  await ageHits(3600, home, `${home} ${normalizedIdentifier(identifier)}`)
  for (const status of [202, 202, 202, 202, 202, 429]) {
    await ageCodes(identifier, 45)
    expect(await resend(home, identifier, 'delete')).toMatchObject({ status })
  }
  await ageHits(3600, home, `${home} ${normalizedIdentifier(identifier)}`)
  const day = await resend(home, identifier, 'reset')
  expect(day).toMatchObject(limited)
  expect(day.body.error.retryAfter).toBeGreaterThan(70_000)
  expect(await sent()).toBe(6 + 10)
  await ageCodes(identifier, -45 * 9)
  expect(await reset(home, identifier, code)).toMatchObject({ status: 204 })
})

testFromAddresses("a stranger's request a moment earlier drops nobody's request", async () => {
  const person = await signUp()
  const [home, stranger] = [newAddress(), newAddress()]
  const first = await forgotten(stranger, person.identifier)
  const second = await forgotten(home, person.identifier)
  expect(first).not.toBe(second)
  // Either is a code that the owner was sent.
  expect(await reset(home, person.identifier, second)).toMatchObject({ status: 204 })
  const again = await signUp()
  await forgotten(home, again.identifier)
  const other = await forgotten(stranger, again.identifier)
  expect(await reset(home, again.identifier, other)).toMatchObject({ status: 204 })
  // A new one for the same address takes the place of the one before.
  const last = await signUp()
  const old = await forgotten(home, last.identifier)
  await ageCodes(last.identifier, 45)
  const fresh = await forgotten(home, last.identifier)
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
      replies.push(await forgot(at, identifier))
      replies.push(await resend(at, identifier, 'reset'))
      await ageCodes(identifier, 45)
      for (let i = 0; i < 2; i++) replies.push(await resend(at, identifier, 'reset'))
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
    `select asked_by, mark
     from private.codes join private.known_addresses using (account_id)
     where account_id = $1`,
    [person.id],
  )
  expect(rows).toHaveLength(1)
  const [{ asked_by, mark }] = rows
  expect([asked_by.length, mark.length]).toEqual([32, 32])
  expect(mark.equals(asked_by)).toBe(false)
  expect(await countAccounts(person.identifier)).toBe(1)
})
