import { beforeEach, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { cardOf } from '../support/cards.ts'
import { database, type Guest, guest, type Person, signUp } from '../support/client.ts'
import {
  asOthersSee,
  createDraft,
  type Listing,
  publishListing,
  uniquePrice,
} from '../support/listings.ts'
import { isSaved, savedIds, toggleFavorite } from './reads.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { problemOf, unknownId } from '../support/problems.ts'

let seller: Person
let buyer: Person

beforeEach(async () => {
  seller = await signUp()
  buyer = await signUp()
})

test('toggling alternates: the first call saves, the second removes', async () => {
  const { id } = await publishListing(seller)
  expect(await toggleFavorite(buyer, id))
    .toMatchObject({ status: 200, body: { propertyId: id, isFavorite: true } })
  expect(await isSaved(buyer, id)).toBe(true)
  expect((await buyer.get(`/properties/${id}`)).body)
    .toMatchObject({ isFavorite: true, favoritesCount: 1 })

  expect((await toggleFavorite(buyer, id.toUpperCase())).body)
    .toEqual({ propertyId: id, isFavorite: false })
  expect(await isSaved(buyer, id)).toBe(false)
  expect((await buyer.get(`/properties/${id}`)).body)
    .toMatchObject({ isFavorite: false, favoritesCount: 0, version: 1 })
})

test('the list holds cards or whole listings, newest first, in consecutive pages', async () => {
  const made: Listing[] = []
  for (let i = 0; i < 5; i++) made.unshift(await publishListing(seller, { price: 1000 + i }))
  for (const { id } of made.toReversed()) await toggleFavorite(buyer, id)

  const { body } = await buyer.get('/favorites')
  // The buyer sees the listings like anybody else, not like their owner.
  const saved = made.map((listing) => (
    { ...asOthersSee(listing), isFavorite: true, favoritesCount: 1 }
  ))
  expect(body.items).toEqual(saved.map(cardOf))
  expect((await buyer.get('/favorites?fields=full')).body.items).toEqual(saved)
  expect(body.nextCursor).toBe(null)
  expect(await savedIds(buyer)).toEqual(made.map(({ id }) => id))

  const first = (await buyer.get('/favorites?limit=2')).body
  await toggleFavorite(buyer, first.items[1].id) // removes the last row of the page
  const second = (await buyer.get(`/favorites?limit=3&cursor=${first.nextCursor}`)).body
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(made.map(({ id }) => id))
  expect(second.nextCursor).toBe(null)

  for (const query of ['limit=0', 'limit=51', 'limit=1.5', 'page=2', 'cursor=x', 'cursor=']) {
    expect((await buyer.get(`/favorites?${query}`)).status).toBe(422)
  }
  expect((await buyer.get('/favorites?cursor=')).body)
    .toMatchObject({ error: { code: 'cursor_invalid' } })
  expect((await seller.get(`/favorites?cursor=${first.nextCursor}`)).body)
    .toMatchObject({ error: { code: 'cursor_invalid' } })
})

test('FAV-03 toggling something that does not exist is 404, whatever the reason', async () => {
  const [deleted, archived, hidden] = [
    await publishListing(seller),
    await publishListing(seller),
    await createDraft(seller),
  ]
  for (const { id } of [deleted, archived]) await toggleFavorite(buyer, id)
  await seller.delete(`/properties/${deleted.id}`)
  await seller.post(`/properties/${archived.id}/archive`)
  await toggleFavorite(buyer, archived.id) // this removes the listing; saving it again would fail

  const missing = problemOf(await toggleFavorite(buyer, unknownId))
  expect(missing).toMatchObject({
    status: 404,
    error: { code: 'property_not_found', message: 'العقار غير موجود أو تم حذفه' },
  })
  for (let i = 0; i < 20; i++) {
    const replies = await Promise.all(
      [unknownId, deleted.id, archived.id, hidden.id].map((id) => toggleFavorite(buyer, id)),
    )
    expect(replies.map(problemOf)).toEqual(Array(4).fill(missing))
    expect((await toggleFavorite(buyer, `${unknownId}x`)).status).toBe(422)
  }
  expect(await savedIds(buyer)).toEqual([])
})

test('IDN-03 FAV-05 favorites and isFavorite are those of the acting identity', async () => {
  const price = uniquePrice()
  const [p1, p2, p3] = [
    await publishListing(seller, { price }),
    await publishListing(seller, { price }),
    await publishListing(seller, { price }),
  ]
  const all = [p1.id, p2.id, p3.id]
  const company = await insertOrganisation(buyer.id)
  const act = (identityId: string) => buyer.post('/auth/identity/switch', { identityId })
  const marked = async (person: Guest) => {
    const seen = (items: Listing[]) =>
      all.filter((id) => items.find((item) => item.id === id)?.isFavorite)
    const read = await Promise.all(
      all.map(async (id) => (await person.get(`/properties/${id}`)).body),
    )
    const query = { strategy: 'standard', priceMin: price, priceMax: price }
    const found = seen((await person.post('/search/advanced', query)).body.items)
    expect(seen(read)).toEqual(found)
    const { body } = await person.get(`/properties/${p1.id}/similar`)
    expect(seen(body.items)).toEqual(found.filter((id) => id !== p1.id))
    return found
  }
  const state = async () => [(await savedIds(buyer)).toSorted(), await marked(buyer)]
  const both = [p1.id, p2.id]

  for (const id of both) await toggleFavorite(buyer, id)
  expect(await state()).toEqual([both.toSorted(), both])

  await act(company)
  expect(await state()).toEqual([[], []])
  for (const id of all) expect(await isSaved(buyer, id)).toBe(false)
  await toggleFavorite(buyer, p3.id)
  expect(await state()).toEqual([[p3.id], [p3.id]])

  await act(buyer.identityId)
  expect(await state()).toEqual([both.toSorted(), both])
  expect(await marked(seller)).toEqual([])
  expect(await marked(guest)).toEqual([])

  const { rows } = await database().query(
    `select identity_id, array_agg(property_id order by property_id) as saved
     from public.favorites where identity_id = any ($1) group by 1`,
    [[buyer.identityId, company]],
  )
  expect(new Map(rows.map((row) => [row.identity_id, row.saved]))).toEqual(
    new Map([[buyer.identityId, both.toSorted()], [company, [p3.id]]]),
  )
})

test.each(['mark-sold', 'pause', 'archive', 'expire'])(
  'ISO-14 after %s a saved listing is unavailable, keeps its title, and can only be removed',
  async (act) => {
    const { id, titleAr } = await publishListing(seller)
    await toggleFavorite(buyer, id)
    if (act === 'expire') {
      await database().query(
        `update public.properties set status = 'expired' where id = $1`,
        [id],
      )
    } else await seller.post(`/properties/${id}/${act}`)

    const { body } = await buyer.get('/favorites')
    expect(body.items).toEqual([
      { id, status: 'unavailable', isFavorite: true, available: false, titleAr },
    ])
    expect(await isSaved(buyer, id)).toBe(true)
    expect((await toggleFavorite(buyer, id)).body).toEqual({ propertyId: id, isFavorite: false })
    expect((await toggleFavorite(buyer, id)).status).toBe(404)
    expect(await isSaved(buyer, id)).toBe(false)
  },
)

test('ISO-14 a saved listing disappears everywhere while deleted or hidden, and returns with it', async () => {
  for (const status of ['deleted', 'suspended', 'rejected', 'draft', 'pending_review']) {
    // Each listing has a new owner, because a repeat of an owner's suspended listing would wait for review.
    const { id } = await publishListing(await signUp())
    await toggleFavorite(buyer, id)
    const set = (to: string) =>
      database().query('update public.properties set status = $2 where id = $1', [id, to])
    await set(status)
    expect(await isSaved(buyer, id)).toBe(false)
    expect((await toggleFavorite(buyer, id)).status).toBe(404)
    if (status === 'deleted') continue // a deletion is permanent
    await set('active')
    expect(await isSaved(buyer, id)).toBe(true) // the refused call changed nothing
    await toggleFavorite(buyer, id)
  }
})

test('while its owner is suspended, a saved listing is unavailable without a title', async () => {
  const { id } = await publishListing(seller)
  await toggleFavorite(buyer, id)
  const account = (status: string) =>
    database().query('update public.accounts set status = $2 where id = $1', [seller.id, status])
  await account('suspended')
  expect((await buyer.get('/favorites')).body.items)
    .toEqual([{ id, status: 'unavailable', isFavorite: true, available: false }])
  expect(await isSaved(buyer, id)).toBe(true)
  await account('active')
  expect((await buyer.get('/favorites')).body.items).toMatchObject([{ id, status: 'active' }])
})

test('owners can save their own active listings', async () => {
  const { id } = await publishListing(seller)
  expect((await toggleFavorite(seller, id)).body.isFavorite).toBe(true)
  expect(await isSaved(seller, id)).toBe(true)
  const own = await createDraft(seller)
  expect((await toggleFavorite(seller, own.id)).status).toBe(404)
})

test('a guest is asked to sign in', async () => {
  const refused = { status: 401, body: { error: { code: 'token_missing' } } }
  expect(await guest.get('/favorites')).toMatchObject(refused)
  expect(await guest.get('/favorites/ids')).toMatchObject(refused)
  expect(await guest.get(`/favorites/check/${unknownId}`)).toMatchObject(refused)
  expect(await guest.post(`/favorites/${unknownId}`)).toMatchObject(refused)
})

test.each(['suspended', 'banned'])(
  'listings do not count who is %s, until that is lifted',
  async (status) => {
    const [{ id }, admin, other] = [
      await publishListing(seller),
      await signUpAdmin(),
      await signUp(),
    ]
    for (const saver of [buyer, other]) await toggleFavorite(saver, id)
    const counts = async () => [
      (await guest.get(`/properties/${id}`)).body.favoritesCount,
      (await seller.get('/properties/mine')).body.items[0].favoritesCount,
    ]
    const put = async (status: string) =>
      expect(
        (await admin.patch(`/admin/users/${buyer.id}/status`, { status, reason: 'إعلانات وهمية' }))
          .status,
      ).toBe(200)
    expect(await counts()).toEqual([2, 2])
    await put(status)
    expect(await counts()).toEqual([1, 1])
    await toggleFavorite(other, id)
    expect(await counts()).toEqual([0, 0])
    await put('active')
    expect(await counts()).toEqual([1, 1])
  },
)

test('a deleted account has saved nothing, and listings do not count it', async () => {
  const { id } = await publishListing(seller)
  await toggleFavorite(buyer, id)
  await database().query('select private.anonymise_account($1)', [buyer.id])
  expect((await guest.get(`/properties/${id}`)).body.favoritesCount).toBe(0)
})
