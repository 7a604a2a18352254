// Tests queries against meanings written before the code (test/vectors/queries.json, negations.json).
import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { bulk, isNightly } from '../support/nightly.ts'
import { searchText } from '../search/search-text.ts'

type Vector = {
  q: string
  strategy?: string
  reads: Record<string, string>
  words?: string[]
  ignored?: string[]
  belongsTo?: string
}
type Understood = {
  found: { field: string; value: string; text: string }[]
  words: string[]
  ignored: string[]
  conflicts: string[]
  strategy: string | null
}
type Page = { items: { id: string }[]; similarFrom: number | null; understood: Understood }

const vectors: Vector[] = ['queries', 'negations'].flatMap((name) =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'))
)

// All tests use one database snapshot, so that newly published listings change nothing.
let client: pg.PoolClient
let owner: string

beforeAll(async () => {
  owner = (await signUp()).identityId
  client = await database().connect()
  await client.query('begin isolation level repeatable read')
})

afterAll(async () => {
  await client.query('rollback')
  client.release()
})

async function search(
  { q, strategy = 'standard' }: Pick<Vector, 'q' | 'strategy'>,
  filters: Record<string, unknown> = {},
): Promise<Page> {
  const { rows: [{ page }] } = await client.query(
    'select private.search($1, $2, $3, page_size => 50)::json as page',
    [strategy, filters, q],
  )
  return page
}

const codes = (value: string) => value.split(',').toSorted().join()
const plain = (texts: string[] = []) => texts.map(searchText).toSorted()

test('at least 300 queries are read as they are meant, 95 % of what they name and no wrong price or type', async () => {
  expect(vectors.length).toBeGreaterThanOrEqual(300)
  let [named, read] = [0, 0]
  const wrong: unknown[] = []
  for (const { q, strategy, reads, words, ignored, belongsTo } of vectors) {
    const { rows: [{ as }] } = await client.query(
      'select to_json(private.read_query($1, $2)) as as',
      [q, strategy ?? 'standard'],
    )
    const found = Object.fromEntries(
      as.found.map(({ field, value }: { field: string; value: string }) => [field, value]),
    )
    for (const [field, value] of Object.entries(reads)) {
      named++
      if (codes(found[field] ?? '') === codes(value)) read++
    }
    const exactly = (name: string) => expect([q, name, found[name]]).toEqual([q, name, reads[name]])
    for (const field of ['type', 'priceMin', 'priceMax']) exactly(field)
    expect([q, as.strategy]).toEqual([q, belongsTo ?? null])
    const as_typed = [plain(as.words), plain(as.ignored)]
    const others = Object.keys(found).filter((field) => !(field in reads))
    if (
      others.length || JSON.stringify(as_typed) !== JSON.stringify([plain(words), plain(ignored)])
    ) {
      wrong.push({ q, others, as_typed })
    }
  }
  expect(read / named).toBeGreaterThanOrEqual(0.95)
  expect(wrong.length, JSON.stringify(wrong, null, 1)).toBeLessThanOrEqual(vectors.length * 0.02)
})

const columns: Record<string, (value: string) => Record<string, unknown>> = {
  type: (value) => ({ type: value }),
  kinds: (value) => ({ kind: value.split(',')[0] }),
  areaIds: (value) => ({ area_id: value.split(',')[0] }),
  governorateIds: (value) => ({ governorate_id: value }),
  near: (value) => {
    const [lat, lng] = value.split(',').map(Number)
    return { lat, lng, location_precision: 'exact' }
  },
  notKinds: () => ({}),
  notAreaIds: () => ({}),
  notGovernorateIds: () => ({}),
  areaM2Min: (value) => ({ land_area_m2: Math.ceil(Number(value)) }),
  areaM2Max: (value) => ({ land_area_m2: Math.floor(Number(value)) }),
  bedroomsMin: (value) => ({ bedrooms: Number(value) }),
  bathroomsMin: (value) => ({ bathrooms: Number(value) }),
  floorMin: (value) => ({ floor_no: Number(value) }),
  floorMax: (value) => ({ floor_no: Number(value) }),
  block: (value) => ({ block: value }),
  priceMin: (value) => ({ price: Number(value) }),
  priceMax: (value) => ({ price: Number(value) }),
  furnished: (value) => ({ furnished: value.split(',')[0] }),
  plotPosition: (value) => ({ plot_position: value }),
  sort: () => ({}),
  amenities: (value) => ({ amenities: value.split(',') }),
  isDirect: () => ({ is_direct: true }),
}

