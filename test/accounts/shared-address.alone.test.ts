// Mobile networks put thousands of people behind one IPv4 address (contract, section 1). The tests simulate
// this with the rate limits and settings of a new project and a simulated clock.
import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { database, newEmail, newPhone, type Person } from '../support/client.ts'
import { codeSentBy, signUpByPhone } from '../support/codes.ts'
import { type Facade, startFacade, testLocally } from '../support/facade.ts'
import { bulk } from '../support/nightly.ts'
import { hitsOf, plantHits } from '../support/rate-hits.ts'
import { defaultRates, enforceRates } from '../support/rates.ts'
import {
  attacker,
  Clock,
  mostInAnHour,
  newcomer,
  type Post,
  type Registered,
} from './simulated-people.ts'

let facade: Facade

beforeAll(async () => {
  const byDefault = { READ_RATE: undefined, REFUSAL_RATE: undefined, SMS_PER_DAY: undefined }
  facade = await startFacade(byDefault)
})

afterAll(async () => {
  await facade?.stop()
})

// Rate limits are enforced only inside `limited`, so tests can sign people up
// beforehand without reaching them.
beforeEach(async () => {
  await database().query('delete from private.rate_hits where true')
  await database().query('delete from private.sms_sent where true')
})

async function limited<T>(act: () => Promise<T>): Promise<T> {
  const lift = await enforceRates(variable('DATABASE_URL')!, defaultRates(/./))
  try {
    return await act()
  } finally {
    await lift()
  }
}

const newAddress = () => `198.51.${randomInt(256)}.${randomInt(256)}`

const postFrom = (address: string): Post => (path, body) =>
  facade.post(`/auth${path}`, body, { 'x-forwarded-for': address })

const hour = 3600
const minutes = (seconds: number) => (seconds / 60).toFixed(1)

const newcomers = bulk(200, 50)

/** Lets one newcomer register every 36 seconds; every tenth requests a second code. */
function letRegister(clock: Clock, post: Post): Registered[] {
  const registered: Registered[] = []
  for (let nth = 0; nth < newcomers; nth++) {
    clock.at(nth * 36, newcomer(clock, post, registered, { asksTwice: nth % 10 === 9 }))
  }
  return registered
}

const late = (registered: Registered[]) => registered.filter(({ took }) => took > 300).length

testLocally('two hundred people behind one address register within two hours', async () => {
  const clock = new Clock()
  const registered = letRegister(clock, postFrom(newAddress()))
  await limited(() => clock.run())
  expect(registered).toHaveLength(newcomers)
  expect(late(registered)).toBeLessThanOrEqual(2)
})

testLocally('nor do attackers at twenty other addresses keep them out', async () => {
  const clock = new Clock()
  const sent = Array.from({ length: bulk(20, 4) }, (_, nth) => {
    const times: number[] = []
    clock.at(nth, attacker(clock, postFrom(newAddress()), 2 * hour, times))
    return times
  })
  const registered = letRegister(clock, postFrom(newAddress()))
  await limited(() => clock.run())
  expect(late(registered)).toBeLessThanOrEqual(2)
  for (const times of sent) expect(mostInAnHour(times)).toBe(10)
})

async function signedInAt(post: Post, person: Person): Promise<Person> {
  const { identifier, password } = person
  expect(await post('/login', { identifier, password })).toMatchObject({ status: 200 })
  return person
}

testLocally(
  'an attacker behind the same address stops new numbers there, and nothing else',
  async () => {
    const post = postFrom(newAddress())
    const known = await signedInAt(post, await signUpByPhone())
    const forgetful = await Promise.all(
      Array.from({ length: 9 }, async () => signedInAt(post, await signUpByPhone())),
    )
    const clock = new Clock()
    const sent: number[] = []
    const end = 2 * hour
    clock.at(0, attacker(clock, post, end, sent))
    const registered: Registered[] = []
    // A newcomer may get ahead of the attacker by coming in the very second in which
    // another code becomes available.
    for (let at = 60; at < end + 2 * hour; at += 300) {
      clock.at(at, newcomer(clock, post, registered, { patience: 0 }))
    }

    let passed = 0
    async function* neighbours() {
      for (const person of forgetful) {
        yield 700
        const email = { identifier: newEmail(), password: randomUUID() }
        expect(await post('/register', email)).toMatchObject({ status: 201 })
        await signedInAt(post, known)
        const { identifier } = person
        const [code, { body: { resetId } }] = await codeSentBy(
          identifier,
          () => post('/password/forgot', { identifier }),
        )
        const password = randomUUID()
        const reset = {
          identifier,
          code,
          resetId,
          newPassword: password,
          confirmPassword: password,
        }
        expect(await post('/password/reset', reset)).toMatchObject({ status: 204 })
        expect(await post('/login', { identifier, password })).toMatchObject({ status: 200 })
        passed++
      }
    }
    clock.at(0, neighbours())
    await limited(() => clock.run())

    expect(passed).toBe(9)
    expect(mostInAnHour(sent)).toBe(10)
    const first = registered.find(({ took }) => took < Infinity)!
    console.log(
      `new phone numbers were stopped for the ${minutes(end)} minutes of the attack and ` +
        `${minutes(first.began - Math.max(...sent))} minutes after its last code`,
    )
    expect(first.began - Math.max(...sent)).toBeLessThanOrEqual(hour + 300)
    expect(late(registered.filter(({ began }) => began >= first.began))).toBe(0)
  },
)

