import { expect, test } from 'vitest'
import { database, guest, signUp } from '../support/client.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { known } from './results.ts'

type LowestPrice = { minPrice: number | null }
type Cluster = LowestPrice & {
  lat: number
  lng: number
  count: number
  sale: LowestPrice
  rent: LowestPrice
  bbox: number[]
}
type Point = { id: string; lat: number; lng: number }

const kuwait = '46.5,28.45,48.8,30.15'

/**
 * Returns a point in the desert without listings, in the south-west corner of a cell of zoom 13, so that
 * points slightly north-east of it are in the same cell.
 */
async function somewhere() {
  const size = 360 / 2 ** 15
  const corner = (from: number, width: number, zero: number) => {
    const cell = Math.floor((from + Math.random() * width + zero) / size)
    return Number(((cell + 0.2) * size - zero).toFixed(6))
  }
  for (;;) {
    const [lng, lat] = [corner(46.6, 0.9, 180), corner(28.9, 1.2, 90)]
    const box = [lng - 0.02, lat - 0.02, lng + 0.02, lat + 0.02].map((n) => Number(n.toFixed(6)))
    const { rowCount } = await database().query(
      `select from public.properties
       where shown_lng between $1 and $3 and shown_lat between $2 and $4`,
      box,
    )
    if (!rowCount) return { lng, lat, box: box.join() }
  }
}

/** Returns the next larger number with six decimals. */
const stepBeyond = (degree: number) =>
  Number((Math.floor(Number((degree * 1e6).toFixed(3))) / 1e6 + 1e-6).toFixed(6))

const at = (lat: number, lng: number, precision = 'exact') => ({
  lat,
  lng,
  location_precision: precision,
})

async function clusters(box: string, zoom: number, more = ''): Promise<Cluster[]> {
  const { status, body } = await guest.get(`/map/listings?bbox=${box}&zoom=${zoom}${more}`)
  expect({ status, approximate: body.approximate }).toEqual({ status: 200, approximate: false })
  return body.clusters
}

async function points(box: string, more = ''): Promise<Point[]> {
  const { status, body } = await guest.get(`/map/listings?bbox=${box}&zoom=16${more}`)
  expect({ status, truncated: body.truncated }).toEqual({ status: 200, truncated: false })
  return body.points
}

test('at low zoom listings are counted in grid cells that halve with each zoom', async () => {
  const { identityId } = await signUp()
  const { lat, lng, box } = await somewhere()
  await insertListing(identityId, { ...at(lat, lng), price: 120_000 })
  await insertListing(identityId, { ...at(lat + 0.001, lng + 0.002), price: 90_000.5 })
  await insertListing(identityId, { ...at(lat + 0.015, lng), price: null, type: 'EXCHANGE' })

  for (const zoom of [0, 6, 10, 14]) {
    const size = 360 / 2 ** (zoom + 2)
    const found = await clusters(box, zoom)
    const cellsOf = found.map(({ bbox: [west, south, east, north] }) => {
      const cell = [Math.floor((west! + 180) / size), Math.floor((south! + 90) / size)]
      expect([Math.floor((east! + 180) / size), Math.floor((north! + 90) / size)]).toEqual(cell)
      return cell.join()
    })
    expect(new Set(cellsOf).size).toBe(cellsOf.length)
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(3)
  }
  const [pair, single] = await clusters(box, 13)
  expect(pair).toEqual({
    lat: Number((lat + 0.0005).toFixed(6)),
    lng: Number((lng + 0.001).toFixed(6)),
    count: 2,
    minPrice: null,
    sale: { minPrice: 90_000.5 },
    rent: { minPrice: null },
    bbox: [lng, lat, stepBeyond(lng + 0.002), stepBeyond(lat + 0.001)],
  })
  expect(single).toMatchObject({ count: 1, minPrice: null, sale: { minPrice: null } })
})

