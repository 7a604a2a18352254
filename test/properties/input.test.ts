import { randomInt } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { asCaller, database, type Person, signUp } from '../support/client.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { bulk } from '../support/nightly.ts'

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

let seller: Person
beforeAll(async () => {
  seller = await signUp()
})

test('INP-04 every number is accepted exactly or refused, never rounded or guessed', async () => {
  const strange = [
    ...['1e400', '-1e400', '1e-400', '9007199254740993', '9223372036854775808', '"NaN"', 'NaN'],
    ...['"Infinity"', '"-Infinity"', 'Infinity', '"1e3"', '"0x10"', '0x10', '"1,000"', '"١٢٣"'],
    ...['" 5 "', 'true', '[]', '{}', '" "', '01', '+1', '1.', '.5', '12.3456', '1e308', '-1'],
    ...['650.12500000110000000001', '2.89449999999999999999', '9007199254740993.0000000000'],
  ]
  for (const field of ['price', 'propertyIncome', 'landAreaM2', 'bedrooms', 'requestYear']) {
    for (const value of strange) {
      const { status } = await seller.post('/properties', `{"type":"EXCHANGE","${field}":${value}}`)
      expect(status, `${field} ${value}`).toBe(isJson(value) ? 422 : 400)
    }
  }
  const numbers = [
    ...[['-0', 0], ['1e3', 1000], ['5.000', 5], ['0.1', 0.1], ['2.8999999999999999', 2.9]],
    ...[['2.8999999999999995904', 2.9], ['650.12500000099999999999', 650.125]],
  ]
  for (const [written, read] of numbers) {
    const { body } = await seller.post('/properties', `{"type":"SALE","price":${written}}`)
    expect(body.price).toBe(read)
    const { rows } = await database().query(
      'select price::text from public.properties where id = $1',
      [body.id],
    )
    expect(rows[0].price).toBe(String(read))
  }
})

test('INP-05 0 is 0, null and absent are no value, and nothing is filled in', async () => {
  const stored = async (id: string) =>
    (await database().query(
      'select property_income::text as income from public.properties where id = $1',
      [id],
    )).rows[0].income
  const type = 'SALE'
  for (
    const [fields, income] of [
      [{ type, propertyIncome: 0 }, 0],
      [{ type, propertyIncome: null }, null],
      [{ type }, null],
    ] as const
  ) {
    const { id, propertyIncome } = await createDraft(seller, fields)
    expect([propertyIncome, await stored(id)]).toEqual([income, income === 0 ? '0' : null])

    const path = `/properties/${id}`
    expect((await seller.patch(path, { propertyIncome: 0 })).body.propertyIncome).toBe(0)
    expect((await seller.patch(path, { bedrooms: 1 })).body.propertyIncome).toBe(0)
    expect((await seller.patch(path, { propertyIncome: null })).body.propertyIncome).toBe(null)
    expect(await stored(id)).toBe(null)
  }
  for (const kind of ['SALE', 'RENT', 'EXCHANGE']) {
    expect(await createDraft(seller, { type: kind, price: 0 })).toMatchObject({ price: 0 })
    expect(await createDraft(seller, { type: kind, price: null })).toMatchObject({ price: null })
    expect(await createDraft(seller, { type: kind })).toMatchObject({ price: null })
  }
  expect(await publishListing(seller, { price: 0 })).toMatchObject({
    price: 0,
    priceLabel: '0 د.ك',
  })
})

test('INP-06 money is returned unchanged', async () => {
  const amounts = [0.001, 999999999.999, 99999999999.999, 0.3]
  while (amounts.length < bulk(1000, 250)) amounts.push(randomInt(1, 2 ** 40) / 1000)
  // Each person sends values one by one, because requests of the same owner wait for each other anyway.
  const people = await Promise.all(Array.from({ length: 20 }, () => signUp()))
  await Promise.all(people.map(async (person, nth) => {
    for (let at = nth; at < amounts.length; at += people.length) {
      const price = amounts[at]
      const made = await person.post('/properties', `{"type":"SALE","price":${price}}`)
      expect(made).toMatchObject({ status: 201, body: { price } })
      const read = await person.get(`/properties/${made.body.id}`)
      expect(read).toMatchObject({ status: 200, body: { price } })
    }
  }))
  const { rows } = await database().query(
    'select price::text from public.properties where owner_identity_id = any ($1)',
    [people.map(({ identityId }) => identityId)],
  )
  expect(rows.map(({ price }) => price).sort()).toEqual(amounts.map(String).sort())
})

const round: [what: string, written: string, read?: string][] = [
  ['tashkeel', 'فِيلَّا لِلْبَيْعِ'],
  ['emoji with joiners', 'بيت العائلة 👨‍👩‍👧‍👦 الكبير'],
  ['4-byte characters', '𝒜𝒷𝒸 فيلا'],
  ['private use and U+FFFD', 'فيلا \uE000 \uFFFD للبيع'],
  ['direction marks', 'فيلا\u200F للبيع\u200E'],
  ['presentation forms', 'ﻓﻴﻼ ﻟﻠﺒﻴﻊ'],
  ['powers, fractions and ligatures', 'أرض ٥٠٠م² بسعر ٣½ ﷼'],
  ['letters and marks apart', 'فيلا ا\u0653خر شقة\u0651\u064E', 'فيلا آخر شقة\u064E\u0651'],
  ['wide spaces', '\u3000فيلا\u00A0\u2003للبيع\n ', 'فيلا للبيع'],
  ['markup', '<b>فيلا</b> & "بيت" \' -- ; drop'],
  ['percent and backslash', 'فيلا 100% \\ _ {} $1'],
]

