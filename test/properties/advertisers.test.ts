import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { openConversation, postMessage } from '../support/conversations.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { refusal } from '../support/problems.ts'

const missing = refusal(404, 'identity_not_found')
const pageOf = (id: string) => guest.get(`/identities/${id}`)
const listingsOf = (id: string, query = '') => guest.get(`/identities/${id}/listings${query}`)
const month = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'Asia/Kuwait',
  year: 'numeric',
  month: '2-digit',
}).format(new Date())

let seller: Person
beforeEach(async () => {
  seller = await signUp('سارة المطيري')
})

test('a person is shown while something of theirs is listed, and nothing else of them', async () => {
  expect(await pageOf(seller.identityId)).toMatchObject(missing)
  expect(await listingsOf(seller.identityId)).toMatchObject(missing)
  const { id } = await publishListing(seller)
  expect((await pageOf(seller.identityId)).body).toEqual({
    identityId: seller.identityId,
    type: 'individual',
    displayName: 'سارة المطيري',
    avatarUrl: null,
    verified: false,
    memberSince: month,
    ratingAvg: null,
    ratingCount: 0,
    activeListingsCount: 1,
    medianResponseMinutes: null,
  })
  expect((await listingsOf(seller.identityId)).body)
    .toMatchObject({ items: [{ id }], nextCursor: null })
  await seller.post(`/properties/${id}/pause`)
  for (const answer of [await pageOf(seller.identityId), await listingsOf(seller.identityId)]) {
    expect(answer).toMatchObject(missing)
  }
})

test('a company or office is shown while it is verified and in order, listed or not', async () => {
  const office = await insertOrganisation(seller.id, 'office')
  const reviewer = await signUp()
  expect((await pageOf(office)).body).toMatchObject({
    identityId: office,
    type: 'office',
    verified: true,
    activeListingsCount: 0,
  })
  expect((await listingsOf(office)).body).toEqual({ items: [], nextCursor: null })
  await insertListing(office)
  await database().query(
    `insert into public.reviews (author_identity_id, subject_identity_id, rating) values ($1, $2, 4)`,
    [reviewer.identityId, office],
  )
  expect((await pageOf(office)).body)
    .toMatchObject({ activeListingsCount: 1, ratingAvg: 4, ratingCount: 1 })
  await database().query(
    'update public.organisations set verified = false where identity_id = $1',
    [office],
  )
  expect(await pageOf(office)).toMatchObject(missing)
})

test('all types, newest first, page by page; a cursor is good for its own list', async () => {
  const office = await insertOrganisation(seller.id, 'office')
  const ids: string[] = []
  for (const [nth, type] of ['SALE', 'RENT', 'EXCHANGE', 'SALE', 'RENT'].entries()) {
    const published_at = new Date(Date.now() - (9 - nth) * 60_000)
    ids.unshift(await insertListing(office, { type, published_at }))
  }
  await insertListing(office, { status: 'draft', published_at: null, expires_at: null })
  const found: string[] = []
  let cursor: string | null = null
  do {
    const { body } = await listingsOf(office, `?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
    found.push(...body.items.map(({ id }: { id: string }) => id))
    if (body.nextCursor) {
      await publishListing(seller)
      expect((await listingsOf(seller.identityId, `?cursor=${body.nextCursor}`)).status).toBe(422)
    }
    cursor = body.nextCursor
  } while (cursor)
  expect(found).toEqual(ids)

  const buyer = await signUp()
  await buyer.post(`/favorites/${ids[0]}`)
  for (const fields of ['card', 'full']) {
    const { body } = await buyer.get(`/identities/${office}/listings?fields=${fields}&limit=2`)
    expect(body.items).toMatchObject([{ id: ids[0], isFavorite: true }, { isFavorite: false }])
    expect('descriptionAr' in body.items[0]).toBe(fields === 'full')
  }
})

test('a suspended account, or nobody, is as good as none', async () => {
  await publishListing(seller)
  await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
    seller.id,
  ])
  for (const id of [seller.identityId, randomUUID()]) {
    expect(await pageOf(id)).toMatchObject(missing)
    expect(await listingsOf(id)).toMatchObject(missing)
  }
  expect((await pageOf('x')).status).toBe(422)
})

test('how soon a person answers is said from five answers on', async () => {
  await publishListing(seller)
  for (let nth = 1; nth <= 5; nth++) {
    const buyer = await signUp()
    const { id } = await openConversation(buyer, {
      identityId: seller.identityId,
      message: 'متاح؟',
    })
    await postMessage(seller, id)
    expect((await pageOf(seller.identityId)).body.medianResponseMinutes).toBe(nth < 5 ? null : 0)
  }
})