test('SRCH-11 the lowest price of a cluster is of one type', async () => {
  const { identityId } = await signUp()
  const { lat, lng, box } = await somewhere()
  for (
    const [type, price] of [['SALE', 120_000], ['SALE', 90_000.5], ['RENT', 650], ['EXCHANGE', 5]]
  ) await insertListing(identityId, { ...at(lat, lng), type, price })
  const lowest = async (more: string) => {
    const found = await clusters(box, 10, more)
    expect(found).toHaveLength(1)
    const { count, minPrice, sale, rent } = found[0]!
    return [count, minPrice, sale.minPrice, rent.minPrice]
  }
  expect(await lowest('')).toEqual([4, null, 90_000.5, 650])
  expect(await lowest('&type=SALE')).toEqual([2, 90_000.5, 90_000.5, null])
  expect(await lowest('&type=RENT')).toEqual([1, 650, null, 650])
  expect(await lowest(`&q=${encodeURIComponent('للإيجار')}`)).toEqual([1, 650, null, 650])
  expect(await lowest('&type=EXCHANGE')).toEqual([1, 5, null, null])
  expect(await lowest('&priceMin=100000')).toEqual([1, null, 120_000, null])
})

test('at high zoom each listing is a point with the data of its marker', async () => {
  const { identityId } = await signUp()
  const { lat, lng, box } = await somewhere()
  const rent = await insertListing(identityId, {
    ...at(lat, lng),
    type: 'RENT',
    price: 650,
    kind: 'floor',
  })
  const exchange = await insertListing(identityId, {
    ...at(lat, lng),
    type: 'EXCHANGE',
    price: null,
  })

  expect(await points(box)).toEqual([
    {
      id: exchange,
      lat,
      lng,
      count: 2,
      type: 'EXCHANGE',
      kind: 'villa',
      price: null,
      priceLabel: 'السعر غير معلن',
    },
    {
      id: rent,
      lat,
      lng,
      count: 2,
      type: 'RENT',
      kind: 'floor',
      price: 650,
      priceLabel: '650 د.ك / شهرياً',
    },
  ])
  const { body } = await guest.get(`/map/listings?bbox=${box}&zoom=15`)
  expect(body.points).toHaveLength(2)
})

test('an inexact point is found where it is shown, by no box around the true place', async () => {
  const { identityId } = await signUp()
  const { lat, lng } = await somewhere()
  const shown = { lat: Math.round(lat * 400) / 400, lng: Math.round(lng * 400) / 400 }
  const hidden = { lat: shown.lat + 0.0011, lng: shown.lng - 0.0011 }
  const id = await insertListing(identityId, at(hidden.lat, hidden.lng, 'block'))
  const around = (location: { lat: number; lng: number }, by: number) =>
    [location.lng - by, location.lat - by, location.lng + by, location.lat + by].map((n) =>
      n.toFixed(6)
    ).join()

  expect(await points(around(hidden, 0.0005))).toEqual([])
  const [point] = await points(around(shown, 0.0005))
  expect(point).toMatchObject({ id, ...shown })
  const [cluster] = await clusters(around(shown, 0.0005), 14)
  expect(cluster).toMatchObject({
    ...shown,
    bbox: [shown.lng, shown.lat, stepBeyond(shown.lng), stepBeyond(shown.lat)],
  })
  expect(await clusters(around(hidden, 0.0005), 14)).toEqual([])
})

test('SRCH-06 of boxes beside each other one has what lies on their edge; map, search and count alike', async () => {
  const { identityId } = await signUp()
  const { lat, lng } = await somewhere()
  // The largest double below an edge is on the other side of the edge.
  const before = (degree: number) => degree * (1 - 2 ** -53)
  const places = [[lat, lng], [before(lat), lng], [lat, before(lng)], [before(lat), before(lng)]]
  const ids: string[] = []
  for (const [north, east] of places) ids.push(await insertListing(identityId, at(north!, east!)))
  const has = async (box: number[], expected: string[]) => {
    const bbox = box.join()
    const found = [
      (await points(bbox)).map(({ id }) => id),
      (await guest.get(`/search?bbox=${bbox}`)).body.items.map(({ id }: Point) => id),
      (await guest.get(`/search?bbox=${bbox}&sort=price_asc`)).body.items.map(({ id }: Point) =>
        id
      ),
    ]
    expect(found.map((ids) => ids.sort())).toEqual(Array(3).fill([...expected].sort()))
    const { count } = await known(() => guest.get(`/search/count?bbox=${bbox}`))
    expect(count).toBe(expected.length)
    const counts = (await clusters(bbox, 10)).map(({ count }) => count)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(expected.length)
  }

  await has([lng, lat, lng + 0.01, lat + 0.01], [ids[0]!])
  await has([lng, lat - 0.01, lng + 0.01, lat], [ids[1]!])
  await has([lng - 0.01, lat, lng, lat + 0.01], [ids[2]!])
  await has([lng - 0.01, lat - 0.01, lng, lat], [ids[3]!])
  await has([lng, lat, lng, lat], [ids[0]!])
  await has([lng, lat, lng, lat + 0.01], [ids[0]!])
  await has([lng - 0.01, lat - 0.01, lng + 0.01, lat + 0.01], ids)
})

