import { expect, test } from 'vitest'
import { asCaller, database, guest, type Person, signUp } from '../support/client.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'

const set = (id: string, price: number) => (person: Person) =>
  person.patch(`/properties/${id}`, { price })

async function history(id: string): Promise<(number | null)[]> {
  const { body } = await guest.get(`/properties/${id}/price-history`)
  return body.items.map(({ price }: { price: number | null }) => price)
}

const deal = async (id: string) => (await guest.get(`/properties/${id}`)).body.deal

test('the history holds every price since the first publishing, newest first', async () => {
  const seller = await signUp()
  const { id } = await createDraft(seller, { price: 100 })
  const complete = { kind: 'villa', titleAr: 'فيلا للبيع', areaId: 'salmiya', landAreaM2: 300 }
  await seller.patch(`/properties/${id}`, { ...complete, price: 200 })
  const own = () => seller.get(`/properties/${id}/price-history`)
  expect((await own()).body).toEqual({ items: [], nextCursor: null })

  const { publishedAt } = (await seller.post(`/properties/${id}/publish`)).body
  expect((await own()).body.items).toEqual([{ price: 200, changedAt: publishedAt }])
  await set(id, 250)(seller)
  await seller.patch(`/properties/${id}`, { bedrooms: 3 })
  await seller.patch(`/properties/${id}`, { price: 250 })
  expect(await history(id)).toEqual([250, 200])

  await seller.post(`/properties/${id}/archive`)
  await seller.post(`/properties/${id}/restore`)
  await set(id, 900)(seller)
  await set(id, 240)(seller)
  await seller.post(`/properties/${id}/publish`)
  expect(await history(id)).toEqual([240, 250, 200])
})

test('the price of an exchange may become known and undisclosed again', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller, { type: 'EXCHANGE' })
  for (const price of [5000, null, 1000]) await seller.patch(`/properties/${id}`, { price })
  expect(await history(id)).toEqual([1000, null, 5000, null])
  expect(await deal(id)).toBe(null)
})

test('the price history comes in consecutive pages', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller, { price: 100 })
  for (const price of [101, 102, 103, 104]) await set(id, price)(seller)
  const path = `/properties/${id}/price-history`
  const first = (await guest.get(`${path}?limit=2`)).body
  await set(id, 105)(seller)
  const second = (await guest.get(`${path}?limit=3&cursor=${first.nextCursor}`)).body
  expect([...first.items, ...second.items].map(({ price }) => price))
    .toEqual([104, 103, 102, 101, 100])
  expect(second.nextCursor).toBe(null)
  const other = await publishListing(seller)
  expect((await guest.get(`/properties/${other.id}/price-history?cursor=${first.nextCursor}`)).body)
    .toMatchObject({ error: { code: 'cursor_invalid' } })
})

test('nobody but the database writes prices, deals and windows', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller)
  const prices = [
    'insert into public.price_history (property_id, price) values ($1, 1)',
    'update public.price_history set price = 1 where property_id = $1',
    'delete from public.price_history where property_id = $1',
  ]
  const rows = [
    `update public.properties set drop_pct = 50, drop_until = 'infinity' where id = $1`,
    'update public.properties set price = 1 where id = $1',
    'update public.properties set auction_ends_at = now() where id = $1',
    'delete from public.auctions where property_id = $1',
  ]
  const denied = { code: '42501' }
  for (const sql of [...prices, ...rows]) {
    await expect(asCaller(seller, (client) => client.query(sql, [id])), sql)
      .rejects.toMatchObject(denied)
  }
  for (const sql of prices) {
    const service = await database().connect()
    try {
      await service.query('begin; set local role service_role')
      await expect(service.query(sql, [id]), sql).rejects.toMatchObject(denied)
    } finally {
      await service.query('rollback')
      service.release()
    }
  }
})

const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString()
const window = { startsAt: hours(2), endsAt: hours(50), startPrice: 100_000, minIncrement: 500.5 }

test('a sale gets an auction, which can be changed and removed until it begins', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller)
  const path = `/properties/${id}/auction`

  const { status, body } = await seller.post(path, window)
  expect(status).toBe(201)
  expect(body).toMatchObject({ id, auction: { startPrice: 100_000, minIncrement: 500.5 } })
  expect(Date.parse(body.auction.startsAt)).toBe(Date.parse(window.startsAt))
  expect((await guest.get(`/properties/${id}`)).body.auction).toEqual(body.auction)

  expect((await seller.post(path, { ...window, startPrice: 0 })).body.auction)
    .toMatchObject({ startPrice: 0 })
  for (let i = 0; i < 2; i++) expect((await seller.delete(path)).status).toBe(204)
  expect((await guest.get(`/properties/${id}`)).body.auction).toBe(null)
  const { rows } = await database().query(
    'select auction_starts_at, auction_ends_at from public.properties where id = $1',
    [id],
  )
  expect(rows).toEqual([{ auction_starts_at: null, auction_ends_at: null }])
})

