import { beforeEach, expect, test } from 'vitest'
import { cardOf } from '../support/cards.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { agePrices, insertListing, insertOrganisation } from '../support/fixtures.ts'
import { type Listing, publishListing, uniquePrice } from '../support/listings.ts'
import { jpeg, png } from '../support/pictures.ts'
import { uploadAvatar, uploadPictures } from '../support/uploads.ts'

const small = { width: 40, height: 30 }

let seller: Person
let buyer: Person

beforeEach(async () => {
  seller = await signUp()
  buyer = await signUp()
})

const recordOf = async (person: Pick<Person, 'get'>, id: string): Promise<Listing> =>
  (await person.get(`/properties/${id}`)).body

async function savedCard(id: string): Promise<Listing> {
  const { body } = await buyer.get('/favorites')
  return body.items.find((item: Listing) => item.id === id)
}

async function listed(path: string, id: string, person: Pick<Person, 'get'> = buyer) {
  const { status, body } = await person.get(path)
  expect(status).toBe(200)
  return (body.items ?? body.listings).find((item: Listing) => item.id === id)
}

const update = (table: string, key: string, id: string, columns: Record<string, unknown>) =>
  database().query(
    `update ${table} set ${
      Object.keys(columns).map((name, i) => `${name} = $${i + 2}`)
    } where ${key} = $1`,
    [id, ...Object.values(columns)],
  )

test('every list carries cards, and with fields=full whole records', async () => {
  const company = await insertOrganisation(seller.id)
  await seller.post('/auth/identity/switch', { identityId: company })
  const price = uniquePrice()
  const { id, refNo } = await publishListing(seller, {
    titleEn: 'A "villa"\\ \n for sale',
    price,
    block: '3',
    location: { lat: 29.333333, lng: 48.077777, precision: 'block' },
  })
  const other = await insertListing(company, { owner_type: 'company', price })
  await uploadPictures(seller, [jpeg(small), png(small)], { propertyId: id })
  await buyer.post(`/favorites/${id}`)
  // A job may count the view at any moment.
  const record = { ...await recordOf(buyer, id), viewsCount: expect.any(Number) }
  const card = cardOf(record)
  expect(card).toMatchObject({ isFavorite: true, picturesCount: 2, picture: small })

  const snapshot = new Date().toISOString()
  for (
    const path of [
      '/favorites?',
      `/search?q=${refNo}&`,
      `/properties/${other}/similar?`,
      `/company/${company}?`,
    ]
  ) {
    expect(await listed(path, id)).toEqual(card)
    expect(await listed(`${path}fields=card`, id)).toEqual(card)
    expect(await listed(`${path}fields=full`, id)).toEqual(record)
  }
  for (const strategy of ['standard', 'company']) {
    const search = { strategy, q: refNo }
    expect((await buyer.post('/search/advanced', search)).body.items).toEqual([card])
    expect((await buyer.post('/search/advanced', { ...search, fields: 'full' })).body.items)
      .toEqual([record])
  }
  const item = { kind: 'property', propertyKind: 'villa' }
  const feed = `/feed?limit=50&snapshot=${snapshot}`
  expect(await listed(feed, id)).toEqual({ ...card, ...item })
  expect(await listed(`${feed}&fields=full`, id)).toEqual({ ...record, ...item })
  expect(await listed(feed, id, guest)).toEqual({ ...card, ...item, isFavorite: false })
})

test('fields other than card and full are refused by every list', async () => {
  const { id } = await publishListing(seller)
  const company = await insertOrganisation(seller.id)
  const paths = [
    '/favorites',
    '/search',
    '/feed',
    `/properties/${id}/similar`,
    `/company/${company}`,
  ]
  for (const fields of ['', 'FULL', 'id', 'card,full', '__proto__']) {
    const refused = {
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path: 'fields' }] } },
    }
    for (const path of paths) {
      expect(await buyer.get(`${path}?fields=${fields}`)).toMatchObject(refused)
    }
    expect(await buyer.post('/search/advanced', { strategy: 'deal', fields }))
      .toMatchObject(refused)
  }
})

