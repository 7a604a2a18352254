// The review setting and the rate limit of contacts apply to all accounts, so these tests run alone.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { givePhone, insertOrganisation, takePhone } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { notificationsOf } from '../support/notifications.ts'
import { jpeg } from '../support/pictures.ts'
import { enforceRates } from '../support/rates.ts'
import { uploadPictures } from '../support/uploads.ts'

let seller: Person
const review = (on: boolean) =>
  database().query(`update private.settings set value = $1 where name = 'review_listings'`, [
    JSON.stringify(on),
  ])
const decide = (id: string, approved: boolean, reason: string | null = null) =>
  database().query('select private.decide_property($1, $2, $3)', [id, approved, reason])
const read = async (person: Pick<Person, 'get'>, id: string) =>
  (await person.get(`/properties/${id}`)).body

beforeEach(async () => {
  seller = await signUp()
  await review(true)
})
afterEach(() => review(false))

test('under review a listing waits, and is published when an admin says so', async () => {
  const waiting = await publishListing(seller)
  expect(waiting).toMatchObject({ status: 'pending_review', publishedAt: null, expiresAt: null })
  expect((await guest.get(`/properties/${waiting.id}`)).status).toBe(404)

  await decide(waiting.id, true)
  const shown = await read(guest, waiting.id)
  expect(shown).toMatchObject({ status: 'active', publishedAt: expect.any(String) })
})

test('review is not refused for a number that is gone: the listing is reached by chat', async () => {
  await givePhone(seller)
  const { id, refNo } = await publishListing(seller, { allowChat: false })
  await takePhone(seller)
  expect((await read(seller, id)).allowChat).toBe(false)
  await decide(id, true)
  expect(await read(guest, id))
    .toMatchObject({ allowCall: false, allowWhatsapp: false, allowChat: true })
  expect((await notificationsOf(seller)).map(({ kind, bodyEn }) => [kind, bodyEn.includes(refNo)]))
    .toContainEqual(['system', true])
})

test('a rejected listing shows its owner why, is edited and submitted again', async () => {
  const { id } = await createDraft(seller, completeFields.RENT)
  expect((await seller.post(`/properties/${id}/publish`)).body.status).toBe('pending_review')
  await decide(id, false, 'العنوان غير واضح')
  expect(await read(seller, id))
    .toMatchObject({ status: 'rejected', statusReason: 'العنوان غير واضح', publishedAt: null })
  expect((await guest.get(`/properties/${id}`)).status).toBe(404)

  await seller.patch(`/properties/${id}`, { titleAr: 'شقة واسعة للإيجار' })
  expect((await seller.post(`/properties/${id}/publish`)).body)
    .toMatchObject({ status: 'pending_review', statusReason: null })
  await decide(id, true)
  expect(await read(guest, id)).toMatchObject({ status: 'active', titleAr: 'شقة واسعة للإيجار' })
})

test('what waits for review can still be edited, but not made incomplete', async () => {
  const { id } = await publishListing(seller)
  expect((await seller.patch(`/properties/${id}`, { titleAr: 'عنوان جديد' })).body)
    .toMatchObject({ status: 'pending_review', titleAr: 'عنوان جديد', pendingChanges: null })
  expect((await seller.patch(`/properties/${id}`, { price: null })).status).toBe(422)
})

test.each(['active', 'paused', 'expired'])(
  'price, place and title of a listing that is %s change when an admin says so',
  async (state) => {
    await review(false)
    const before = await publishListing(seller, {
      location: { lat: 29.33, lng: 48.07, precision: 'exact' },
    })
    const path = `/properties/${before.id}`
    if (state === 'paused') await seller.post(`${path}/pause`)
    if (state === 'expired') {
      await database().query(
        `update public.properties set status = 'expired', expires_at = now() where id = $1`,
        [before.id],
      )
    }
    await review(true)
    const changes = {
      titleAr: 'فيلا زاوية للبيع',
      price: 170000,
      areaId: 'jahra',
      street: 'شارع ٥',
      location: { lat: 29.33, lng: 47.66, precision: 'block' },
    }
    const edited = (await seller.patch(path, { ...changes, bedrooms: 6 })).body
    expect(edited).toMatchObject({
      status: state,
      titleAr: before.titleAr,
      price: before.price,
      areaId: 'salmiya',
      location: { ...before.location, precision: 'block' },
      bedrooms: 6,
      pendingChanges: changes,
    })
    if (state === 'active') {
      expect(await read(guest, before.id)).toMatchObject({ price: 185000, pendingChanges: null })
    }
    if (state === 'paused') await seller.post(`${path}/resume`)
    if (state === 'expired') await seller.post(`${path}/renew`)
    expect(await read(guest, before.id)).toMatchObject({ titleAr: before.titleAr, price: 185000 })

    expect((await seller.patch(path, { price: 165000 })).body)
      .toMatchObject({ price: 185000, pendingChanges: { ...changes, price: 165000 } })
    await decide(before.id, true)
    expect(await read(guest, before.id)).toMatchObject({
      ...changes,
      price: 165000,
      governorateId: 'jahra',
      location: { lat: 29.33, lng: 47.66 },
    })
    expect(await read(seller, before.id)).toMatchObject({ pendingChanges: null })
    const { body } = await guest.get(`${path}/price-history`)
    expect(body.items.map(({ price }: { price: number }) => price)).toEqual([165000, 185000])
  },
)

