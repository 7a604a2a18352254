import { randomInt, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  database,
  guest,
  messages,
  newEmail,
  newPhone,
  type Person,
  projectUrl,
  signUp,
} from '../client.ts'
import { age, codeBy, normal, otherThan, registerPhone, signUpByPhone, verify } from '../codes.ts'
import { startFunctions, testLocally } from '../other-functions.ts'
import { race, shoot, type Shot } from '../races.ts'
import { enforceRates } from '../rates.ts'

// Every client here comes from an address of its own: 127.x.y.z, all of them this machine.
const testFromAddresses = test.runIf(new URL(projectUrl).hostname === '127.0.0.1')
if (new URL(projectUrl).hostname !== '127.0.0.1') {
  console.log(
    'The project is not on this machine: tests that come from several addresses are left out.',
  )
}

let lift: () => Promise<void>
beforeAll(async () => {
  lift = await enforceRates(process.env.DATABASE_URL!, {
    register_address: 30,
    login_identifier: 10,
    login_address: 100,
    code_identifier_hour: 5,
    code_identifier_day: 10,
    code_address: 10,
    code_service: 300,
    code_wrong: 10,
  })
})
afterAll(() => lift())

let from: string
beforeEach(async () => {
  from = newAddress()
  // What this machine did in the last hour, a run before this one perhaps.
  await database().query('delete from private.rate_hits where true')
})

const newAddress = () => `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}`

const post = (path: string, body: object, more: Partial<Shot> = {}) =>
  shoot({ path: `/auth${path}`, body, from, ...more })
const register = (identifier: string, more: Partial<Shot> = {}) =>
  post('/register', { identifier, password: randomUUID() }, more)
const resend = (identifier: string, purpose = 'register') =>
  post('/otp/resend', { identifier, purpose })
const logIn = (identifier: string, password: string, more: Partial<Shot> = {}) =>
  post('/login', { identifier, password }, more)

const refusal = (status: number, code: string) => ({ status, body: { error: { code } } })
const limited = refusal(429, 'rate_limited')

/** Lets a window pass: the hits of these subjects become older. */
async function passed(seconds: number, ...subjects: string[]) {
  await database().query(
    `update private.rate_hits
     set hits = array(select at - make_interval(secs => $2) from unnest(hits) as at),
         expires_at = expires_at - make_interval(secs => $2)
     where subject = any ($1)`,
    [subjects, seconds],
  )
}

/** Hits that happened before: so the edge of a large rate need not be walked up to. */
async function spent(rule: string, subject: string, hits: number) {
  await database().query(
    `insert into private.rate_hits (rule, subject, hits, expires_at)
     values ($1, $2, array(
       select clock_timestamp() - make_interval(secs => 60 - nth * 0.001)
       from generate_series(1, $3) as nth
     ), clock_timestamp() + interval '1 hour')`,
    [rule, subject, hits],
  )
}

/** Headers with which clients pretend to be others. */
const faked = (): [string, string][] => {
  const other = `10.${randomInt(255)}.${randomInt(255)}.${randomInt(255)}`
  return [
    ['X-Forwarded-For', `${other}, 2001:db8::${randomInt(9999)}, ${other}`],
    ['Forwarded', `for=${other}`],
    ['X-Real-IP', other],
    ['CF-Connecting-IP', other],
    ['True-Client-IP', other],
    ['X-Client-IP', `[2001:db8:${randomInt(9999)}::1]`],
  ]
}

const firstOf = (statuses: number[]) =>
  Object.fromEntries([...new Set(statuses)].map((status) => [
    status,
    statuses.filter((one) => one === status).length,
  ]))

test('REG-12 ten wrong codes an hour for one number, over all codes and headers', async () => {
  const { phone, code, registrationId } = await registerPhone()
  const guess = (code: string) =>
    guest.post('/auth/register/verify-otp', { identifier: phone, code, registrationId }, {
      headers: Object.fromEntries(faked()),
    })
  for (let by = 1; by <= 5; by++) {
    expect(await guess(otherThan(code, by))).toMatchObject(refusal(422, 'otp_invalid'))
  }
  await age(phone, 45)
  const given = { identifier: phone, purpose: 'register', registrationId }
  const [second] = await codeBy(phone, () => guest.post('/auth/otp/resend', given))
  for (let by = 1; by <= 5; by++) {
    expect(await guess(otherThan(second, by))).toMatchObject(refusal(422, 'otp_invalid'))
  }
  await age(phone, 45)
  const [third] = await codeBy(phone, () => guest.post('/auth/otp/resend', given))
  const locked = await guess(third)
  expect(locked).toMatchObject(refusal(429, 'otp_locked'))
  const { retryAfter } = locked.body.error
  expect(locked.headers.get('retry-after')).toBe(String(retryAfter))
  expect(retryAfter).toBeGreaterThan(3500)
  expect(retryAfter).toBeLessThanOrEqual(3600)
  // Another purpose has no tries of its own.
  const other = await guest.post('/auth/password/reset', {
    identifier: phone,
    code: third,
    newPassword: 'another one',
    confirmPassword: 'another one',
  })
  expect(other).toMatchObject(refusal(429, 'otp_locked'))

  await passed(3600, normal(phone))
  expect(await guess(third)).toMatchObject({ status: 200 })
})

