import { randomUUID } from 'node:crypto'
import { beforeEach, expect } from 'vitest'
import { newAddress, spoofedHeaders, tally, testFromAddresses } from '../support/addresses.ts'
import { database, newEmail, newPhone, type Reply, signUp } from '../support/client.ts'
import {
  ageCodes,
  codeSentBy,
  codeTries,
  normalizedIdentifier,
  signUpByPhone,
  wrongCode,
} from '../support/codes.ts'
import { race } from '../support/races.ts'
import { hitsByRule, plantHits } from '../support/rate-hits.ts'
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
  resetRequest,
  wrong,
} from './codes-from.ts'

withRates(defaultRates(/^code_/))

beforeEach(async () => {
  await database().query('delete from private.rate_hits where true')
})

const verify = (from: string, identifier: string, code: string, registrationId?: string) =>
  postFrom(from, '/register/verify-otp', { identifier, code, registrationId })

const locked = refusal(429, 'otp_locked')

const wrongs = (right: string[], count: number) =>
  Array.from({ length: 1000 }, (_, by) => wrongCode(right[0]!, by + 1))
    .filter((code) => !right.includes(code)).slice(0, count)

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
      postFrom(from, '/register/verify-otp', body(code), { headers: spoofedHeaders() })
    await fiveWrong(guess, first.code)
    await ageCodes(phone, 45)
    const [second] = await codeSentBy(
      phone,
      () => resendFrom(from, phone, 'register', registrationId),
    )
    await fiveWrong(guess, second)
    await ageCodes(phone, 45)
    // An unknown address gets two codes an hour for a number, so the third is requested from another one.
    const elsewhere = newAddress()
    const [third] = await codeSentBy(
      phone,
      () => resendFrom(elsewhere, phone, 'register', registrationId),
    )
    const refused = await guess(third)
    expect(refused).toMatchObject(locked)
    const { retryAfter } = refused.body.error
    expect(refused.headers.get('retry-after')).toBe(String(retryAfter))
    expect(retryAfter).toBeGreaterThan(3500)
    expect(retryAfter).toBeLessThanOrEqual(3600)
    // A code for another purpose allows no further tries. A guess that was refused without a
    // comparison uses up no try.
    await forgotFrom(elsewhere, phone)
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
    // All other addresses share three tries. Once they are used up, even the correct
    // code is refused from there.
    for (const at of strangers) {
      expect(await verify(at, phone, code)).toMatchObject(locked)
      expect(await verify(at, phone, guesses[9]!, randomUUID())).toMatchObject(wrong)
    }
    for (const [i, guess] of guesses.slice(10, 14).entries()) {
      expect(await verify(home, phone, guess))
        .toMatchObject({ status: 422, body: { error: { attemptsLeft: 4 - i } } })
    }
    // A client that sends the id of its attempt counts as known, regardless of its address.
    const abroad = newAddress()
    expect(await verify(abroad, phone, code, registrationId)).toMatchObject({ status: 200 })
  },
)

testFromAddresses('REG-12 nobody compares more than eight times with a code', async () => {
  const home = newAddress()
  const person = await signUp()
  const code = await requestResetCodeFrom(home, person.identifier)
  const guesses = wrongs([code], 40)
  const replies = await race(
    guesses.map((guess, i) => resetRequest(i % 4 ? newAddress() : home, person.identifier, guess)),
  )
  expect(tally(replies.map(({ status }) => status))).toEqual({ 422: 8, 429: 32 })
  const { rows } = await database().query(
    'select tries, unknown_tries from private.codes where identifier = $1',
    [person.identifier],
  )
  expect(rows).toEqual([{ tries: 5, unknown_tries: 3 }])
  expect(await reset(home, person.identifier, code)).toMatchObject(locked)
})

