import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { agePrices, insertListing, insertOrganisation } from '../support/fixtures.ts'
import { ids, uniqueWord } from './results.ts'

let seller: Person
let buyer: Person

beforeEach(async () => {
  ;[seller, buyer] = await Promise.all([signUp(), signUp()])
})

type Body = Record<string, unknown>
const search = (body: Body, person = guest) =>
  person.post('/search/advanced', { strategy: 'standard', ...body })
const quick = (query: string | Record<string, string>) =>
  guest.get(`/search?${new URLSearchParams(query)}`)

const five = ['standard', 'exchange', 'auction', 'deal', 'company']

test.each([
  'Standard',
  ' standard',
  'standard;',
  '',
  1,
  ['standard'],
  'all',
  'x'.repeat(10_240),
])('SRCH-01 strategy %j is refused, and the five are named', async (strategy) => {
  expect(await search({ strategy })).toMatchObject({
    status: 422,
    body: {
      error: {
        code: 'search_strategy_unknown',
        message: 'نوع البحث غير معروف',
        allowed: five,
        fields: [{ path: 'strategy', code: 'search_strategy_unknown' }],
      },
    },
  })
})

const words = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'prototype',
  'then',
  'length',
]

test.each(words)('SRCH-02 %s is no strategy, value or filter', async (word) => {
  const refused = { status: 422, body: { error: { messageEn: expect.any(String) } } }
  for (const name of ['strategy', 'type', 'sort', 'usage', 'furnished', 'companyId']) {
    expect(await search({ [name]: word })).toMatchObject(refused)
  }
  for (const name of ['kinds', 'areaIds', 'governorateIds', 'notKinds', 'notAreaIds']) {
    expect(await search({ [name]: [word] })).toMatchObject(refused)
    expect(await quick({ [name]: word })).toMatchObject(refused)
  }
  const asKey = await guest.post('/search/advanced', `{"strategy":"standard","${word}":"x"}`)
  expect(asKey).toMatchObject({ status: 422, body: { error: { code: 'filter_unknown' } } })
  expect(await quick({ [word]: 'x' })).toMatchObject({
    status: 422,
    body: { error: { code: 'filter_unknown', fields: [{ path: word, code: 'filter_unknown' }] } },
  })
  expect(await search({}, buyer)).toMatchObject({ status: 200 })
})

test('each strategy finds its own category only', async () => {
  const word = uniqueWord()
  const companyId = await insertOrganisation(seller.id)
  const described = (person: Person, fields: Body) =>
    publishListing(person, { descriptionAr: `إعلان ${word}`, ...fields })
  const sale = await described(seller, { type: 'SALE' })
  const rent = await described(seller, { type: 'RENT' })
  const exchange = await described(seller, { type: 'EXCHANGE' })
  const auction = await described(seller, { type: 'SALE' })
  await seller.post(`/properties/${auction.id}/auction`, {
    startsAt: new Date(Date.now() + 600_000).toISOString(),
    endsAt: new Date(Date.now() + 7_200_000).toISOString(),
    startPrice: 1000,
    minIncrement: 100,
  })
  const deal = await described(seller, { type: 'RENT', price: 1000 })
  await agePrices(deal.id)
  await seller.patch(`/properties/${deal.id}`, { price: 900 })
  await seller.post('/auth/identity/switch', { identityId: companyId })
  const ofCompany = await described(seller, { type: 'EXCHANGE' })
  await seller.post('/auth/identity/switch', { identityId: seller.identityId })

  const found = async (strategy: string) => ids(await search({ strategy, q: word }))
  expect(await found('standard')).toEqual([deal.id, rent.id, sale.id])
  expect(await found('exchange')).toEqual([ofCompany.id, exchange.id])
  expect(await found('auction')).toEqual([auction.id])
  expect(await found('deal')).toEqual([deal.id])
  expect(await found('company')).toEqual([ofCompany.id])
  expect(ids(await search({ strategy: 'company', companyId, q: word }))).toEqual([ofCompany.id])
})

test('SRCH-07 only known sorts are accepted, each with its own strategy', async () => {
  const refused = { status: 422, body: { error: { fields: [{ path: 'sort', code: 'invalid' }] } } }
  const sorts = [
    'price;drop table x',
    'password',
    'owner_identity_id',
    'price desc, (select 1)',
    '-price',
    'random()',
    'Newest',
    '',
    Array(50).fill('newest').join(','),
    'distance',
    'drop_desc',
    'ends_at',
  ]
  for (const sort of sorts) {
    expect(await search({ sort })).toMatchObject(refused)
    expect(await quick({ sort })).toMatchObject(refused)
  }
  expect(await search({ sort: Array(50).fill('newest') })).toMatchObject(refused)
  expect(await search({ strategy: 'deal', sort: 'drop_desc' })).toMatchObject({ status: 200 })
  expect(await search({ strategy: 'deal', sort: 'ends_at' })).toMatchObject(refused)
  expect(await search({ strategy: 'auction', sort: 'ends_at' })).toMatchObject({ status: 200 })
  const near = { lat: 29.3, lng: 48, km: 5 }
  expect(await search({ near, sort: 'distance' })).toMatchObject({ status: 200 })
})