test.each(round)('INP-08 %s are stored as typed, in NFC', async (_, written, read = written) => {
  const { id, titleAr } = await createDraft(seller, { titleAr: written })
  expect(titleAr).toBe(read)
  const { rows } = await asCaller(
    seller,
    (client) =>
      client.query('select api.create_property($1) as made', [{ type: 'SALE', titleAr: written }]),
  )
  expect(rows[0].made.titleAr).toBe(read)
  expect((await seller.get(`/properties/${id}`)).body.titleAr).toBe(read)
  expect((await seller.patch(`/properties/${id}`, { titleAr: read })).body.version).toBe(1)
})

const broken: [what: string, json: string][] = [
  ['a lone surrogate', '"فيلا للبيع \\ud800"'],
  ['a lone low surrogate', '"فيلا للبيع \\udc00"'],
  ['NUL', '"فيلا للبيع \\u0000"'],
  ['a C0 control', '"فيلا للبيع \\u0007"'],
  ['a C1 control', '"فيلا للبيع \\u0085\\u009f"'],
  ['an override of direction', '"فيلا \\u202e عيبلل"'],
  ['an isolate', '"فيلا \\u2066 للبيع"'],
  ['a byte order mark inside', '"فيلا\\ufeffللبيع"'],
  ['nothing but invisible characters', '"\\u200f\\u200f\\u200f\\u200f\\u200f\\u200d"'],
  ['nothing but spaces', '"          "'],
  ['10,000 combining marks', `"فيلا${'\\u064b'.repeat(10_000)}"`],
]

test.each(broken)('INP-08 %s is refused', async (_, json) => {
  for (const field of ['titleAr', 'titleEn', 'street']) {
    expect(await seller.post('/properties', `{"type":"SALE","${field}":${json}}`))
      .toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
  }
})

test('INP-08 what is stored as typed is judged in its plainest form', async () => {
  const judged = [
    ...[['titleAr', 'ﷺ', 'too_short'], ['titleAr', '㎡㎥㎏㎝㎞', undefined]],
    ...[['titleAr', 'ﷺ'.repeat(7), 'too_long'], ['titleAr', '①②③④⑤', 'invalid']],
    ...[['descriptionAr', '½'.repeat(1334), 'too_long'], ['descriptionAr', '½'.repeat(1333)]],
  ]
  for (const [field, text, code] of judged) {
    const { status, body } = await seller.post('/properties', { type: 'SALE', [field!]: text })
    expect(body.error?.fields ?? []).toMatchObject(code ? [{ path: field, code }] : [])
    expect([field, status]).toEqual([field, code ? 422 : 201])
    const past = asCaller(
      seller,
      (client) =>
        client.query('select api.create_property($1)', [{ type: 'SALE', [field!]: text }]).then(
          () => undefined,
          ({ detail }) => JSON.parse(detail).fields[0].code,
        ),
    )
    expect(await past).toBe(code)
  }
})

test('INP-08 an address is stored in its plainest form', async () => {
  const address = { block: '１٢', street: 'شارع Ｂ', building: '5\u00A0A' }
  expect(await createDraft(seller, address))
    .toMatchObject({ block: '1٢', street: 'شارع B', building: '5 A' })
})

test('INP-08 a description keeps its line breaks', async () => {
  const { descriptionAr } = await createDraft(seller, {
    descriptionAr: '\n  أول\r\nثان\n\n  ثالث \t',
  })
  expect(descriptionAr).toBe('أول\nثان\n\n  ثالث')
})

test('digits of a civil number may be Arabic', async () => {
  expect(await createDraft(seller, { paciNo: ' ١٢٣٤٥٦٧٨ ' })).toMatchObject({ paciNo: '12345678' })
  expect(await createDraft(seller, { paciNo: '۱۲۳۴۵۶۷۸' })).toMatchObject({ paciNo: '12345678' })
})

test('INP-14 of a key given twice the last is checked, stored and answered', async () => {
  const twice = await seller.post('/properties', '{"type":"SALE","price":5,"price":7}')
  expect(twice).toMatchObject({ status: 201, body: { price: 7 } })
  const { rows } = await database().query(
    'select price::text from public.properties where id = $1',
    [twice.body.id],
  )
  expect(rows[0].price).toBe('7')
  expect((await seller.post('/properties', '{"type":"SALE","price":5,"price":-7}')).status).toBe(
    422,
  )
  expect((await seller.post('/properties', '{"type":"SALE","price":5,"\\u0070rice":9}')).body)
    .toMatchObject({ price: 9 })
})

test('INP-10 deeply nested rent terms are refused', async () => {
  for (const depth of [5, 100, 10_000]) {
    const deep = '['.repeat(depth) + ']'.repeat(depth)
    for (const field of ['rentConditions', 'additionalExpenses']) {
      expect((await seller.post('/properties', `{"type":"RENT","${field}":${deep}}`)).status)
        .toBe(422)
    }
  }
})

test('a body that is not JSON is 400, one that is not an object 422, and nothing is written', async () => {
  const person = await signUp()
  for (const body of ['{', '{"type":"SALE"', 'type=SALE', '{"type":"SALE",}']) {
    expect(await person.post('/properties', body))
      .toMatchObject({ status: 400, body: { error: { code: 'body_not_json' } } })
  }
  for (const body of ['[]', 'null', '"SALE"', '5', '[{"type":"SALE"}]']) {
    expect((await person.post('/properties', body)).status).toBe(422)
  }
  expect((await person.post('/properties')).status).toBe(422)
  expect((await person.get('/properties/mine')).body.items).toEqual([])
})
