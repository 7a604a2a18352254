// The feed in numbers: nobody else publishes while these count, so they run alone.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../client.ts'
import { until } from '../until.ts'
import { listingOf, organisationOf } from '../world.ts'

type Item = { id: string; kind: string; publishedAt: string; type: string }
type Page = { items: Item[]; page: number; hasMore: boolean; snapshot: string }

/** What the database takes for now, as the API writes times. */
async function now(): Promise<string> {
  const { rows } = await database().query(
    `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
  )
  return rows[0].now
}

async function page(snapshot: string, number = 1, limit = 20, filter = 'all'): Promise<Page> {
  const { status, body } = await guest.get(
    `/feed?filter=${filter}&page=${number}&limit=${limit}&snapshot=${snapshot}`,
  )
  expect(status).toBe(200)
  return body
}

/** Every page of a filter, from the first until there is none after. */
async function walk(filter: string, limit: number, between = async () => {}): Promise<Page[]> {
  const pages = [await page(await now(), 1, limit, filter)]
  while (pages.at(-1)!.hasMore) {
    await between()
    pages.push(await page(pages[0]!.snapshot, pages.length + 1, limit, filter))
  }
  return pages
}

const ids = (items: Item[]) => items.map((item) => item.id)
const listings = (items: Item[]) => items.filter((item) => item.kind === 'property')

async function offered(seller: Person, count: number, columns = {}): Promise<string[]> {
  const made: string[] = []
  while (made.length < count) made.push(await listingOf(seller.identityId, columns))
  return made
}

/** Listings that several people publish and delete at once, until told to stop. */
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
      await sleep(40)
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
    // The walk is as long as there is enough to come in between.
    const pages = await walk(filter, 5, async () => {
      await sleep(50)
      await until('listings have come', () => made.length > 12)
    })
    await stop()

    const seen = ids(listings(pages.flatMap(({ items }) => items)))
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.filter((id) => stayed.includes(id)).reverse()).toEqual(stayed)
    // Those that came in the meantime are on the pages of a later snapshot.
    const { rows: later } = await database().query(
      'select id from public.properties where published_at > $1',
      [pages[0]!.snapshot],
    )
    expect(later.length).toBeGreaterThan(5)
    expect(made).toEqual(expect.arrayContaining(later.map(({ id }) => id)))
    expect(seen.filter((id) => later.some((one) => one.id === id))).toEqual([])
    const after = ids((await page(await now(), 1, 50, filter)).items)
    expect(later.some(({ id }) => after.includes(id))).toBe(true)
    const times = listings(pages.flatMap(({ items }) => items)).map((item) => item.publishedAt)
    expect(times).toEqual([...times].sort().reverse())
  },
)

test('SRCH-05 a listing that goes leaves its slot empty, and no other one moves', async () => {
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

test('a listing that is renewed or comes back keeps its place', async () => {
  const seller = await signUp()
  const [older, newer] = await offered(seller, 2)
  await seller.post(`/properties/${older}/pause`)
  await seller.post(`/properties/${older}/resume`)

  expect(ids((await page(await now(), 1, 10, 'sale')).items).slice(0, 2)).toEqual([newer, older])
})

test('on all, every eighth slot is a verified office, by rating, until there are no more', async () => {
  const seller = await signUp()
  const rated = await Promise.all([3.1, 4.9, null].map(async (rating) => {
    const office = await organisationOf((await signUp()).id, 'office')
    await database().query(
      'update public.organisations set rating_avg = $2 where identity_id = $1',
      [office, rating],
    )
    return office
  }))
  const { rows } = await database().query(
    `select identity_id as id from public.organisations
     join public.identities on identities.id = identity_id and identities.type = 'office'
       and identities.status = 'active'
     join public.accounts on accounts.id = identities.account_id and accounts.status = 'active'
     where verified order by rating_avg desc nulls last, identity_id`,
  )
  const offices: string[] = rows.map(({ id }) => id)
  expect(offices).toEqual(expect.arrayContaining(rated))
  await offered(seller, 7 * offices.length + 20)

  const pages = await walk('all', 12)
  const slots = pages.flatMap(({ items }) => items)
  expect(ids(slots.filter(({ kind }) => kind === 'office'))).toEqual(offices)
  // On a page without an empty slot the place of an item is the number of its slot.
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
      ratingAvg: 4.9,
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
    [1, 2, 3].map(async () => await organisationOf((await signUp()).id, 'office')),
  )
  const snapshot = await now()
  const pages = async () =>
    (await Promise.all([1, 2, 3, 4].map((n) => page(snapshot, n, 8))))
      .flatMap(({ items }) => ids(items))
  const before = await pages()
  await database().query(
    `update public.organisations set rating_avg = 5 where identity_id = any($1)`,
    [before.slice(8)],
  )
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

test('what is being published at the moment of a snapshot is on its pages from the first reading', async () => {
  const seller = await signUp()
  const [id] = await offered(seller, 1, { status: 'draft', published_at: null })
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query(
      `update public.properties set status = 'active', published_at = now() where id = $1`,
      [id],
    )
    const reading = page(await now(), 1, 5, 'sale')
    await sleep(300)
    await client.query('commit')
    expect(ids((await reading).items)[0]).toBe(id)
  } finally {
    client.release(true)
  }
})

test('ranks of offices are forgotten when no living snapshot needs them any more', async () => {
  const office = await organisationOf((await signUp()).id, 'office')
  const ended = (hours: number) =>
    database().query(
      `insert into private.office_ranks (identity_id, since, until)
       values ($1, now() - interval '2 days', now() - interval '1 hour' * $2::integer)`,
      [office, hours],
    )
  await ended(5)
  await ended(8)
  await database().query('select private.sweep_office_ranks()')

  const { rows } = await database().query(
    `select round(extract(epoch from now() - until) / 3600)::integer as hours
     from private.office_ranks where identity_id = $1 and until < 'infinity'`,
    [office],
  )
  expect(rows).toEqual([{ hours: 5 }])
})