test('a card shows every change of its listing at once', async () => {
  const { id } = await publishListing(seller)
  await buyer.post(`/favorites/${id}`)
  let before = await savedCard(id)
  const shows = async (expected: Record<string, unknown>) => {
    const card = await savedCard(id)
    expect(card).not.toEqual(before)
    expect(card).toMatchObject(expected)
    expect(card).toEqual(cardOf(await recordOf(buyer, id)))
    before = card
  }
  const change = async (fields: Record<string, unknown>, shown = fields) => {
    expect((await seller.patch(`/properties/${id}`, fields)).status).toBe(200)
    await shows(shown)
  }

  await change({ titleAr: 'فيلا "الديرة" للبيع' })
  await change({ titleEn: 'A villa' })
  await change({ price: 1234.567 }, { price: 1234.567, priceLabel: '1,234.567 د.ك' })
  await change({ isNegotiable: true })
  await change({ kind: 'house' })
  await change({ usage: 'investment' })
  await change({ landAreaM2: 612.5 })
  await change({ builtAreaM2: 300 })
  await change({ bedrooms: 5 })
  await change({ bathrooms: 4 })
  await change({ furnished: 'full' })
  await change({ isDirect: true })
  await change({ areaId: 'jahra' }, { areaId: 'jahra', governorateId: 'jahra' })
  await change({ block: '7' })
  const point = { lat: 29.3333, lng: 47.6777 }
  await change({ location: { ...point, precision: 'exact' } })
  await change(
    { location: { ...point, precision: 'block' } },
    { location: { lat: 29.3325, lng: 47.6775, precision: 'block' } },
  )

  await seller.post(`/properties/${id}/confirm-available`)
  await shows({ confirmedAt: expect.any(String) })
  await seller.post(`/properties/${id}/auction`, {
    startsAt: new Date(Date.now() + 600_000).toISOString(),
    endsAt: new Date(Date.now() + 7_200_000).toISOString(),
    startPrice: 1000,
    minIncrement: 100,
  })
  await shows({ auctionEndsAt: expect.any(String) })
  await seller.delete(`/properties/${id}/auction`)
  await shows({ auctionEndsAt: null })

  await seller.post(`/properties/${id}/pause`)
  expect(await savedCard(id)).toMatchObject({ status: 'unavailable', available: false })
  await seller.post(`/properties/${id}/resume`)
  expect(await savedCard(id)).toEqual(before)
})

test('a card shows the first picture and how many there are', async () => {
  const { id } = await publishListing(seller)
  await buyer.post(`/favorites/${id}`)
  const shows = async (mediaIds: string[]) => {
    const record = await recordOf(buyer, id)
    expect(record.media.map((picture: { id: string }) => picture.id)).toEqual(mediaIds)
    expect(await savedCard(id)).toEqual(cardOf(record))
  }
  const pictures = [jpeg(small), jpeg({ ...small, shade: 9 }), png(small)]
  const { body } = await uploadPictures(seller, pictures, { propertyId: id })
  const [a, b, c] = body.files.map(({ mediaId }: { mediaId: string }) => mediaId)
  await shows([a, b, c])
  await seller.put(`/properties/${id}/media/order`, { mediaIds: [c, a, b] })
  await shows([c, a, b])
  await seller.delete(`/properties/${id}/media/${c}`)
  await shows([a, b])
  await database().query('select private.discard_media(array[$1::uuid])', [a])
  await shows([b])
  await update('public.media', 'id', b, { width: 41 })
  await shows([b])
  await seller.delete(`/properties/${id}/media/${b}`)
  await shows([])
})

test('a card shows its owner as they are now', async () => {
  const company = await insertOrganisation(seller.id)
  const own = await insertListing(seller.identityId)
  const ofCompany = await insertListing(company, { owner_type: 'company' })
  for (const id of [own, ofCompany]) await buyer.post(`/favorites/${id}`)
  const shows = async (id: string, owner: Record<string, unknown>) => {
    const card = await savedCard(id)
    expect(card.owner).toMatchObject(owner)
    expect(card).toEqual(cardOf(await recordOf(buyer, id)))
  }

  await seller.patch('/auth/me', { fullName: 'سالم "بو خالد"' })
  await shows(own, { displayName: 'سالم "بو خالد"', verified: false })
  const { body: { mediaId, url } } = await uploadAvatar(seller, png(small))
  await seller.patch('/auth/me', { avatarMediaId: mediaId })
  await shows(own, { avatarUrl: url })
  await seller.patch('/auth/me', { avatarMediaId: null })
  await shows(own, { avatarUrl: null })
  await shows(ofCompany, { type: 'company', verified: true })
  await update('public.organisations', 'identity_id', company, { name_ar: 'عقارات "الديرة"' })
  await shows(ofCompany, { displayName: 'عقارات "الديرة"' })
  await update('public.organisations', 'identity_id', company, { verified: false })
  await shows(ofCompany, { type: 'company', verified: false })
})

test('a price drop leaves the card when it ends', async () => {
  const { id } = await publishListing(seller, { price: 1000 })
  await buyer.post(`/favorites/${id}`)
  await agePrices(id)
  await seller.patch(`/properties/${id}`, { price: 900 })
  expect(await savedCard(id)).toMatchObject({ price: 900, dropPct: 10 })
  await database().query(
    `update private.property_cards set drop_until = now() - interval '1 second'
     where property_id = $1`,
    [id],
  )
  expect(await savedCard(id)).toMatchObject({ price: 900, dropPct: null })
  await update('public.properties', 'id', id, { drop_until: new Date(Date.now() - 1000) })
  expect(await savedCard(id)).toEqual(cardOf(await recordOf(buyer, id)))
})

