import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import {
  database,
  guest,
  inboxOf,
  lastMessage,
  newEmail,
  newPhone,
  type Person,
  personOf,
  projectUrl,
  publishableKey,
  signUp,
} from '../support/client.ts'
import {
  ageCodes,
  codeSentBy,
  countAccounts,
  normalizedIdentifier,
  registerPhone,
  requestResetCode,
  signUpByPhone,
  verifyCode,
} from '../support/codes.ts'
import { sendRaw } from '../support/races.ts'
import { type Answer, type SmsStub, startSmsStub } from './stub-sms.ts'
import { refusal } from '../support/problems.ts'
import { type Facade, startFacade, testLocally } from '../support/facade.ts'
import { within } from '../support/promised-times.ts'
import { pause } from '../support/wait.ts'

async function atAuth(path: string, body: object, token = publishableKey) {
  const response = await fetch(`${projectUrl}/auth/v1${path}`, {
    method: path === '/user' ? 'PUT' : 'POST',
    headers: {
      apikey: publishableKey,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json().catch(() => null) }
}

test('SMS-01 Auth itself sends no codes and accepts none', async () => {
  const person = await signUpByPhone()
  const phone = normalizedIdentifier(person.identifier)
  const code = await requestResetCode(person.identifier)
  const sent = (await inboxOf(person.identifier)).length

  const changed = normalizedIdentifier(newPhone())
  await Promise.all([
    ...Array.from({ length: 20 }, () => atAuth('/otp', { phone })),
    ...Array.from({ length: 10 }, () => atAuth('/resend', { type: 'sms', phone })),
    ...Array.from({ length: 5 }, () => atAuth('/user', { phone: changed }, person.accessToken)),
    atAuth('/resend', { type: 'phone_change', phone: changed }),
    atAuth('/recover', { email: newEmail() }),
  ])
  for (const type of ['sms', 'phone_change']) {
    for (const number of [phone, changed]) {
      const { status, body } = await atAuth('/verify', { type, phone: number, token: code })
      expect([status, body?.access_token]).toEqual([403, undefined])
    }
  }
  expect(await inboxOf(person.identifier)).toHaveLength(sent)
  expect(await inboxOf(changed)).toEqual([])
  expect((await person.get('/auth/me')).body.user.phone).toBe(phone)

  const email = await signUp()
  await atAuth('/recover', { email: email.identifier })
  await atAuth('/otp', { email: email.identifier })
  expect(await inboxOf(email.identifier)).toEqual([])
})

test('SMS-05 each text shows its code, fits one part and holds nothing of the request', async () => {
  const evil = 'evil.example {code} %s'
  const phone = newPhone()
  const [register] = await codeSentBy(
    phone,
    () =>
      guest.post('/auth/register', { identifier: phone, password: randomUUID(), fullName: evil }),
  )
  const texts = [[await lastMessage(phone), register] as const]
  const owner = personOf((await verifyCode(phone, register)).body, phone, '')
  const reset = await requestResetCode(phone)
  texts.push([await lastMessage(phone), reset])
  const resend = { identifier: phone, purpose: 'delete' }
  const [remove] = await codeSentBy(phone, () => owner.post('/auth/otp/resend', resend))
  texts.push([await lastMessage(phone), remove])

  for (const [{ body }, code] of texts) {
    expect(body.match(/[0-9]{6}/g)).toEqual([code])
    expect(body.length).toBeLessThanOrEqual(70)
    expect(body).toMatch(/^[\p{Script=Arabic}0-9:\s]+$/u)
  }
  expect(new Set(texts.map(([{ body }, code]) => body.replace(code, ''))).size).toBe(3)
})

test('SMS-05 a code keeps its leading zeros', async () => {
  for (;;) {
    const { phone, code } = await registerPhone()
    if (!code.startsWith('0')) continue
    expect((await lastMessage(phone)).body).toMatch(new RegExp(`(^|\\D)${code}(\\D|$)`))
    break
  }
})

test('REG-23 no header of a request gets into what is sent', async () => {
  const { identifier } = await signUp()
  const names = ['Host', 'X-Forwarded-Host', 'Origin', 'Referer', 'X-Original-Host', 'Forwarded']
  const headers = names.map((name) => [name, 'evil.example'] as [string, string])
  const body = { identifier }
  expect(await sendRaw({ path: '/auth/password/forgot', body, headers })).toMatchObject({
    status: 202,
  })
  const message = await lastMessage(identifier)
  expect(message.body).toContain(message.code)
  expect(message.body).not.toContain('evil')
  expect(message.body).not.toContain('http')
})

describe('with an SMS provider', () => {
  let stub: SmsStub
  let live: Facade
  const twilio = {
    SMS_PROVIDER: 'twilio',
    SMS_ACCOUNT_SID: 'AC1',
    SMS_AUTH_TOKEN: 'token-of-the-provider',
    SMS_SENDER: 'Dar\nKuwait {code}',
    SMS_ANDROID_HASH: 'FA+9qCX9VSu',
    SMS_AUTOFILL_DOMAIN: 'my.longest-market.example',
  }

  beforeAll(async () => {
    if (!variable('LOCAL_STACK')) return
    stub = await startSmsStub()
    live = await startFacade({ ...twilio, SMS_URL: stub.url, ENVIRONMENT: 'production' })
  })
  afterAll(async () => {
    await live?.stop()
    await stub?.stop()
  })

  const changeTo = (
    { accessToken, password }: Person,
    contact: { phone: string } | { email: string },
    at: Facade,
  ) =>
    at.post(`/auth/me/${Object.keys(contact)[0]}`, { ...contact, currentPassword: password }, {
      authorization: `Bearer ${accessToken}`,
    })
  const register = (phone: string, at = live, password: string = randomUUID()) =>
    at.post('/auth/register', { identifier: phone, password })
  const to = (phone: string) => stub.sent.filter((sms) => sms.to === normalizedIdentifier(phone))
  const answer = (phone: string, given?: Answer) => {
    if (given) stub.answers.set(normalizedIdentifier(phone).slice(1), given)
    else stub.answers.delete(normalizedIdentifier(phone).slice(1))
  }
  const codeTo = (phone: string) => /[0-9]{6}/.exec(to(phone).at(-1)!.body)![0]

  testLocally('SMS-04 a configured provider sends, and no code is in any log', async () => {
    const phone = newPhone()
    expect(await register(phone)).toMatchObject({ status: 201 })
    expect(to(phone)).toEqual([{
      to: normalizedIdentifier(phone),
      body: expect.stringMatching(/^رمز التحقق لتفعيل حسابك: [0-9]{6}\nصالح لمدة 5 دقائق$/),
      sender: 'Dar\nKuwait {code}',
    }])
    const code = codeTo(phone)
    const verified = await live.post('/auth/register/verify-otp', { identifier: phone, code })
    expect(verified).toMatchObject({ status: 200 })
    const english = newPhone()
    await live.post(
      '/auth/register',
      { identifier: english, password: randomUUID() },
      { 'accept-language': 'en' },
    )
    expect(to(english)[0]!.body)
      .toMatch(/^Code to activate your account: [0-9]{6}\nValid for 5 minutes$/)

    await expect.poll(() => live.output()).toContain(verified.headers.get('x-request-id'))
    const log = live.output()
    const { accessToken, refreshToken } = verified.body
    for (const secret of [code, phone, accessToken, refreshToken, twilio.SMS_AUTH_TOKEN]) {
      expect(log.includes(secret)).toBe(false)
    }
    expect(await inboxOf(phone)).toEqual([])
    expect((await live.get('/health')).body.sms).toBe('live')
  })

  test.each([
    ['android', /\nFA\+9qCX9VSu$/],
    ['web', /: ([0-9]{6})\n@my\.longest-market\.example #\1$/],
  ])('SMS-05 a code asked for on %s is read by itself, in one part', async (smsFor, ending) => {
    if (!variable('LOCAL_STACK')) return
    const [phone, next] = [newPhone(), newPhone()]
    const password = randomUUID()
    const sentTo = async (number: string, path: string, body: object, token?: string) => {
      await ageCodes(number, 60)
      const before = to(number).length
      const { status } = await live.post(path, { ...body, smsFor }, {
        ...(token && { authorization: `Bearer ${token}` }),
      })
      expect([201, 202]).toContain(status)
      await expect.poll(() => to(number).length).toBe(before + 1)
      return to(number).at(-1)!.body
    }
    const identifier = phone
    const texts = [await sentTo(phone, '/auth/register', { identifier, password })]
    const { body: { accessToken } } = await live.post('/auth/register/verify-otp', {
      identifier,
      code: codeTo(phone),
    })
    for (const purpose of ['delete', 'change']) {
      texts.push(await sentTo(phone, '/auth/otp/resend', { identifier, purpose }, accessToken))
    }
    texts.push(await sentTo(phone, '/auth/password/forgot', { identifier }))
    const change = { phone: next, currentPassword: password }
    texts.push(await sentTo(next, '/auth/me/phone', change, accessToken))

    for (const text of texts) {
      expect(text).toMatch(ending)
      expect(text).not.toContain('دقائق')
      expect(text.length).toBeLessThanOrEqual(70)
    }
    expect(new Set(texts.map((text) => text.split(':')[0])).size).toBe(5)
  })

  const failures: [what: string, answer: Answer][] = [
    ['never answers', () => {}],
    ['breaks off', (response) => response.destroy()],
    ['fails', (response) => response.writeHead(500).end('<html>')],
    ['is busy', (response) => response.writeHead(429, { 'retry-after': '1' }).end('{}')],
    ['refuses the number', (response) => response.writeHead(400).end('{"code": 21211}')],
  ]

  describe.concurrent('that lets us down', () => {
    for (const [what, failure] of failures) {
      testLocally(
        `SMS-03 and ${what}: a clean message, and one SMS at most`,
        async ({ expect }) => {
          const phone = newPhone()
          const password = randomUUID()
          answer(phone, failure)
          const reply = await within(
            'a code that is not sent is answered for',
            () => register(phone, live, password),
          )
          expect(reply).toMatchObject({
            status: 502,
            body: {
              error: {
                code: 'sms_send_failed',
                message: 'تعذر إرسال الرسالة النصية، حاول مرة أخرى',
              },
            },
          })
          answer(phone)
          expect(to(phone)).toHaveLength(1)
          expect(await countAccounts(phone)).toBe(0)

          // The registration attempt is still open, and another code can be requested.
          expect(await live.post('/auth/login', { identifier: phone, password }))
            .toMatchObject(refusal(403, 'account_awaiting_otp'))
          await ageCodes(phone, 45)
          expect(await live.post('/auth/otp/resend', { identifier: phone, purpose: 'register' }))
            .toMatchObject({ status: 202 })
          await expect.poll(() => to(phone)).toHaveLength(2)
          const given = { identifier: phone, code: codeTo(phone) }
          expect(await live.post('/auth/register/verify-otp', given)).toMatchObject({ status: 200 })
          expect(await live.post('/auth/login', { identifier: phone, password }))
            .toMatchObject({ status: 200 })
        },
      )
    }

    testLocally('SMS-03 and takes a while: it is waited for', async () => {
      const phone = newPhone()
      answer(phone, (response) => {
        void pause(400, 'time is the subject').then(() => response.writeHead(201).end('{}'))
      })
      expect(await register(phone)).toMatchObject({ status: 201 })
      expect(to(phone)).toHaveLength(1)
    })

    testLocally(
      'SMS-03 and never answers: asking for a reset code does not wait',
      async ({ expect }) => {
        const { identifier } = await signUpByPhone()
        answer(identifier, () => {})
        expect(await live.post('/auth/password/forgot', { identifier })).toMatchObject({
          status: 202,
        })
        await expect.poll(() => to(identifier)).toHaveLength(1)
      },
    )
  })

  testLocally('SMS-03 failures of the other providers are recognised', async () => {
    const others = [
      {
        SMS_PROVIDER: 'kwtsms',
        SMS_USERNAME: 'u',
        SMS_PASSWORD: 'long-enough-for-kwtsms',
        SMS_SENDER: 'DAR',
      },
      { SMS_PROVIDER: 'unifonic', SMS_APP_SID: 'long-enough-for-unifonic', SMS_SENDER: 'DAR' },
    ]
    for (const settings of others) {
      const functions = await startFacade({ ...settings, SMS_URL: stub.url })
      try {
        const phone = newPhone()
        expect(await register(phone, functions)).toMatchObject({ status: 201 })
        // These two providers require the number without a plus sign.
        expect(stub.sent.at(-1)).toMatchObject({
          to: normalizedIdentifier(phone).slice(1),
          sender: 'DAR',
        })
        const refused = newPhone()
        answer(refused, (response) => {
          response.end(JSON.stringify({ result: 'ERROR', success: 'false', code: 'ERR010' }))
        })
        expect(await register(refused, functions)).toMatchObject(refusal(502, 'sms_send_failed'))
        expect(await changeTo(await signUp(), { phone: refused }, functions))
          .toMatchObject(refusal(502, 'sms_send_failed'))
        await expect.poll(() => functions.output()).toContain('ERR010')
      } finally {
        await functions.stop()
      }
    }
  })

  for (
    const [what, settings] of [
      ['without a provider', {}],
      ['with empty settings', { ...twilio, SMS_ACCOUNT_SID: '', SMS_AUTH_TOKEN: ' ' }],
      ['with some settings missing', { ...twilio, SMS_SENDER: undefined }],
    ] as [string, Record<string, string | undefined>][]
  ) {
    testLocally(`SMS-04 in production ${what} no code is made, and none is logged`, async () => {
      const functions = await startFacade({ ...settings, ENVIRONMENT: 'production' })
      try {
        const phone = newPhone()
        const off = refusal(503, 'sms_not_configured')
        const reply = await register(phone, functions)
        expect(reply).toMatchObject(off)
        expect([reply.headers.get('retry-after'), reply.body.error.retryAfter]).toEqual([
          null,
          undefined,
        ])
        for (const purpose of ['register', 'reset']) {
          expect(await functions.post('/auth/otp/resend', { identifier: phone, purpose }))
            .toMatchObject(off)
        }
        expect(await functions.post('/auth/password/forgot', { identifier: phone }))
          .toMatchObject(off)
        const { rows } = await database().query('select from private.codes where identifier = $1', [
          normalizedIdentifier(phone),
        ])
        expect(rows).toEqual([])
        expect((await functions.get('/health')).body.sms).toBe('off')

        // A request for a code by email gets the usual response; the log says that email is not configured.
        const person = await signUp()
        expect(await changeTo(person, { phone }, functions)).toMatchObject(off)
        const unsent = await changeTo(person, { email: newEmail() }, functions)
        expect(unsent).toMatchObject(refusal(503, 'mail_not_configured'))
        expect([unsent.headers.get('retry-after'), unsent.body.error.retryAfter])
          .toEqual([null, undefined])
        expect(await functions.post('/auth/password/forgot', { identifier: person.identifier }))
          .toMatchObject({ status: 202 })
        await expect.poll(() => functions.output()).toContain('mail_not_configured')
        expect(functions.output()).not.toMatch(/[^0-9a-f-][0-9]{6}[^0-9a-f-]/)
        expect(await inboxOf(person.identifier)).toEqual([])
        expect(
          await functions.post('/auth/login', {
            identifier: person.identifier,
            password: person.password,
          }),
        ).toMatchObject({ status: 200 })
      } finally {
        await functions.stop()
      }
    })
  }

  testLocally(
    'SMS-04 with wrong settings the provider refuses, and nobody learns a code',
    async () => {
      // The test starts its own process, because a process does not repeat an alarm within ten seconds.
      const functions = await startFacade({ ...twilio, SMS_URL: stub.url })
      try {
        const phone = newPhone()
        answer(phone, (response) => response.writeHead(401).end('{"code": 20003}'))
        expect(await register(phone, functions)).toMatchObject(refusal(502, 'sms_send_failed'))
        await expect.poll(() => functions.output()).toContain('20003')
        expect(functions.output()).not.toContain(codeTo(phone))
      } finally {
        await functions.stop()
      }
    },
  )

  testLocally(
    'SMS-04 an unknown provider keeps the functions from starting, and is named',
    async () => {
      const functions = await startFacade({ SMS_PROVIDER: 'pigeon' })
      try {
        expect((await fetch(`${functions.url}/health`)).status).toBe(503)
        await expect.poll(() => functions.output()).toContain(
          'SMS_PROVIDER must be one of twilio, kwtsms, unifonic',
        )
        expect(functions.output()).not.toContain('pigeon')
      } finally {
        await functions.stop()
      }
    },
  )

  testLocally('SMS-04 in development the code is shown in the log and in the inbox', async () => {
    const functions = await startFacade({ ENVIRONMENT: 'local' })
    try {
      const phone = newPhone()
      expect(await register(phone, functions)).toMatchObject({ status: 201 })
      const { code } = await lastMessage(phone)
      await expect.poll(() => functions.output()).toContain(code)
      expect((await functions.get('/health')).body.sms).toBe('mock')
    } finally {
      await functions.stop()
    }
  })
})