testLocally('an attacker gets no more than two codes beside each that neighbours use', async () => {
  const address = newAddress()
  const clock = new Clock()
  const used: number[] = []
  const sent: number[] = []
  const call = async (name: string, args: Record<string, unknown>) => {
    const list = Object.keys(args).map((arg, nth) => `${arg} => $${nth + 1}`)
    const { rows } = await database().query(
      `select private.${name}(${list}) as answer`,
      Object.values(args),
    )
    return rows[0].answer
  }
  const location = { address, address_hash: address }
  const register = (phone: string) =>
    call('register_phone', {
      phone,
      registration_id: randomUUID(),
      sealed_password: 'sealed',
      full_name: null,
      hmac: 'ab',
      banned_hash: 'ab',
      sms_per_day: 20_000,
      ...location,
    })
  // A neighbour registers and uses the code at once, so the generator never yields.
  // deno-lint-ignore require-yield
  async function* neighbour(): AsyncGenerator<number, void> {
    const phone = `+965${newPhone().slice(-8)}`
    if ((await register(phone)).error) return
    const verify = { purpose: 'register', identifier: phone, hmac: 'ab', ...location }
    expect(await call('verify_code', verify)).toHaveProperty('codeId')
    used.push(clock.now)
  }
  async function* flood() {
    while (clock.now < 4 * hour) {
      const { error } = await register(`+965${newPhone().slice(-8)}`)
      if (error) yield Math.min(error.detail.retryAfter, 60)
      else sent.push(clock.now)
    }
  }
  for (let nth = 0; nth < 100; nth++) clock.at(nth * 36, neighbour())
  clock.at(hour, flood())
  await limited(() => clock.run())

  expect(used).toHaveLength(100)
  const [most, later] = [mostInAnHour(sent), sent.filter((at) => at >= 2 * hour + 60)]
  console.log(`beside 100 codes that were used in the hour before, ${most} that nobody used`)
  expect(most).toBeLessThanOrEqual(10 + 2 * 100)
  // After an hour in which nobody used a code, the limit is ten again.
  expect(mostInAnHour(later)).toBeLessThanOrEqual(10)
})

testLocally('neighbours shut nobody out by what is wrong', async () => {
  const address = newAddress()
  const post = postFrom(address)
  const person = await signedInAt(post, await signUpByPhone())
  const { identifier, password, refreshToken } = person
  await limited(async () => {
    const full = ['login_address', 'code_wrong_address', 'code_unsent_address']
    const limits = [300, 200, 300]
    const spared = bulk(0, 280)
    for (const [nth, rule] of full.entries()) {
      await plantHits(rule, address, Math.max(0, Math.min(spared, limits[nth]! - 20)))
    }
    for (let nth = spared; nth < 330; nth++) {
      const login = post('/login', { identifier: newEmail(), password: 'wrong one' })
      const verify = post('/register/verify-otp', { identifier: newPhone(), code: '000000' })
      const refresh = post('/refresh', { refreshToken: `garbage ${nth}` })
      const forgot = post('/password/forgot', { identifier: newPhone() })
      await Promise.all([login, verify, refresh, forgot])
    }
    expect(await Promise.all(full.map((rule) => hitsOf(rule, address)))).toEqual(limits)

    expect(await post('/refresh', { refreshToken })).toMatchObject({ status: 200 })
    expect(await post('/login', { identifier, password })).toMatchObject({ status: 200 })
    await codeSentBy(identifier, () => post('/password/forgot', { identifier }))
    const email = { identifier: newEmail(), password: randomUUID() }
    expect(await post('/register', email)).toMatchObject({ status: 201 })
    const phone = newPhone()
    const [code, { body: { registrationId } }] = await codeSentBy(
      phone,
      () => post('/register', { identifier: phone, password: randomUUID() }),
    )
    expect(await post('/register/verify-otp', { identifier: phone, code, registrationId }))
      .toMatchObject({ status: 200 })
  })
})
