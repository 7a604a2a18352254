// Several people try to register the same phone. Whoever verifies it gets an account that none of the others'
// passwords can open, regardless of the order of the requests and of earlier refusals.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { newAddress, testFromAddresses } from '../support/addresses.ts'
import { database, newPhone, signIn } from '../support/client.ts'
import { ageCodes, codeSentBy, normalizedIdentifier, requestResetCode } from '../support/codes.ts'
import { race, sendRaw } from '../support/races.ts'
import { plantHits } from '../support/rate-hits.ts'
import { defaultRates, enforceRates } from '../support/rates.ts'
import { refusal } from '../support/problems.ts'
import { startFacade, testLocally } from '../support/facade.ts'

let lift: () => Promise<void>
beforeAll(async () => {
  lift = await enforceRates(
    variable('DATABASE_URL')!,
    defaultRates(/^register_address$/, /^code_(address|unknown|used|service)/),
  )
})
afterAll(() => lift())

beforeEach(async () => {
  await database().query('delete from private.rate_hits where true')
})

function someone(fullName: string) {
  const from = newAddress()
  const password = randomUUID()
  const post = (path: string, body: object) => sendRaw({ path: `/auth${path}`, body, from })
  return {
    from,
    password,
    fullName,
    register: (identifier: string) => post('/register', { identifier, password, fullName }),
    resend: (identifier: string) => post('/otp/resend', { identifier, purpose: 'register' }),
    verify: (identifier: string, code: string, registrationId?: string) =>
      post('/register/verify-otp', { identifier, code, registrationId }),
    logIn: (identifier: string) => post('/login', { identifier, password }),
  }
}
type Someone = ReturnType<typeof someone>

const two = () => [someone('مهاجم غريب'), someone('سالم العنزي')] as const

const wrong = refusal(401, 'invalid_credentials')

async function coded(one: Someone, phone: string) {
  const [code, { body }] = await codeSentBy(phone, () => one.register(phone))
  return { code, registrationId: body.registrationId as string }
}

/**
 * Expects a verified account without any of these names and passwords, for which the
 * phone's owner can set a password.
 */
async function expectNobodys(phone: string, victim: Someone, code: string, all: Someone[]) {
  const proven = await victim.verify(phone, code)
  expect(proven).toMatchObject({ status: 200, body: { user: { fullName: null } } })
  for (const { fullName } of all) expect(JSON.stringify(proven.body)).not.toContain(fullName)
  for (const one of all) expect(await one.logIn(phone)).toMatchObject(wrong)
  await database().query('delete from private.rate_hits where true')
  const fresh = await requestResetCode(phone)
  const newPassword = randomUUID()
  expect(
    await sendRaw({
      path: '/auth/password/reset',
      body: { identifier: phone, code: fresh, newPassword, confirmPassword: newPassword },
    }),
  ).toMatchObject({ status: 204 })
  expect(await signIn(phone, newPassword)).toBeDefined()
  expect(await attempts(phone)).toEqual([])
}

async function attempts(phone: string): Promise<boolean[]> {
  const { rows } = await database().query(
    `select sealed_password is not null as has from private.registrations
     where phone = $1 order by created_at`,
    [normalizedIdentifier(phone)],
  )
  return rows.map(({ has }) => has)
}

const causes: [
  name: string,
  cause: (one: Someone, phone: string) => Promise<void>,
  said: object,
][] = [
  [
    'for its address registered too many',
    ({ from }) => plantHits('register_address', from, 600),
    refusal(429, 'rate_limited'),
  ],
  [
    'for its address had too many codes',
    ({ from }) => plantHits('code_address', from, 10),
    refusal(429, 'rate_limited'),
  ],
  [
    'for its address had the codes of this number',
    ({ from }, phone) =>
      plantHits('code_unknown_hour', `${from} ${normalizedIdentifier(phone)}`, 2),
    refusal(429, 'rate_limited'),
  ],
  [
    'for the codes of this number are used up',
    (_, phone) => plantHits('code_unknown_all_hour', normalizedIdentifier(phone), 6),
    refusal(429, 'rate_limited'),
  ],
  [
    'because the service is full',
    () => plantHits('code_service', 'all', 300),
    refusal(503, 'service_unavailable'),
  ],
]

const freed = () => database().query('delete from private.rate_hits where true')