test('a running auction cannot be changed; once it is over another can follow', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller)
  const path = `/properties/${id}/auction`
  await seller.post(path, window)
  const move = (by: string) =>
    database().query(
      `update public.auctions set starts_at = starts_at - $2::interval,
         ends_at = ends_at - $2::interval where property_id = $1`,
      [id, by],
    )
  await move('3 hours')
  const refused = { status: 409, body: { error: { code: 'property_state_conflict' } } }
  expect(await seller.post(path, window)).toMatchObject(refused)
  expect(await seller.delete(path)).toMatchObject(refused)
  await move('50 hours')
  expect((await seller.post(path, window)).status).toBe(201)
})

test.each([
  ['startsAt', { startsAt: hours(-0.01) }],
  ['endsAt', { endsAt: hours(2.99) }],
  ['endsAt', { endsAt: hours(1) }],
  ['endsAt', { endsAt: hours(90 * 24 + 0.1) }],
  ['startsAt', { startsAt: 'tomorrow' }],
  ['startsAt', { startsAt: '2027-01-01' }],
  ['endsAt', { endsAt: 'infinity' }],
  ['endsAt', { endsAt: undefined }],
  ['startPrice', { startPrice: -1 }],
  ['startPrice', { startPrice: 100_000_000_000 }],
  ['startPrice', { startPrice: 0.0001 }],
  ['minIncrement', { minIncrement: 0 }],
  ['minIncrement', { minIncrement: 1.0005 }],
  ['minIncrement', { minIncrement: null }],
  ['bids', { bids: [] }],
])('an auction is refused for its %s: %j', async (path, fields) => {
  const seller = await signUp()
  const { id } = await createDraft(seller)
  expect(await seller.post(`/properties/${id}/auction`, { ...window, ...fields })).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed', fields: [{ path }] } },
  })
  expect((await seller.get(`/properties/${id}`)).body.auction).toBe(null)
})

test('an auction lasts from an hour to the ninetieth day', async () => {
  const seller = await signUp()
  const { id } = await createDraft(seller)
  for (
    const edge of [
      { startsAt: hours(0.02), endsAt: hours(1.021) },
      { endsAt: hours(90 * 24 - 0.01), startPrice: 99_999_999_999.999, minIncrement: 0.001 },
    ]
  ) {
    expect((await seller.post(`/properties/${id}/auction`, { ...window, ...edge })).status).toBe(
      201,
    )
  }
})

test('LIST-07 an auction ends before its listing', async () => {
  const seller = await signUp()
  const { id, expiresAt } = await publishListing(seller)
  const path = `/properties/${id}/auction`
  const until = (end: string, by: number) => new Date(Date.parse(end) + by).toISOString()
  const late = (path: string) => ({
    status: 422,
    body: { error: { code: 'validation_failed', fields: [{ path, code: 'too_big' }] } },
  })
  expect(await seller.post(path, { ...window, endsAt: until(expiresAt, 60_000) }))
    .toMatchObject(late('endsAt'))
  expect((await seller.post(path, { ...window, endsAt: until(expiresAt, -60_000) })).status)
    .toBe(201)

  // When a pause ends, its duration is added to the listing's remaining time.
  const paused = await publishListing(seller)
  await seller.post(`/properties/${paused.id}/pause`)
  await database().query(
    `update public.properties set paused_at = now() - interval '2 days' where id = $1`,
    [paused.id],
  )
  const ofPaused = `/properties/${paused.id}/auction`
  const day = 86_400_000
  expect((await seller.post(ofPaused, { ...window, endsAt: until(paused.expiresAt, day) })).status)
    .toBe(201)
  expect(await seller.post(ofPaused, { ...window, endsAt: until(paused.expiresAt, 3 * day) }))
    .toMatchObject(late('endsAt'))

  // The lifetime of a draft starts when it is published.
  const draft = await createDraft(seller, completeFields.SALE)
  const ofDraft = `/properties/${draft.id}/auction`
  expect((await seller.post(ofDraft, { ...window, endsAt: hours(31 * 24) })).status).toBe(201)
  expect(await seller.post(`/properties/${draft.id}/publish`)).toMatchObject(late('auction'))
  expect((await seller.post(ofDraft, { ...window, endsAt: hours(29 * 24) })).status).toBe(201)
  expect((await seller.post(`/properties/${draft.id}/publish`)).status).toBe(200)
})

test('only a sale can be auctioned, and only while it is open', async () => {
  const seller = await signUp()
  for (const type of ['RENT', 'EXCHANGE']) {
    const { id } = await publishListing(seller, { type })
    const refused = { status: 422, body: { error: { code: 'field_not_for_type' } } }
    expect(await seller.post(`/properties/${id}/auction`, window)).toMatchObject(refused)
    expect(await seller.delete(`/properties/${id}/auction`)).toMatchObject(refused)
  }
  const own = await createDraft(seller)
  await seller.post(`/properties/${own.id}/auction`, window)
  expect(await seller.patch(`/properties/${own.id}`, { type: 'RENT' })).toMatchObject({
    status: 422,
    body: { error: { code: 'field_not_for_type', fields: [{ path: 'auction' }] } },
  })
  for (const act of ['mark-sold', 'archive']) {
    const { id } = await publishListing(seller)
    await seller.post(`/properties/${id}/${act}`)
    expect(await seller.post(`/properties/${id}/auction`, window))
      .toMatchObject({ status: 409, body: { error: { code: 'property_state_conflict' } } })
  }
})
