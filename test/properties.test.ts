import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from './client.ts'
import { complete, draft, offer } from './listings.ts'
import { organisationOf } from './world.ts'

const nobody = '00000000-0000-4000-8000-000000000000'

/** An error without what differs from one answer to the next. */
// deno-lint-ignore no-explicit-any
function problem({ status, body }: { status: number; body: any }) {
  const { requestId, ...error } = body.error
  expect(requestId).toBeTruthy()
  return { status, error }
}

/** Acts as another identity of the account. */
async function actAs(person: Person, identityId: string) {
  expect((await person.post('/auth/identity/switch', { identityId })).status).toBe(200)
}

test('a draft needs a type only, and its record has every field in the order of the contract', async () => {
  const seller = await signUp('منيرة الصباح')
  const { status, body } = await seller.post('/properties', { type: 'SALE' })

  expect(status).toBe(201)
  expect(Object.keys(body)).toEqual([
    ...['id', 'refNo', 'type', 'kind', 'usage', 'titleAr', 'titleEn', 'descriptionAr'],
    ...['descriptionEn', 'price', 'pricePeriod', 'priceLabel', 'isNegotiable', 'propertyIncome'],
    ...['requestYear', 'requiredYear', 'rentConditions', 'additionalExpenses', 'landAreaM2'],
    ...['builtAreaM2', 'bedrooms', 'bathrooms', 'floorNo', 'buildingYear', 'furnished'],
    ...['plotPosition', 'finishing', 'amenities', 'documentType', 'isDirect', 'governorateId'],
    ...['areaId', 'block', 'street', 'building', 'paciNo', 'location', 'media', 'owner'],
    ...['allowCall', 'allowWhatsapp', 'allowChat', 'status', 'isFavorite', 'viewsCount'],
    ...['favoritesCount', 'createdAt', 'publishedAt', 'confirmedAt', 'expiresAt', 'version'],
    // What we added.
    ...['wantedKinds', 'wantedAreaIds', 'auction', 'deal', 'statusReason', 'pendingChanges'],
  ])
  expect(body).toMatchObject({
    refNo: expect.stringMatching(/^KW-1\d{5,}$/),
    price: null,
    priceLabel: 'السعر غير معلن',
    isNegotiable: false,
    propertyIncome: null,
    rentConditions: [],
    amenities: [],
    location: null,
    media: [],
    owner: {
      identityId: seller.identityId,
      type: 'individual',
      displayName: 'منيرة الصباح',
      avatarUrl: null,
      verified: false,
    },
    allowCall: true,
    allowWhatsapp: true,
    allowChat: true,
    status: 'draft',
    isFavorite: false,
    publishedAt: null,
    expiresAt: null,
    version: 1,
  })
})

test('a price is labelled as its type asks: a rent by the month, none as undisclosed', async () => {
  const seller = await signUp()
  const labelled = async (fields: Record<string, unknown>) => {
    const { price, pricePeriod, priceLabel } = await offer(seller, fields)
    return [price, pricePeriod, priceLabel]
  }

  expect(await labelled({ type: 'RENT', price: 650 })).toEqual([650, 'month', '650 د.ك / شهرياً'])
  expect(await labelled({ type: 'SALE', price: 185000 })).toEqual([185000, 'once', '185,000 د.ك'])
  expect(await labelled({ type: 'SALE', price: 1234567.5 }))
    .toEqual([1234567.5, 'once', '1,234,567.5 د.ك'])
  expect(await labelled({ type: 'RENT', price: 0.125 })).toEqual([
    0.125,
    'month',
    '0.125 د.ك / شهرياً',
  ])
  expect(await labelled({ type: 'EXCHANGE' })).toEqual([null, null, 'السعر غير معلن'])
  expect(await labelled({ type: 'EXCHANGE', price: 5000 })).toEqual([5000, null, '5,000 د.ك'])
})