test('an owner’s listings are found in every strategy and on the map, while the owner is shown', async () => {
  const location = {
    areaId: 'daiya',
    location: { lat: 29.3117, lng: 47.9013, precision: 'exact' },
  }
  const [sale, exchange] = [
    await publishListing(seller, { type: 'SALE', ...location }),
    await publishListing(seller, { type: 'EXCHANGE', ...location }),
  ]
  const office = await insertOrganisation(seller.id, 'office')
  const ofOffice = await insertListing(office, {
    lat: 29.3117,
    lng: 47.9013,
    location_precision: 'exact',
  })
  const found = async (strategy: string, ownerId: string) =>
    ids(await search({ strategy, ownerId }))
  const onMap = async (ownerId: string) => {
    const box = 'bbox=47.9,29.31,47.903,29.313'
    const [points, clusters] = await Promise.all(
      [17, 10].map((zoom) => guest.get(`/map/listings?${box}&zoom=${zoom}&ownerId=${ownerId}`)),
    )
    const count = clusters.body.clusters.reduce(
      (sum: number, { count }: { count: number }) => sum + count,
      0,
    )
    expect(points.body.points).toHaveLength(count)
    return points.body.points.map(({ id }: { id: string }) => id).toSorted()
  }
  expect(await found('standard', seller.identityId)).toEqual([sale.id])
  expect(ids(await quick({ ownerId: seller.identityId }))).toEqual([sale.id])
  expect(await found('exchange', seller.identityId)).toEqual([exchange.id])
  expect(await found('company', seller.identityId)).toEqual([])
  expect(await onMap(seller.identityId)).toEqual([sale.id, exchange.id].toSorted())
  expect(await found('standard', office)).toEqual([ofOffice])
  expect(await onMap(office)).toEqual([ofOffice])

  await database().query(
    'update public.organisations set verified = false where identity_id = $1',
    [office],
  )
  expect((await guest.get(`/identities/${office}`)).status).toBe(404)
  expect((await guest.get(`/properties/${ofOffice}`)).status).toBe(200)
  await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
    seller.id,
  ])
  for (const ownerId of [office, seller.identityId, randomUUID()]) {
    expect(await found('standard', ownerId)).toEqual([])
    expect(await onMap(ownerId)).toEqual([])
  }
  expect((await quick({ ownerId: 'x' })).status).toBe(422)
})

test('LIST-05 a price of 0 is shown as typed, sorts last and fits no filter by price', async () => {
  const location = {
    areaId: 'salmiya',
    location: { lat: 29.33333, lng: 48.07777, precision: 'exact' },
  }
  const published = async (price: number) =>
    (await publishListing(seller, { price, ...location })).id
  const [nothing, dear, cheap] = [await published(0), await published(9), await published(8.5)]
  const own = { ownerId: seller.identityId, type: 'SALE' }
  const found = async (body: Body) => ids(await search({ ...own, ...body }))
  expect(await found({ sort: 'price_asc' })).toEqual([cheap, dear, nothing])
  expect(await found({ sort: 'price_desc' })).toEqual([dear, cheap, nothing])
  expect(await found({ priceMin: 0 })).toEqual([cheap, dear])
  expect(await found({ priceMax: 8.5 })).toEqual([cheap])
  expect((await search({ ...own, sort: 'price_asc' })).body.items.at(-1))
    .toMatchObject({ price: 0, priceLabel: '0 د.ك' })

  const map = async (zoom: number) =>
    (await guest.get(
      `/map/listings?bbox=48.0777,29.3333,48.0779,29.3334&zoom=${zoom}&ownerId=${seller.identityId}`,
    )).body
  expect((await map(10)).clusters).toMatchObject([{ count: 3, sale: { minPrice: 8.5 } }])
  // Points are listed newest first.
  expect((await map(17)).points.at(-1))
    .toMatchObject({ id: nothing, price: 0, priceLabel: '0 د.ك', count: 3 })
})

test('an unknown filter, or one of another strategy, is refused by name', async () => {
  const named = (path: string) => ({
    status: 422,
    body: { error: { code: 'filter_unknown', fields: [{ path, code: 'filter_unknown' }] } },
  })
  expect(await search({ colour: 'blue' })).toMatchObject(named('colour'))
  expect(await quick({ colour: 'blue' })).toMatchObject(named('colour'))
  expect(await quick({ strategy: 'deal' })).toMatchObject(named('strategy'))
  expect(await quick({ companyId: randomUUID() })).toMatchObject(named('companyId'))
  expect(await search({ companyId: randomUUID() })).toMatchObject(named('companyId'))
  expect(await search({ requestYearMin: 2000 })).toMatchObject(named('requestYearMin'))
  expect(await search({ strategy: 'exchange', requestYearMin: 2000 })).toMatchObject({
    status: 200,
  })
})