test('SRCH-06 a box has what lies on the edge of Kuwait, and nothing of a box that only touches it', async () => {
  const { identityId } = await signUp()
  const lat = Number((29 + Math.random()).toFixed(6))
  const east = await insertListing(identityId, at(lat, 48.8))
  const west = await insertListing(identityId, at(lat, 46.5))
  const found = async (box: number[]) => (await points(box.join())).map(({ id }) => id)

  for (const edge of [48.8, 60]) {
    expect(await found([48.7, lat, edge, lat + 0.000001])).toContain(east)
  }
  expect(await found([46, lat, 46.6, lat + 0.000001])).toContain(west)
  expect(await guest.get(`/map/listings?bbox=46,29,46.5,30&zoom=20`))
    .toMatchObject({ status: 422, body: { error: { code: 'bbox_invalid' } } })
})

test('SRCH-06 the box of a cluster, sent back, has all its listings', async () => {
  const { identityId } = await signUp()
  const { lat, lng, box } = await somewhere()
  for (let n = 0; n < 20; n++) {
    await insertListing(identityId, at(lat + Math.random() / 1000, lng + Math.random() / 1000))
  }
  const [cluster] = await clusters(box, 8)
  expect(cluster!.count).toBe(20)
  expect(await points(cluster!.bbox.join())).toHaveLength(20)
  for (const small of await clusters(box, 14)) {
    expect(await points(small.bbox.join())).toHaveLength(small.count)
  }
})

test('the filters of searches narrow the map', async () => {
  const { identityId } = await signUp()
  const { lat, lng, box } = await somewhere()
  const villa = await insertListing(identityId, { ...at(lat, lng), price: 300_000, bedrooms: 5 })
  const house = await insertListing(identityId, { ...at(lat, lng), price: 200_000, kind: 'house' })
  const rent = await insertListing(identityId, { ...at(lat, lng), price: 900, type: 'RENT' })
  const found = async (more: string) => (await points(box, more)).map(({ id }) => id)

  expect(await found('&type=SALE')).toEqual([house, villa])
  expect(await found('&kinds=villa&type=SALE')).toEqual([villa])
  expect(await found('&kinds=villa,house&priceMax=250000')).toEqual([rent, house])
  expect(await found('&bedroomsMin=5')).toEqual([villa])
  expect(await found('&areaIds=jahra')).toEqual([])
  expect((await clusters(box, 10, '&type=RENT'))[0]).toMatchObject({ count: 1, minPrice: 900 })
})

test('ISO-14 the map shows what is listed and nothing else', async () => {
  const seller = await signUp()
  const { lat, lng, box } = await somewhere()
  const ids = []
  for (const act of ['archive', 'pause', 'mark-sold', 'delete']) {
    const id = await insertListing(seller.identityId, at(lat, lng))
    ids.push(id)
    expect((await points(box)).map((point) => point.id)).toEqual([id])
    if (act === 'delete') await seller.delete(`/properties/${id}`)
    else await seller.post(`/properties/${id}/${act}`)
  }
  await insertListing(seller.identityId, { ...at(lat, lng), status: 'draft', published_at: null })

  expect(await points(box)).toEqual([])
  expect(await clusters(box, 10)).toEqual([])
  await seller.post(`/properties/${ids[1]}/resume`)
  expect(await points(box)).toHaveLength(1)
})