test('everything that was written is read as it was written', async () => {
  const seller = await signUp()
  const rent = {
    ...complete.RENT,
    usage: 'investment',
    titleEn: 'Sea view flat',
    descriptionAr: 'شقة بإطلالة بحرية\nالدور السابع',
    descriptionEn: 'Seventh floor',
    price: 650.25,
    isNegotiable: true,
    propertyIncome: 0,
    rentConditions: [
      { code: 'families_only', textAr: 'للعائلات الصغيرة' },
      { code: 'other', textAr: 'لا يسمح بالتدخين' },
    ],
    additionalExpenses: [{ code: 'guard', labelAr: 'حارس العمارة', amount: 5.5, period: 'month' }],
    landAreaM2: 1,
    bedrooms: 3,
    bathrooms: 0,
    floorNo: -1,
    buildingYear: 1999,
    furnished: 'partial',
    plotPosition: 'corner',
    finishing: 'deluxe',
    amenities: ['pool', 'gym'],
    documentType: 'free_deed',
    isDirect: true,
    governorateId: 'hawalli',
    block: '٣',
    street: 'شارع سالم المبارك',
    building: '12-أ',
    paciNo: '12345678',
    location: { lat: 29.33331, lng: 48.07777, precision: 'exact' },
    allowCall: false,
    allowWhatsapp: false,
    allowChat: false,
  }
  const written = await offer(seller, rent)
  const { body } = await guest.get(`/properties/${written.id}`)

  expect(body).toMatchObject({ ...rent, block: '٣' })
  expect(body).toEqual(written)

  const exchange = {
    requestYear: 1950,
    requiredYear: new Date().getUTCFullYear() - 1,
    wantedKinds: ['gov_house', 'villa'],
    wantedAreaIds: ['salmiya'],
  }
  expect(await offer(seller, { type: 'EXCHANGE', ...exchange })).toMatchObject(exchange)
})

test('a term without words of its own reads as in the vocabulary', async () => {
  const { rentConditions, additionalExpenses } = await offer(await signUp(), {
    type: 'RENT',
    rentConditions: [{ code: 'families_only' }],
    additionalExpenses: [{ code: 'guard', amount: 0, period: 'year', labelAr: null }],
  })
  expect(rentConditions).toEqual([{ code: 'families_only', textAr: 'للعائلات فقط' }])
  expect(additionalExpenses)
    .toEqual([{ code: 'guard', labelAr: 'حارس', amount: 0, period: 'year' }])
})

test('an area names its governorate, and one of another governorate is refused', async () => {
  const seller = await signUp()
  expect(await draft(seller, { areaId: 'salmiya' })).toMatchObject({ governorateId: 'hawalli' })
  expect(await draft(seller, { governorateId: 'ahmadi' })).toMatchObject({ areaId: null })

  const place = await draft(seller, { areaId: 'salmiya' })
  const refused = {
    status: 422,
    body: {
      error: {
        code: 'area_invalid',
        message: 'المنطقة لا تتبع المحافظة المختارة',
        fields: [{ path: 'areaId', code: 'area_invalid' }],
      },
    },
  }
  for (
    const fields of [
      { areaId: 'salmiya', governorateId: 'capital' },
      { areaId: 'atlantis' },
      { areaId: 'hawalli-' },
    ]
  ) {
    expect(await seller.post('/properties', { type: 'SALE', ...fields })).toMatchObject(refused)
  }
  const path = `/properties/${place.id}`
  expect(await seller.patch(path, { governorateId: 'capital' })).toMatchObject(refused)
  expect((await seller.patch(path, { areaId: 'jahra' })).body)
    .toMatchObject({ areaId: 'jahra', governorateId: 'jahra' })
  expect((await seller.patch(path, { governorateId: null })).body)
    .toMatchObject({ areaId: 'jahra', governorateId: 'jahra' })
  expect((await seller.patch(path, { areaId: null })).body)
    .toMatchObject({ areaId: null, governorateId: 'jahra' })
  expect(await seller.patch(path, { governorateId: 'basra' }))
    .toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
})

