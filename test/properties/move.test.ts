import { beforeEach, expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { givePhone, insertListing, insertOrganisation } from '../support/fixtures.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { givePlan } from '../support/plans.ts'
import { unknownId } from '../support/problems.ts'
import { uploadPictures } from '../support/uploads.ts'

let seller: Person
let buyer: Person
let office: string

beforeEach(async () => {
  ;[seller, buyer] = await Promise.all([signUp(), signUp()])
  office = await insertOrganisation(seller.id, 'office')
})

const move = (ids: string[], identityId = office, by = seller) =>
  by.post('/properties/move', { ids, identityId })
const actAs = (identityId: string) => seller.post('/auth/identity/switch', { identityId })
const refused = (status: number, code: string) => ({ status, body: { error: { code } } })
const conflict = refused(409, 'property_state_conflict')
const mine = async (): Promise<string[]> =>
  (await seller.get('/properties/mine')).body.items.map(({ id }: { id: string }) => id)
const countOf = async (identityId: string) =>
  (await guest.get(`/identities/${identityId}`)).body.activeListingsCount

test('LIST-08 listings go along with pictures, numbers, prices, favorites and dates', async () => {
  await givePhone(seller)
  const phone = '+96522223333'
  await database().query('update public.organisations set phone = $2 where identity_id = $1', [
    office,
    phone,
  ])
  const listed = await publishListing(seller, { price: 1000, isDirect: true })
  const draft = await createDraft(seller)
  const stays = await publishListing(seller, { price: 3000 })
  const picture = jpeg({ width: 40, height: 30 })
  await uploadPictures(seller, [picture], { propertyId: listed.id })
  await seller.patch(`/properties/${listed.id}`, { price: 990 })
  await buyer.post(`/favorites/${listed.id}`)
  await buyer.post(`/properties/${listed.id}/contact`, { kind: 'call' })
  const before = (await guest.get(`/properties/${listed.id}`)).body

  expect(await move([listed.id, draft.id])).toMatchObject({
    status: 200,
    body: { items: [{ id: listed.id, status: 'active' }, { id: draft.id, status: 'draft' }] },
  })
  const { body } = await guest.get(`/properties/${listed.id}`)
  for (const field of ['refNo', 'price', 'media', 'favoritesCount', 'publishedAt', 'expiresAt']) {
    expect([field, body[field]]).toEqual([field, before[field]])
  }
  expect(body).toMatchObject({
    owner: { identityId: office, type: 'office', verified: true },
    isDirect: false,
  })
  expect(body.media).toHaveLength(1)
  const saved = (await buyer.get('/favorites')).body.items
  expect(saved).toMatchObject([{ id: listed.id, owner: { identityId: office } }])
  const found = async (ownerId: string) =>
    (await guest.get(`/search?ownerId=${ownerId}`)).body.items.map(({ id }: { id: string }) => id)
  expect(await found(office)).toEqual([listed.id])
  expect(await found(seller.identityId)).toEqual([stays.id])
  expect([await countOf(office), await countOf(seller.identityId)]).toEqual([1, 1])
  expect((await buyer.post(`/properties/${listed.id}/contact`, { kind: 'call' })).body)
    .toEqual({ phone })
  expect((await guest.get(`/properties/${listed.id}/price-history`)).body.items).toHaveLength(2)

  // The old identity keeps only the leads of the moved listing.
  expect(await mine()).toEqual([stays.id])
  expect((await seller.get(`/properties/${draft.id}`)).status).toBe(404)
  expect((await seller.patch(`/properties/${listed.id}`, { price: 5 })).status).toBe(404)
  expect((await seller.get('/leads')).body.items).toMatchObject([{ property: { id: listed.id } }])
  await actAs(office)
  expect(new Set(await mine())).toEqual(new Set([listed.id, draft.id]))
  const another = jpeg({ width: 41, height: 30 })
  expect((await uploadPictures(seller, [another], { propertyId: listed.id })).body.files)
    .toMatchObject([{ position: 1 }])
  expect((await seller.post(`/properties/${listed.id}/pause`)).status).toBe(200)

  // The listing can also be moved back.
  expect((await move([listed.id], seller.identityId)).status).toBe(200)
  await actAs(seller.identityId)
  expect((await seller.post(`/properties/${listed.id}/resume`)).status).toBe(200)
  expect(await countOf(seller.identityId)).toBe(2)
  const { rows } = await database().query(
    'select active_listings_count as count from public.organisations where identity_id = $1',
    [office],
  )
  expect(rows).toEqual([{ count: 0 }])
})

test('LIST-08 all or none: only what may be moved, to where it may go', async () => {
  const good = await insertListing(seller.identityId)
  const one = (columns: Record<string, unknown>) => insertListing(seller.identityId, columns)
  const closed = { closed_at: new Date() }
  const states = [
    await one({ status: 'sold', ...closed }),
    await one({ status: 'archived' }),
    await one({ status: 'pending_review', published_at: null, expires_at: null }),
    await one({ status: 'suspended' }),
    await one({ pending_changes: { price: 5 } }),
  ]
  for (const id of states) expect(await move([good, id])).toMatchObject(conflict)

  const auctioned = await one({})
  const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString()
  await seller.post(`/properties/${auctioned}/auction`, {
    startsAt: hours(1),
    endsAt: hours(9),
    startPrice: 1000,
    minIncrement: 10,
  })
  expect(await move([good, auctioned])).toMatchObject(conflict)
  const reported = await one({})
  await buyer.post('/reports', { targetType: 'property', targetId: reported, reason: 'spam' })
  expect(await move([good, reported])).toMatchObject(conflict)

  const theirs = await insertListing(buyer.identityId)
  const ofOffice = await insertListing(office, { owner_type: 'office' })
  for (const id of [theirs, ofOffice, unknownId]) {
    expect(await move([good, id])).toMatchObject(refused(404, 'property_not_found'))
  }
  for (const id of [buyer.identityId, unknownId]) {
    expect(await move([good], id)).toMatchObject(refused(404, 'identity_not_found'))
  }
  expect(await move([good], seller.identityId)).toMatchObject({
    status: 422,
    body: { error: { fields: [{ path: 'identityId', code: 'self' }] } },
  })
  const suspended = await insertOrganisation(seller.id)
  await database().query(`update public.identities set status = 'suspended' where id = $1`, [
    suspended,
  ])
  expect(await move([good], suspended)).toMatchObject(refused(403, 'identity_not_usable'))
  for (const ids of [[], Array(51).fill(good), ['x']]) {
    expect((await move(ids as string[])).status).toBe(422)
  }
  const { rows } = await database().query(
    'select owner_identity_id, version from public.properties where id = $1',
    [good],
  )
  expect(rows).toEqual([{ owner_identity_id: seller.identityId, version: 1 }])
  const expired = await one({ status: 'expired' })
  const paused = await one({ status: 'paused', paused_at: new Date() })
  expect((await move([good, expired, paused, good])).body.items).toMatchObject([
    { id: good, status: 'active' },
    { id: expired, status: 'expired' },
    { id: paused, status: 'paused' },
  ])
})

test('LIST-08 the plan of the other identity bounds what it gets, whatever is moved at once', async () => {
  await givePlan(office, 'office')
  const { rows: [{ allowed }] } = await database().query(
    'select (private.plan_of($1)).active_listings as allowed',
    [office],
  )
  for (let count = 0; count < allowed - 1; count++) {
    await insertListing(office, { owner_type: 'office' })
  }
  const ids = [await insertListing(seller.identityId), await insertListing(seller.identityId)]
  expect(await move(ids)).toMatchObject({
    status: 402,
    body: { error: { code: 'quota_exceeded', limit: allowed, used: allowed - 1 } },
  })
  const replies = await Promise.all(ids.map((id) => move([id])))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 402])
  expect(await countOf(office)).toBe(allowed)
})

test('LIST-08 whoever could not be reached gets no listing that is shown', async () => {
  await database().query(
    `update public.organisations set phone = '+96522223333' where identity_id = $1`,
    [office],
  )
  const id = await insertListing(office, { owner_type: 'office', allow_chat: false })
  await actAs(office)
  expect(await move([id], seller.identityId)).toMatchObject(refused(422, 'contact_missing'))
})