describe.each(causes)('a registration that is refused %s', (_, cause, said) => {
  testFromAddresses('counts as an attempt after the attacker registered', async () => {
    const [attacker, victim] = two()
    const phone = newPhone()
    const { code } = await coded(attacker, phone)
    await ageCodes(phone, 45)
    await cause(victim, phone)
    expect(await victim.register(phone)).toMatchObject(said)
    expect(await attempts(phone)).toEqual([true, false])
    await expectNobodys(phone, victim, code, [attacker, victim])
  })

  testFromAddresses('counts as an attempt before the attacker registers', async () => {
    const [attacker, victim] = two()
    const phone = newPhone()
    await cause(victim, phone)
    expect(await victim.register(phone)).toMatchObject(said)
    await freed()
    const { code } = await coded(attacker, phone)
    await expectNobodys(phone, victim, code, [attacker, victim])
  })
})

testFromAddresses(
  "a resend refused for haste gives nothing of the attacker's earlier attempt",
  async () => {
    const [attacker, victim] = two()
    const phone = newPhone()
    const { code } = await coded(attacker, phone)
    expect(await victim.register(phone)).toMatchObject(refusal(429, 'otp_resend_too_soon'))
    expect(await attacker.logIn(phone)).toMatchObject(refusal(403, 'account_awaiting_otp'))
    expect(await victim.logIn(phone)).toMatchObject(wrong)
    await expectNobodys(phone, victim, code, [attacker, victim])
  },
)

testFromAddresses('nor does the code that the attacker has resent', async () => {
  const [attacker, victim] = two()
  const phone = newPhone()
  await coded(attacker, phone)
  await victim.register(phone)
  await ageCodes(phone, 45)
  const [code] = await codeSentBy(phone, () => attacker.resend(phone))
  await expectNobodys(phone, victim, code, [attacker, victim])
})

testFromAddresses('nor does it with two attackers, or with many at once', async () => {
  const [attacker, victim] = two()
  const other = someone('غريب آخر')
  const phone = newPhone()
  const { code: first } = await coded(attacker, phone)
  await victim.register(phone)
  await ageCodes(phone, 45)
  const { code: second } = await coded(other, phone)
  expect(second).not.toBe(first)
  expect(await attempts(phone)).toEqual([true, false, true])
  await expectNobodys(phone, victim, first, [attacker, other, victim])

  const crowded = newPhone()
  const crowd = Array.from({ length: 20 }, () => someone('جمع غفير'))
  const [code] = await codeSentBy(crowded, async () => {
    const replies = await race(crowd.map(({ from, password, fullName }) => ({
      path: '/auth/register',
      body: { identifier: crowded, password, fullName },
      from,
    })))
    return replies.find(({ status }) => status === 201)!
  })
  // All refused attempts are stored in a single row.
  expect((await attempts(crowded)).sort()).toEqual([false, true])
  await expectNobodys(crowded, crowd[0]!, code, crowd.slice(0, 8))
})

testFromAddresses('whoever names the attempt keeps password and name', async () => {
  const [attacker, victim] = two()
  const phone = newPhone()
  const { code, registrationId } = await coded(victim, phone)
  expect(await attacker.register(phone)).toMatchObject(refusal(429, 'otp_resend_too_soon'))
  // The code is rejected if the request names a different registration attempt.
  expect(await attacker.verify(phone, code, randomUUID())).toMatchObject(
    refusal(422, 'otp_invalid'),
  )
  expect(await victim.verify(phone, code, registrationId))
    .toMatchObject({ status: 200, body: { user: { fullName: victim.fullName } } })
  expect(await victim.logIn(phone)).toMatchObject({ status: 200 })
  expect(await attacker.logIn(phone)).toMatchObject(wrong)
  expect(await attempts(phone)).toEqual([])
})

testFromAddresses('the only attempt gives its password and name to its code alone', async () => {
  const [stranger, owner] = two()
  const phone = newPhone()
  const { code } = await coded(owner, phone)
  expect(await owner.verify(phone, code))
    .toMatchObject({ status: 200, body: { user: { fullName: owner.fullName } } })
  expect(await owner.logIn(phone)).toMatchObject({ status: 200 })
  expect(await stranger.register(phone)).toMatchObject(refusal(409, 'phone_taken'))
  expect(await attempts(phone)).toEqual([])
})

const malformed: [what: string, fields: object][] = [
  ['a short password', { password: 'short' }],
  ['no password', { password: undefined }],
  ['a name that is none', { fullName: 'س' }],
  ['an unknown key', { rememberMe: true }],
]

