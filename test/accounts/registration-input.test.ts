import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { database, guest, newEmail, newPhone } from '../support/client.ts'
import { countAccounts } from '../support/codes.ts'
import { fieldRefusal, refusal } from '../support/problems.ts'
import { arabic, persian } from '../support/typed-forms.ts'
import { register } from './password-requests.ts'

const wide = (text: string) =>
  text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0))

const phoneFrom = (first: number) => first + newPhone().slice(1)

test('REG-01 every spelling of a Kuwaiti mobile is taken, and stored in one form', async () => {
  const spellings: [phone: string, typed: (phone: string) => string][] = [
    [phoneFrom(5), (phone) => `+965${phone}`],
    [phoneFrom(5), (phone) => `965${phone}`],
    [phoneFrom(5), (phone) => phone],
    [phoneFrom(6), (phone) => phone],
    [phoneFrom(9), (phone) => phone],
    [newPhone(), (phone) => ` ${phone}\n`],
    [newPhone(), arabic],
    [newPhone(), persian],
    [newPhone(), (phone) => wide(`+965${phone}`)],
    [newPhone(), (phone) => arabic(phone.slice(0, 4)) + phone.slice(4)],
    [newPhone(), (phone) => `00965${phone}`],
    [newPhone(), (phone) => `\u202D+965 ${phone.slice(0, 4)} ${phone.slice(4)}\u202C`],
    [newPhone(), (phone) => `(00965) ${phone.slice(0, 4)}-${phone.slice(4)}`],
    [newPhone(), (phone) => phone.replace(/(..)(?=.)/g, '$1.')],
  ]
  for (const [phone, typed] of spellings) {
    const reply = await register(typed(phone))
    expect(reply, typed(phone)).toMatchObject({ status: 201, body: { status: 'awaiting_otp' } })
    expect(reply.body).toEqual({
      status: 'awaiting_otp',
      registrationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      otp: { resendAfter: 45, expiresIn: 300 },
    })
    const { rows } = await database().query(
      'select phone from private.registrations where id = $1',
      [
        reply.body.registrationId,
      ],
    )
    expect(rows).toEqual([{ phone: `+965${phone}` }])
    expect(await countAccounts(phone)).toBe(0)
  }
})

test('REG-01 emails are taken in lower case with an ASCII domain', async () => {
  const name = randomUUID()
  for (
    const [typed, stored] of [
      [`${name}@example.com`, `${name}@example.com`],
      [`${name}.X@Example.COM`, `${name}.x@example.com`],
      [` ${name}+tag@example.com \n`, `${name}+tag@example.com`],
      [`${name}@münchen.example`, `${name}@xn--mnchen-3ya.example`],
      [wide(`${name}.w@example.com`), `${name}.w@example.com`],
      [`${'a'.repeat(28)}${name}@example.com`, `${'a'.repeat(28)}${name}@example.com`],
    ] as const
  ) {
    const reply = await register(typed)
    expect(reply, typed).toMatchObject({ status: 201, body: { status: 'active' } })
    const { rows } = await database().query(
      'select email, phone, email_proven, status from public.accounts where id = $1',
      [reply.body.accountId],
    )
    expect(rows).toEqual([{ email: stored, phone: null, email_proven: false, status: 'active' }])
  }
})

const neither = [
  '41234567',
  '21234567',
  '5123456',
  '512345678',
  '0051234567',
  '009660512345678',
  '+965+96551234567',
  '+9665123456',
  '+966512345678',
  '5123_4567',
  '5123,4567',
  '5123\u200D4567',
  '5123456²',
  '51234567x',
  'user@',
  '@x.com',
  'a b@x.com',
  'a\n@x.com',
  'x@x..com',
  'x@x',
  'x@.com',
  'x@-x.com',
  'x@x.com.',
  'x@@x.com',
  'x@y@x.com',
  '.x@x.com',
  'x..y@x.com',
  'é@x.com',
  'x@x.c',
  `${'a'.repeat(65)}@example.com`,
  `${'a'.repeat(60)}@${'b.'.repeat(100)}com`,
  `${'a'.repeat(288)}@example.com`,
  '',
  ' ',
]

