import { afterAll, beforeAll, expect, test } from 'vitest'
import type pg from 'pg'
import { searchWords } from './search-text.ts'
import { database, guest, type Reply } from '../support/client.ts'
import { dice, fillWorld, plantWords, randomSearch, type Search, type World } from './world.ts'

let world: World
let planted: string[]
let client: pg.PoolClient

beforeAll(async () => {
  world = await fillWorld()
  planted = await plantWords()
  // One snapshot for searches and oracle: whatever happens meanwhile, both see the same.
  client = await database().connect()
  await client.query('begin isolation level repeatable read')
  await client.query(everything)
})

afterAll(async () => {
  await client.query('rollback')
  client.release()
})

// Written for clarity only: every listing that a stranger may see, with all fields that are searched.
const everything = `
  create temporary table shown on commit drop as
  select
    properties.id, properties.type, properties.kind, properties.usage, properties.price,
    coalesce(properties.land_area_m2, properties.built_area_m2) as size, properties.bedrooms,
    properties.bathrooms, properties.furnished, properties.is_direct, properties.governorate_id,
    properties.area_id, properties.request_year, properties.published_at, properties.shown_lat as lat,
    properties.shown_lng as lng, properties.drop_pct, properties.drop_until, auctions.ends_at,
    identities.id as owner_id, identities.type as owner_type,
    coalesce(organisations.verified, false) as verified,
    private.search_words(concat_ws(' ',
      properties.title_ar, properties.title_en, properties.description_ar, properties.description_en,
      'KW-' || properties.ref_no, 'KW' || properties.ref_no, areas.name_ar, areas.name_en,
      areas.alias_ar, governorates.name_ar, governorates.name_en, kinds.text_ar, kinds.text_en,
      usages.text_ar, usages.text_en)) as words
  from public.properties
  join public.identities on identities.id = properties.owner_identity_id
  join public.accounts on accounts.id = identities.account_id
  left join public.organisations on organisations.identity_id = identities.id
  left join public.auctions on auctions.property_id = properties.id
  left join public.areas on areas.id = properties.area_id
  left join public.governorates on governorates.id = properties.governorate_id
  left join public.vocabularies as kinds on kinds.vocabulary = 'kind' and kinds.code = properties.kind
  left join public.vocabularies as usages
    on usages.vocabulary = 'usage' and usages.code = properties.usage
  where properties.status = 'active' and identities.status = 'active'
    and accounts.status in ('active', 'deletion_requested')`

const categories: Record<string, string> = {
  standard: `type in ('SALE', 'RENT') and (ends_at is null or ends_at <= now())`,
  exchange: `type = 'EXCHANGE'`,
  auction: `ends_at > now()`,
  deal: `type in ('SALE', 'RENT') and drop_pct >= 5 and drop_until > now()`,
  company: `owner_type = 'company' and verified`,
}

const way = (lat: string, lng: string) =>
  `2 * 6371.0088 * asin(sqrt(sind((lat - ${lat}) / 2) ^ 2
    + cosd(lat) * cosd(${lat}) * sind((lng - ${lng}) / 2) ^ 2))`

const conditions: Record<string, (value: string) => string> = {
  type: (value) => `type = ${value}`,
  kinds: (value) => `(${value} = '{}' or kind = any (${value}::text[]))`,
  usage: (value) => `usage = ${value}`,
  governorateIds: (value) => `(${value} = '{}' or governorate_id = any (${value}::text[]))`,
  areaIds: (value) => `(${value} = '{}' or area_id = any (${value}::text[]))`,
  priceMin: (value) => `price >= ${value}::numeric`,
  priceMax: (value) => `price <= ${value}::numeric`,
  areaM2Min: (value) => `size >= ${value}::numeric`,
  areaM2Max: (value) => `size <= ${value}::numeric`,
  bedroomsMin: (value) => `bedrooms >= ${value}::integer`,
  bathroomsMin: (value) => `bathrooms >= ${value}::integer`,
  furnished: (value) => `furnished = ${value}`,
  isDirect: (value) => `is_direct = ${value}::boolean`,
  verifiedOnly: (value) => `(verified or not ${value}::boolean)`,
  postedSince: (value) => `published_at >= ${value}::timestamptz`,
  companyId: (value) => `owner_id = ${value}::uuid`,
  requestYearMin: (value) => `request_year >= ${value}::integer`,
  requestYearMax: (value) => `request_year <= ${value}::integer`,
}