test('at most the 500 newest points are sent, and the answer says that there are more', async () => {
  const { identityId } = await signUp()
  const { lat, lng, box } = await somewhere()
  const first = await insertListing(identityId, at(lat, lng))
  const copy = (count: number) =>
    database().query(
      `insert into public.properties (owner_identity_id, owner_type, type, status, kind, title_ar,
         price, land_area_m2, governorate_id, area_id, lat, lng, location_precision, published_at,
         expires_at)
       select owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2,
         governorate_id, area_id, lat, lng, location_precision,
         published_at + interval '1 ms' * nth, expires_at
       from public.properties, generate_series(1, $2::integer) as nth where id = $1`,
      [first, count],
    )
  await copy(499)
  expect(await points(box)).toHaveLength(500)
  await copy(1)
  const { body } = await guest.get(`/map/listings?bbox=${box}&zoom=20`)
  expect(body.points).toHaveLength(500)
  expect(body.truncated).toBe(true)
  expect(body.points.map(({ id }: Point) => id)).not.toContain(first)
})

test('SRCH-06 a box is clipped to Kuwait', async () => {
  const whole = await guest.get(`/map/listings?bbox=-180,-90,180,90&zoom=0`)
  expect(whole.status).toBe(200)
  for (const box of ['46,28,181,91', '46.5,28.45,46.5,28.45', '48.8,30.15,60,40', kuwait]) {
    expect(await guest.get(`/map/listings?bbox=${box}&zoom=20`)).toMatchObject({ status: 200 })
  }
})

test.each([
  '',
  '48,29',
  '48,29,49',
  '48,29,49,30,31',
  'a,b,c,d',
  'NaN,NaN,NaN,NaN',
  '47,29,Infinity,30',
  '47,29,1e3,30',
  '0x2f,29,48,30',
  '47, 29,48,30',
  ',,,',
  '٤٧٬٠,29,48,30',
  '48,29,47,30',
  '47,30,48,29',
  '170,29,-170,30',
  '10,10,20,20',
  '48.81,29,49,30',
  '47,30.16,48,31',
  '47;29;48;30',
])('SRCH-06 INP-04 bbox=%s is refused by name', async (box) => {
  for (const zoom of [10, 16]) {
    expect(await guest.get(`/map/listings?bbox=${encodeURIComponent(box)}&zoom=${zoom}`))
      .toMatchObject({
        status: 422,
        body: { error: { code: 'bbox_invalid', message: 'نطاق الخريطة غير صالح' } },
      })
  }
})

test('SRCH-06 a map without a box is refused, and a box given twice too', async () => {
  const boxes = [
    ['zoom=10', 'validation_failed'],
    [`bbox=${kuwait}&bbox=${kuwait}&zoom=10`, 'bbox_invalid'],
  ]
  for (const [query, code] of boxes) {
    expect(await guest.get(`/map/listings?${query}`)).toMatchObject({
      status: 422,
      body: { error: { code } },
    })
  }
})

test.each(['-1', '21', '10.5', 'a', '', '1e1', '9223372036854775808', 'NaN', undefined])(
  'INP-04 zoom=%s is refused by name',
  async (zoom) => {
    const query = zoom === undefined ? '' : `&zoom=${encodeURIComponent(zoom)}`
    expect(await guest.get(`/map/listings?bbox=${kuwait}${query}`)).toMatchObject({
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path: 'zoom' }] } },
    })
  },
)

test('an unknown filter and a range upside down are refused by name', async () => {
  for (const path of [`/map/listings?bbox=${kuwait}&zoom=10&`, '/map/areas?']) {
    expect(await guest.get(`${path}colour=red`)).toMatchObject({
      status: 422,
      body: { error: { code: 'filter_unknown', fields: [{ path: 'colour' }] } },
    })
    expect(await guest.get(`${path}priceMin=5&priceMax=4`)).toMatchObject({
      status: 422,
      body: { error: { code: 'range_invalid', fields: [{ path: 'priceMin' }] } },
    })
  }
})