test('REG-01 what is neither email nor Kuwaiti mobile is refused, in SQL as well', async () => {
  const invalid = fieldRefusal(422, 'identifier_invalid', 'identifier')
  for (
    const identifier of [...neither, 51234567, ['51234567'], { phone: '51234567' }, true]
  ) {
    expect(await register(identifier), JSON.stringify(identifier)).toMatchObject(invalid)
  }
  for (const identifier of [undefined, null]) {
    expect(await guest.post('/auth/register', { identifier, password: randomUUID() }))
      .toMatchObject(fieldRefusal(422, 'validation_failed', 'identifier'))
  }
  for (const identifier of neither) {
    for (const column of ['email', 'phone']) {
      const insert = database().query(
        `insert into public.accounts (id, ${column}) values (gen_random_uuid(), $1)`,
        [identifier],
      )
      await expect(insert, identifier).rejects.toMatchObject({ code: '23514' })
    }
  }
})

test('REG-01 passwords need 8 code points and fit 72 bytes, names 2 to 120 characters', async () => {
  const email = newEmail()
  const given = (more: object) => register(newEmail(), more)
  expect(await given({ password: '1234567' })).toMatchObject(
    fieldRefusal(422, 'password_too_short', 'password'),
  )
  expect(await given({ password: '😀'.repeat(7) })).toMatchObject(
    refusal(422, 'password_too_short'),
  )
  expect(await given({ password: 'ك'.repeat(37) })).toMatchObject(
    fieldRefusal(422, 'password_too_long', 'password'),
  )
  expect(await given({ password: 'a'.repeat(73) })).toMatchObject(refusal(422, 'password_too_long'))
  expect(await given({ confirmPassword: 'another one' }))
    .toMatchObject(fieldRefusal(422, 'password_mismatch', 'confirmPassword'))
  for (const password of ['12345678', '😀'.repeat(8), 'ك'.repeat(36), 'a'.repeat(72)]) {
    const identifier = newEmail()
    expect(await guest.post('/auth/register', { identifier, password, confirmPassword: password }))
      .toMatchObject({ status: 201 })
    expect(await guest.post('/auth/login', { identifier, password })).toMatchObject({ status: 200 })
    // A longer password is wrong even if its first 72 bytes, the most that bcrypt reads, are correct.
    if (password.length === 72) {
      expect(await guest.post('/auth/login', { identifier, password: `${password}a` }))
        .toMatchObject(refusal(401, 'invalid_credentials'))
    }
  }

  for (
    const fullName of ['س', 'س'.repeat(121), '', '  ', 'سالم\u3164علي', 'a\u0000b', 7, ['سالم']]
  ) {
    expect(await given({ fullName }), JSON.stringify(fullName))
      .toMatchObject(fieldRefusal(422, 'validation_failed', 'fullName'))
  }
  for (const fullName of ['سا', 'س'.repeat(120)]) {
    expect(await given({ fullName })).toMatchObject({ status: 201 })
  }
  expect(await register(email, { fullName: '  سالم \n  العنزي ' })).toMatchObject({ status: 201 })
  expect(await register(newEmail(), { smsFor: 'ios' })).toMatchObject({ status: 201 })
  expect(await register(newEmail(), { role: 'admin' }))
    .toMatchObject(fieldRefusal(422, 'validation_failed', 'role'))
})

test.each(['/auth/register', '/auth/register/individual'])(
  'REG-01 %s without a body is refused',
  async (path) => {
    expect((await guest.post(path)).body.error).toMatchObject({
      code: 'validation_failed',
      fields: [{ path: 'identifier', code: 'required' }, { path: 'password', code: 'required' }],
    })
  },
)

test('REG-01 the longer path of the route does the same', async () => {
  const body = { identifier: newEmail(), password: randomUUID(), fullName: 'منى' }
  const reply = await guest.post('/auth/register/individual', body)
  expect(reply).toMatchObject({ status: 201, body: { status: 'active' } })
  const { body: session } = await guest.post('/auth/login', {
    identifier: body.identifier,
    password: body.password,
  })
  expect(session.activeIdentity).toMatchObject({ type: 'individual', displayName: 'منى' })
})