async function listingOf({ strategy, reads, words = [] }: Vector) {
  const named = Object.entries(reads).map(([name, value]) => columns[name](value))
  const row = {
    kind: 'farm',
    ...(strategy === 'exchange' && { type: 'EXCHANGE' }),
    title_ar: `معروض ${words.join(' ')}`,
    ...Object.assign({}, ...named),
  }
  const not = (name: string) => reads[name]?.split(',') ?? []
  const { rows: [area] } = await client.query(
    `select id as area_id, governorate_id from public.areas
     where coalesce(id = $1, governorate_id = $2, true)
       and id <> all ($3) and governorate_id <> all ($4)`,
    [row.area_id, row.governorate_id, not('notAreaIds'), not('notGovernorateIds')],
  )
  return await insertListing(owner, { ...row, ...area }, client)
}

const searchable = vectors.filter(({ strategy, reads, belongsTo }) =>
  strategy !== 'auction' && !belongsTo && !reads.refNo
).filter((_, at) => at % bulk(1, 4) === 0)

test(
  'a query finds the listing that is all it names, and no filter beside it adds another',
  async () => {
    const filters: Record<string, unknown>[] = [
      { type: 'RENT' },
      { kinds: ['apartment', 'house', 'floor'] },
      { usage: 'investment' },
      { governorateIds: ['hawalli'] },
      { areaIds: ['salmiya', 'mishref'] },
      { notKinds: ['house'] },
      { notGovernorateIds: ['capital'] },
      { notAreaIds: ['salmiya'] },
      { priceMin: 250 },
      { priceMax: 300_000 },
      { areaM2Min: 100 },
      { areaM2Max: 420 },
      { bedroomsMin: 2 },
      { bathroomsMin: 1 },
      { furnished: ['full'] },
      { floorMin: 1 },
      { floorMax: 2 },
      { plotPosition: ['corner', 'front_back'] },
      { block: '4' },
      { amenities: ['pool'] },
      { isDirect: true },
      { verifiedOnly: true },
      { postedSince: '2020-01-01' },
      { bbox: [47.9, 29.2, 48.1, 29.4] },
      { near: { lat: 29.33, lng: 48.07, km: 20 } },
    ]
    for (const [nth, vector] of searchable.entries()) {
      await client.query('savepoint one')
      const id = await listingOf(vector)
      const all = await search(vector)
      const ids = all.items.map((item) => item.id)
      expect({ q: vector.q, ids, understood: all.understood }).toMatchObject({
        ids: expect.arrayContaining([id]),
      })
      expect([vector.q, all.understood.conflicts]).toEqual([vector.q, []])
      // Other tests' listings may be similar to the query; they come after the exact matches.
      expect(ids.indexOf(id), JSON.stringify([vector.q, all.understood])).toBeLessThan(
        all.similarFrom ?? 50,
      )
      // If all matches are on one page, an additional filter may remove some of them, but adds none.
      if (ids.length < 50) {
        const fits = ids.slice(0, all.similarFrom ?? 50)
        for (const filter of filters.filter((_, i) => isNightly || (nth + i) % 3 === 0)) {
          if (filter.kinds && vector.reads.kinds === 'floor') continue // read as a floor of these kinds
          const { items, similarFrom } = await search(vector, filter)
          const added = items.slice(0, similarFrom ?? 50).filter(({ id }) => !fits.includes(id))
          expect({ q: vector.q, filter, added }).toEqual({ q: vector.q, filter, added: [] })
        }
      }
      await client.query('rollback to savepoint one')
      if (vector.words?.length) {
        // The only matching listing has none of the query's other words, yet the page is not empty.
        await listingOf({ ...vector, words: [] })
        const { items } = await search(vector)
        expect([vector.q, items.length]).not.toEqual([vector.q, 0])
        await client.query('rollback to savepoint one')
      }
      await client.query('release savepoint one')
    }
  },
)
