import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { variable } from '../../local/environment.ts'
import { newAddress, spoofedHeaders, tally, testFromAddresses } from '../support/addresses.ts'
import { database, inboxOf, newEmail, newPhone, signUp } from '../support/client.ts'
import { signUpByPhone } from '../support/codes.ts'
import { race, type RawRequest, sendRaw } from '../support/races.ts'
import { ageHits, plantHits } from '../support/rate-hits.ts'
import { enforceRates } from '../support/rates.ts'
import { refusal } from '../support/problems.ts'

let lift: () => Promise<void>
beforeAll(async () => {
  lift = await enforceRates(variable('DATABASE_URL')!, {
    register_address: 30,
    login_identifier: 10,
    code_address: 10,
    code_service: 300,
  })
})
afterAll(() => lift())

let from: string
beforeEach(async () => {
  from = newAddress()
  // Hits from this machine in the last hour, perhaps of an earlier run.
  await database().query('delete from private.rate_hits where true')
})

const post = (path: string, body: object, more: Partial<RawRequest> = {}) =>
  sendRaw({ path: `/auth${path}`, body, from, ...more })

const register = (identifier: string, more: Partial<RawRequest> = {}) =>
  post('/register', { identifier, password: randomUUID() }, more)

const resend = (identifier: string, purpose = 'register') =>
  post('/otp/resend', { identifier, purpose })

const logIn = (identifier: string, password: string, more: Partial<RawRequest> = {}) =>
  post('/login', { identifier, password }, more)

const limited = refusal(429, 'rate_limited')

testFromAddresses('REG-18 one client has ten codes an hour, whatever it asks for', async () => {
  const known = await signUpByPhone()
  const phones = Array.from({ length: 12 }, () => newPhone())
  const replies = [await post('/password/forgot', { identifier: known.identifier })]
  for (const phone of phones) replies.push(await register(phone))
  expect(replies.map(({ status }) => status)).toEqual([202, ...Array(9).fill(201), 429, 429, 429])
  expect(replies.at(-1)).toMatchObject(limited)
  expect(Number(replies.at(-1)!.headers.get('retry-after'))).toBeLessThanOrEqual(3600)
  expect(await resend(known.identifier, 'delete')).toMatchObject(limited)
  expect(await post('/password/forgot', { identifier: newPhone() })).toMatchObject(limited)
  const sent = await Promise.all(phones.map((phone) => inboxOf(phone)))
  expect(sent.flat()).toHaveLength(9)
  // Whoever has a password still signs in, from there too.
  expect(await logIn(known.identifier, known.password)).toMatchObject({ status: 200 })
  await ageHits(3600, from)
  expect(await register(newPhone())).toMatchObject({ status: 201 })
})

testFromAddresses('REG-18 ten codes are ten when fifty are asked for at once', async () => {
  const shots = Array.from({ length: 50 }, () => ({
    path: '/auth/register',
    body: { identifier: newPhone(), password: randomUUID() },
    from,
  }))
  // Fewer than fifty registrations would be too many for one address as well.
  await database().query(`update private.rates set max = 1000000 where rule = 'register_address'`)
  const replies = await race(shots)
  await database().query(`update private.rates set max = 30 where rule = 'register_address'`)
  expect(tally(replies.map(({ status }) => status))).toEqual({ 201: 10, 429: 40 })
})

testFromAddresses(
  'REG-18 the whole service has a ceiling, and raises the alarm there',
  async () => {
    await database().query(`delete from private.rate_hits where rule = 'code_service'`)
    await plantHits('code_service', 'all', 280)
    const known = await signUp()
    const shots = Array.from({ length: 40 }, (_, i) => ({
      path: '/auth/register',
      body: { identifier: newPhone(), password: randomUUID() },
      from: i % 10 ? from : (from = newAddress()),
    }))
    const replies = await race(shots)
    expect(tally(replies.map(({ status }) => status))).toEqual({ 201: 20, 503: 20 })
    const refused = replies.find(({ status }) => status === 503)!
    expect(refused).toMatchObject(refusal(503, 'service_unavailable'))
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    // The last address may have had the ten codes of its own.
    from = newAddress()
    expect(await post('/password/forgot', { identifier: known.identifier }))
      .toMatchObject(refusal(503, 'service_unavailable'))
    expect(await logIn(known.identifier, known.password)).toMatchObject({ status: 200 })
    if (variable('LOCAL_STACK')) {
      const log = readFileSync(join(variable('LOCAL_STACK')!, 'logs', 'functions.log'), 'utf8')
      expect(log).toContain('"alert":"code_ceiling"')
    }
    await ageHits(60, 'all')
    expect(await register(newPhone(), { from: newAddress() })).toMatchObject({ status: 201 })
  },
)

testFromAddresses('REG-19 no header makes a client look like another', async () => {
  const statuses = []
  for (let i = 0; i < 12; i++) {
    statuses.push((await register(newPhone(), { headers: spoofedHeaders() })).status)
  }
  expect(statuses).toEqual([...Array(10).fill(201), 429, 429])
  const { rows } = await database().query(
    `select rule, cardinality(hits) as hits from private.rate_hits where subject = $1 order by rule`,
    [from],
  )
  expect(rows).toEqual([{ rule: 'code_address', hits: 10 }, { rule: 'register_address', hits: 12 }])

  const { identifier } = await signUp()
  for (let i = 0; i < 10; i++) {
    expect((await logIn(identifier, 'wrong one', { headers: spoofedHeaders() })).status).toBe(401)
  }
  expect(await logIn(identifier, 'wrong one', { headers: spoofedHeaders() })).toMatchObject(limited)
})

testFromAddresses(
  'thirty registrations an hour from one address, with RateLimit headers on the way',
  async () => {
    await plantHits('register_address', from, 28)
    const nearly = await register(newEmail())
    expect(nearly.status).toBe(201)
    expect(nearly.headers.get('ratelimit-limit')).toBe('30')
    expect(nearly.headers.get('ratelimit-remaining')).toBe('1')
    expect(Number(nearly.headers.get('ratelimit-reset'))).toBeGreaterThan(3500)
    // One that fails counts as well.
    const { identifier } = await signUp()
    expect(await register(identifier)).toMatchObject(refusal(409, 'email_taken'))
    const refused = await register(newEmail())
    expect(refused).toMatchObject(limited)
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.error.retryAfter))
    expect(await register(newPhone())).toMatchObject(limited)
    expect(await register(newEmail(), { from: newAddress() })).toMatchObject({ status: 201 })
  },
)
