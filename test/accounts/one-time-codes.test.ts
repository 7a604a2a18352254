import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import {
  database,
  guest,
  inboxOf,
  newPhone,
  projectUrl,
  type Reply,
  secretKey,
  signIn,
} from '../support/client.ts'
import {
  ageCodes,
  codeSentBy,
  codeTries,
  countAccounts,
  countSessions,
  registerPhone,
  requestResetCode,
  signUpByPhone,
  verifyCode,
  wrongCode,
} from '../support/codes.ts'
import { race } from '../support/races.ts'
import { fieldRefusal, refusal } from '../support/problems.ts'
import { arabic } from '../support/typed-forms.ts'
import { register, reset } from './password-requests.ts'

const admin = createClient(projectUrl, secretKey, { auth: { persistSession: false } }).auth.admin

const resend = (identifier: string, more: object = {}) =>
  guest.post('/auth/otp/resend', { identifier, purpose: 'register', ...more })

test('REG-12 after five wrong tries a code is dead, even when entered correctly', async () => {
  const { phone, code, registrationId } = await registerPhone()
  for (let left = 4; left >= 0; left--) {
    expect(await verifyCode(phone, wrongCode(code, left + 1), registrationId)).toMatchObject({
      status: 422,
      body: { error: { code: 'otp_invalid', attemptsLeft: left, fields: [{ path: 'code' }] } },
    })
  }
  const dead = await verifyCode(phone, code, registrationId)
  expect(dead).toMatchObject(refusal(429, 'otp_locked'))
  expect(Number(dead.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await countAccounts(phone)).toBe(0)

  await ageCodes(phone, 45)
  const [fresh] = await codeSentBy(phone, () => resend(phone, { registrationId }))
  expect(await verifyCode(phone, fresh, registrationId)).toMatchObject({ status: 200 })
})

test('REG-12 forty wrong tries at once are not more than five', async () => {
  const { phone, code } = await registerPhone()
  const replies = await race(
    Array.from({ length: 40 }, (_, i) => ({
      path: '/auth/register/verify-otp',
      body: { identifier: phone, code: wrongCode(code, i + 1) },
    })),
  )
  const statuses = replies.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array(5).fill(422), ...Array(35).fill(429)])
  expect(await codeTries(phone)).toEqual([5])
  expect(await verifyCode(phone, code)).toMatchObject(refusal(429, 'otp_locked'))
})

test('REG-12 a guess without a name counts against every attempt on that number', async () => {
  const mine = await registerPhone()
  await ageCodes(mine.phone, 45)
  const others = await registerPhone(mine.phone)
  const wrong = [1, 2, 3, 4, 5, 6, 7].map((by) => wrongCode(mine.code, by))
    .filter((code) => code !== others.code)
  await verifyCode(mine.phone, wrong[0]!)
  await verifyCode(mine.phone, wrong[1]!, mine.registrationId)
  expect(await codeTries(mine.phone)).toEqual([1, 2])
  await verifyCode(mine.phone, others.code, randomUUID())
  expect(await verifyCode(mine.phone, mine.code)).toMatchObject({ status: 200 })
})

test('REG-13 a code works once', async () => {
  const { phone, code, registrationId } = await registerPhone()
  const first = await verifyCode(phone, code, registrationId)
  expect(first).toMatchObject({
    status: 200,
    body: {
      tokenType: 'bearer',
      user: { phone: `+965${phone}`, email: null, language: 'ar' },
      activeIdentity: { type: 'individual', status: 'active' },
    },
  })
  expect(await verifyCode(phone, code, registrationId)).toMatchObject(refusal(422, 'otp_invalid'))
  expect(await verifyCode(phone, code)).toMatchObject(refusal(422, 'otp_invalid'))
  expect(await countSessions(first.body.user.id)).toBe(1)
})

test('REG-13 a code sent twenty times at once works once', async () => {
  const { phone, code } = await registerPhone()
  const replies = await race(
    Array.from({ length: 20 }, () => ({
      path: '/auth/register/verify-otp',
      body: { identifier: phone, code },
    })),
  )
  const won = replies.filter(({ status }) => status === 200)
  expect(won).toHaveLength(1)
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 422]))
  expect(await countSessions(won[0]!.body.user.id)).toBe(1)
  expect(await countAccounts(phone)).toBe(1)
})

