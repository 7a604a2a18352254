import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  barePhone,
  mobilePrefixes,
  officePhone,
} from '../../functions/_shared/input/identifiers.ts'
import { plainLine, visibleLine } from '../../functions/_shared/input/texts.ts'
import { asCaller, database, guest, newEmail, newPhone, signUp } from '../support/client.ts'
import { codeSentBy, signUpByPhone, verifyCode } from '../support/codes.ts'
import { typedForms } from '../support/typed-forms.ts'
import { begin, verify } from './contact-requests.ts'
import { logIn, reset } from './password-requests.ts'

const forms = Object.entries(typedForms)
const stored = (one: string | null | undefined) => one || null

async function inSql(rule: string, values: string[]) {
  const { rows } = await database().query(
    `select ${rule} as made from unnest($1::text[]) with ordinality as given (value, index)
     order by given.index`,
    [values],
  )
  return rows.map(({ made }) => made)
}

test('REG-29 a phone, email, code or number is read in every form, alike in SQL and TypeScript', async () => {
  const values = [
    '51234567',
    '+965 5123-4567',
    'noura9@example.com',
    '042913',
    'KW-104233',
    '12/A-7',
  ]
  const cells = values.flatMap((value) =>
    forms.map(([name, form]) => ({ name, value, as: form(value) }))
  )
  const fromSql = await inSql('private.typed(given.value)', cells.map(({ as }) => as))
  cells.forEach(({ name, value, as }, index) => {
    expect(plainLine(as, 320), `${name} of ${value}`).toBe(value)
    expect(fromSql[index], `${name} of ${value}`).toBe(value)
  })

  // Text that cannot be read as an identifier must not become another one. SQL returns it
  // unchanged, so it matches nothing.
  const unreadable = ['5123456²', '①234', '𝟓1234567', 'a½', '5²@example.com', '⒈2']
  expect(unreadable.map((text) => plainLine(text, 320))).toEqual(unreadable.map(() => undefined))
  expect(await inSql('private.typed(given.value)', unreadable)).toEqual(unreadable)

  const nothing = ['', ' ', '\u200B', '\u200C', ' \u2068 \u200D\u2069\uFEFF']
  expect(nothing.map((text) => plainLine(text, 320))).toEqual(nothing.map(() => ''))
  expect(await inSql('private.typed(given.value)', nothing)).toEqual(nothing.map(() => null))

  // Digits, and joiners between letters, are kept in names.
  const names = [
    'علی\u200Cرضا',
    '\u200Cعلی\u200Cرضا\u200D',
    'سالم\u202Eعلي',
    '\u2068د. عمر\u2069 ٢',
    'क्\u200Dष',
    ' Ｓalem \u00AD  5² ',
    'سالم\u200Fالعنزي',
  ]
  const shown = names.map((name) => stored(visibleLine(name, 120)))
  expect(await inSql(`private.visible_line(given.value, 120, '')`, names)).toEqual(shown)
  expect(shown.slice(0, 4)).toEqual(['علی\u200Cرضا', 'علی\u200Cرضا', 'سالمعلي', 'د. عمر ٢'])
})

test('INP-23 what is typed is bounded before its marks go', async () => {
  const far = [
    '\u200B'.repeat(1281),
    `${'\u0301'.repeat(20)}\u200B${'\u0301'.repeat(20)}`,
    `5${'\u0301\u2068'.repeat(40)}`,
  ]
  expect(far.map((text) => plainLine(text, 320))).toEqual(far.map(() => undefined))
  for (const text of far) {
    await expect(database().query('select private.typed($1)', [text]))
      .rejects.toMatchObject({ code: 'PT422' })
  }
  const begun = performance.now()
  const joiners = `a${'\u200C'.repeat(1270)}b`
  for (let times = 0; times < 100; times++) expect(plainLine(joiners, 320)).toBe(joiners)
  expect(performance.now() - begun).toBeLessThan(1000)
})