test('a picture for the first place waits there, and is first when an admin says so', async () => {
  await review(false)
  const { id } = await publishListing(seller)
  const of = { propertyId: id }
  const picture = (shade: number) => jpeg({ width: 40, height: 30, shade })
  const { body: { files: [old] } } = await uploadPictures(seller, [picture(3)], of)
  await review(true)
  const first = { ...of, startPosition: 0 }
  const { body: { files: [added] } } = await uploadPictures(seller, [picture(6)], first)
  const again = await uploadPictures(seller, [picture(6)], first)
  expect(again.body.files).toMatchObject([{ ok: true, mediaId: added.mediaId }])
  const shown = async () => (await read(guest, id)).media.map(({ id }: { id: string }) => id)
  expect(await shown()).toEqual([old.mediaId])
  await decide(id, true)
  expect(await shown()).toEqual([added.mediaId, old.mediaId])
})

test('LIST-01 what shows less holds at once, also under review; what shows more waits', async () => {
  await review(false)
  await givePhone(seller)
  const pin = { lat: 29.3301, lng: 48.0702 }
  const { id } = await publishListing(seller, {
    titleEn: 'Villa for sale in Salmiya',
    block: '10',
    street: '5',
    building: '7',
    paciNo: '12345678',
    location: { ...pin, precision: 'exact' },
  })
  await review(true)
  const change = async (fields: object) => (await seller.patch(`/properties/${id}`, fields)).body
  const seen = () => read(guest, id)
  const area = (await guest.get('/map/areas')).body.items
    .find(({ areaId }: { areaId: string }) => areaId === 'salmiya')

  expect(await change({ building: null, titleEn: null, allowCall: false }))
    .toMatchObject({ pendingChanges: null })
  expect(await seen()).toMatchObject({
    block: '10',
    building: null,
    paciNo: '12345678',
    titleEn: null,
    allowCall: false,
  })

  // The coarser precision applies to the public pin at once; the new pin waits for review.
  expect(await change({ location: { lat: 29.3401, lng: 48.0802, precision: 'block' } }))
    .toMatchObject({
      location: { ...pin, precision: 'block' },
      pendingChanges: { location: { lat: 29.3401, lng: 48.0802, precision: 'block' } },
    })
  expect(await seen()).toMatchObject({
    paciNo: null,
    street: '5',
    location: { lat: 29.33, lng: 48.07, precision: 'block' },
  })
  expect(await change({ location: { ...pin, precision: 'area' }, block: null }))
    .toMatchObject({ pendingChanges: null })
  expect(await seen()).toMatchObject({
    block: null,
    street: null,
    location: { lat: area.lat, lng: area.lng, precision: 'area' },
  })
  await seller.patch(`/properties/${id}`, { location: { ...pin, precision: 'exact' }, block: '11' })
  expect(await seen()).toMatchObject({ block: null, location: { precision: 'area' } })
  await decide(id, false)
  expect(await read(seller, id))
    .toMatchObject({ block: null, location: { ...pin, precision: 'area' } })
  await seller.patch(`/properties/${id}`, { location: { ...pin, precision: 'exact' } })
  await decide(id, true)
  expect(await seen()).toMatchObject({ location: { ...pin, precision: 'exact' } })

  expect(await change({ location: null })).toMatchObject({ pendingChanges: null, location: null })
  expect((await seen()).location?.lat).not.toBe(pin.lat)
})

test('a change taken back does not wait, and a refused one is dropped', async () => {
  await review(false)
  const { id, price, titleAr } = await publishListing(seller)
  await review(true)
  const path = `/properties/${id}`
  expect((await seller.patch(path, { price: 1 })).body.pendingChanges).toEqual({ price: 1 })
  expect((await seller.patch(path, { price })).body).toMatchObject({ pendingChanges: null, price })

  await seller.patch(path, { titleAr: 'عنوان مخالف' })
  await decide(id, false, 'عنوان مخالف')
  expect(await read(seller, id))
    .toMatchObject({ titleAr, pendingChanges: null, statusReason: 'عنوان مخالف', status: 'active' })
  await expect(decide(id, true)).rejects.toMatchObject({ hint: 'status_transition_invalid' })
  expect((await seller.patch(path, { price: null })).status).toBe(422)
  expect((await seller.patch(path, { areaId: 'jahra', governorateId: 'capital' })).status).toBe(422)
})

