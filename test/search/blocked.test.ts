import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { agePrices, insertListing, insertOrganisation, insertReviews } from '../support/fixtures.ts'
import { uniquePrice } from '../support/listings.ts'
import { statusAndCode } from '../support/problems.ts'
import { now } from './feed-pages.ts'
import { linesOf } from './oracle.ts'
import { ids, uniqueWord } from './results.ts'

type Reader = Pick<Person, 'get' | 'post'>

const search = (reader: Reader, strategy: string, more: object) =>
  reader.post('/search/advanced', { strategy, ...more })

test('SRCH-10 a block hides what an identity lists from a search, whatever the strategy', async () => {
  const [seller, reader] = [await signUp(), await signUp()]
  const company = await insertOrganisation(seller.id)
  const word = uniqueWord()
  const list = (more: object = {}, identityId = seller.identityId) =>
    insertListing(identityId, { title_ar: `شقة ${word}`, ...more })
  const found = {
    standard: await list(),
    exchange: await list({ type: 'EXCHANGE', price: null }),
    auction: await list(),
    deal: await list(),
    company: await list({ owner_type: 'company' }, company),
  }
  await agePrices(found.deal)
  await database().query('update public.properties set price = 160000 where id = $1', [found.deal])
  const hour = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString()
  const auction = { startPrice: 1000, minIncrement: 100, startsAt: hour(1), endsAt: hour(9) }
  await seller.post(`/properties/${found.auction}/auction`, auction)

  const seen = async (strategy: string, reads: Reader = reader) =>
    ids(await search(reads, strategy, { q: word }))
  /** Repeats the request if a busy machine could not count in time. */
  const count = async (): Promise<number> =>
    (await reader.post('/search/count', { strategy: 'standard', q: word })).body.count ?? count()
  expect(await count()).toBe(3)
  for (const [strategy, id] of Object.entries(found)) expect(await seen(strategy)).toContain(id)

  await reader.post(`/blocks/${seller.identityId}`)
  // Listings of a blocked person's other identity stay visible, so that nobody can tell whose it is.
  for (const strategy of ['standard', 'company']) {
    expect(await seen(strategy)).toEqual([found.company])
  }
  for (const strategy of ['exchange', 'auction', 'deal']) expect(await seen(strategy)).toEqual([])
  expect(ids(await reader.get(`/search?q=${word}&fields=full`))).toEqual([found.company])
  for (const [strategy, id] of Object.entries(found)) {
    expect(await seen(strategy, guest)).toContain(id)
  }
  expect(await count()).toBe(3)
  for (const id of Object.values(found)) {
    expect((await reader.get(`/properties/${id}`)).status).toBe(200)
  }

  await reader.delete(`/blocks/${seller.identityId}`)
  expect(await seen('standard')).toContain(found.standard)
})

test('SRCH-10 a page is shorter by what is hidden, and only nextCursor ends the list', async () => {
  const [blocked, seller, reader] = [await signUp(), await signUp(), await signUp()]
  const word = uniqueWord()
  const made: string[] = []
  for (const { identityId } of [seller, blocked, blocked, seller]) {
    made.unshift(await insertListing(identityId, { title_ar: `شقة ${word}` }))
  }
  await reader.post(`/blocks/${blocked.identityId}`)
  const pages: string[][] = []
  let cursor: string | undefined
  do {
    const { body } = await search(reader, 'standard', { q: word, limit: 1, cursor })
    pages.push(ids({ status: 200, body } as never))
    cursor = body.nextCursor ?? undefined
  } while (cursor)
  expect(pages).toEqual([[made[0]], [], [], [made[3]]])
  await reader.post('/auth/logout')
  expect(ids(await search(reader, 'standard', { q: word }))).toEqual(made)
})