test('each area has its number of listings, and their prices from five of three accounts on', async () => {
  const [one, two, three] = await Promise.all([signUp(), signUp(), signUp()])
  const company = await insertOrganisation(two.id)
  // Prices that no other listing has, so that the filter finds only these.
  const base = 1_000_000 + 10 * Math.floor(Math.random() * 1e9)
  const offer = (more: number, identityId = one.identityId) =>
    insertListing(identityId, { area_id: 'shaab', price: base + more, land_area_m2: 1000 })
  for (const more of [1, 3, 2, 5]) await offer(more)
  const ask = async () => {
    const { body } = await guest.get(`/map/areas?type=SALE&priceMin=${base}&priceMax=${base + 9}`)
    expect(body.items).toHaveLength(119)
    return body.items.find(({ areaId }: { areaId: string }) => areaId === 'shaab')
  }

  expect(await ask()).toMatchObject({ count: 4, medianPrice: null, medianPricePerM2: null })
  // A second identity of an account that is already counted does not count as a third account.
  await offer(2.375, two.identityId)
  await offer(2.125, company)
  expect(await ask()).toMatchObject({ count: 6, medianPrice: null, medianPricePerM2: null })
  await offer(2.125, three.identityId)
  expect(await ask()).toMatchObject({
    nameAr: 'الشعب',
    governorateId: 'hawalli',
    count: 7,
    medianPrice: base + 2.125,
    medianPricePerM2: Number(((base + 2.125) / 1000).toFixed(3)),
  })
  await offer(2.375)
  expect(await ask()).toMatchObject({ count: 8, medianPrice: base + 2.25 })
})

test('SRCH-11 a rent and a price of sale are never in one median', async () => {
  const people = await Promise.all([signUp(), signUp(), signUp()])
  const base = 1_000_000 + 10 * Math.floor(Math.random() * 1e9)
  const offer = (type: string, prices: number[]) =>
    Promise.all(prices.map((more, nth) =>
      insertListing(people[nth % 3]!.identityId, {
        area_id: 'shaab',
        type,
        price: base + more,
        land_area_m2: 1000,
      })
    ))
  await offer('SALE', [1, 2, 3, 4, 5])
  await offer('RENT', [5, 6, 7, 8, 9])
  await offer('EXCHANGE', [1, 1, 1, 1, 2])
  const ask = async (more: string) => {
    const { body } = await guest.get(`/map/areas?priceMin=${base}&priceMax=${base + 9}${more}`)
    return body.items.find(({ areaId }: { areaId: string }) => areaId === 'shaab')
  }
  const of = (more?: number) => ({
    medianPrice: more === undefined ? null : base + more,
    medianPricePerM2: more === undefined ? null : Number(((base + more) / 1000).toFixed(3)),
  })
  expect(await ask('')).toMatchObject({ count: 15, ...of(), sale: of(3), rent: of(7) })
  expect(await ask('&type=SALE')).toMatchObject({ count: 5, ...of(3), sale: of(3), rent: of() })
  expect(await ask('&type=RENT')).toMatchObject({ count: 5, ...of(7), sale: of(), rent: of(7) })
  expect(await ask('&type=EXCHANGE')).toMatchObject({ count: 5, ...of(1), sale: of(), rent: of() })
})

test('a map has no filters of a single strategy: it shows all listings', async () => {
  for (const filter of ['companyId=5f0c8a1e-0000-4000-8000-000000000000', 'requestYearMin=2000']) {
    for (const path of [`/map/listings?bbox=${kuwait}&zoom=10&`, '/map/areas?']) {
      expect(await guest.get(path + filter)).toMatchObject({
        status: 422,
        body: { error: { code: 'filter_unknown' } },
      })
    }
  }
})

test('every area is listed, also one without listings', async () => {
  const { body } = await guest.get(
    '/map/areas?kinds=parking&type=EXCHANGE&bedroomsMin=100&areaM2Min=9999999',
  )
  expect(body.items).toHaveLength(119)
  expect(body.items.every(({ count }: Cluster) => count === 0)).toBe(true)
})