test('REG-12 a guess at several attempts is as many tries', async () => {
  const { phone } = await registerPhone()
  for (let more = 0; more < 2; more++) {
    await age(phone, 45)
    await registerPhone(phone)
  }
  const all = (await messages(phone)).map(({ code }) => code)
  const wrong = [1, 2, 3, 4, 5, 6].map((by) => otherThan(all[0]!, by))
    .filter((code) => !all.includes(code))
  for (const code of wrong.slice(0, 3)) {
    expect(await verify(phone, code)).toMatchObject(refusal(422, 'otp_invalid'))
  }
  expect(await verify(phone, all[0])).toMatchObject(refusal(429, 'otp_locked'))
})

testFromAddresses('REG-17 five codes an hour and ten a day for one number', async () => {
  const phone = newPhone()
  const outcomes: number[] = []
  const ask = async () => {
    await age(phone, 45)
    const { status, body } = await resend(phone)
    outcomes.push(status)
    return body
  }
  expect((await register(phone)).status).toBe(201)
  for (let more = 0; more < 4; more++) await ask()
  const { error } = await ask()
  expect(outcomes).toEqual([202, 202, 202, 202, 429])
  expect(error).toMatchObject({ code: 'rate_limited' })
  expect(error.retryAfter).toBeLessThanOrEqual(3600)
  // What is refused is not sent and uses nothing up, neither here nor of the address.
  for (let more = 0; more < 10; more++) await ask()
  const subjects = [normal(phone), from]
  const { rows } = await database().query(
    `select rule, cardinality(hits) as hits from private.rate_hits
     where subject = any ($1) and rule like 'code%' order by rule`,
    [subjects],
  )
  expect(rows).toEqual([
    { rule: 'code_address', hits: 5 },
    { rule: 'code_identifier_day', hits: 5 },
    { rule: 'code_identifier_hour', hits: 5 },
  ])

  await passed(3600, ...subjects)
  // The attempt was an hour ago as well.
  expect((await register(phone)).status).toBe(201)
  for (let more = 0; more < 4; more++) await ask()
  await passed(3600, ...subjects)
  const day = await register(phone)
  await age(phone, 45)
  const eleventh = await register(phone)
  for (const reply of [day, eleventh]) expect(reply.status).toBe(429)
  expect(eleventh).toMatchObject(limited)
  expect(eleventh.body.error.retryAfter).toBeGreaterThan(70_000)
  expect(eleventh.body.error.retryAfter).toBeLessThanOrEqual(86_400)
  await expect.poll(() => messages(phone)).toHaveLength(10)
})

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
  const sent = await Promise.all(phones.map((phone) => messages(phone)))
  expect(sent.flat()).toHaveLength(9)
  // Whoever has a password still signs in, from there too.
  expect(await logIn(known.identifier, known.password)).toMatchObject({ status: 200 })
  await passed(3600, from)
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
  expect(firstOf(replies.map(({ status }) => status))).toEqual({ 201: 10, 429: 40 })
})

testFromAddresses(
  'REG-18 the whole service has a ceiling, and raises the alarm there',
  async () => {
    await database().query(`delete from private.rate_hits where rule = 'code_service'`)
    await spent('code_service', 'all', 280)
    await passed(-30, 'all')
    const known = await signUp()
    const shots = Array.from({ length: 40 }, (_, i) => ({
      path: '/auth/register',
      body: { identifier: newPhone(), password: randomUUID() },
      from: i % 10 ? from : (from = newAddress()),
    }))
    const replies = await race(shots)
    expect(firstOf(replies.map(({ status }) => status))).toEqual({ 201: 20, 503: 20 })
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
    if (process.env.LOCAL_STACK) {
      const log = readFileSync(join(process.env.LOCAL_STACK, 'logs', 'functions.log'), 'utf8')
      expect(log).toContain('"alert":"code_ceiling"')
    }
    await passed(60, 'all')
    expect(await register(newPhone(), { from: newAddress() })).toMatchObject({ status: 201 })
  },
)

testFromAddresses('REG-19 no header makes one client into another', async () => {
  const statuses = []
  for (let i = 0; i < 12; i++) {
    statuses.push((await register(newPhone(), { headers: faked() })).status)
  }
  expect(statuses).toEqual([...Array(10).fill(201), 429, 429])
  const { rows } = await database().query(
    `select rule, cardinality(hits) as hits from private.rate_hits where subject = $1 order by rule`,
    [from],
  )
  expect(rows).toEqual([{ rule: 'code_address', hits: 10 }, { rule: 'register_address', hits: 12 }])

  const { identifier } = await signUp()
  for (let i = 0; i < 10; i++) {
    expect((await logIn(identifier, 'wrong one', { headers: faked() })).status).toBe(401)
  }
  expect(await logIn(identifier, 'wrong one', { headers: faked() })).toMatchObject(limited)
})