test.each<[string, Body]>([
  ['kinds', { kinds: ['nosuch'] }],
  ['kinds', { kinds: ['apartment', 'nosuch'], q: 'شقة' }],
  ['areaIds', { areaIds: ['nosuch'], sort: 'price_asc' }],
  ['areaIds', { areaIds: ['salmiya', 'nosuch'], kinds: ['apartment'] }],
  ['governorateIds', { governorateIds: ['nosuch'], q: '!' }],
  ['governorateIds', { governorateIds: ['hawalli', 'nosuch'] }],
  ['notKinds', { notKinds: ['nosuch'] }],
  ['notAreaIds', { notAreaIds: ['salmiya', 'nosuch'], areaIds: ['salmiya'] }],
  ['notGovernorateIds', { notGovernorateIds: ['nosuch'] }],
  ['usage', { usage: 'nosuch', kinds: ['apartment'] }],
  ['furnished', { furnished: 'nosuch', fields: 'full' }],
  ['furnished', { furnished: ['full', 'nosuch'] }],
  ['plotPosition', { plotPosition: ['nosuch'] }],
  ['plotPosition', { plotPosition: ['corner', 'nosuch'], areaIds: ['salmiya'] }],
  ['amenities', { amenities: ['pool', 'nosuch'] }],
  ['block', { block: ' - ' }],
  ['kinds', { kinds: ['nosuch'], strategy: 'exchange', requestYearMin: 2000 }],
])(
  'a code of %s that is in no list is refused, alone and beside others: %j',
  async (path, body) => {
    expect(await search(body)).toMatchObject({
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path, code: 'invalid' }] } },
    })
  },
)

test.each(['priceMin', 'areaM2Min', 'requestYearMin', 'floorMin'])(
  '%s above its maximum is refused',
  async (name) => {
    const max = name.replace('Min', 'Max')
    const strategy = 'exchange'
    const [less, more] = name === 'floorMin' ? [3, 4] : [2000, 2001]
    expect(await search({ strategy, [name]: more, [max]: less })).toMatchObject({
      status: 422,
      body: { error: { code: 'range_invalid', fields: [{ path: name, code: 'range_invalid' }] } },
    })
    expect(await search({ strategy, [name]: less, [max]: less })).toMatchObject({ status: 200 })
  },
)

test('a quick search refuses the same, and an order that is for deals or auctions', async () => {
  expect(await quick({ priceMin: '2', priceMax: '1' })).toMatchObject({
    status: 422,
    body: { error: { code: 'range_invalid' } },
  })
  for (const sort of ['drop_desc', 'ends_at']) {
    expect(await quick({ sort })).toMatchObject({
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path: 'sort' }] } },
    })
  }
})

test('a price that is not disclosed comes last both ways and matches no price filter', async () => {
  const q = uniqueWord()
  const descriptionAr = `بيت للبدل ${q}`
  const open = await publishListing(seller, { type: 'EXCHANGE', descriptionAr })
  const low = await publishListing(seller, { type: 'EXCHANGE', descriptionAr, price: 5 })
  const high = await publishListing(seller, { type: 'EXCHANGE', descriptionAr, price: 90_000 })

  const found = async (more: Body) => ids(await search({ strategy: 'exchange', q, ...more }))
  expect(await found({ sort: 'price_asc' })).toEqual([low.id, high.id, open.id])
  expect(await found({ sort: 'price_desc' })).toEqual([high.id, low.id, open.id])
  expect(await found({ priceMin: 0 })).toEqual([high.id, low.id])
  expect(await found({ priceMax: 90_000 })).toEqual([high.id, low.id])
})

test('a location is searched as it is shown, so nothing reveals the true one', async () => {
  const q = uniqueWord()
  const location = { lat: 29.33333, lng: 48.07777, precision: 'block' }
  const { id } = await publishListing(seller, { descriptionAr: `إعلان ${q}`, location })
  const shown = (await guest.get(`/properties/${id}`)).body.location
  expect(shown).not.toMatchObject({ lat: location.lat })

  const around = (lat: number, lng: number) => [lng - 1e-5, lat - 1e-5, lng + 1e-5, lat + 1e-5]
  expect(ids(await search({ q, bbox: around(shown.lat, shown.lng) }))).toEqual([id])
  expect(ids(await search({ q, bbox: around(location.lat, location.lng) }))).toEqual([])
  const near = { lat: shown.lat, lng: shown.lng, km: 0.01 }
  expect(ids(await search({ q, near, sort: 'distance' }))).toEqual([id])
  expect(ids(await search({ q, near: { ...near, ...location, precision: undefined } }))).toEqual([])
})