test('a point is shown within 250 m unless exact; its owner sees it as it is', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const at = { lat: 29.33331, lng: 48.07777 }
  const shown = async (person: Pick<Person, 'get'>, location: object) => {
    const { id } = await offer(seller, { location })
    return (await person.get(`/properties/${id}`)).body.location
  }

  for (const precision of ['block', 'area']) {
    const near = { lat: 29.3325, lng: 48.0775, precision }
    expect(await shown(guest, { ...at, precision })).toEqual(near)
    expect(await shown(buyer, { ...at, precision })).toEqual(near)
    expect(await shown(seller, { ...at, precision })).toEqual({ ...at, precision })
  }
  expect(await shown(guest, { ...at, precision: 'exact' })).toEqual({ ...at, precision: 'exact' })
  expect(await shown(guest, at)).toMatchObject({ precision: 'block' })
})

test('what may not be seen looks like what is not there, for everybody and on every method', async () => {
  const [seller, stranger] = [await signUp(), await signUp()]
  const hidden = await draft(seller, complete.SALE)
  const own = await draft(stranger)
  const company = await organisationOf(stranger.id)

  const acts = ['publish', 'pause', 'resume', 'renew', 'archive', 'restore', 'mark-sold']
    .concat('mark-rented', 'mark-exchanged', 'confirm-available')
  const auction = {
    startsAt: new Date(Date.now() + 3_600_000).toISOString(),
    endsAt: new Date(Date.now() + 9_000_000).toISOString(),
    startPrice: 1,
    minIncrement: 1,
  }
  const asked = (id: string) => [
    stranger.get(`/properties/${id}`),
    stranger.patch(`/properties/${id}`, { price: 1 }),
    stranger.delete(`/properties/${id}`),
    ...acts.map((act) => stranger.post(`/properties/${id}/${act}`)),
    stranger.get(`/properties/${id}/price-history`),
    stranger.get(`/properties/${id}/similar`),
    stranger.post(`/properties/${id}/contact`, { kind: 'chat' }),
    stranger.post(`/properties/${id}/auction`, auction),
    stranger.delete(`/properties/${id}/auction`),
  ]
  const missing = (await Promise.all(asked(nobody))).map(problem)
  expect(new Set(missing.map(({ status }) => status))).toEqual(new Set([404]))
  expect(missing[0]!.error).toMatchObject({
    code: 'property_not_found',
    message: 'العقار غير موجود أو تم حذفه',
  })
  expect((await Promise.all(asked(hidden.id))).map(problem)).toEqual(missing)
  expect(problem(await guest.get(`/properties/${hidden.id}`))).toEqual(missing[0])

  // So is one's own of another identity.
  await actAs(stranger, company)
  expect((await Promise.all(asked(own.id))).map(problem)).toEqual(missing)
  expect((await seller.get(`/properties/${hidden.id}`)).body).toEqual(hidden)
})

test('a change leaves what is absent and clears what is null', async () => {
  const seller = await signUp()
  const before = await draft(seller, {
    ...complete.RENT,
    propertyIncome: 300,
    amenities: ['pool'],
    rentConditions: [{ code: 'families_only' }],
    isNegotiable: true,
    allowCall: false,
    location: { lat: 29.3, lng: 48, precision: 'area' },
  })
  const path = `/properties/${before.id}`

  expect((await seller.patch(path, { bedrooms: 4 })).body)
    .toEqual({ ...before, bedrooms: 4, version: 2 })
  expect((await seller.patch(path, {})).body).toMatchObject({ bedrooms: 4, version: 2 })
  expect((await seller.patch(path, { bedrooms: 4 })).body).toMatchObject({ version: 2 })

  const cleared = {
    bedrooms: null,
    kind: null,
    titleAr: null,
    price: null,
    propertyIncome: null,
    builtAreaM2: null,
    location: null,
  }
  // What is never without a value goes back to the one that it began with.
  const reset = { amenities: [], rentConditions: [], isNegotiable: false, allowCall: true }
  const nulls = Object.fromEntries(Object.keys({ ...cleared, ...reset }).map((key) => [key, null]))
  expect((await seller.patch(path, nulls)).body).toEqual({
    ...before,
    ...cleared,
    ...reset,
    priceLabel: 'السعر غير معلن',
    version: 3,
  })
})