test('SRCH-10 a page says from where on what is not met, among what is shown', async () => {
  const [exact, near, far, reader] = [
    await signUp(),
    await signUp(),
    await signUp(),
    await signUp(),
  ]
  const price = uniquePrice()
  const list = ({ identityId }: Person, bedrooms: number, block: string) =>
    insertListing(identityId, { kind: 'farm', price, bedrooms, block })
  const lines = async () => {
    const given = { priceMin: price, priceMax: price }
    const { body } = await search(reader, 'standard', { q: 'مزرعة ق 5 3 غرف', ...given })
    expect(body.similarFrom).toBe(body.similar[0]?.from ?? null)
    return linesOf(body)
  }
  const all = [
    await list(exact, 3, '5'),
    `${await list(near, 1, '5')} bedroomsMin`,
    `${await list(far, 1, '6')} bedroomsMin,block`,
  ]
  expect(await lines()).toEqual(all)
  for (const [n, { identityId }] of [exact, near, far].entries()) {
    await reader.post(`/blocks/${identityId}`)
    expect(await lines()).toEqual(all.filter((_, index) => index !== n))
    await reader.delete(`/blocks/${identityId}`)
  }
})

test('SRCH-10 the map has no point of whom one has blocked, and counts as before', async () => {
  const [seller, reader] = [await signUp(), await signUp()]
  const word = uniqueWord()
  const id = await insertListing(seller.identityId, { title_ar: `شقة ${word}` })
  const map = async (zoom: number) =>
    (await reader.get(`/map/listings?bbox=46.5,28.45,48.8,30.15&zoom=${zoom}&q=${word}`)).body
  const clusters = await map(10)
  expect(clusters.clusters).toMatchObject([{ count: 1 }])
  expect((await map(16)).points).toMatchObject([{ id }])
  await reader.post(`/blocks/${seller.identityId}`)
  expect(await map(16)).toMatchObject({ points: [], truncated: false })
  expect(await map(10)).toEqual(clusters)
})

test('SRCH-10 similar listings are not of whom one has blocked', async () => {
  const [blocked, seller, reader] = [await signUp(), await signUp(), await signUp()]
  const columns = { kind: 'chalet', price: 7_654_321 }
  const hidden = await insertListing(blocked.identityId, columns)
  const other = await insertListing(seller.identityId, columns)
  const source = await insertListing(seller.identityId, columns)
  const similar = async (reads: Reader, fields = 'card') =>
    ids(await reads.get(`/properties/${source}/similar?fields=${fields}`))
  expect(await similar(reader)).toEqual(expect.arrayContaining([hidden, other]))
  await reader.post(`/blocks/${blocked.identityId}`)
  for (const fields of ['card', 'full']) {
    expect(await similar(reader, fields)).toContain(other)
    expect(await similar(reader, fields)).not.toContain(hidden)
  }
  expect(await similar(guest)).toContain(hidden)
})

test('SRCH-10 the feed leaves out listings and offices of whom one has blocked', async () => {
  const [seller, reader] = [await signUp(), await signUp()]
  const office = await insertOrganisation(seller.id, 'office')
  await insertReviews(office, 5, [reader, await signUp(), await signUp()])
  const listing = await insertListing(seller.identityId)
  const ofOffice = await insertListing(office, { owner_type: 'office' })
  const ours = [listing, ofOffice, office]
  const snapshot = await now()
  const shown = async (reads: Reader, fields = 'card') => {
    const items: { id?: string; identityId?: string }[] = []
    for (let page = 1, more = true; more && page <= 6; page++) {
      const { body } = await reads.get(
        `/feed?limit=50&page=${page}&snapshot=${snapshot}&fields=${fields}`,
      )
      items.push(...body.items)
      more = body.hasMore
    }
    return ours.filter((one) => items.some(({ id, identityId }) => one === (identityId ?? id)))
  }
  expect(await shown(reader)).toEqual(ours)
  await reader.post(`/blocks/${office}`)
  expect(await shown(reader)).toEqual([listing])
  expect(await shown(reader, 'full')).toEqual([listing])
  await reader.post(`/blocks/${seller.identityId}`)
  expect(await shown(reader)).toEqual([])
  expect(await shown(guest)).toEqual(ours)
})

test('SRCH-10 nobody gets a contact across a block, in neither direction', async () => {
  const [one, other] = [await signUp(), await signUp()]
  await one.post(`/blocks/${other.identityId}`)
  for (const [seller, buyer] of [[one, other], [other, one]] as const) {
    const listing = await insertListing(seller.identityId)
    for (const kind of ['call', 'whatsapp', 'chat']) {
      expect(statusAndCode(await buyer.post(`/properties/${listing}/contact`, { kind })))
        .toEqual([403, 'blocked'])
    }
  }
})
