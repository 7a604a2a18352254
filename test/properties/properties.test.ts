import { expect, test } from 'vitest'
import { guest, type Person, signUp } from '../support/client.ts'
import { givePhone } from '../support/fixtures.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'

test('a draft needs only a type, and its record has every field in the order of the description', async () => {
  const seller = await signUp('منيرة الصباح')
  const { status, body } = await seller.post('/properties', { type: 'SALE' })

  expect(status).toBe(201)
  const { Property } = (await guest.get('/openapi.json')).body.components.schemas
  expect(Object.keys(body)).toEqual(Object.keys(Property.properties))
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
    contactMissing: ['call', 'whatsapp'],
    locationMissing: true,
    status: 'draft',
    isFavorite: false,
    publishedAt: null,
    expiresAt: null,
    version: 1,
  })
})

test('a price is labelled by type: a rent per month, none as undisclosed', async () => {
  const seller = await signUp()
  const labelled = async (fields: Record<string, unknown>) => {
    const { price, pricePeriod, priceLabel } = await publishListing(seller, fields)
    return [price, pricePeriod, priceLabel]
  }

  expect(await labelled({ type: 'RENT', price: 650 })).toEqual([650, 'month', '650 د.ك / شهرياً'])
  expect(await labelled({ type: 'SALE', price: 185000 })).toEqual([185000, 'once', '185,000 د.ك'])
  expect(await labelled({ type: 'SALE', price: 1234567.5 }))
    .toEqual([1234567.5, 'once', '1,234,567.500 د.ك'])
  expect(await labelled({ type: 'RENT', price: 650.25 }))
    .toEqual([650.25, 'month', '650.250 د.ك / شهرياً'])
  expect(await labelled({ type: 'RENT', price: 0.125 })).toEqual([
    0.125,
    'month',
    '0.125 د.ك / شهرياً',
  ])
  expect(await labelled({ type: 'EXCHANGE' })).toEqual([null, null, 'السعر غير معلن'])
  expect(await labelled({ type: 'EXCHANGE', price: 5000 })).toEqual([5000, null, '5,000 د.ك'])
})

test('every field is read as it was written', async () => {
  const seller = await signUp()
  const rent = {
    ...completeFields.RENT,
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
    allowWhatsapp: true,
    allowChat: false,
  }
  await givePhone(seller)
  const written = await publishListing(seller, rent)
  const { body } = await guest.get(`/properties/${written.id}`)

  expect(body).toMatchObject({ ...rent, block: '٣' })
  expect(body).toEqual({ ...written, contactMissing: null, locationMissing: null })

  const exchange = {
    requestYear: 1950,
    requiredYear: new Date().getUTCFullYear() - 1,
    wantedKinds: ['gov_house', 'villa'],
    wantedAreaIds: ['salmiya'],
  }
  expect(await publishListing(seller, { type: 'EXCHANGE', ...exchange })).toMatchObject(exchange)
})

test('a term without a text of its own reads as in the vocabulary', async () => {
  const { rentConditions, additionalExpenses } = await publishListing(await signUp(), {
    type: 'RENT',
    rentConditions: [{ code: 'families_only' }],
    additionalExpenses: [{ code: 'guard', amount: 0, period: 'year', labelAr: null }],
  })
  const [text, label] = ['للعائلات فقط', 'حارس']
  expect(rentConditions).toEqual([{ code: 'families_only', textAr: text, text }])
  expect(additionalExpenses)
    .toEqual([{ code: 'guard', labelAr: label, label, amount: 0, period: 'year' }])
})

test('an area names its governorate, and one of another governorate is refused', async () => {
  const seller = await signUp()
  expect(await createDraft(seller, { areaId: 'salmiya' })).toMatchObject({
    governorateId: 'hawalli',
  })
  expect(await createDraft(seller, { governorateId: 'ahmadi' })).toMatchObject({ areaId: null })

  const draft = await createDraft(seller, { areaId: 'salmiya' })
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
  const path = `/properties/${draft.id}`
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
    const { id } = await publishListing(seller, { location })
    return (await person.get(`/properties/${id}`)).body.location
  }

  const near = { lat: 29.3325, lng: 48.0775, precision: 'block' }
  expect(await shown(guest, { ...at, precision: 'block' })).toEqual(near)
  expect(await shown(buyer, { ...at, precision: 'block' })).toEqual(near)
  for (const precision of ['block', 'area']) {
    expect(await shown(seller, { ...at, precision })).toEqual({ ...at, precision })
  }
  expect(await shown(guest, { ...at, precision: 'exact' })).toEqual({ ...at, precision: 'exact' })
  expect(await shown(guest, at)).toMatchObject({ precision: 'block' })
})

