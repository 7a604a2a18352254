import { randomUUID } from 'node:crypto'
import { beforeEach, expect } from 'vitest'
import { newAddress, spoofedHeaders, tally, testFromAddresses } from '../support/addresses.ts'
import { database, inboxOf, newEmail, newPhone, signUp } from '../support/client.ts'
import { ageCodes, codeSentBy, normalizedIdentifier, signUpByPhone } from '../support/codes.ts'
import { race, type RawRequest, sendRaw } from '../support/races.ts'
import { ageHits, hitsByRule, hitsOf, plantHits } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { refusal } from '../support/problems.ts'

withRates(
  defaultRates(/^register_/, /^login_identifier$/, /^code_(address|unsent|used|service|alarm)/),
)

let from: string
beforeEach(async () => {
  from = newAddress()
  // Clears the rate limit counters; otherwise requests of the last hour would count,
  // even those of an earlier run.
  await database().query('delete from private.rate_hits where true')
})

const post = (path: string, body: object, more: Partial<RawRequest> = {}) =>
  sendRaw({ path: `/auth${path}`, body, from, ...more })

const register = (identifier: string, more: Partial<RawRequest> = {}) =>
  post('/register', { identifier, password: randomUUID() }, more)

const forgot = (identifier: string, at = from) =>
  post('/password/forgot', { identifier }, { from: at })

const logIn = (identifier: string, password: string, more: Partial<RawRequest> = {}) =>
  post('/login', { identifier, password }, more)

const limited = refusal(429, 'rate_limited')

testFromAddresses('REG-18 one client has ten codes an hour that nobody uses', async () => {
  const [known, other] = [await signUpByPhone(), await signUpByPhone()]
  const phones = Array.from({ length: 12 }, () => newPhone())
  const replies = [await forgot(known.identifier)]
  for (const phone of phones) replies.push(await register(phone))
  expect(replies.map(({ status }) => status)).toEqual([202, ...Array(9).fill(201), 429, 429, 429])
  expect(replies.at(-1)).toMatchObject(limited)
  expect(Number(replies.at(-1)!.headers.get('retry-after'))).toBeLessThanOrEqual(3600)
  for (const identifier of [other.identifier, newPhone()]) {
    expect(await forgot(identifier)).toMatchObject(limited)
  }
  const sent = await Promise.all(phones.map((phone) => inboxOf(phone)))
  expect(sent.flat()).toHaveLength(9)
  // Refused registrations do not count towards the registration limit, and an address that has reached its
  // limit of codes can still send other requests.
  expect(await hitsOf('register_address', from)).toBe(9)
  expect(await register(newEmail())).toMatchObject({ status: 201 })
  expect(await forgot((await signUp()).identifier)).toMatchObject({ status: 202 })
  expect(await logIn(known.identifier, known.password)).toMatchObject({ status: 200 })
  await ageCodes(known.identifier, 45)
  const [code, { body: { resetId } }] = await codeSentBy(
    known.identifier,
    () => forgot(known.identifier),
  )
  expect(await hitsOf('code_address', from)).toBe(10)
  const reset = { newPassword: 'another one', confirmPassword: 'another one' }
  const body = { identifier: known.identifier, code, resetId, ...reset }
  expect(await post('/password/reset', body)).toMatchObject({ status: 204 })
  // Using the code of an account that is known at the address does not raise the
  // address's limit for new numbers.
  expect(await register(newPhone())).toMatchObject(limited)
  await ageHits(3600, from)
  expect(await register(newPhone())).toMatchObject({ status: 201 })
})

const verify = (phone: string, code: string) =>
  post('/register/verify-otp', { identifier: phone, code })

testFromAddresses('a code that is used allows three more, once a day for each phone', async () => {
  const registered: string[] = []
  const use = async () => {
    const phone = newPhone()
    const [code] = await codeSentBy(phone, () => register(phone))
    expect(await verify(phone, code)).toMatchObject({ status: 200 })
    registered.push(phone)
  }
  await use()
  await plantHits('code_address', from, 10)
  for (const status of [201, 201, 201, 429]) {
    expect(await register(newPhone())).toMatchObject({ status })
  }
  // Codes for accounts known at the address are sent even after it has reached its limit, and using
  // them does not raise the limit. A phone counts once a day: using a code for it at a second
  // address raises no limit there.
  const [phone] = registered as [string]
  const reset = async (at: string) => {
    await ageCodes(phone, 45)
    const [code] = await codeSentBy(phone, () => forgot(phone, at))
    const password = randomUUID()
    const body = { identifier: phone, code, newPassword: password, confirmPassword: password }
    expect(await post('/password/reset', body, { from: at })).toMatchObject({ status: 204 })
  }
  await reset(from)
  expect(await register(newPhone())).toMatchObject(limited)
  const elsewhere = newAddress()
  await reset(elsewhere)
  expect(await hitsByRule('code%address', from, elsewhere))
    .toEqual([['code_address', 13], ['code_address', 1], ['code_used_address', 1]])
  await ageHits(86_400, normalizedIdentifier(phone))
  await reset(elsewhere)
  expect(await hitsOf('code_used_address', elsewhere)).toBe(1)

  // One address can request at most 600 codes an hour, however many are used.
  await plantHits('code_used_address', from, 200)
  await plantHits('code_address', from, 599)
  for (const status of [201, 429]) expect(await register(newPhone())).toMatchObject({ status })
  // Codes that were used more than an hour ago no longer raise the limit.
  await ageHits(3600, from)
  await plantHits('code_address', from, 9)
  for (const status of [201, 429]) expect(await register(newPhone())).toMatchObject({ status })
})

