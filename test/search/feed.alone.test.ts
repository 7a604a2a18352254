// These tests read the whole feed. They run alone, because no other test may publish in the meantime.
import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { insertOrganisation, insertReviews } from '../support/fixtures.ts'
import { ids, type Item, now, offered, type Page, page } from './feed-pages.ts'

async function walk(filter: string, limit: number, between = async () => {}): Promise<Page[]> {
  const pages = [await page(await now(), 1, limit, filter)]
  while (pages.at(-1)!.hasMore) {
    await between()
    pages.push(await page(pages[0]!.snapshot, pages.length + 1, limit, filter))
  }
  return pages
}

const listings = (items: Item[]) => items.filter((item) => item.kind === 'property')

function bustle(sellers: Person[]) {
  let stopped = false
  const made: string[] = []
  let turn = 0
  const done = Promise.all(sellers.map(async (seller) => {
    while (!stopped) {
      const { body } = await seller.post('/properties', {
        type: ['SALE', 'RENT', 'EXCHANGE'][turn++ % 3],
        kind: 'house',
        titleAr: 'بيت واسع في مشرف',
        descriptionAr: 'المطلوب البدل مع بيت في بيان.',
        price: 250_000,
        landAreaM2: 400,
        governorateId: 'hawalli',
        areaId: 'mishref',
        publish: true,
      })
      made.push(body.id)
      if (made.length % 10 === 0) await seller.delete(`/properties/${body.id}`)
      await pause(40, 'any moment is right')
    }
  }))
  return {
    made,
    stop: async () => {
      stopped = true
      await done
    },
  }
}

test.each(['all', 'sale', 'rent', 'exchange'])(
  'SRCH-05 walking %s while listings come and go shows each that stayed, once',
  async (filter) => {
    const [seller, ...crowd] = [await signUp(), await signUp(), await signUp(), await signUp()]
    const stayed = [
      ...await offered(seller, 20),
      ...await offered(seller, 20, { type: 'RENT' }),
      ...await offered(seller, 20, { type: 'EXCHANGE', price: null }),
    ].filter((_, i) =>
      filter === 'all' || ['sale', 'rent', 'exchange'][Math.floor(i / 20)] === filter
    )
    const { made, stop } = bustle(crowd)
    // Waits after each page until more listings have been published.
    const pages = await walk(filter, 5, async () => {
      const before = made.length
      await waitUntil('listings have come', () => made.length > Math.max(before, 12))
    })
    await stop()

    const seen = ids(listings(pages.flatMap(({ items }) => items)))
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.filter((id) => stayed.includes(id)).reverse()).toEqual(stayed)
    const { rows: later } = await database().query(
      'select id from public.properties where published_at > $1',
      [pages[0]!.snapshot],
    )
    expect(later.length).toBeGreaterThan(5)
    expect(made).toEqual(expect.arrayContaining(later.map(({ id }) => id)))
    expect(seen.filter((id) => later.some((one) => one.id === id))).toEqual([])
    const after = ids((await page(await now(), 1, 50, filter)).items)
    expect(later.some(({ id }) => after.includes(id))).toBe(true)
    // Compares only this test's listings, because the feed may place listings of other tests elsewhere.
    const times = listings(pages.flatMap(({ items }) => items))
      .filter(({ id }) => [...stayed, ...made].includes(id))
      .map((item) => item.publishedAt)
    expect(times).toEqual([...times].sort().reverse())
  },
)

test('SRCH-05 a listing that ends leaves its slot empty, and no other one moves', async () => {
  const seller = await signUp()
  await offered(seller, 30)
  const snapshot = await now()
  const pages =
    async () => [await page(snapshot, 1, 10, 'sale'), await page(snapshot, 2, 10, 'sale')]
  const [first, second] = await pages()
  const [sold, deleted] = [first!.items[3]!.id, first!.items[7]!.id]
  await seller.post(`/properties/${sold}/mark-sold`)
  await seller.delete(`/properties/${deleted}`)

  const [shorter, same] = await pages()
  expect(ids(shorter!.items)).toEqual(
    ids(first!.items).filter((id) => ![sold, deleted].includes(id)),
  )
  expect(shorter!.hasMore).toBe(true)
  expect(ids(same!.items)).toEqual(ids(second!.items))
})