test('an unlisted listing is not found, and returns when it is listed again', async () => {
  const q = uniqueWord()
  const person = await signUp()
  const { id } = await publishListing(person, { descriptionAr: `إعلان ${q}` })
  const found = async () => ids(await quick({ q }))

  expect(await found()).toEqual([id])
  await person.post(`/properties/${id}/pause`)
  expect(await found()).toEqual([])
  await person.post(`/properties/${id}/resume`)
  expect(await found()).toEqual([id])
  await person.patch(`/properties/${id}`, { descriptionAr: 'إعلان آخر' })
  expect(await found()).toEqual([])
  await person.patch(`/properties/${id}`, { titleAr: `شقة ${q}` })
  expect(await found()).toEqual([id])
  await person.delete(`/properties/${id}`)
  expect(await found()).toEqual([])
})

test('FAV-05 a search shows what the caller has saved, to nobody else', async () => {
  const q = uniqueWord()
  const { id } = await publishListing(seller, { descriptionAr: `إعلان ${q}` })
  await buyer.post(`/favorites/${id}`)

  const saved = async (person: typeof guest) =>
    (await search({ q }, person)).body.items[0].isFavorite
  expect(await saved(buyer)).toBe(true)
  expect(await saved(seller)).toBe(false)
  expect(await saved(guest)).toBe(false)
  expect((await buyer.get(`/search?q=${q}`)).body.items[0].isFavorite).toBe(true)
})

test('floor, block, position of the plot and furnishing narrow a search, alone and together', async () => {
  const word = uniqueWord()
  const made = async (fields: Body) =>
    (await publishListing(seller, { descriptionAr: word, type: 'RENT', ...fields })).id
  const location = { lat: 29.33, lng: 48.07, precision: 'block' }
  const ground = await made({ floorNo: 0, furnished: 'none', block: 'قطعة ٥', location })
  const third = await made({ floorNo: 3, furnished: 'partial', block: '12', location })
  const corner = await made({
    kind: 'house',
    plotPosition: 'corner',
    landAreaM2: 400,
    block: '5',
    amenities: ['pool'],
  })
  const other = await made({
    furnished: 'full',
    plotPosition: 'front_back',
    amenities: ['gym', 'pool'],
  })

  const cases: [Body, string[]][] = [
    [{ floorMin: 0 }, [third, ground]],
    [{ floorMax: 2 }, [ground]],
    [{ floorMin: 1, floorMax: 3 }, [third]],
    [{ block: '5' }, [corner, ground]],
    [{ block: 'ق ٥', floorMax: 0 }, [ground]],
    [{ plotPosition: ['corner'] }, [corner]],
    [{ plotPosition: ['corner', 'front_back'] }, [other, corner]],
    [{ amenities: ['pool'] }, [other, corner]],
    [{ amenities: ['pool', 'gym'], furnished: ['full'] }, [other]],
    [{ amenities: ['elevator'] }, []],
    [{ furnished: ['partial', 'full'] }, [other, third]],
    [{ furnished: 'none' }, [ground]],
    [{ furnished: ['partial', 'full'], floorMin: 1, block: '12' }, [third]],
    [{ plotPosition: [], furnished: [] }, [other, corner, third, ground]],
  ]
  for (const [filters, expected] of cases) {
    for (const sort of ['newest', 'area_desc']) {
      const found = await search({ q: word, sort, ...filters })
      expect([filters, ids(found).toSorted()]).toEqual([filters, expected.toSorted()])
    }
    const query = Object.entries({ q: word, ...filters }).filter(([, value]) => value.length !== 0)
      .map(([name, value]) => [name, String(value)])
    expect([filters, ids(await quick(Object.fromEntries(query)))]).toEqual([filters, expected])
  }
})

test('a block that others do not see is not found by it', async () => {
  const word = uniqueWord()
  const location = { lat: 29.33, lng: 48.07, precision: 'area' }
  const fields = { descriptionAr: word, block: '7', location }
  const { id } = await publishListing(seller, fields)
  expect(ids(await search({ q: word, block: '7' }))).toEqual([])
  const shown = { location: { ...location, precision: 'block' } }
  expect(await seller.patch(`/properties/${id}`, shown)).toMatchObject({ status: 200 })
  expect(ids(await search({ q: word, block: '7' }))).toEqual([id])
})

test('in SQL, too, a strategy that there is not is refused', async () => {
  for (const strategy of [null, 'everything']) {
    await expect(database().query(`select private.search($1, '{}')`, [strategy]))
      .rejects.toMatchObject({ code: 'PT422' })
  }
})
