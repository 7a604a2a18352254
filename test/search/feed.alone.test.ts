// The feed in numbers: nobody else publishes while these count, so they run alone.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { waitUntil } from '../support/wait.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'

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
  while (made.length < count) made.push(await insertListing(seller.identityId, columns))
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
      await waitUntil('listings have come', () => made.length > 12)
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
  // Who was paging meanwhile finds these slots empty, and all others after them.
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

test('whoever begins sees what is listed, though all of it came a moment ago', async () => {
  const [id] = await offered(await signUp(), 1, { type: 'EXCHANGE', price: null })
  // As if nothing of its type had been listed before.
  await database().query(
    `update private.publications set since = now() where type = 'EXCHANGE' and until = 'infinity'`,
  )
  const { body } = await guest.get('/feed?filter=exchange')
  expect(ids(body.items)).toContain(id)
  const next = await guest.get(`/feed?filter=exchange&snapshot=${body.snapshot}`)
  expect(ids(next.body.items)).toEqual(ids(body.items))
})

test('on all, every eighth slot is a verified office, by rating, until there are no more', async () => {
  const seller = await signUp()
  const rated = await Promise.all([3.1, 4.9, null].map(async (rating) => {
    const office = await insertOrganisation((await signUp()).id, 'office')
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
    [1, 2, 3].map(async () => await insertOrganisation((await signUp()).id, 'office')),
  )
  const snapshot = await now()
  const pages = async () =>
    (await Promise.all([1, 2, 3, 4].map((n) => page(snapshot, n, 8))))
      .flatMap(({ items }) => ids(items))
  const before = await pages()
  await database().query(
    `update public.organisations set rating_avg = 5
     where identity_id = any($1) and rating_count = 0`,
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

test('an office that is not listed has no slot in snapshots after it went', async () => {
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
  // The slot is the next one's, not an empty one.
  const { rows: [{ slots }] } = await database().query(
    'select private.ranked_offices(now(), 10000) as slots',
  )
  expect(slots).toContain(before[0])
  expect(slots).not.toContain(office)
})

/** A change of that listing whose transaction waits, at its commit's door or before. */
async function halfway(sql: string, id: string, atTheDoor: boolean) {
  const client = await database().connect()
  await client.query('begin')
  await client.query(sql, [id])
  // What waits for the commit is done now: the time is taken, the lock held.
  if (atTheDoor) await client.query('set constraints all immediate')
  return async () => {
    await client.query('commit')
    client.release()
  }
}
const publish = `update public.properties set status = 'active', published_at = now() where id = $1`
const pause = `update public.properties set status = 'paused', paused_at = now() where id = $1`

test('what comes or goes at the moment of a snapshot does so for its first reader already', async () => {
  const seller = await signUp()
  const [shown] = await offered(seller, 1)
  const [coming] = await offered(seller, 1, { status: 'draft', published_at: null })
  for (const [sql, id] of [[publish, coming], [pause, shown]] as const) {
    const commit = await halfway(sql, id!, true)
    const snapshot = await now()
    let read = false
    const reading = page(snapshot, 1, 5, 'sale').finally(() => read = true)
    await sleep(300)
    expect(read).toBe(false)
    await commit()
    const first = ids((await reading).items)
    expect(first[0] === id).toBe(id === coming)
    expect(ids((await page(snapshot, 1, 5, 'sale')).items)).toEqual(first)
  }
})

test('a reader keeps no lock, not even until its transaction ends', async () => {
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('select private.require_snapshot(now())')
    const { rows } = await client.query(
      `select count(*)::int as held from pg_locks
       where pid = pg_backend_pid() and locktype = 'advisory'`,
    )
    expect(rows).toEqual([{ held: 0 }])
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('nobody waits for what is still on its way, and it comes with a later snapshot', async () => {
  const seller = await signUp()
  const [shown] = await offered(seller, 1)
  const [coming] = await offered(seller, 1, { status: 'draft', published_at: null })
  const commits = [await halfway(publish, coming!, false), await halfway(pause, shown!, false)]
  const snapshot = await now()
  const before = ids((await page(snapshot, 1, 5, 'sale')).items)
  expect(before[0]).toBe(shown)
  for (const commit of commits) await commit()

  // What went leaves its slot empty, what came has none there.
  expect(ids((await page(snapshot, 1, 5, 'sale')).items)).toEqual(before.slice(1))
  expect(ids((await page(await now(), 1, 5, 'sale')).items)[0]).toBe(coming)
})

test('however many come and go at once, every snapshot keeps the slots that its first reader counted', async () => {
  const sellers = await Promise.all(Array.from({ length: 6 }, () => signUp()))
  const each = await Promise.all(sellers.map((seller) => offered(seller, 3)))
  const deadlocks = async () =>
    (await database().query(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )).rows[0].deadlocks
  const before = await deadlocks()
  let done = false
  const bustling = sellers.map(async (seller, i) => {
    for (let turn = 0; !done; turn++) {
      const id = each[i]![turn % 3]
      await seller.post(`/properties/${id}/pause`)
      await seller.post(`/properties/${id}/resume`)
    }
  })
  const slotsOf = async (snapshot: string) => {
    await database().query('select private.require_snapshot($1)', [snapshot])
    const { rows } = await database().query(
      'select private.published_listings(null, $1, 0, 10000) as slots',
      [snapshot],
    )
    return rows[0].slots
  }
  const counted: [string, string[]][] = []
  for (let round = 0; round < 60; round++) {
    const snapshot = await now()
    counted.push([snapshot, await slotsOf(snapshot)])
  }
  done = true
  await Promise.all(bustling)
  for (const [snapshot, slots] of counted) {
    expect(new Set(slots).size).toBe(slots.length)
    expect(await slotsOf(snapshot)).toEqual(slots)
  }
  expect(new Set(counted.map(([, slots]) => slots.join())).size).toBeGreaterThan(1)
  expect(await deadlocks()).toBe(before)
})

test('what had been published before anybody noted when it went has no slot for long', async () => {
  const [gone] = await offered(await signUp(), 1, { status: 'paused' })
  await database().query(
    `insert into private.publications (property_id, type, published_at) values ($1, 'SALE', now())`,
    [gone],
  )
  const rows = readFileSync(new URL('../../sql/92_fills.sql', import.meta.url), 'utf8')
  for (const _twice of [1, 2]) await database().query(rows)
  const { rows: [{ soon }] } = await database().query(
    `select until < now() + interval '1 hour' as soon from private.publications
     where property_id = $1`,
    [gone],
  )
  expect(soon).toBe(true)
})

test.each([
  ['publications', 'property_id, type, published_at', `gen_random_uuid(), 'SALE', '2001-02-03'`],
  ['office_ranks', 'identity_id, rating', `gen_random_uuid(), 1.23`],
])(
  '%s that ended are forgotten when no living snapshot needs them',
  async (table, columns, row) => {
    const mark = columns.includes('rating') ? 'rating = 1.23' : `published_at = '2001-02-03'`
    await database().query(
      `insert into private.${table} (${columns}, since, until)
     select ${row}, now() - interval '2 days', now() - interval '1 hour' * hours
     from generate_series(5, 8, 3) as hours`,
    )
    await database().query(`select private.sweep_${table}()`)

    const { rows } = await database().query(
      `select round(extract(epoch from now() - until) / 3600)::integer as hours
     from private.${table} where ${mark}`,
    )
    expect(rows).toEqual([{ hours: 5 }])
    await database().query(`delete from private.${table} where ${mark}`)
  },
)