testFromAddresses('thirty registrations an hour from one address, told as they go', async () => {
  await spent('register_address', from, 28)
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
})

testFromAddresses('ten failed sign-ins, and only from there; successes are free', async () => {
  const { identifier, password } = await signUp()
  for (let i = 0; i < 3; i++) expect((await logIn(identifier, password)).status).toBe(200)
  for (let i = 0; i < 9; i++) expect((await logIn(identifier, 'wrong one')).status).toBe(401)
  for (let i = 0; i < 2; i++) expect((await logIn(identifier, password)).status).toBe(200)
  expect((await logIn(identifier.toUpperCase(), 'wrong one')).status).toBe(401)
  const locked = await logIn(identifier, password)
  expect(locked).toMatchObject(limited)
  expect(locked.body.error.retryAfter).toBeLessThanOrEqual(900)
  // Nobody is locked out by what another does elsewhere.
  expect(await logIn(identifier, password, { from: newAddress() })).toMatchObject({ status: 200 })
  expect((await logIn(newEmail(), 'wrong one')).status).toBe(401)
  await passed(900, `${from} ${identifier}`)
  expect(await logIn(identifier, password)).toMatchObject({ status: 200 })
})

testFromAddresses('thirty guesses at a password at once are ten', async () => {
  const { identifier, password } = await signUp()
  const shots = Array.from({ length: 30 }, () => ({
    path: '/auth/login',
    body: { identifier, password: 'wrong one' },
    from,
  }))
  const replies = await race(shots)
  expect(firstOf(replies.map(({ status }) => status))).toEqual({ 401: 10, 429: 20 })
  expect(await logIn(identifier, password)).toMatchObject(limited)
})

testFromAddresses('a hundred failed sign-ins from one address, whoever they are for', async () => {
  await spent('login_address', from, 98)
  const { identifier, password } = await signUp()
  expect((await logIn(newEmail(), 'wrong one')).status).toBe(401)
  expect((await logIn(identifier, password)).status).toBe(200)
  expect((await logIn(newPhone(), 'wrong one')).status).toBe(401)
  expect(await logIn(identifier, password)).toMatchObject(limited)
  expect(await logIn(identifier, password, { from: newAddress() })).toMatchObject({ status: 200 })
})

testFromAddresses(
  'who is suspended or awaits a code guesses nothing by being refused',
  async () => {
    const attempt = await registerPhone()
    for (let i = 0; i < 12; i++) {
      expect(await logIn(attempt.phone, attempt.password))
        .toMatchObject(refusal(403, 'account_awaiting_otp'))
    }
  },
)

test('counters whose window is over are swept away', async () => {
  const subject = randomUUID()
  await spent('code_address', subject, 3)
  await database().query('select private.sweep_rates()')
  const left = async () =>
    (await database().query('select from private.rate_hits where subject = $1', [subject])).rowCount
  expect(await left()).toBe(1)
  await passed(3601, subject)
  await database().query('select private.sweep_rates()')
  expect(await left()).toBe(0)
})

testLocally('reads are counted for each account and address, and told as they go', async () => {
  const functions = await startFunctions({ READ_RATE: '5' })
  try {
    const [one, two] = [await signUp(), await signUp()]
    const read = (headers: Record<string, string>) =>
      functions.get('/meta/areas', { 'x-forwarded-for': from, ...headers })
    const as = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })
    for (const headers of [{}, as(one)]) {
      for (let left = 4; left >= 0; left--) {
        const reply = await read(headers)
        expect(reply.status).toBe(200)
        expect(reply.headers.get('ratelimit-limit')).toBe('5')
        expect(reply.headers.get('ratelimit-remaining')).toBe(String(left))
        expect(reply.headers.get('ratelimit-reset')).toMatch(/^[0-9]+$/)
      }
      const refused = await read(headers)
      expect(refused).toMatchObject(limited)
      expect(refused.headers.get('retry-after')).toBe(String(refused.body.error.retryAfter))
    }
    expect((await read(as(two))).status).toBe(200)
    expect((await read({ 'x-forwarded-for': newAddress() })).status).toBe(200)
    // An address of IPv6 is its network of 64 bits.
    for (let host = 1; host <= 5; host++) {
      await read({ 'x-forwarded-for': `2001:db8:7:1::${host}` })
    }
    expect((await read({ 'x-forwarded-for': '2001:db8:7:1:ffff::9' })).status).toBe(429)
    expect((await read({ 'x-forwarded-for': '2001:db8:7:2::1' })).status).toBe(200)
    for (const health of Array(7).fill('/health')) {
      expect((await functions.get(health, { 'x-forwarded-for': from })).status).toBe(200)
    }
  } finally {
    await functions.stop()
  }
})