testFromAddresses.each(malformed)(
  'a registration that is refused for %s counts as an attempt',
  async (_, fields) => {
    for (const refusedFirst of [true, false]) {
      const [attacker, victim] = two()
      const phone = newPhone()
      const tooShort = async () =>
        expect(
          await sendRaw({
            path: '/auth/register',
            body: { identifier: phone, password: victim.password, ...fields },
            from: victim.from,
          }),
        ).toMatchObject({ status: 422 })
      if (refusedFirst) await tooShort()
      const { code } = await coded(attacker, phone)
      if (!refusedFirst) await tooShort()
      await expectNobodys(phone, victim, code, [attacker, victim])
    }
  },
)

testFromAddresses('an attempt counts for a day, and keeps its password for an hour', async () => {
  const [attacker, victim] = two()
  const phone = newPhone()
  await victim.register(phone)
  await ageCodes(phone, 3601)
  // The job deletes the expired password; the row remains, so the attempt still counts.
  for (const purged of [false, true]) {
    if (purged) await database().query('select private.purge_codes()')
    expect(await attempts(phone)).toEqual([!purged])
  }
  await freed()
  const { code } = await coded(attacker, phone)
  await expectNobodys(phone, victim, code, [attacker, victim])

  const later = newPhone()
  await attacker.register(later)
  await ageCodes(later, 86_390)
  await database().query('select private.purge_codes()')
  expect(await attempts(later)).toEqual([false])
  await ageCodes(later, 11)
  await freed()
  const own = await coded(victim, later)
  expect(await victim.verify(later, own.code))
    .toMatchObject({ status: 200, body: { user: { fullName: victim.fullName } } })
})

testFromAddresses('the code of an attempt ends with it, however fresh it is', async () => {
  const [early] = two()
  const other = newPhone()
  const { registrationId } = await coded(early, other)
  await ageCodes(other, 3500)
  await freed()
  const [late] = await codeSentBy(other, () => early.resend(other))
  await ageCodes(other, 101)
  for (const name of [undefined, registrationId]) {
    expect(await early.verify(other, late, name)).toMatchObject(refusal(410, 'otp_expired'))
  }
  expect(await attempts(other)).toEqual([true])
  await database().query('select private.purge_codes()')
  expect(await attempts(other)).toEqual([false])
})

testFromAddresses(
  "resending without naming the attempt gives the code of one's own attempt",
  async () => {
    const [attacker, victim] = two()
    const phone = newPhone()
    const own = await coded(victim, phone)
    await ageCodes(phone, 45)
    const theirs = await coded(attacker, phone)
    await ageCodes(phone, 45)
    const [again] = await codeSentBy(phone, () => victim.resend(phone))
    // The new code replaces the victim's earlier code and works only for the victim's own attempt.
    expect(await victim.verify(phone, own.code, own.registrationId))
      .toMatchObject(refusal(422, 'otp_invalid'))
    expect(await victim.verify(phone, again, theirs.registrationId))
      .toMatchObject(refusal(422, 'otp_invalid'))
    expect(await victim.verify(phone, again, own.registrationId)).toMatchObject({ status: 200 })
    expect(await victim.logIn(phone)).toMatchObject({ status: 200 })
  },
)

testLocally('sharing an address with a noisy client gets nobody refused unheard', async () => {
  const functions = await startFacade({ REFUSAL_RATE: '3' })
  try {
    const [attacker, victim] = two()
    const phone = newPhone()
    const headers = { 'x-forwarded-for': attacker.from }
    const { password } = attacker
    const post = (path: string, body: object) => functions.post(`/auth${path}`, body, headers)
    for (let i = 0; i < 5; i++) {
      expect(await post('/login', { identifier: phone, password })).toMatchObject(wrong)
      expect(await post('/refresh', { refreshToken: 'garbage' })).toMatchObject({ status: 401 })
      expect(await post('/register/verify-otp', { identifier: phone, code: '000000' }))
        .toMatchObject({ status: 422 })
      expect(await post('/google', { idToken: 'garbage' })).toMatchObject({ status: 401 })
    }
    const { code } = await coded(attacker, phone)
    const refused = await post('/register', {
      identifier: phone,
      password: victim.password,
      fullName: victim.fullName,
    })
    expect(refused).toMatchObject(refusal(429, 'otp_resend_too_soon'))
    await expectNobodys(phone, victim, code, [attacker, victim])
  } finally {
    await functions.stop()
  }
})