test('the address of files may change at any moment', async () => {
  const { id } = await publishListing(seller)
  const { body: avatar } = await uploadAvatar(seller, png(small))
  await seller.patch('/auth/me', { avatarMediaId: avatar.mediaId })
  await uploadPictures(seller, [jpeg(small)], { propertyId: id })
  const { media: [{ url }] } = await recordOf(guest, id)
  const client = await database().connect()
  try {
    await client.query('begin')
    const cards = `select private.list_items(array[$1]::uuid[], null, 'card')::json as cards`
    const [before] = (await client.query(cards, [id])).rows[0].cards
    expect(before).toMatchObject({ picture: { url }, owner: { avatarUrl: avatar.url } })
    await client.query(`select private.set_files_url('https://files.example')`)
    const [after] = (await client.query(cards, [id])).rows[0].cards
    expect(after).toMatchObject({
      picture: { url: `https://files.example/listings/${url.split('/listings/')[1]}` },
      owner: { avatarUrl: `https://files.example/avatars/${avatar.url.split('/avatars/')[1]}` },
    })
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('an owner sees the place of an own listing as it was given, others where it is shown', async () => {
  const given = { lat: 29.333333, lng: 48.077777, precision: 'area' }
  const { id, refNo } = await publishListing(seller, { location: given, block: '4' })
  for (const person of [seller, buyer]) await person.post(`/favorites/${id}`)
  for (const path of ['/favorites', `/search?q=${refNo}`]) {
    expect(await listed(path, id, seller)).toMatchObject({ location: given, block: '4' })
    const seen = await listed(path, id, buyer)
    expect(seen.location).not.toEqual(given)
    expect(seen.block).toBeNull()
    for (const person of [seller, buyer]) {
      expect(await listed(path, id, person)).toEqual(cardOf(await recordOf(person, id)))
    }
  }
})

test('an active listing of one’s own has its card while it is not listed', async () => {
  const { id } = await publishListing(seller)
  await seller.post(`/favorites/${id}`)
  // With false, the owner's suspension has ended, but the job has not yet updated the listing.
  const set = (active: boolean) =>
    database().query(`do $$ begin
      update public.properties set owner_active = ${active} where id = '${id}';
    end $$`)
  await set(false)
  expect((await buyer.get(`/properties/${id}`)).status).toBe(404)
  for (const fields of ['card', 'full']) {
    const record = await recordOf(seller, id)
    expect((await seller.get(`/favorites?fields=${fields}`)).body.items)
      .toEqual([fields === 'card' ? cardOf(record) : record])
  }
  await set(true)
})

test('all 250 listings of an owner show a new name', async () => {
  await database().query(
    `insert into public.properties (owner_identity_id, owner_type, type, status, kind, title_ar, price,
       land_area_m2, governorate_id, area_id, published_at, expires_at)
     select $1, 'individual', 'SALE', 'active', 'villa', 'فيلا للبيع', 1000, 500, 'hawalli', 'salmiya',
       now(), now() + interval '1 day' from generate_series(1, 250)`,
    [seller.identityId],
  )
  expect((await seller.patch('/auth/me', { fullName: 'بو خالد' })).status).toBe(200)
  const { rows } = await database().query(
    `select card -> 'owner' ->> 'displayName' as name, count(*)::int
     from json_array_elements(private.list_items(array(
       select id from public.properties where owner_identity_id = $1), null, 'card')::json) as card
     group by 1`,
    [seller.identityId],
  )
  expect(rows).toEqual([{ name: 'بو خالد', count: 250 }])
})

test('whoever writes a listing and its pictures at once leaves the card of both', async () => {
  const { id } = await publishListing(seller)
  await buyer.post(`/favorites/${id}`)
  for (let round = 0; round < 6; round++) {
    const writes = [
      seller.patch(`/properties/${id}`, { price: 1000 + round }),
      ...[0, 1].map((shade) =>
        uploadPictures(seller, [jpeg({ ...small, shade: 20 * round + shade })], { propertyId: id })
      ),
      seller.patch(`/properties/${id}`, { bedrooms: round }),
    ]
    const first = before(await recordOf(buyer, id))
    if (first) writes.push(seller.delete(`/properties/${id}/media/${first}`))
    for (const { status } of await Promise.all(writes)) expect(status).toBeLessThan(300)
    const record = await recordOf(buyer, id)
    expect(record).toMatchObject({ price: 1000 + round, bedrooms: round })
    expect(await savedCard(id)).toEqual(cardOf(record))
  }
})

test('a new name is in every card, also of what is written and published meanwhile', async () => {
  const written = await publishListing(seller)
  const resumed = await publishListing(seller)
  for (const { id } of [written, resumed]) await buyer.post(`/favorites/${id}`)
  for (let round = 0; round < 6; round++) {
    await seller.post(`/properties/${resumed.id}/pause`)
    const displayName = `بو خالد ${round}`
    const writes = [
      seller.post(`/properties/${resumed.id}/resume`),
      seller.patch('/auth/me', { fullName: displayName }),
      seller.patch(`/properties/${written.id}`, { price: 1000 + round }),
    ]
    for (const { status } of await Promise.all(writes)) expect(status).toBeLessThan(300)
    for (const { id } of [written, resumed]) {
      expect((await savedCard(id)).owner).toMatchObject({ displayName })
      expect(await savedCard(id)).toEqual(cardOf(await recordOf(buyer, id)))
    }
  }
})

const before = ({ media }: Listing): string | undefined => media[0]?.id