test('REG-29 the prefixes of mobiles are the same in SQL and TypeScript', async () => {
  const { rows: [{ prefixes }] } = await database().query(
    'select private.mobile_prefixes() as prefixes',
  )
  expect(prefixes).toBe(mobilePrefixes)
  for (let first = 0; first < 10; first++) {
    const { rows: [{ phone }] } = await database().query('select private.phone_of($1) as phone', [
      `${first}1234567`,
    ])
    expect(phone).toBe(prefixes.split('|').includes(String(first)) ? `+965${first}1234567` : null)
  }
  const separated = [
    '00 965 (5123) 45.67',
    '[5123]–4567',
    '5123‑4567',
    '+965−5123—4567',
    '0012',
    '00966',
  ]
  expect(await inSql('private.bare_phone(private.typed(given.value))', separated))
    .toEqual(separated.map((phone) => barePhone(plainLine(phone, 20)!)))
  expect(separated.slice(0, 4).map((phone) => barePhone(plainLine(phone, 20)!)))
    .toEqual(['+96551234567', '51234567', '51234567', '+96551234567'])
})

test('REG-29 phones and emails sign in in every form', async () => {
  for (const { identifier, password } of [await signUpByPhone(), await signUp()]) {
    for (const [name, form] of forms) {
      expect((await logIn(form(identifier), password)).status, name).toBe(200)
    }
    expect((await logIn(`${identifier}²`, password)).status).toBe(422)
  }
})

const some = ['an isolate', 'an override to the right', 'Arabic digits', 'soft hyphens'] as const

test.each(some)('REG-29 with %s a person registers, resets and changes both', async (name) => {
  const form = typedForms[name]!
  const phone = newPhone()
  const password = randomUUID()
  const [code] = await codeSentBy(
    phone,
    () => guest.post('/auth/register', { identifier: form(phone), password }),
  )
  const halves = `${code.slice(0, 3)}–${code.slice(3)}`
  const { status, body } = await verifyCode(form(phone), form(halves))
  expect([status, body.user?.phone]).toEqual([200, `+965${phone}`])

  const [resetCode] = await codeSentBy(
    phone,
    () => guest.post('/auth/password/forgot', { identifier: form(phone) }),
  )
  const renewed = randomUUID()
  expect((await reset(form(phone), form(resetCode), renewed)).status).toBe(204)
  expect((await logIn(form(phone), renewed)).status).toBe(200)

  const people = [
    [await signUpByPhone(), 'email', newEmail()],
    [await signUp(), 'phone', newPhone()],
  ] as const
  for (const [person, kind, value] of people) {
    const [sent, begun] = await codeSentBy(value, () => begin(person, kind, form(value)))
    const changed = await verify(person, kind, {
      changeId: begun.body.changeId,
      code: form(sent),
    })
    expect(changed.status, kind).toBe(200)
    const { body: me } = await person.get('/auth/me')
    expect(me.user[kind]).toBe(kind === 'email' ? value : `+965${value}`)
  }
})

test('REG-29 a page of a company or office takes a landline as people write it', async () => {
  const taken = {
    '22334455': '+96522334455',
    '2233 4455': '+96522334455',
    '(965) 2233-4455': '+96522334455',
    '0096522334455': '+96522334455',
    '٢٢٣٣٤٤٥٥': '+96522334455',
    '96512345': '+96596512345',
    '245 6789': '+96522456789', // the format until October 2008
    '+965 4-812345': '+96524812345',
    '1 888 888': '+9651888888', // numbers like this still have seven digits
    '+9651888888': '+9651888888',
  }
  const refused = ['5123456', '9123456', '1234567', '223344556', '22334455/66', '0022334455']
  const given = [...Object.keys(taken), ...refused]
  const made = await inSql('private.office_phone(private.typed(given.value))', given)
  expect(made).toEqual(given.map((phone) => officePhone(plainLine(phone, 20)!)))
  expect(made.slice(0, -refused.length)).toEqual(Object.values(taken))

  const owner = await signUp()
  const { body: { id } } = await owner.post('/auth/identities', {
    type: 'office',
    nameAr: 'مكتب الديرة',
    licenceNo: randomUUID().toUpperCase(),
    licenceExpiresOn: '2040-01-01',
  })
  for (const phone of given) {
    const { status, body } = await owner.patch(`/auth/identities/${id}`, { phone, whatsapp: phone })
    const past = await asCaller(
      owner,
      (client) =>
        client.query('select api.update_identity($1, $2)', [id, { phone }])
          .then(() => 200, () => 422),
    )
    const shown = taken[phone as keyof typeof taken]
    expect([phone, status, past]).toEqual([phone, ...(shown ? [200, 200] : [422, 422])])
    if (shown) expect(body).toMatchObject({ phone: shown, whatsapp: shown })
  }
})