test('a listing that is renewed or comes back keeps its place, in snapshots that knew it', async () => {
  const seller = await signUp()
  const [older, newer] = await offered(seller, 2)
  const first = async (snapshot: string) => ids((await page(snapshot, 1, 2, 'sale')).items)
  const before = await now()
  await seller.post(`/properties/${older}/pause`)
  const between = await now()
  await seller.post(`/properties/${older}/resume`)
  const after = await now()
  await database().query(
    `update public.properties set status = 'expired', expires_at = now() where id = $1`,
    [newer],
  )
  const expired = await now()
  await seller.post(`/properties/${newer}/renew`)

  expect(await first(before)).toEqual([newer, older])
  const [one, other] = await first(between)
  expect([one, other]).toContain(newer)
  expect([one, other]).not.toContain(older)
  expect(await first(after)).toEqual([newer, older])
  expect((await first(expired))[0]).toBe(older)
  expect(await first(await now())).toEqual([newer, older])
})

const filters = ['all', 'sale', 'rent', 'exchange']

test('whatever is published and deleted, the home feed is as full as before', async () => {
  const [seller, attacker] = [await signUp(), await signUp()]
  for (const type of ['SALE', 'RENT', 'EXCHANGE']) await offered(seller, 30, { type })
  const home = async (snapshot: string) =>
    await Promise.all(
      filters.map(async (filter) => ids((await page(snapshot, 1, 20, filter)).items)),
    )
  const before = await home(await now())
  for (const type of ['SALE', 'RENT', 'EXCHANGE']) await offered(attacker, 60, { type })
  const during = await now()
  expect(await home(during)).not.toEqual(before)
  const { rows } = await database().query(
    'select id from public.properties where owner_identity_id = $1',
    [attacker.identityId],
  )
  for (const { id } of rows) {
    await database().query(`update public.properties set status = 'deleted' where id = $1`, [id])
  }

  expect(await home(await now())).toEqual(before)
  expect((await home(during)).map(({ length }) => length)).not.toEqual(
    before.map(({ length }) => length),
  )
  for (const filter of filters) {
    let [number, more] = [0, true]
    const seen: string[] = []
    while (more) {
      const { items, hasMore } = await page(during, ++number, 50, filter)
      seen.push(...ids(listings(items)))
      more = hasMore
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(
      expect.arrayContaining(before[filters.indexOf(filter)]!.filter((id) => seen.includes(id))),
    )
    expect(rows.filter(({ id }) => seen.includes(id))).toEqual([])
  }
})

/** Pretends that no exchange was listed when the current snapshot began. */
const asIfNoExchangeWasThere = () =>
  database().query(
    `update private.publications
     set since = case when until = 'infinity' then now() else since end,
       until = case when until = 'infinity' then until else since end
     where type = 'EXCHANGE'`,
  )

test('a new reader sees all that is listed, though all of it came a moment ago', async () => {
  const [id] = await offered(await signUp(), 1, { type: 'EXCHANGE', price: null })
  await asIfNoExchangeWasThere()
  const { body } = await guest.get('/feed?filter=exchange')
  expect(ids(body.items)).toContain(id)
  const next = await guest.get(`/feed?filter=exchange&snapshot=${body.snapshot}`)
  expect(ids(next.body.items)).toEqual(ids(body.items))
})

test('who publishes before a snapshot and withdraws after it does not thin the first page', async () => {
  const [honest, ...crowd] = await Promise.all(Array.from({ length: 5 }, () => signUp()))
  await asIfNoExchangeWasThere()
  const minutesAgo = (minutes: number) => ({
    type: 'EXCHANGE',
    price: null,
    published_at: new Date(Date.now() - minutes * 60_000),
  })
  await offered(honest!, 20, minutesAgo(12))
  const sham: [Person, string][] = []
  for (const person of crowd) {
    for (const id of await offered(person, 5, minutesAgo(11))) sham.push([person, id])
  }
  await database().query(
    `update private.publications set since = published_at
     where property_id in (select id from public.properties where owner_identity_id = any ($1))`,
    [[honest!, ...crowd].map(({ identityId }) => identityId)],
  )
  const begin = async () => {
    const { body } = await guest.get('/feed?filter=exchange&limit=20')
    return { shown: listings(body.items).length, ofFiveMinutes: /:\d[05]:00Z$/.test(body.snapshot) }
  }
  const withdraw = async (some: typeof sham) => {
    for (const [person, id] of some) {
      expect((await person.delete(`/properties/${id}`)).status).toBe(204)
    }
  }
  expect(await begin()).toEqual({ shown: 20, ofFiveMinutes: true })
  await withdraw(sham.slice(-10))
  expect((await begin()).shown).toBeGreaterThanOrEqual(10)
  await withdraw(sham.slice(-11, -10))
  expect((await begin()).shown).toBe(20)
  await withdraw(sham.slice(0, -11))
  expect((await begin()).shown).toBe(20)
})

test('without a filter every eighth slot is a verified office, by rating, until none is left', async () => {
  const seller = await signUp()
  const rated = await Promise.all([3, 5, null].map(async (rating) => {
    const office = await insertOrganisation((await signUp()).id, 'office')
    if (rating) await insertReviews(office, rating, [seller])
    return office
  }))
  const { rows } = await database().query(
    `select identity_id as id from public.organisations
     where type = 'office' and active and verified order by rating_weighed desc, identity_id`,
  )
  const offices: string[] = rows.map(({ id }) => id)
  expect(offices).toEqual(expect.arrayContaining(rated))
  await offered(seller, 7 * offices.length + 20)

  const pages = await walk('all', 12)
  const slots = pages.flatMap(({ items }) => items)
  expect(ids(slots.filter(({ kind }) => kind === 'office'))).toEqual(offices)
  // On a page without empty slots an item's position is the number of its slot.
  const whole = [...pages.entries()].filter(([nth, { items }]) =>
    items.length === 12 && (nth + 1) * 12 <= offices.length * 8
  )
  expect(whole.length).toBeGreaterThan(0)
  for (const [nth, { items }] of whole) {
    for (const [i, { kind }] of items.entries()) {
      expect(kind).toBe((nth * 12 + i + 1) % 8 === 0 ? 'office' : 'property')
    }
  }
  expect(slots.find(({ id }) => id === rated[1])).toMatchObject(
    {
      kind: 'office',
      type: 'office',
      verified: true,
      ratingAvg: 5,
      nameAr: 'شركة الديرة العقارية',
    },
  )
  expect(
    (await page(pages[0]!.snapshot, 1, 50, 'sale')).items.every(({ kind }) => kind === 'property'),
  )
    .toBe(true)
})

test('an office that is rated anew or closed while one pages neither comes twice nor moves others', async () => {
  const seller = await signUp()
  await offered(seller, 40)
  const offices = await Promise.all(
    [1, 2, 3].map(async () => await insertOrganisation((await signUp()).id, 'office')),
  )
  const snapshot = await now()
  const pages = async () =>
    (await Promise.all([1, 2, 3, 4].map((n) => page(snapshot, n, 8))))
      .flatMap(({ items }) => ids(items))
  const before = await pages()
  const { rows } = await database().query(
    'select identity_id as id from public.organisations where identity_id = any ($1)',
    [before.slice(8)],
  )
  expect(rows).not.toHaveLength(0)
  for (const { id } of rows) await insertReviews(id, 5, [seller])
  const suspended = before[7]
  await database().query(`update public.identities set status = 'suspended' where id = $1`, [
    suspended,
  ])

  expect(await pages()).toEqual(before.filter((id) => id !== suspended))
  await database().query(`update public.identities set status = 'active' where id = $1`, [
    suspended,
  ])
  expect(await pages()).toEqual(before)
  expect(offices).toHaveLength(3)
})

test('an office no longer listed has no slot in later snapshots', async () => {
  await offered(await signUp(), 24)
  const office = await insertOrganisation((await signUp()).id, 'office')
  const offices = async () =>
    ids(
      (await walk('all', 50)).flatMap(({ items }) => items).filter(({ kind }) => kind === 'office'),
    )
  const before = await offices()
  expect(before).toContain(office)
  await database().query(`update public.identities set status = 'suspended' where id = $1`, [
    office,
  ])
  expect(await offices()).toEqual(before.filter((id) => id !== office))
  const { rows: [{ slots }] } = await database().query(
    'select private.ranked_offices(now(), 10000) as slots',
  )
  expect(slots).toContain(before[0])
  expect(slots).not.toContain(office)
})