test('REG-14 a code lives for five minutes', async () => {
  const late = await registerPhone()
  await ageCodes(late.phone, 301)
  expect(await verifyCode(late.phone, late.code)).toMatchObject(refusal(410, 'otp_expired'))
  expect(await verifyCode(late.phone, late.code, late.registrationId))
    .toMatchObject(refusal(410, 'otp_expired'))

  const early = await registerPhone()
  await ageCodes(early.phone, 295)
  expect(await verifyCode(early.phone, early.code)).toMatchObject({ status: 200 })
})

test('REG-14 an attempt is gone after an hour', async () => {
  const { phone, password, registrationId } = await registerPhone()
  await ageCodes(phone, 3601)
  expect(await guest.post('/auth/login', { identifier: phone, password }))
    .toMatchObject(refusal(401, 'invalid_credentials'))
  expect(await resend(phone, { registrationId })).toMatchObject({ status: 202 })
  expect(await inboxOf(phone)).toHaveLength(1)
  await database().query('select private.purge_codes()')
  const { rows } = await database().query('select from private.registrations where id = $1', [
    registrationId,
  ])
  expect(rows).toEqual([])
})

test('REG-15 a code is for one number', async () => {
  const [one, two] = [await registerPhone(), await registerPhone()]
  // This fails if both codes happen to be equal; the probability is one in a million.
  expect(await verifyCode(two.phone, one.code)).toMatchObject(refusal(422, 'otp_invalid'))
  expect(await verifyCode(two.phone, one.code, one.registrationId))
    .toMatchObject(refusal(422, 'otp_invalid'))
  expect(await codeTries(two.phone)).toEqual([1])
  expect(await codeTries(one.phone)).toEqual([0])
  expect(await countAccounts(one.phone) + await countAccounts(two.phone)).toBe(0)
})

test('REG-15 a code is for one purpose', async () => {
  const attempt = await registerPhone()
  expect(await reset(attempt.phone, attempt.code)).toMatchObject(refusal(422, 'otp_invalid'))

  const person = await signUpByPhone()
  const code = await requestResetCode(person.identifier)
  expect(await verifyCode(person.identifier, code)).toMatchObject(refusal(422, 'otp_invalid'))
  expect(await person.post('/auth/me/delete', { code })).toMatchObject(refusal(422, 'otp_invalid'))
  expect(await person.get('/auth/me')).toMatchObject({ status: 200 })
  expect(await reset(person.identifier, code)).toMatchObject({ status: 204 })
})

test('REG-15 a resend invalidates the previous code', async () => {
  const { phone, code, registrationId } = await registerPhone()
  await ageCodes(phone, 45)
  const [fresh] = await codeSentBy(phone, () => resend(phone, { registrationId }))
  expect(await verifyCode(phone, code, registrationId)).toMatchObject(refusal(422, 'otp_invalid'))
  expect(await verifyCode(phone, fresh, registrationId)).toMatchObject({ status: 200 })
})

test('REG-15 a code of a deleted account is useless to whoever registers the number again', async () => {
  const person = await signUpByPhone()
  const old = await requestResetCode(person.identifier)
  await admin.deleteUser(person.id)
  expect(await reset(person.identifier, old)).not.toMatchObject({ status: 204 })
  await ageCodes(person.identifier, 45)
  const again = await signUpByPhone(person.identifier)
  expect(again.id).not.toBe(person.id)
  expect(await reset(person.identifier, old)).toMatchObject(refusal(422, 'otp_invalid'))
  expect(await signIn(again.identifier, again.password)).toBeDefined()
})