testFromAddresses('REG-12 a guess is a try of every code that it may hit', async () => {
  const [a, b, c] = [newAddress(), newAddress(), newAddress()]
  const { identifier, id } = await signUp()
  const codes = [
    await requestResetCodeFrom(a, identifier),
    await requestResetCodeFrom(b, identifier),
  ]
  const storedTries = async () =>
    (await database().query(
      `select tries, unknown_tries from private.codes where account_id = $1 order by created_at`,
      [id],
    )).rows.map((row) => [row.tries, row.unknown_tries])
  const guesses = wrongs(codes, 20)
  await reset(a, identifier, guesses[0]!)
  expect(await storedTries()).toEqual([[1, 0], [0, 1]])
  await reset(c, identifier, guesses[1]!)
  expect(await storedTries()).toEqual([[1, 1], [0, 2]])
  await reset(c, identifier, guesses[2]!)
  await reset(c, identifier, guesses[3]!)
  // The second code has no tries left for unknown addresses, so their guesses are no longer compared with it.
  expect(await storedTries()).toEqual([[1, 3], [0, 3]])
  expect(await reset(a, identifier, codes[1]!)).toMatchObject(wrong)
  expect(await storedTries()).toEqual([[2, 3], [0, 3]])
  // Each address can still use its own code. Using one code invalidates the other.
  expect(await reset(b, identifier, codes[1]!)).toMatchObject({ status: 204 })
  expect(await reset(a, identifier, codes[0]!)).toMatchObject(wrong)
})

testFromAddresses('two hundred wrong codes an hour from one address', async () => {
  const [from, home] = [newAddress(), newAddress()]
  const { phone, code } = await registerFrom(home)
  // If no code is valid, a wrong guess counts only towards the limit of its address.
  expect(await reset(from, newPhone(), '000000'))
    .toMatchObject({ status: 422, body: { error: { attemptsLeft: 0 } } })
  expect(await hitsByRule('code_wrong%', from)).toEqual([['code_wrong_address', 1]])
  await plantHits('code_wrong_address', from, 198)
  for (let more = 0; more < 2; more++) {
    expect(await reset(from, newEmail(), '000000')).toMatchObject(wrong)
  }
  for (const name of [undefined, randomUUID()]) {
    const refused = await verify(from, phone, code, name)
    expect(refused).toMatchObject(locked)
    expect(refused.body.error.retryAfter).toBeGreaterThan(3400)
  }
  for (const identifier of [newEmail(), phone]) {
    expect(await reset(from, identifier, '000000')).toMatchObject(locked)
  }
  expect(await codeTries(phone)).toEqual([0])
  expect(await verify(home, phone, code)).toMatchObject({ status: 200 })
  expect(await hitsByRule('code_wrong%', home, `${home} ${normalizedIdentifier(phone)}`)).toEqual(
    [],
  )
})

testFromAddresses(
  'a named attempt is tried also where neighbours have used up the wrong codes of the address',
  async () => {
    const from = newAddress()
    const attempt = await registerFrom(from)
    const [person, nobody] = [await signUp(), newEmail()]
    const [code, { body }] = await codeSentBy(
      person.identifier,
      () => forgotFrom(from, person.identifier),
    )
    const unknown = (await forgotFrom(from, nobody)).body
    await plantHits('code_wrong_address', from, 200)
    expect(await verify(from, attempt.phone, attempt.code)).toMatchObject(locked)
    expect(await reset(from, person.identifier, code)).toMatchObject(locked)

    // The limit of five tries per attempt, from all addresses together, applies here too, whether
    // or not the account exists.
    const guess = wrongCode(code)
    const tries = []
    for (const [identifier, { resetId }] of [[person.identifier, body], [nobody, unknown]]) {
      expect(await reset(from, identifier, guess, randomUUID())).toMatchObject(locked)
      for (const at of [from, newAddress(), from]) {
        const { status, body: { error } } = await reset(at, identifier, guess, resetId)
        tries.push([status, error.attemptsLeft])
      }
    }
    expect(tries).toEqual([[422, 4], [422, 3], [422, 2], [422, 4], [422, 3], [422, 2]])
    expect(await reset(from, person.identifier, code, body.resetId)).toMatchObject({ status: 204 })
    expect(await verify(from, attempt.phone, attempt.code, attempt.registrationId))
      .toMatchObject({ status: 200 })
  },
)

testFromAddresses('requests of one address are one attempt, sent or not', async () => {
  const [home, stranger] = [newAddress(), newAddress()]
  for (const identifier of [(await signUp()).identifier, newEmail()]) {
    const ids = []
    for (const at of [home, home, stranger]) {
      ids.push((await forgotFrom(at, identifier)).body.resetId)
    }
    expect(ids[0]).toBe(ids[1])
    expect(ids[0]).not.toBe(ids[2])
  }
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
  const code = await requestResetCodeFrom(home, person.identifier)
  expect(await reset(home, person.identifier, code)).toMatchObject({ status: 204 })
  const attempt = await registerFrom(home, unregistered)
  expect(await verify(home, unregistered, attempt.code)).toMatchObject({ status: 200 })
})
