import { beforeEach, expect, test } from 'vitest'
import { bodyAsSeen } from '../support/answers.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { agePrices, givePhone, insertOrganisation } from '../support/fixtures.ts'
import { type Listing, publishListing } from '../support/listings.ts'
import { jpeg, png } from '../support/pictures.ts'
import { uploadAvatar, uploadPictures } from '../support/uploads.ts'

let seller: Person
let buyer: Person
let id: string
let before: Listing

const small = { width: 40, height: 30 }

const read = async (person: Pick<Person, 'get'>): Promise<Listing> => {
  const { status, body } = await person.get(`/properties/${id}`)
  expect(status).toBe(200)
  return body
}

/** Returns the record, built from the listing's rows. The number of views may change at any moment. */
async function made(viewer: string | null): Promise<Listing> {
  const { rows } = await database().query('select private.property_record($1, $2) as record', [
    id,
    viewer,
  ])
  const record = bodyAsSeen('GET', `/properties/${id}`, { status: 200, body: rows[0].record })
  return { ...record as Listing, viewsCount: expect.any(Number) }
}

async function shows(expected: Record<string, unknown>) {
  const record = await read(guest)
  expect(record).not.toEqual(before)
  expect(record).toMatchObject(expected)
  expect(record).toEqual(await made(null))
  expect(Object.keys(record)).toEqual(Object.keys(await made(null)))
  expect(await read(buyer)).toEqual(await made(buyer.identityId))
  expect(await read(seller)).toEqual(await made(seller.identityId))
  before = record
}

beforeEach(async () => {
  seller = await signUp()
  buyer = await signUp()
  id = (await publishListing(seller, { price: 1000 })).id
  before = {} as Listing
})

test('every change of a listing is seen at once', async () => {
  await givePhone(seller)
  const tricky = 'نص "بين قوسين" ,"media":[],"owner":{"displayName": \\ \n ,"deal":null'
  const fields = {
    descriptionAr: tricky,
    descriptionEn: tricky,
    titleEn: 'A "villa"',
    price: 900,
    propertyIncome: 0,
    bathrooms: 3,
    floorNo: -1,
    buildingYear: 1999,
    plotPosition: 'corner',
    finishing: 'super_deluxe',
    amenities: ['elevator'],
    documentType: 'free_deed',
    block: '4',
    street: 'شارع "1"',
    building: '9',
    paciNo: '12345678',
    allowCall: false,
    allowWhatsapp: false,
    location: { lat: 29.33, lng: 48.07, precision: 'exact' },
  }
  for (const [name, value] of Object.entries(fields)) {
    const { status, body } = await seller.patch(`/properties/${id}`, { [name]: value })
    expect(status, JSON.stringify(body)).toBe(200)
    await shows({ [name]: body[name] })
  }
  await seller.post(`/properties/${id}/confirm-available`)
  await shows({ confirmedAt: expect.any(String) })
})

test('the auction in a record follows its every change', async () => {
  const window = {
    startsAt: new Date(Date.now() + 600_000).toISOString(),
    endsAt: new Date(Date.now() + 7_200_000).toISOString(),
    minIncrement: 100,
  }
  for (const startPrice of [1000, 1100]) {
    await seller.post(`/properties/${id}/auction`, { ...window, startPrice })
    await shows({ auction: { startPrice } })
  }
  await seller.delete(`/properties/${id}/auction`)
  await shows({ auction: null })
})

test('pictures, owner, counts and favorites are as they are now', async () => {
  const { body } = await uploadPictures(seller, [jpeg(small), png(small)], { propertyId: id })
  const [a, b] = body.files.map(({ mediaId }: { mediaId: string }) => mediaId)
  await shows({ media: [{ id: a }, { id: b }] })
  await seller.put(`/properties/${id}/media/order`, { mediaIds: [b, a] })
  await shows({ media: [{ id: b }, { id: a }] })
  await seller.delete(`/properties/${id}/media/${b}`)
  await shows({ media: [{ id: a }] })

  await seller.patch('/auth/me', { fullName: 'سالم ,"verified":"نعم"' })
  await shows({ owner: { displayName: 'سالم ,"verified":"نعم"' } })
  const avatar = (await uploadAvatar(seller, png(small))).body
  await seller.patch('/auth/me', { avatarMediaId: avatar.mediaId })
  await shows({ owner: { avatarUrl: avatar.url } })

  await buyer.post(`/favorites/${id}`)
  await shows({ favoritesCount: 1, isFavorite: false })
  expect(await read(buyer)).toMatchObject({ isFavorite: true })
  await database().query('select private.count_views()')
  // The stack's own job may have counted the view a moment earlier.
  await expect.poll(async () => (await read(guest)).viewsCount).toBe(1)
  expect(await read(guest)).toEqual(await made(null))
})

test('a company that is no longer verified is not shown as verified', async () => {
  const company = await insertOrganisation(seller.id)
  await seller.post('/auth/identity/switch', { identityId: company })
  id = (await publishListing(seller)).id
  expect(await read(guest)).toMatchObject({ owner: { type: 'company', verified: true } })
  await database().query(
    'update public.organisations set verified = false where identity_id = $1',
    [company],
  )
  expect(await read(guest)).toMatchObject({ owner: { type: 'company', verified: false } })
})

test('a deal is shown until it ends, also when nothing writes the listing then', async () => {
  await agePrices(id)
  await seller.patch(`/properties/${id}`, { price: 900 })
  await shows({ deal: { dropPct: 10 } })
  await database().query(
    `update private.listed_records set drop_until = now() - interval '1 second'
     where property_id = $1`,
    [id],
  )
  expect(await read(guest)).toMatchObject({ price: 900, deal: null })
  await database().query(
    `update public.properties set drop_until = now() - interval '1 second' where id = $1`,
    [id],
  )
  await shows({ deal: null })
})

test('what is not listed has no kept record, and is seen by whom the contract says', async () => {
  const stored = async () =>
    (await database().query('select from private.listed_records where property_id = $1', [id]))
      .rowCount
  expect(await stored()).toBe(1)
  await seller.post(`/properties/${id}/pause`)
  expect(await stored()).toBe(0)
  expect((await guest.get(`/properties/${id}`)).status).toBe(404)
  expect((await buyer.get(`/properties/${id}`)).status).toBe(404)
  expect(await read(seller)).toMatchObject({ status: 'paused' })
  await seller.post(`/properties/${id}/resume`)
  expect(await stored()).toBe(1)
  await shows({ status: 'active' })
  await seller.post(`/properties/${id}/mark-sold`)
  expect(await stored()).toBe(0)
  await shows({ status: 'sold' })
  await database().query(`update public.accounts set status = 'banned' where id = $1`, [seller.id])
  expect((await guest.get(`/properties/${id}`)).status).toBe(404)
})