test('REG-16 a code is a text of six digits, and another shape costs no try', async () => {
  const { phone, code } = await registerPhone()
  const shapes = [
    code.slice(1),
    `${code}0`,
    `${code.slice(0, 5)}a`,
    `${code.slice(0, 3)}.${code.slice(3)}`,
    `${code}\n${code}`,
    '',
    Number(code),
    [code, '000000'],
    { $ne: '' },
    true,
    '1'.repeat(7000),
  ]
  for (const shape of shapes) {
    expect(await verifyCode(phone, shape)).toMatchObject(fieldRefusal(422, 'otp_invalid', 'code'))
  }
  for (const none of [undefined, null]) {
    expect(await verifyCode(phone, none))
      .toMatchObject(fieldRefusal(422, 'validation_failed', 'code'))
  }
  expect(await verifyCode(phone, '1'.repeat(1_000_000))).toMatchObject(
    refusal(413, 'body_too_large'),
  )
  expect(await codeTries(phone)).toEqual([0])
  expect(await verifyCode(phone, ` ${arabic(code)}`)).toMatchObject({ status: 200 })
})

test('REG-16 a code may begin with zeros', async () => {
  for (;;) {
    const { phone, code } = await registerPhone()
    expect(code).toMatch(/^[0-9]{6}$/)
    if (!code.startsWith('0')) continue
    expect(await verifyCode(phone, String(Number(code)))).toMatchObject(refusal(422, 'otp_invalid'))
    expect(await verifyCode(phone, code)).toMatchObject({ status: 200 })
    break
  }
})

test('REG-17 another code can be had from the 45th second on', async () => {
  let since = Date.now()
  const { phone, registrationId } = await registerPhone()
  const tooSoon = async (most: number) => {
    const reply = await resend(phone, { registrationId })
    expect(reply).toMatchObject(refusal(429, 'otp_resend_too_soon'))
    const { retryAfter, message } = reply.body.error
    expect(reply.headers.get('retry-after')).toBe(String(retryAfter))
    expect(message).toBe(`يمكنك طلب رمز جديد بعد ${retryAfter} ثانية`)
    expect(retryAfter).toBeLessThanOrEqual(most)
    expect(retryAfter).toBeGreaterThanOrEqual(most - 1 - (Date.now() - since) / 1000)
    expect(await register(phone)).toMatchObject(refusal(429, 'otp_resend_too_soon'))
  }
  await tooSoon(45)
  await ageCodes(phone, 15)
  await tooSoon(30)
  expect(await inboxOf(phone)).toHaveLength(1)

  await ageCodes(phone, 30)
  since = Date.now()
  const [second, reply] = await codeSentBy(phone, () => resend(phone, { registrationId }))
  expect(reply).toMatchObject({ status: 202, body: { resendAfter: 45 } })
  await tooSoon(45)
  await ageCodes(phone, 46)
  const [third] = await codeSentBy(phone, () => resend(phone, { registrationId }))
  expect(await inboxOf(phone)).toHaveLength(3)
  expect(await verifyCode(phone, second, registrationId)).toMatchObject({ status: 422 })
  expect(await verifyCode(phone, third, registrationId)).toMatchObject({ status: 200 })
})

test('REG-17 concurrent requests send one code', async () => {
  const { phone } = await registerPhone()
  await ageCodes(phone, 45)
  const replies = await race(
    Array.from({ length: 20 }, () => ({
      path: '/auth/otp/resend',
      body: { identifier: phone, purpose: 'register' },
    })),
  )
  expect(replies.filter(({ status }) => status === 202)).toHaveLength(1)
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(19)
  await expect.poll(() => inboxOf(phone)).toHaveLength(2)
})

test('REG-17 a resend answers alike for unregistered numbers, and sends nothing', async () => {
  const strip = ({ status, body, headers }: Reply) => {
    const names = [...headers.keys()].filter((name) => name !== 'date')
    return { status, body, names }
  }
  const known = await registerPhone()
  await ageCodes(known.phone, 45)
  const unknown = newPhone()
  expect(strip(await resend(unknown))).toEqual(strip(await resend(known.phone)))
  expect((await resend(unknown)).body.error.code).toBe((await resend(known.phone)).body.error.code)
  expect(await inboxOf(unknown)).toEqual([])
  for (const purpose of ['login', '', null, undefined, 'REGISTER']) {
    expect(await guest.post('/auth/otp/resend', { identifier: unknown, purpose }))
      .toMatchObject(fieldRefusal(422, 'validation_failed', 'purpose'))
  }
})
