import { beforeAll, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { asCaller, database, guest, type Person, signUp } from '../support/client.ts'
import { asOthersSee, completeFields, createDraft, publishListing } from '../support/listings.ts'
import { insertOrganisation } from '../support/fixtures.ts'

const times = (count: number, text = 'ب') => text.repeat(count)
const rent = { type: 'RENT' }
const exchange = { type: 'EXCHANGE' }

type Field = {
  name: string
  form: string
  vocabulary: string | null
  minimum: number
  maximum: number
  uses: string[]
}
type Edges = [taken: unknown[], refused: unknown[]]

const line = ({ minimum, maximum }: Field): Edges => [
  [times(minimum), times(maximum), times(maximum, '𐐀')],
  [' ', '     ', times(minimum - 1) || ' ', times(maximum + 1), 12345, {}],
]

/** By the form of a field: values that it accepts unchanged, and values that it refuses. */
const ofForm: Record<string, (field: Field, codes: string[]) => Edges> = {
  code: (_, [first]) => [
    [first],
    [
      'no_such_code',
      first!.toUpperCase(),
      1,
      true,
      [],
      [first],
      'constructor',
      times(4000, 'a'),
    ],
  ],
  codes: ({ maximum }, [first, ...more]) => [
    [[], [first], [first, ...more.slice(0, 3)]],
    [
      [first, first],
      ['no_such_code'],
      [null],
      first,
      { 0: first },
      Array(maximum + 1).fill(first),
    ],
  ],
  line,
  name: line,
  text: ({ maximum }) => [
    ['ب', 'سطر\nسطر\tآخر', times(maximum), times(maximum, '🏡')],
    [' ', '\n', times(maximum + 1), []],
  ],
  number: ({ minimum, maximum }) => [
    [minimum, minimum + 0.001, maximum],
    [minimum - 0.001, minimum + 0.0001, maximum + 1, 12.3456, 1e15, '0'],
  ],
  integer: ({ minimum, maximum }) => [
    [minimum, maximum],
    [minimum - 1, maximum + 1, minimum + 0.5, String(minimum)],
  ],
  'boolean, true': () => [[true, false], ['true', 'no', 1, 0, {}]],
  'boolean, false': () => [[true, false], ['true', 'no', 1, 0, {}]],
}

/** The accepted and refused values of fields whose form only they have. */
const ofField: Record<string, Edges> = {
  type: [['SALE', 'RENT', 'EXCHANGE'], ['sale', 'Sale', '', 1, 'AUCTION', '__proto__']],
  paciNo: [['00000000', '12345678'], ['1234567', '123456789', '1234567a', 12345678, ' ']],
  location: [[
    { lat: 28.45, lng: 46.5, precision: 'exact' },
    { lat: 30.15, lng: 48.8, precision: 'area' },
  ], [
    { lat: 28.4499, lng: 47, precision: 'exact' },
    { lat: 30.1501, lng: 47, precision: 'exact' },
    { lat: 29, lng: 46.4999, precision: 'exact' },
    { lat: 29, lng: 48.8001, precision: 'exact' },
    { lat: 29, precision: 'exact' },
    { lat: '29', lng: 48, precision: 'exact' },
    { lat: 29, lng: 48, precision: 'street' },
    { lat: 29, lng: 48, precision: 'exact', radius: 5 },
    [29, 48],
    '29,48',
  ]],
  rentConditions: [[
    [],
    [{ code: 'deposit_months', textAr: 'تأمين شهرين' }],
    Array.from({ length: 20 }, (_, i) => ({ code: 'other', textAr: `شرط ${i}` })),
    [{ code: 'other', textAr: times(300) }],
  ], [
    [{ code: 'no_smoking', textAr: 'ممنوع' }],
    [{ code: 'other' }],
    [{ code: 'other', textAr: '  ' }],
    [{ code: 'other', textAr: times(301) }],
    [{ textAr: 'بلا رمز' }],
    [{ code: 'other', textAr: 'شرط', amount: 5 }],
    [{ code: 'other', textAr: 5 }],
    ['families_only'],
    { code: 'families_only' },
    Array(21).fill({ code: 'families_only', textAr: 'للعائلات فقط' }),
  ]],
  additionalExpenses: [[
    [],
    [{ code: 'internet', labelAr: 'إنترنت', amount: 0, period: 'month' }],
    [{ code: 'commission', labelAr: 'عمولة', amount: 99999999999.999, period: 'once' }],
    Array.from({ length: 20 }, (_, i) => (
      { code: 'other', labelAr: `بند ${i}`, amount: i, period: 'year' }
    )),
  ], [
    [{ code: 'gold', labelAr: 'ذهب', amount: 1, period: 'month' }],
    [{ code: 'guard', labelAr: 'حارس', amount: -1, period: 'month' }],
    [{ code: 'guard', labelAr: 'حارس', amount: 0.0001, period: 'month' }],
    [{ code: 'guard', labelAr: 'حارس', amount: '5', period: 'month' }],
    [{ code: 'guard', labelAr: 'حارس', amount: 5, period: 'week' }],
    [{ code: 'guard', labelAr: 'حارس', amount: 5 }],
    [{ code: 'guard', labelAr: 'حارس', period: 'month' }],
    [{ code: 'other', amount: 5, period: 'month' }],
    Array(21).fill({ code: 'guard', labelAr: 'حارس', amount: 5, period: 'month' }),
  ]],
}

/** The listing type for fields that only one type has. */
const beside: Record<string, { type: string }> = {
  requestYear: exchange,
  requiredYear: exchange,
  wantedKinds: exchange,
  wantedAreaIds: exchange,
  rentConditions: rent,
  additionalExpenses: rent,
}

let seller: Person
let fields: Field[]

beforeAll(async () => {
  seller = await signUp()
  const { rows } = await database().query(
    `select name, form, vocabulary, minimum::float, maximum::float, uses
     from private.property_fields()`,
  )
  const { NewProperty } = (await guest.get('/openapi.json')).body.components.schemas
  // The previous version lacks fields that were added to the schema since.
  fields = variable('NEWER_SCHEMA')
    ? rows.filter(({ name }) => name in NewProperty.properties)
    : rows
})

async function codesOf(vocabulary: string | null): Promise<string[]> {
  const { rows } = await database().query(
    `select code from public.vocabularies where vocabulary = $1
     union all select id from public.areas where $1 = 'area'
     union all select id from public.governorates where $1 = 'governorate'`,
    [vocabulary],
  )
  return rows.map(({ code }) => code)
}

async function past(fields: unknown): Promise<{ code?: string; message?: string }> {
  return await asCaller(seller, async (client) => {
    await client.query('select api.create_property($1::jsonb)', [JSON.stringify(fields)])
    return {}
  }).catch(({ code, message }) => ({ code, message }))
}

async function checkEdges({ name, form, ...field }: Field) {
  const [taken, refused] = ofField[name] ??
    ofForm[form]!({ name, form, ...field }, await codesOf(field.vocabulary))
  const other = beside[name] ?? { type: 'SALE' }
  for (const value of taken) {
    const written = await seller.post('/properties', { ...other, [name]: value })
    expect(written, JSON.stringify(value)).toMatchObject({ status: 201, body: { [name]: value } })
  }
  if (form !== 'type') {
    const [cleared, emptied] = await Promise.all(
      [null, ''].map((none) => seller.post('/properties', { ...other, [name]: none })),
    )
    expect([name, emptied!.status, emptied!.body[name]]).toEqual([name, 201, cleared!.body[name]])
    expect(await past({ ...other, [name]: '' })).toEqual({})
  }
  const before = (await seller.get('/properties/mine?limit=1')).body.items[0]
  const own = await createDraft(seller, other)
  for (const value of refused) {
    const sent = { ...other, [name]: value }
    const codes = ['validation_failed', 'area_invalid']
    for (
      const reply of [
        await seller.post('/properties', sent),
        await seller.patch(`/properties/${own.id}`, { [name]: value }),
      ]
    ) {
      expect(reply.status, `${name} ${JSON.stringify(value)}`).toBe(422)
      expect(reply.body.error.code).toBeOneOf(codes)
      expect(reply.body.error.fields[0].path).toMatch(new RegExp(`^${name}(\\.|$)`))
    }
    const raw = await past(sent)
    expect({ name, value, ...raw }).toMatchObject({ name, value, code: 'PT422' })
    expect(raw.message).toBeOneOf(codes)
  }
  expect((await seller.get(`/properties/${own.id}`)).body).toEqual(own)
  expect((await seller.get('/properties/mine?limit=2')).body.items[1]).toEqual(before)
}

test.each([...Object.keys(ofForm), 'of its own'])(
  'a field of the form %s is accepted up to its limits and refused beyond them',
  async (form) => {
    const own = form === 'of its own'
    const found = fields.filter((field) => own ? field.name in ofField : field.form === form)
    expect(found).not.toEqual([])
    for (const field of found) await checkEdges(field)
  },
)

test('the description has the fields of the database, with the same limits and in the same order', async () => {
  const { NewProperty, PropertyChanges, Property, Card } =
    (await guest.get('/openapi.json')).body.components.schemas
  const names = fields.map(({ name }) => name)
  const known = ({ properties }: { properties: object }) =>
    Object.keys(properties).filter((name) => names.includes(name))
  expect(Object.keys(NewProperty.properties)).toEqual([...names, 'publish', 'uploadSessionId'])
  expect(Object.keys(PropertyChanges.properties)).toEqual(names)
  expect(known(Property)).toEqual(names)
  expect(known(Card))
    .toEqual(fields.filter(({ uses }) => uses.includes('card')).map(({ name }) => name))
  for (const { name, form, minimum, maximum } of fields) {
    const limits: Record<string, object> = {
      number: { minimum, maximum },
      // The last allowed year changes every year, so it is not tested here.
      integer: /Year$/.test(name) ? { minimum } : { minimum, maximum },
      line: { minLength: minimum, maxLength: maximum },
      name: { minLength: minimum, maxLength: maximum },
      text: { minLength: minimum, maxLength: maximum },
      codes: { maxItems: maximum },
      conditions: { maxItems: maximum },
      expenses: { maxItems: maximum },
    }
    expect({ name, ...NewProperty.properties[name] })
      .toMatchObject({ name, ...limits[form] })
  }
})

test('past the facade, too, only known fields are accepted', async () => {
  expect(await past({ type: 'SALE', price: 5 })).toEqual({})
  for (
    const fields of [
      ...[{}, { price: 5 }, { type: null }, { type: 'SALE', status: 'active' }],
      ...[{ type: 'SALE', owner_identity_id: seller.identityId }, {
        type: 'SALE',
        title_ar: 'عنوان',
      }],
      ...[{ type: 'SALE', lat: 29 }, { type: 'SALE', __proto__x: 1 }, [], 'SALE', 5, null, true],
    ]
  ) {
    expect(await past(fields), JSON.stringify(fields)).toMatchObject({ code: 'PT422' })
  }
})

test.each([
  ['RENT', { requestYear: 1990 }],
  ['RENT', { requiredYear: 1990 }],
  ['SALE', { requestYear: 1990 }],
  ['RENT', { wantedKinds: ['villa'] }],
  ['SALE', { wantedAreaIds: ['salmiya'] }],
  ['SALE', { rentConditions: [{ code: 'no_pets' }] }],
  ['EXCHANGE', { rentConditions: [{ code: 'no_pets' }] }],
  ['SALE', { additionalExpenses: [{ code: 'guard', amount: 5, period: 'month' }] }],
  ['EXCHANGE', { additionalExpenses: [{ code: 'guard', amount: 5, period: 'month' }] }],
])('%s does not know %j', async (type, fields) => {
  const [path] = Object.keys(fields)
  const refused = {
    status: 422,
    body: {
      error: {
        code: 'field_not_for_type',
        message: 'هذا الحقل لا ينطبق على نوع الإعلان',
        fields: [{ path, code: 'field_not_for_type' }],
      },
    },
  }
  expect(await seller.post('/properties', { type, ...fields })).toMatchObject(refused)
  const { id } = await createDraft(seller, { type })
  expect(await seller.patch(`/properties/${id}`, fields)).toMatchObject(refused)
  expect(await past({ type, ...fields }))
    .toEqual({ code: 'PT422', message: 'field_not_for_type' })
  const none = Array.isArray(Object.values(fields)[0]) ? [] : null
  expect((await seller.post('/properties', { type, [path!]: none })).status).toBe(201)
  expect((await seller.post('/properties', { type, [path!]: null })).status).toBe(201)
})

test('only an individual offers directly', async () => {
  const person = await signUp()
  const office = await insertOrganisation(person.id, 'office')
  await person.post('/auth/identity/switch', { identityId: office })
  const refused = {
    status: 422,
    body: { error: { code: 'validation_failed', fields: [{ path: 'isDirect', code: 'invalid' }] } },
  }
  expect(await person.post('/properties', { type: 'SALE', isDirect: true })).toMatchObject(refused)
  const { id } = await createDraft(person, { isDirect: false })
  expect(await person.patch(`/properties/${id}`, { isDirect: true })).toMatchObject(refused)
})

const publishing: [
  missing: string,
  type: keyof typeof completeFields,
  fields: object,
  code: string,
][] = [
  ['price', 'SALE', { price: null }, 'price_required'],
  ['price', 'RENT', { price: null }, 'price_required'],
  ['kind', 'SALE', { kind: null }, 'validation_failed'],
  ['areaId', 'RENT', { areaId: null }, 'validation_failed'],
  ['titleAr', 'EXCHANGE', { titleAr: null }, 'validation_failed'],
  ['landAreaM2', 'SALE', { landAreaM2: null }, 'validation_failed'],
  ['landAreaM2', 'RENT', { builtAreaM2: null }, 'validation_failed'],
  ['descriptionAr', 'EXCHANGE', { descriptionAr: null }, 'validation_failed'],
]

test.each(publishing)('without %s a listing for %s is not published', async (
  path,
  type,
  fields,
  code,
) => {
  const refused = { status: 422, body: { error: { code, fields: [{ path }] } } }
  const unfinished = { ...completeFields[type], ...fields }
  expect(await seller.post('/properties', { ...unfinished, publish: true })).toMatchObject(refused)
  const { id, status } = await createDraft(seller, unfinished)
  expect(status).toBe('draft')
  expect(await seller.post(`/properties/${id}/publish`)).toMatchObject(refused)

  const published = await publishListing(seller, { type })
  expect(await seller.patch(`/properties/${published.id}`, fields)).toMatchObject(refused)
  expect((await guest.get(`/properties/${published.id}`)).body).toEqual(asOthersSee(published))
})

test('all missing fields are named at once, and the price decides the code', async () => {
  const { body } = await seller.post('/properties', { type: 'RENT', publish: true })
  expect(body.error).toMatchObject({
    code: 'price_required',
    message: 'السعر مطلوب لإعلانات البيع والإيجار',
  })
  expect(body.error.fields.map(({ path }: { path: string }) => path).sort())
    .toEqual(['areaId', 'kind', 'landAreaM2', 'price', 'titleAr'])
})

test('an exchange says what it wants in text, kinds or areas', async () => {
  for (
    const extra of [
      ...[{ descriptionEn: 'Any house' }, { wantedKinds: ['house'] }, { wantedAreaIds: ['jahra'] }],
      { descriptionAr: 'أي بيت' },
    ]
  ) {
    const fields = { ...completeFields.EXCHANGE, descriptionAr: null, ...extra, publish: true }
    expect(await seller.post('/properties', fields)).toMatchObject({ status: 201 })
  }
})

test('save_property writes every column of a listing that owners and admins may change', async () => {
  const { rows } = await database().query<{ name: string; saved: boolean }>(
    `select attname as name, pg_get_functiondef('private.save_property'::regproc)
       ~ format('[^.]\\m%1$s = property\\.%1$s\\M', attname) as saved
     from pg_attribute
     where attrelid = 'public.properties'::regclass and attnum > 0
       and not attisdropped and attgenerated = ''
     order by attname`,
  )
  // These columns never change or are written by triggers.
  expect(rows.filter(({ saved }) => !saved).map(({ name }) => name)).toEqual([
    'auction_ends_at',
    'auction_starts_at',
    'created_at',
    'drop_pct',
    'drop_until',
    'id',
    'listed',
    'owner_active',
    'owner_identity_id',
    'owner_type',
    'owner_verified',
    'pause_reason',
    'pictures_version',
    'ref_no',
    'shown_lat',
    'shown_lng',
    'suspended_at',
    'unlisted_for',
    'unlisted_since',
    'was_closed',
  ])
})