const orders: Record<string, string> = {
  newest: 'published_at desc, id desc',
  price_asc: 'price asc nulls last, id asc',
  price_desc: 'price desc nulls last, id desc',
  area_desc: 'size desc, id desc',
  drop_desc: 'drop_pct desc, id desc',
  ends_at: 'ends_at asc, id asc',
}

/** The ids that a search should find, all of them, by the plainest SQL that says so. */
async function oracle({ strategy, q, sort, filters }: Search): Promise<string[]> {
  const values: unknown[] = []
  const value = (one: unknown) => `$${values.push(one)}`
  const where = [categories[strategy]]
  for (const [name, wanted] of Object.entries(filters)) {
    if (name === 'bbox') {
      const [west, south, east, north] = wanted.map((one: number) => `${value(one)}::float8`)
      where.push(`lng between ${west} and ${east} and lat between ${south} and ${north}`)
    } else if (name === 'near') {
      where.push(`${way(`${value(wanted.lat)}::float8`, `${value(wanted.lng)}::float8`)}
        <= ${value(wanted.km)}::float8`)
    } else where.push(conditions[name](value(wanted)))
  }
  const defaultSort = strategy === 'deal'
    ? 'drop_desc'
    : strategy === 'auction'
    ? 'ends_at'
    : 'newest'
  const order = sort === 'distance'
    ? `round((${way(`${value(filters.near.lat)}::float8`, `${value(filters.near.lng)}::float8`)})
        ::numeric, 6), id`
    : orders[sort ?? defaultSort]
  const common = values.length
  const found = async (...readings: string[][]) => {
    values.length = common
    const match = readings.map((words) => `words && ${value(words)}::text[]`)
    const { rows } = await client.query(
      `select id from shown where ${[...where, ...match].join(' and ')} order by ${order}`,
      values,
    )
    return rows.map(({ id }) => id as string)
  }

  if (q === undefined) return await found()
  const readings = await Promise.all(searchWords(q).map(readingsOf))
  const exact = await found(...readings.map(([word]) => [word]))
  if (await haveWords(strategy, readings) >= 5) return exact
  const like = await found(...readings)
  return [...exact, ...like.filter((id) => !exact.includes(id))]
}

/** How many of a strategy have the words exactly, whatever the filters. */
async function haveWords(strategy: string, readings: string[][]): Promise<number> {
  const match = readings.map((_, i) => `words && $${i + 1}::text[]`)
  const { rows } = await client.query(
    `select count(*)::integer as n from shown where ${
      [categories[strategy], ...match].join(' and ')
    }`,
    readings.map(([word]) => [word]),
  )
  return rows[0].n
}

/** A word, and after it the ten that look most like it. */
const readingsOf = remembered(async (word: string): Promise<string[]> => {
  if (/[0-9]/.test(word) || word.length < 3) return [word]
  const { rows } = await client.query(
    `select word from (select distinct word from private.search_vocabulary) as known
     where extensions.similarity(word, $1) >= 0.3::real
     order by extensions.similarity(word, $1) desc, word limit 10`,
    [word],
  )
  return [word, ...rows.map((row) => row.word as string)]
})

function remembered<T>(ask: (word: string) => Promise<T>) {
  const known = new Map<string, Promise<T>>()
  return (word: string) => {
    if (!known.has(word)) known.set(word, ask(word))
    return known.get(word)!
  }
}