test('If-Match keeps a change from one that its writer has not seen', async () => {
  const seller = await signUp()
  const { id } = await draft(seller)
  const change = (bedrooms: number, version: string) =>
    seller.patch(`/properties/${id}`, { bedrooms }, { headers: { 'If-Match': version } })

  expect(await change(1, '1')).toMatchObject({ status: 200, body: { version: 2 } })
  expect(await change(2, '"2"')).toMatchObject({ status: 200, body: { version: 3 } })
  expect(await change(3, '2')).toMatchObject({
    status: 409,
    body: {
      error: {
        code: 'version_conflict',
        message: 'تم تعديل البيانات من جهاز آخر، حدّث الصفحة',
      },
    },
  })
  for (const broken of ['x', '', '"3', '3"', '-1', '3.0', '*', 'W/"3"', '1, 3', '99999999999']) {
    expect(await change(3, broken)).toMatchObject({
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path: 'if-match' }] } },
    })
  }
  expect((await seller.get(`/properties/${id}`)).body).toMatchObject({ bedrooms: 2, version: 3 })
})

test('two changes for the same version at once: one holds, the other is told', async () => {
  const seller = await signUp()
  const { id } = await draft(seller)
  const replies = await Promise.all(
    [1, 2, 3, 4].map((bedrooms) =>
      seller.patch(`/properties/${id}`, { bedrooms }, { headers: { 'If-Match': '1' } })
    ),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
})

test('the type can change in a draft, not after the first publishing', async () => {
  const seller = await signUp()
  const written = await draft(seller, { ...complete.RENT, rentConditions: [{ code: 'no_pets' }] })
  const path = `/properties/${written.id}`

  expect(await seller.patch(path, { type: 'SALE' })).toMatchObject({
    status: 422,
    body: { error: { code: 'field_not_for_type', fields: [{ path: 'rentConditions' }] } },
  })
  expect(await seller.patch(path, { type: 'SALE', rentConditions: null }))
    .toMatchObject({ status: 200, body: { type: 'SALE', rentConditions: [] } })
  await seller.post(`${path}/publish`)
  expect(await seller.patch(path, { type: 'SALE', bedrooms: 2 })).toMatchObject({ status: 200 })

  const refused = { status: 409, body: { error: { code: 'type_immutable' } } }
  expect(await seller.patch(path, { type: 'RENT' })).toMatchObject(refused)
  await seller.post(`${path}/archive`)
  await seller.post(`${path}/restore`)
  expect(await seller.patch(path, { type: 'RENT' })).toMatchObject(refused)
})

test('the same Idempotency-Key and body give the first listing again', async () => {
  const [seller, other] = [await signUp(), await signUp()]
  const sent = { headers: { 'Idempotency-Key': 'one flow of adding' } }
  const replies = await Promise.all(
    [1, 2, 3].map(() => seller.post('/properties', complete.SALE, sent)),
  )
  expect(replies.map(({ status }) => status)).toEqual([201, 201, 201])
  expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1)
  expect((await seller.get('/properties/mine')).body.items).toHaveLength(1)

  expect(await seller.post('/properties', complete.RENT, sent))
    .toMatchObject({ status: 422, body: { error: { code: 'idempotency_mismatch' } } })
  expect((await other.post('/properties', complete.SALE, sent)).body.id)
    .not.toBe(replies[0]!.body.id)
})