test('others see of an address what the precision of the location shows, its owner all of it', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const address = { block: '4', street: '12', building: '7', paciNo: '12345678' }
  const seen = {
    exact: address,
    block: { ...address, building: null, paciNo: null },
    area: { block: null, street: null, building: null, paciNo: null },
  }
  const { id } = await publishListing(seller, address)
  for (const person of [guest, buyer, seller]) {
    expect((await person.get(`/properties/${id}`)).body).toMatchObject(address)
  }
  for (const [precision, expected] of Object.entries(seen)) {
    await seller.patch(`/properties/${id}`, { location: { lat: 29.33, lng: 48.07, precision } })
    for (const person of [guest, buyer]) {
      expect((await person.get(`/properties/${id}`)).body, precision).toMatchObject(expected)
    }
    expect((await seller.get(`/properties/${id}`)).body).toMatchObject(address)
  }
})

test('a change leaves what is absent and clears what is null', async () => {
  const seller = await signUp()
  const before = await createDraft(seller, {
    ...completeFields.RENT,
    propertyIncome: 300,
    amenities: ['pool'],
    rentConditions: [{ code: 'families_only' }],
    isNegotiable: true,
    allowCall: false,
    location: { lat: 29.33, lng: 48.07, precision: 'area' },
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
  const reset = { amenities: [], rentConditions: [], isNegotiable: false, allowCall: true }
  const nulls = Object.fromEntries(Object.keys({ ...cleared, ...reset }).map((key) => [key, null]))
  expect((await seller.patch(path, nulls)).body).toEqual({
    ...before,
    ...cleared,
    ...reset,
    contactMissing: ['call', 'whatsapp'],
    locationMissing: true,
    priceLabel: 'السعر غير معلن',
    version: 3,
  })
})

test('If-Match prevents overwriting a change that its writer has not seen', async () => {
  const seller = await signUp()
  const { id } = await createDraft(seller)
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
  const broken = ['x', '', '"3', '3"', '-1', '3.0', '**', 'W/', 'w/"3"', '1, 3', '99999999999']
  for (const version of broken) {
    expect(await change(3, version)).toMatchObject({
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path: 'if-match' }] } },
    })
  }
  expect((await seller.get(`/properties/${id}`)).body).toMatchObject({ bedrooms: 2, version: 3 })
  // Proxies that compress responses turn ETags into weak ones.
  expect(await change(3, 'W/"2"')).toMatchObject({ status: 409 })
  expect(await change(3, 'W/"3"')).toMatchObject({ status: 200, body: { version: 4 } })
  expect(await change(4, '*')).toMatchObject({ status: 200, body: { bedrooms: 4, version: 5 } })
})

test('of two changes of the same version at once one holds, the other is 412', async () => {
  const seller = await signUp()
  const { id } = await createDraft(seller)
  const replies = await Promise.all(
    [1, 2, 3, 4].map((bedrooms) =>
      seller.patch(`/properties/${id}`, { bedrooms }, { headers: { 'If-Match': '1' } })
    ),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
})

test('the type can change in a draft, not after the first publishing', async () => {
  const seller = await signUp()
  const written = await createDraft(seller, {
    ...completeFields.RENT,
    rentConditions: [{ code: 'no_pets' }],
  })
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
    [1, 2, 3].map(() => seller.post('/properties', completeFields.SALE, sent)),
  )
  expect(replies.map(({ status }) => status)).toEqual([201, 201, 201])
  expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1)
  expect((await seller.get('/properties/mine')).body.items).toHaveLength(1)

  expect(await seller.post('/properties', completeFields.RENT, sent))
    .toMatchObject({ status: 422, body: { error: { code: 'idempotency_mismatch' } } })
  expect((await other.post('/properties', completeFields.SALE, sent)).body.id)
    .not.toBe(replies[0]!.body.id)
})