testFromAddresses('codes by mail and by SMS are counted apart, and earn apart', async () => {
  const person = await signUp()
  const [code] = await codeSentBy(person.identifier, () => forgot(person.identifier))
  const fresh = randomUUID()
  const reset = { identifier: person.identifier, newPassword: fresh, confirmPassword: fresh }
  expect(await post('/password/reset', { ...reset, code })).toMatchObject({ status: 204 })
  expect(await hitsByRule('code%address', from, `${from} mail`))
    .toEqual([['code_address', 1], ['code_used_address', 1]])
  await plantHits('code_address', `${from} mail`, 12)
  await plantHits('code_address', from, 9)
  expect(await forgot((await signUp()).identifier)).toMatchObject({ status: 202 })
  expect(await forgot((await signUp()).identifier)).toMatchObject(limited)
  for (const status of [201, 429]) expect(await register(newPhone())).toMatchObject({ status })
})

testFromAddresses('REG-18 ten codes are ten when fifty are asked for at once', async () => {
  const shots = Array.from({ length: 50 }, () => ({
    path: '/auth/register',
    body: { identifier: newPhone(), password: randomUUID() },
    from,
  }))
  const replies = await race(shots)
  expect(tally(replies.map(({ status }) => status))).toEqual({ 201: 10, 429: 40 })
})

testFromAddresses(
  'REG-18 requests that send nothing close nothing, however many come from however many addresses',
  async () => {
    const addresses = Array.from({ length: 30 }, newAddress)
    const owner = await signUpByPhone()
    await database().query('delete from private.rate_hits where true')
    const shots = Array.from({ length: 300 }, (_, i) => ({
      path: '/auth/password/forgot',
      body: { identifier: newPhone() },
      from: addresses[i % 30]!,
    }))
    for (let at = 0; at < 300; at += 60) {
      const replies = await race(shots.slice(at, at + 60))
      expect(tally(replies.map(({ status }) => status))).toEqual({ 202: 60 })
    }
    expect(await hitsOf('code_service', 'all')).toBe(0)
    expect(await hitsByRule('code_address', ...addresses)).toEqual([])
    expect(await hitsByRule('code_unsent_address', ...addresses))
      .toEqual(Array(30).fill(['code_unsent_address', 10]))
    for (const at of [addresses[0]!, newAddress()]) {
      expect(await register(newPhone(), { from: at })).toMatchObject({ status: 201 })
      await ageCodes(owner.identifier, 45)
      await codeSentBy(owner.identifier, () => forgot(owner.identifier, at))
    }
  },
)

testFromAddresses(
  'three hundred requests an hour and address send nothing; above that resets of strangers wait',
  async () => {
    const [home, stranger] = [await signUpByPhone(), await signUpByPhone()]
    expect(await logIn(home.identifier, home.password)).toMatchObject({ status: 200 })
    await plantHits('code_unsent_address', from, 299)
    expect(await forgot(newPhone())).toMatchObject({ status: 202 })
    for (const identifier of [newPhone(), newEmail(), stranger.identifier]) {
      expect(await forgot(identifier)).toMatchObject(limited)
    }
    expect(await register(newPhone())).toMatchObject({ status: 201 })
    await ageCodes(home.identifier, 45)
    await codeSentBy(home.identifier, () => forgot(home.identifier))
  },
)

testFromAddresses('REG-19 no header makes a client look like another', async () => {
  const statuses = []
  for (let i = 0; i < 12; i++) {
    statuses.push((await register(newPhone(), { headers: spoofedHeaders() })).status)
  }
  expect(statuses).toEqual([...Array(10).fill(201), 429, 429])
  expect(await hitsByRule('%', from)).toEqual([['code_address', 10], ['register_address', 10]])

  const { identifier } = await signUp()
  for (let i = 0; i < 10; i++) {
    expect((await logIn(identifier, 'wrong one', { headers: spoofedHeaders() })).status).toBe(401)
  }
  expect(await logIn(identifier, 'wrong one', { headers: spoofedHeaders() })).toMatchObject(limited)
})

testFromAddresses(
  'six hundred registrations an hour from one address, with RateLimit headers on the way',
  async () => {
    await plantHits('register_address', from, 594)
    const nearly = await register(newEmail())
    expect(nearly.status).toBe(201)
    expect(nearly.headers.get('ratelimit-limit')).toBe('600')
    expect(nearly.headers.get('ratelimit-remaining')).toBe('5')
    expect(Number(nearly.headers.get('ratelimit-reset'))).toBeGreaterThan(3500)
    // A refusal that reveals the existence of an account counts as five registrations.
    const { identifier } = await signUp()
    expect(await register(identifier)).toMatchObject(refusal(409, 'email_taken'))
    const refused = await register(newEmail())
    expect(refused).toMatchObject(limited)
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.error.retryAfter))
    expect(await register(newPhone())).toMatchObject(limited)
    const elsewhere = newAddress()
    expect(await register(newEmail(), { from: elsewhere })).toMatchObject({ status: 201 })
    const { identifier: phone } = await signUpByPhone()
    expect(await register(phone, { from: elsewhere })).toMatchObject(refusal(409, 'phone_taken'))
    expect(await hitsOf('register_address', elsewhere)).toBe(6)
  },
)

testFromAddresses(
  'of two hundred at once a hundred and twenty learn who has an account',
  async () => {
    const { identifier } = await signUp()
    const shots = Array.from({ length: 200 }, () => ({
      path: '/auth/register',
      body: { identifier, password: randomUUID() },
      from,
    }))
    const replies = [...await race(shots.slice(0, 100)), ...await race(shots.slice(100))]
    expect(tally(replies.map(({ status }) => status))).toEqual({ 409: 120, 429: 80 })
  },
)