test('ISO-06 ISO-11 what the server decides is never taken from the client', async () => {
  const [seller, other] = [await signUp(), await signUp()]
  const own = await offer(seller)
  const foreign = {
    id: nobody,
    ownerIdentityId: other.identityId,
    owner_identity_id: other.identityId,
    owner_id: other.id,
    owner: { identityId: other.identityId },
    account_id: other.id,
    identityId: other.identityId,
    status: 'active',
    version: 9,
    verified: true,
    ownerVerified: true,
    listed: true,
    refNo: 'KW-1',
    viewsCount: 9,
    favoritesCount: 9,
    isFavorite: true,
    createdAt: '2020-01-01T00:00:00Z',
    created_at: '2020-01-01T00:00:00Z',
    publishedAt: '2020-01-01T00:00:00Z',
    expiresAt: '2040-01-01T00:00:00Z',
    deleted_at: null,
    dropPct: 50,
    drop_pct: 50,
    deal: { dropPct: 50 },
    auction: null,
    priceLabel: 'مجاناً',
    pendingChanges: {},
    media: [],
    uploadSessionId: nobody,
    lat: 29.3,
    title_ar: 'عنوان آخر',
    isAdmin: true,
    role: 'admin',
    constructor: { prototype: { isAdmin: true } },
  }
  for (const [key, value] of Object.entries(foreign)) {
    const refused = {
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path: key, code: 'unknown' }] } },
    }
    expect(await seller.post('/properties', { type: 'SALE', [key]: value })).toMatchObject(refused)
    expect(await seller.patch(`/properties/${own.id}`, { [key]: value })).toMatchObject(refused)
  }
  const polluting = '{"type":"SALE","__proto__":{"isAdmin":true}}'
  expect((await seller.post('/properties', polluting)).status).toBeOneOf([201, 422])
  expect(
    (await seller.patch(`/properties/${own.id}`, {
      location: { lat: 29.3, lng: 48, precision: 'area', status: 'sold' },
    })).status,
  ).toBe(422)

  expect((await seller.get(`/properties/${own.id}`)).body).toEqual(own)
  expect((await other.get('/properties/mine')).body.items).toEqual([])
})

test('ISO-09 only an id is an id, in whatever shape it comes', async () => {
  const seller = await signUp()
  const { id } = await offer(seller)
  const shapes = [
    ...[`%7B${id}%7D`, `urn:uuid:${id}`, id.replaceAll('-', ''), `${id}%0A`, `${id}%20`],
    ...[`${id},${id}`, '0', '-1', '1', 'null', 'undefined', 'NaN', '..', '%2e%2e%2f', '%00', "'"],
    'x'.repeat(4000),
  ]
  for (const shape of shapes) {
    for (const path of [`/properties/${shape}`, `/properties/${shape}/similar`]) {
      expect((await seller.get(path)).status, shape).toBeOneOf([404, 422])
    }
    expect((await seller.patch(`/properties/${shape}`, { bedrooms: 9 })).status, shape)
      .toBeOneOf([404, 405, 422])
    expect((await seller.post(`/properties/${shape}/pause`)).status, shape).toBeOneOf([404, 422])
  }
  expect((await seller.get(`/properties/${id}`)).body).toMatchObject({
    status: 'active',
    version: 1,
  })
})

test('ISO-14 a deleted listing is gone for everybody, its owner included', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const like = await offer(seller, { price: 185001 })
  const { id } = await offer(seller)
  const path = `/properties/${id}`

  expect(await seller.delete(path)).toMatchObject({ status: 204, body: null })
  for (const person of [seller, buyer, guest]) {
    expect((await person.get(path)).status).toBe(404)
    expect((await person.get(`${path}/price-history`)).status).toBe(404)
    expect((await person.get(`${path}/similar`)).status).toBe(404)
  }
  expect((await seller.delete(path)).status).toBe(404)
  expect((await seller.post(`${path}/restore`)).status).toBe(404)
  expect((await seller.get('/properties/mine')).body.items).toEqual([like])
  // The row stays for records.
  const { rows } = await database().query(
    `select status, deleted_at is not null as dated, listed from public.properties where id = $1`,
    [id],
  )
  expect(rows).toEqual([{ status: 'deleted', dated: true, listed: false }])
})

test('a guest can look, and for all else is asked to sign in', async () => {
  const { id } = await offer(await signUp())
  for (const path of ['', '/price-history', '/similar']) {
    expect((await guest.get(`/properties/${id}${path}`)).status).toBe(200)
  }
  const refused = { status: 401, body: { error: { code: 'token_missing' } } }
  expect(await guest.post('/properties', { type: 'SALE' })).toMatchObject(refused)
  expect(await guest.get('/properties/mine')).toMatchObject(refused)
  expect(await guest.patch(`/properties/${id}`, {})).toMatchObject(refused)
  expect(await guest.delete(`/properties/${id}`)).toMatchObject(refused)
  expect(await guest.post(`/properties/${id}/pause`)).toMatchObject(refused)
  expect(await guest.post(`/properties/${id}/contact`, { kind: 'call' })).toMatchObject(refused)
  expect(await guest.delete(`/properties/${id}/auction`)).toMatchObject(refused)
})
