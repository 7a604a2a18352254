/** Every limit of a field at its edge, on both sides; over HTTP and past the facade. */
import { beforeAll, expect, test } from 'vitest'
import { asCaller, database, guest, type Person, signUp } from '../support/client.ts'
import { asOthersSee, completeFields, createDraft, publishListing } from '../support/listings.ts'
import { insertOrganisation } from '../support/fixtures.ts'

const thisYear = Number(
  new Intl.DateTimeFormat('en', { timeZone: 'Asia/Kuwait', year: 'numeric' }).format(),
)
const times = (count: number, text = 'ب') => text.repeat(count)
const rent = { type: 'RENT' }
const exchange = { type: 'EXCHANGE' }

/** Values that a field accepts as they are, and values that it refuses. */
const edges: [field: string, taken: unknown[], refused: unknown[], beside?: { type: string }][] = [
  ['type', ['SALE', 'RENT', 'EXCHANGE'], ['sale', 'Sale', '', null, 1, 'AUCTION', '__proto__']],
  ['kind', ['apartment', 'parking'], ['flat', 'Villa', '', 1, [], 'constructor', times(4000, 'a')]],
  ['usage', ['coastal'], ['residential', true]],
  ['furnished', ['none', 'partial', 'full'], ['yes', false]],
  ['plotPosition', ['on_square'], ['middle']],
  ['finishing', ['demolition'], ['super']],
  ['documentType', ['usufruct'], ['deed']],
  ['titleAr', [times(5), times(120), times(120, '𐐀')], [times(4), times(121), '', '     ', 12345]],
  ['titleEn', [times(5, 'a'), times(120, 'a')], [times(4, 'a'), times(121, 'a'), {}]],
  ['descriptionAr', ['ب', times(4000), 'سطر\nسطر\tآخر'], ['', ' ', times(4001), []]],
  ['descriptionEn', ['a', times(4000, '🏡')], ['\n', times(4001, 'a')]],
  ['block', ['3', times(30)], ['', times(31), 3]],
  ['street', [times(120)], ['', times(121)]],
  ['building', [times(60)], ['', times(61)]],
  ['paciNo', ['00000000', '12345678'], ['1234567', '123456789', '1234567a', 12345678, '']],
  ['price', [0, 0.001, 99999999999.999], [-0.001, 100000000000, 0.0001, 12.3456, 1e15]],
  ['propertyIncome', [0, 0.001, 99999999999.999], [-1, 100000000000, 1.2345, '0']],
  ['landAreaM2', [1, 1.001, 10_000_000], [0, 0.999, 10_000_000.001, 1.0001, -1]],
  ['builtAreaM2', [1, 350.5, 10_000_000], [0, 0.999, 10_000_001, 350.12345]],
  ['bedrooms', [0, 100], [-1, 101, 1.5, '2']],
  ['bathrooms', [0, 100], [-1, 101, 1.5]],
  ['floorNo', [-10, 0, 200], [-11, 201, 0.5]],
  ['buildingYear', [1900, thisYear + 5], [1899, thisYear + 6, 1999.5]],
  ['requestYear', [1950, thisYear], [1949, thisYear + 1, 2000.5, '2000'], exchange],
  ['requiredYear', [1950, thisYear], [1949, thisYear + 1, 2000.5], exchange],
  ['isNegotiable', [true, false], ['true', 1, 'yes']],
  ['isDirect', [true, false], ['true', 0]],
  ['allowCall', [true, false], [1]],
  ['allowWhatsapp', [true, false], ['no']],
  ['allowChat', [true, false], [{}]],
  ['governorateId', ['capital', 'jahra'], ['kuwait', 'Capital', 5]],
  ['areaId', ['salmiya', 'subiya'], ['basra', 'Salmiya', ['salmiya']]],
  ['amenities', [[], ['pool'], [...'pool gym garden security'.split(' ')]], [
    ['pool', 'pool'],
    ['jacuzzi'],
    [null],
    'pool',
    { 0: 'pool' },
    Array(21).fill('pool'),
  ]],
  ['wantedKinds', [[], ['villa', 'house']], [['castle'], ['villa', 'villa']], exchange],
  ['wantedAreaIds', [[], ['salmiya']], [['basra'], 'salmiya'], exchange],
  ['location', [
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
  ['rentConditions', [
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
  ], rent],
  ['additionalExpenses', [
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
  ], rent],
]

let seller: Person
beforeAll(async () => {
  seller = await signUp()
})

/** Calls the function of the Data API with these fields, as the seller; rolled back. */
async function past(fields: unknown): Promise<{ code?: string; message?: string }> {
  return await asCaller(seller, async (client) => {
    await client.query('select api.create_property($1::jsonb)', [JSON.stringify(fields)])
    return {}
  }).catch(({ code, message }) => ({ code, message }))
}

test.each(edges)('%s is accepted up to its limits and refused beyond them', async (
  field,
  taken,
  refused,
  beside = { type: 'SALE' },
) => {
  for (const value of taken) {
    const written = await seller.post('/properties', { ...beside, [field]: value })
    expect(written, JSON.stringify(value)).toMatchObject({ status: 201, body: { [field]: value } })
  }
  const before = (await seller.get('/properties/mine?limit=1')).body.items[0]
  const own = await createDraft(seller, beside)
  for (const value of refused) {
    const fields = { ...beside, [field]: value }
    const codes = ['validation_failed', 'area_invalid']
    for (
      const reply of [
        await seller.post('/properties', fields),
        await seller.patch(`/properties/${own.id}`, { [field]: value }),
      ]
    ) {
      expect(reply.status, JSON.stringify(value)).toBe(422)
      expect(reply.body.error.code).toBeOneOf(codes)
      expect(reply.body.error.fields[0].path).toMatch(new RegExp(`^${field}(\\.|$)`))
    }
    // The same rule applies to a call of the function itself.
    const raw = await past(fields)
    expect({ value, ...raw }).toMatchObject({ value, code: 'PT422' })
    expect(raw.message).toBeOneOf(codes)
  }
  // Nothing was half done.
  expect((await seller.get(`/properties/${own.id}`)).body).toEqual(own)
  expect((await seller.get('/properties/mine?limit=2')).body.items[1]).toEqual(before)
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
  // To say that there is none is no harm.
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

  // Nor can it be taken away from one that is.
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
  // What never changes, and what triggers copy from elsewhere.
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
    'unlisted_for',
    'unlisted_since',
  ])
})
