import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { letters } from './world.ts'
import { spread } from './vocabulary.ts'
import { agePrices, insertListing } from '../support/fixtures.ts'
import { fits, ids } from './results.ts'

let words: string[] = []

/** Makes 200 listings for each of two words; no listing has both words. */
async function commonWords(person: Person) {
  words = [letters(), letters()]
  await plantCommonWords(person)
}

async function plantCommonWords(person: Person) {
  await database().query(
    `insert into public.properties (
       owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2,
       governorate_id, area_id, published_at, expires_at
     )
     select $1, 'individual', 'SALE', 'active', 'villa', 'للبيع ' || ($2::text[])[1 + n % 2], 185000,
       500, 'hawalli', 'salmiya', now() - interval '1 year', now() + interval '1 day'
     from generate_series(1, 400) as n`,
    [person.identityId, words],
  )
}

const few = async (strategy: string) => {
  const { rows: [row] } = await database().query(
    `select cardinality((private.find_listings($1, private.default_sort($1), null,
       private.search_query($2), null, null, null, 5)).ids) as n`,
    [strategy, words],
  )
  return row.n < 5
}

const both = () => `${words[1]} للبيع ${words[0]}`

const strategies: Record<string, (person: Person) => Promise<string>> = {
  standard: (person) => insertListing(person.identityId, { title_ar: both() }),
  exchange: (person) =>
    insertListing(person.identityId, { title_ar: both(), type: 'EXCHANGE', price: null }),
  auction: async (person) => {
    const id = await insertListing(person.identityId, { title_ar: both() })
    await database().query(
      `insert into public.auctions (property_id, starts_at, ends_at, start_price, min_increment)
       values ($1, now() - interval '1 hour', now() + interval '1 day', 1000, 100)`,
      [id],
    )
    return id
  },
  deal: async (person) => {
    const id = await insertListing(person.identityId, { title_ar: both() })
    await agePrices(id)
    await database().query('update public.properties set price = 150000 where id = $1', [id])
    return id
  },
}

test.each(Object.keys(strategies))(
  'common words that never meet in strategy %s count as rare up to the fifth listing with both',
  async (strategy) => {
    const person = await signUp()
    await commonWords(person)
    const others = Object.keys(strategies).filter((one) => one !== strategy)
    expect(await few(strategy)).toBe(true)

    const made: string[] = []
    for (let n = 1; n <= 5; n++) {
      made.push(await strategies[strategy](person))
      expect([n, await few(strategy)]).toEqual([n, n < 5])
    }
    // Strategy standard includes deals.
    for (const other of others.filter((one) => strategy !== 'deal' || one !== 'standard')) {
      expect([other, await few(other)]).toEqual([other, true])
    }

    const write = (sql: string, id: string) =>
      database().query(`update public.properties set ${sql} where id = $1`, [id])
    await write(`title_ar = 'للبيع ${words[0]}'`, made[0])
    expect(await few(strategy)).toBe(true)
    await write(`title_ar = '${both()}'`, made[0])
    expect(await few(strategy)).toBe(false)
    await write(`status = 'archived'`, made[4])
    expect(await few(strategy)).toBe(true)
    await write(`status = 'active'`, made[4])
    expect(await few(strategy)).toBe(false)
  },
)

test('where words begin to meet, listings with one follow until five have all, filter or not', async () => {
  const person = await signUp()
  await commonWords(person)
  const newest = await insertListing(person.identityId, { title_ar: `للبيع ${words[1]}` })
  const found = (filters = {}) =>
    guest.post('/search/advanced', { strategy: 'standard', q: words.join(' '), ...filters })
  const made: string[] = []
  for (let n = 0; n <= 5; n++) {
    for (const page of [await found(), await found({ kinds: ['villa'] })]) {
      expect([n, fits(page), ids(page)[n]]).toEqual([n, made, n < 5 ? newest : undefined])
    }
    expect(ids(await found({ kinds: ['shop'] }))).toEqual([])
    made.unshift(await insertListing(person.identityId, { title_ar: both() }))
  }
})

test('listings with common words come page by page as plain SQL sorts them, whatever was written since', async () => {
  const person = await signUp()
  await commonWords(person)
  await database().query(
    `insert into public.properties (
       owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2, bedrooms,
       governorate_id, area_id, published_at, expires_at
     )
     select $1, 'individual', (array['SALE', 'RENT', 'EXCHANGE'])[1 + n % 3], 'active', 'villa', $2,
       100000 + n, 500, n % 4, 'hawalli', 'salmiya', now() - n * 7 % 90 * interval '1 day',
       now() + interval '1 day'
     from generate_series(1, 150) as n`,
    [person.identityId, both()],
  )
  const orders = { newest: 'published_at desc', price_asc: 'price' }
  const sorted = async (sort: keyof typeof orders, bedrooms: number) => {
    const { rows } = await database().query(
      `select id from public.properties
       where owner_identity_id = $1 and listed and type <> 'EXCHANGE' and bedrooms >= $2
         and title_ar ~ $3 and title_ar ~ $4
       order by ${orders[sort]}, id ${sort === 'newest' ? 'desc' : ''}`,
      [person.identityId, bedrooms, ...words],
    )
    return rows.map(({ id }) => id)
  }
  const paged = async (sort: string, bedrooms: number) => {
    const found: string[] = []
    let cursor: string | null = null
    do {
      const { rows: [{ page }] }: {
        rows: { page: { items: { id: string }[]; nextCursor: string | null } }[]
      } = await database().query(
        `select private.search('standard', $1, $2, $3, $4, 13)::json as page`,
        [{ bedroomsMin: bedrooms }, words.join(' '), sort, cursor],
      )
      found.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor)
    return found
  }
  const compare = async () => {
    for (const sort of ['newest', 'price_asc'] as const) {
      for (const bedrooms of [0, 3]) {
        const expected = await sorted(sort, bedrooms)
        expect(expected.length).toBeGreaterThan(13)
        expect([sort, bedrooms, await paged(sort, bedrooms)]).toEqual([sort, bedrooms, expected])
      }
    }
  }
  const changes = [
    `published_at = now() where price % 5 = 0`,
    `published_at = now() - interval '2 years', bedrooms = 3 where price % 7 = 0`,
    `status = 'archived' where price % 11 = 0`,
    `title_ar = 'للبيع' where price % 13 = 0`,
  ]
  for (const change of changes) {
    const [set, which] = change.split(' where ')
    await database().query(
      `update public.properties set ${set} where owner_identity_id = $1 and ${which}`,
      [person.identityId],
    )
    await compare()
  }
})

test('two words alike, one of them like a common word, stand for each other in every order', async () => {
  const person = await signUp()
  const word = letters()
  const [alike, common] = [
    letters().slice(0, 4) + word.slice(4),
    word.slice(0, 7) + letters().slice(7),
  ]
  words = [common, common]
  await plantCommonWords(person)
  const made = []
  for (const title_ar of [`${alike} ${word}`, word, alike]) {
    made.unshift(await insertListing(person.identityId, { title_ar }))
  }
  await spread(alike, word, common)
  const found = (sort: string) =>
    guest.post('/search/advanced', { strategy: 'standard', q: `${alike} ${word}`, sort })
  for (const sort of ['price_asc', 'newest']) {
    const [first, ...others] = ids(await found(sort)).slice(0, 3)
    expect([first, others.toSorted()]).toEqual([made[2], made.slice(0, 2).toSorted()])
  }
})