test('pending changes go into the draft when a listing is archived, and are dropped when sold', async () => {
  await review(false)
  const [one, two] = [await publishListing(seller), await publishListing(seller)]
  await review(true)
  for (const { id } of [one, two]) await seller.patch(`/properties/${id}`, { price: 5 })
  expect((await seller.post(`/properties/${one.id}/archive`)).body)
    .toMatchObject({ price: 5, pendingChanges: null })
  expect((await seller.post(`/properties/${two.id}/mark-sold`)).body)
    .toMatchObject({ price: 185000, pendingChanges: null })
})

test('LIST-08 what is moved to another identity waits for review', async () => {
  await review(false)
  const [one, two] = [await publishListing(seller), await publishListing(seller)]
  const office = await insertOrganisation(seller.id, 'office')
  await review(true)
  await seller.patch(`/properties/${two.id}`, { price: 5 })
  const move = (ids: string[]) => seller.post('/properties/move', { ids, identityId: office })
  expect((await move([one.id, two.id])).status).toBe(409)
  expect((await move([one.id])).body).toEqual({ items: [{ id: one.id, status: 'pending_review' }] })
  expect((await guest.get(`/properties/${one.id}`)).status).toBe(404)
  await decide(one.id, true)
  expect(await read(guest, one.id))
    .toMatchObject({ owner: { identityId: office }, refNo: one.refNo })
})

test('thirty numbers a day, then no more; what is not offered does not count', async () => {
  await review(false)
  const restore = await enforceRates(variable('DATABASE_URL')!, { contact: 30 })
  try {
    const buyer = await signUp()
    await givePhone(seller)
    const { id } = await publishListing(seller, { allowWhatsapp: false })
    const ask = (kind = 'call') => buyer.post(`/properties/${id}/contact`, { kind })
    for (let i = 0; i < 29; i++) {
      expect((await ask()).status).toBe(200)
      expect((await ask('whatsapp')).status).toBe(409)
    }
    expect(await ask()).toMatchObject({ status: 200 })
    const refused = await ask()
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000)
    expect((await (await signUp()).post(`/properties/${id}/contact`, { kind: 'call' })).status)
      .toBe(200)
  } finally {
    await restore()
  }
})

test('LIST-08 a listing that is moved waits, keeps its end, and nobody hears that it is gone', async () => {
  await review(false)
  const { id, expiresAt } = await publishListing(seller)
  const reader = await signUp()
  await reader.post(`/favorites/${id}`)
  const office = await insertOrganisation(seller.id, 'office')
  await review(true)
  expect(await seller.post('/properties/move', { ids: [id], identityId: office }))
    .toMatchObject({ status: 200, body: { items: [{ status: 'pending_review' }] } })
  await decide(id, true)
  expect(await read(guest, id)).toMatchObject({ status: 'active', owner: { identityId: office } })
  expect(Date.parse((await read(guest, id)).expiresAt)).toBe(Date.parse(expiresAt))
  await drain('fan_out_listing_events')
  expect(await notificationsOf(reader, 'favorite_unavailable')).toEqual([])
})

test('ADM-25 an administrator sees changes before and after, with their pictures', async () => {
  await review(false)
  const inexact = { lat: 29.33, lng: 48.07, precision: 'area' }
  const { id } = await publishListing(seller, { location: inexact, block: '4' })
  const picture = (shade: number) => jpeg({ width: 40, height: 30, shade })
  const before = await uploadPictures(seller, [picture(1)], { propertyId: id })
  await review(true)
  const titleAr = 'فيلا جديدة للبيع في السالمية'
  const location = { ...inexact, lat: 29.34, precision: 'exact' }
  await seller.patch(`/properties/${id}`, { titleAr, location })
  const after = await uploadPictures(seller, [picture(2)], { propertyId: id })
  const [old, added] = [before, after].map(({ body }) => body.files[0].mediaId)

  const admin = await signUpAdmin()
  const { items: [item] } = (await admin.get(`/admin/moderation?accountId=${seller.id}`)).body
  expect(item).toMatchObject({
    id,
    kind: 'changes',
    changes: { titleAr, media: [old, added] },
    before: { titleAr: completeFields.SALE.titleAr, location: inexact },
    listing: { media: [{ id: old }] },
    pictures: [{ id: old }, { id: added }],
  })
  expect(Object.keys(item.before).toSorted())
    .toEqual(Object.keys(item.changes).filter((name) => name !== 'media').toSorted())
  for (const { url } of item.pictures) expect((await fetch(url)).status).toBe(200)
})