/** The first pages of a search, joined by their cursors. */
async function walk({ strategy, q, sort, limit, filters }: Search, pages: number) {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const { rows: [page] }: { rows: { items: { id: string }[]; nextCursor: string | null }[] } =
      await client.query(
        'select items, "nextCursor" from api.search($1, $2, $3, $4, $5, $6)',
        [strategy, filters, q, sort, cursor, limit],
      )
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor && --pages)
  return { ids, ended: cursor === null }
}

test.each(Object.keys(categories))(
  'SRCH-03 200 random searches of strategy %s find what the oracle finds, in its order',
  async (strategy) => {
    const roll = dice(strategy.length * 7919)
    let found = 0
    for (let n = 0; n < 200; n++) {
      const search = randomSearch(strategy, roll, world)
      const expected = await oracle(search)
      const { ids, ended } = await walk(search, 4)

      expect({ search, ids }).toEqual({ search, ids: expected.slice(0, ids.length) })
      expect({ search, ended }).toEqual({ search, ended: ids.length === expected.length })
      found += Math.min(1, ids.length)
    }
    // Most of them find something, or they would show nothing.
    expect(found).toBeGreaterThan(80)
  },
  300_000,
)

test(
  'two words of a strategy count as rare exactly when fewer than 5 listings have them',
  async () => {
    // What was planted, and as many others as the stack holds, up to ten.
    const { rows } = await client.query(
      `select word from private.search_common_words where word !~ ':'
     order by word = any ($1) desc, md5(word) limit 30`,
      [planted],
    )
    const known = rows.map(({ word }) => word as string)
    expect(known.slice(0, planted.length).toSorted()).toEqual(planted.toSorted())
    const answers = { true: 0, false: 0 }
    for (const strategy of Object.keys(categories)) {
      for (const [n, one] of known.entries()) {
        for (const other of known.slice(n)) {
          const pair = [one, other]
          const { rows: [{ few }] } = await client.query(
            'select private.has_few_matches($1, $2) as few',
            [strategy, pair],
          )
          const n = await haveWords(strategy, pair.map((word) => [word]))
          expect({ strategy, pair, few }).toEqual({ strategy, pair, few: n < 5 })
          answers[few ? 'true' : 'false']++
        }
      }
    }
    expect(Math.min(answers.true, answers.false)).toBeGreaterThan(100)
  },
  300_000,
)

test('SRCH-04 300 random searches give the same by query string and by body', async () => {
  const roll = dice(4242)
  for (let n = 0; n < 300; n++) {
    const { q, sort, limit, filters } = randomSearch('standard', roll, world)
    const { near, ...others } = filters
    const query = new URLSearchParams({ limit: String(limit) })
    if (q) query.set('q', q)
    if (sort) query.set('sort', sort)
    if (near) query.set('near', [near.lat, near.lng, near.km].join(','))
    for (const [name, value] of Object.entries(others)) {
      if (value.length !== 0) query.set(name, String(value))
    }
    const body = { strategy: 'standard', q, sort, limit, ...filters }
    const [first, same] = await undisturbed(
      () => guest.post('/search/advanced', body),
      () => guest.get(`/search?${query}`),
    )
    expect(first.status).toBe(200)
    expect(idsOf(same)).toEqual(idsOf(first))
    expect(same.body.nextCursor).toBe(first.body.nextCursor)
    const cursor = first.body.nextCursor
    if (!cursor || n % 5) continue
    const [next, nextSame] = await undisturbed(
      () => guest.post('/search/advanced', { ...body, cursor }),
      () => guest.get(`/search?${query}&cursor=${encodeURIComponent(cursor)}`),
    )
    expect(idsOf(nextSame)).toEqual(idsOf(next))
  }
})

/** Two reads with nothing published in between: the first one again says the same after them. */
async function undisturbed(one: () => Promise<Reply>, other: () => Promise<Reply>) {
  let before = await one()
  for (;;) {
    const between = await other()
    const after = await one()
    if (JSON.stringify(idsOf(before)) === JSON.stringify(idsOf(after))) return [before, between]
    before = after
  }
}

const idsOf = ({ body }: { body: { items: { id: string }[] } }) => body.items.map(({ id }) => id)
