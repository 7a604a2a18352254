// A suspended listing is recognised when the same account posts it again, even if find_duplicates and
// review_listings are off, as in these tests.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { actAs } from '../support/identities.ts'
import { drain } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadPictures } from '../support/uploads.ts'

let admin: Person
let seller: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})
beforeEach(async () => {
  seller = await signUp()
})

const decide = (id: string, decision: string) =>
  admin.post(`/admin/moderation/${id}/decide`, { decision, reason: 'إعلان مخالف' })
const picture = jpeg({ width: 24, height: 24, shade: 3 })
async function suspended(fields = {}): Promise<string> {
  const { id } = await publishListing(seller, fields)
  await uploadPictures(seller, [picture], { propertyId: id })
  expect((await decide(id, 'suspend')).status).toBe(200)
  return id
}
const statusOf = async (id: string) => (await seller.get(`/properties/${id}`)).body.status
const age = (id: string, by: string) =>
  database().query(
    `update private.suspensions set ended_at = ended_at - $2::interval where property_id = $1`,
    [id, by],
  )

test('it goes to review, shows the admin what it repeats, and is approved for good', async () => {
  const first = await suspended()
  const again = await publishListing(seller)
  expect(again).toMatchObject({ status: 'pending_review', publishedAt: null })
  expect((await guest.get(`/properties/${again.id}`)).status).toBe(404)
  const { items } = (await admin.get(`/admin/moderation?kind=listing&accountId=${seller.id}`)).body
  expect(items).toMatchObject([{ id: again.id, of: { id: first, status: 'suspended' } }])
  expect((await decide(again.id, 'approve')).body.status).toBe('active')
  await drain('find_duplicates')
  for (const action of ['pause', 'resume']) {
    expect((await seller.post(`/properties/${again.id}/${action}`)).status).toBe(200)
  }
  await seller.patch(`/properties/${again.id}`, { price: 186_000 })
  await drain('find_duplicates')
  expect(await statusOf(again.id)).toBe('active')
})

test('deleted and posted anew by any identity of the account it is known, by picture alone too', async () => {
  const first = await suspended()
  await seller.delete(`/properties/${first}`)
  await actAs(seller, await insertOrganisation(seller.id, 'office'))
  const { uploadSessionId } = (await uploadPictures(seller, [picture])).body
  const other = { titleAr: 'عنوان لا يشبه ما كان أبداً', price: 188_000 }
  expect((await publishListing(seller, other)).status).toBe('active')
  expect((await publishListing(seller, { ...other, uploadSessionId })).status)
    .toBe('pending_review')
  expect((await publishListing(await signUp())).status).toBe('active')
})

test('its row is purged after 90 days, what is known of it after 180', async () => {
  const first = await suspended()
  await seller.delete(`/properties/${first}`)
  await age(first, '179 days 23 hours')
  await drain('purge_suspensions')
  expect((await publishListing(seller)).status).toBe('pending_review')
  await age(first, '2 hours')
  expect((await publishListing(seller)).status).toBe('active')
  await drain('purge_suspensions')
  expect(
    (await database().query('select from private.suspensions where property_id = $1', [first]))
      .rowCount,
  ).toBe(0)
})

test('one that is still suspended is known whatever its age, one restored for 180 days', async () => {
  const first = await suspended()
  await age(first, '1 year')
  expect((await publishListing(seller)).status).toBe('pending_review')
  await decide(first, 'restore')
  await actAs(seller, await insertOrganisation(seller.id, 'office'))
  expect((await publishListing(seller)).status).toBe('pending_review')
  await age(first, '181 days')
  expect((await publishListing(seller)).status).toBe('active')
})

test('a listing that is changed into it, or resumed or renewed as it, goes to review', async () => {
  const paused = await publishListing(seller)
  await seller.post(`/properties/${paused.id}/pause`)
  const expired = await publishListing(seller)
  await database().query(
    `update public.properties set status = 'expired', expires_at = now() where id = $1`,
    [expired.id],
  )
  const changed = await publishListing(seller, { price: 90_000 })
  await suspended()
  for (const [id, action] of [[paused.id, 'resume'], [expired.id, 'renew']]) {
    expect((await seller.post(`/properties/${id}/${action}`)).body.status, action)
      .toBe('pending_review')
  }
  expect((await seller.patch(`/properties/${changed.id}`, { price: 185_000 })).body.status)
    .toBe('active')
  await drain('find_duplicates')
  expect(await statusOf(changed.id)).toBe('pending_review')
})

test('a copy that was published before, or at the moment of the suspension, goes to review too', async () => {
  const { id } = await publishListing(seller)
  const before = await publishListing(seller)
  const [, meanwhile] = await Promise.all([decide(id, 'suspend'), publishListing(seller)])
  await drain('find_duplicates')
  expect([await statusOf(before.id), await statusOf(meanwhile.id)])
    .toEqual(['pending_review', 'pending_review'])
})

test('what is known of it goes with the account', async () => {
  const first = await suspended()
  await database().query('delete from auth.users where id = $1', [seller.id])
  expect(
    (await database().query('select from private.suspensions where property_id = $1', [first]))
      .rowCount,
  ).toBe(0)
})
