/**
 * Measures every kind of search inside the database, with one or two numbers of listings. The functions are
 * called like the facade calls them, including the cards of the page. Also measures the writes when a listing
 * is published. Marks a p99 above the limit, and growth by more than a factor of 2.
 */
import { totalmem } from 'node:os'
import type pg from 'pg'
import { build, connected } from '../local/schema/build.ts'
import { onTemporaryServer } from '../local/schema/temporary-server.ts'
import { loadListings } from './generate-listings.ts'
import { percentile } from './http-load.ts'

export type Shape = { shape: string; p50: number; p99: number; rows: number }
type Grown = { shape: string; at: Shape[]; limits: number[]; growth: number }

// Rare and difficult searches may take longer, and even longer with many listings.
const odd = [
  'rare and common',
  'word, nothing left',
  'two words, nothing left',
  'words that never meet, filter',
  'misspelt word',
  'nothing matches',
  'no such filters',
]
const limitOf = (shape: string, size: number) =>
  shape.startsWith('count, ')
    ? 30
    : shape === 'map clusters'
    ? 20
    : odd.includes(shape)
    ? (size > 100_000 ? 80 : 20)
    : 10

type Sampler = {
  area: () => string
  rare: () => string
  lat: () => number
  lng: () => number
  whole: (below: number) => number
}

type Search = Record<string, unknown> & { strategy?: string; q?: string; sort?: string }

const search = (one: (sampler: Sampler) => Search) => (sampler: Sampler) => {
  const { strategy = 'standard', q = null, sort = null, cursor = null, ...filters } = one(sampler)
  return ['private.search', [strategy, filters, q, sort, cursor, 20]] as const
}

const count = (one: (sampler: Sampler) => Search) => (sampler: Sampler) => {
  const { strategy = 'standard', q = null, ...filters } = one(sampler)
  return ['private.count_listings', [strategy, filters, q]] as const
}

const kinds = [
  'apartment',
  'house',
  'villa',
  'floor',
  'land',
  'chalet',
  'office',
  'farm',
  'parking',
]

/** Searches whose results are counted. The facade cancels a count after 30 ms. */
const counted: Record<string, (sampler: Sampler) => Search> = {
  all: () => ({}),
  area: ({ area }) => ({ areaIds: [area()] }),
  'kind + type': ({ whole }) => ({ kinds: [kinds[whole(9)]], type: ['SALE', 'RENT'][whole(2)] }),
  'area + type + price': ({ area, whole }) => {
    const priceMin = 200 + whole(300)
    return { areaIds: [area()], type: 'RENT', priceMin, priceMax: priceMin + 150 }
  },
  'narrow, no area': ({ whole }) => ({
    kinds: [kinds[whole(9)]],
    bedroomsMin: 5,
    furnished: 'partial',
    priceMin: 200_000,
    priceMax: 250_000,
  }),
  'common word': ({ whole }) => ({ q: ['شقة', 'فيلا', 'تشطيب', 'موقع'][whole(4)] }),
  'rare word': ({ rare }) => ({ q: rare() }),
  'word + area': ({ area }) => ({ q: 'شقة', areaIds: [area()] }),
  'misspelt word': ({ whole }) => ({ q: ['ديواتية', 'شقه السالممية', 'كامرات'][whole(3)] }),
  'no such filters': ({ area }) => ({ areaIds: [area()], bedroomsMin: 60 }),
  near: ({ lat, lng }) => ({ near: { lat: lat(), lng: lng(), km: 3 } }),
  exchange: () => ({ strategy: 'exchange' }),
  deal: () => ({ strategy: 'deal' }),
  auction: () => ({ strategy: 'auction' }),
  company: () => ({ strategy: 'company' }),
}

const shapes: Record<
  string,
  (sampler: Sampler) => readonly [name: string, args: readonly unknown[]]
> = {
  feed: () => ['private.list_feed', ['all', 1, 20]],
  'feed, page 500': () => ['private.list_feed', ['sale', 500, 20]],
  newest: search(() => ({})),
  area: search(({ area }) => ({ areaIds: [area()] })),
  'three areas': search(({ area }) => ({ areaIds: [area(), area(), area()] })),
  'area + type + price': search(({ area, whole }) => {
    const priceMin = 200 + whole(300)
    return { areaIds: [area()], type: 'RENT', priceMin, priceMax: priceMin + 150 }
  }),
  'price up': search(({ whole }) => ({ type: ['SALE', 'RENT'][whole(2)], sort: 'price_asc' })),
  'price down': search(({ whole }) => ({ type: ['SALE', 'RENT'][whole(2)], sort: 'price_desc' })),
  'kind, price down': search(({ whole }) => ({ kinds: [kinds[whole(9)]], sort: 'price_desc' })),
  'largest first': search(({ whole }) => ({ kinds: [kinds[whole(9)]], sort: 'area_desc' })),
  'narrow filters': search(({ area, whole }) => ({
    areaIds: [area()],
    kinds: [kinds[whole(4)]],
    bedroomsMin: 4,
    furnished: 'full',
  })),
  'narrow, no area': search(({ whole }) => ({
    kinds: [kinds[whole(9)]],
    bedroomsMin: 5,
    furnished: 'partial',
    priceMin: 200_000,
    priceMax: 250_000,
  })),
  'rare word': search(({ rare }) => ({ q: rare() })),
  'common word': search(({ whole }) => ({ q: ['شقة', 'فيلا', 'تشطيب', 'موقع'][whole(4)] })),
  'two words': search(({ whole }) => ({ q: ['شقة فاخر', 'بيت هادئ', 'أرض مميز'][whole(3)] })),
  'rare and common': search(({ rare }) => ({ q: `${rare()} شقة` })),
  'word + area': search(({ area }) => ({ q: 'شقة', areaIds: [area()] })),
  'word, nothing left': search(({ area }) => ({ q: 'شقة', areaIds: [area()], bedroomsMin: 60 })),
  'two words, nothing left': search(({ whole }) => ({
    strategy: ['standard', 'company'][whole(2)],
    q: ['شقة فاخر', 'بيت هادئ', 'أرض مميز'][whole(3)],
    bedroomsMin: 60,
  })),
  'words that never meet, filter': search(({ whole }) => ({
    q: ['سوبر وظهر', 'فيلا شقة'][whole(2)],
    bedroomsMin: 1 + whole(5),
  })),
  'name of a place': search(({ whole }) => ({ q: ['السالمية', 'شقة حولي', 'الجهرا'][whole(3)] })),
  'misspelt word': search(({ whole }) => ({ q: ['ديواتية', 'شقه السالممية', 'كامرات'][whole(3)] })),
  bbox: search(({ lat, lng }) => {
    const [south, west] = [lat(), lng()]
    return { bbox: [west, south, west + 0.03, south + 0.03] }
  }),
  'near, by distance': search(({ lat, lng }) => ({
    near: { lat: lat(), lng: lng(), km: 3 },
    sort: 'distance',
  })),
  'near, newest': search(({ lat, lng }) => ({ near: { lat: lat(), lng: lng(), km: 3 } })),
  'nothing matches': search(({ whole }) => ({ q: ['غغغظظظ', 'xyzzyq'][whole(2)] })),
  'no such filters': search(({ area }) => ({ areaIds: [area()], bedroomsMin: 60 })),
  exchange: search(() => ({ strategy: 'exchange' })),
  auction: search(() => ({ strategy: 'auction' })),
  deal: search(() => ({ strategy: 'deal' })),
  company: search(() => ({ strategy: 'company' })),
  ...Object.fromEntries(
    Object.entries(counted).map(([name, one]) => [`count, ${name}`, count(one)]),
  ),
  'map clusters': ({ whole }) => [
    'private.list_map_listings',
    [[47.5, 28.9, 48.3, 29.5], 8 + whole(6), {}],
  ],
}

const deepPages = [
  ['page 50', {}],
  ['page 50, by price', { sort: 'price_asc' }],
  ['page 50 of a word', { q: 'شقة' }],
] as const

/** Measures all databases alternately, one search at a time, so that other load affects them equally. */
async function measureShapes(clients: readonly pg.Client[], rounds = 300): Promise<Shape[][]> {
  const databases = []
  for (const client of clients) databases.push(await openShapes(client))
  for (let round = -20; round < rounds; round++) {
    for (const shape of databases[0].calls.keys()) {
      for (const { client, sampler, calls, times, rows } of databases) {
        const [name, args] = calls.get(shape)!(sampler)
        const timed = await time(client, name, args)
        // The first rounds are a warm-up, because Postgres caches plans only after a few calls.
        if (round < 0) continue
        times.set(shape, [...times.get(shape) ?? [], timed.ms])
        rows.set(shape, (rows.get(shape) ?? 0) + timed.items)
      }
    }
  }
  const published = 'off the market and on again'
  for (const { client, times, rows } of databases) {
    times.set(published, await timePublishing(client, rounds))
    rows.set(published, rounds)
  }
  return databases.map(({ times, rows }) =>
    [...times].map(([shape, all]) => {
      const sorted = all.sort((one, other) => one - other)
      const average = Math.round(10 * rows.get(shape)! / rounds) / 10
      return { shape, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), rows: average }
    })
  )
}

async function openShapes(client: pg.Client) {
  // jit is off, as for the role facade. There is no time limit, because it takes long to sample words from a
  // million listings.
  await client.query('set jit = off; set statement_timeout = 0')
  await client.query(timer)
  const sampler = await openSampler(client)
  const calls = new Map(Object.entries(shapes))
  for (const [shape, one] of deepPages) {
    const cursor = await cursorOf(client, one, 49)
    calls.set(shape, search(() => ({ ...one, cursor })))
  }
  return {
    client,
    sampler,
    calls,
    times: new Map<string, number[]>(),
    rows: new Map<string, number>(),
  }
}

/** Measures the writes to the search tables when a listing's state changes twice. */
async function timePublishing(client: pg.Client, rounds: number): Promise<number[]> {
  await client.query(publisher)
  const { rows } = await client.query<{ id: string }>(
    'select id from public.properties where listed order by md5(id::text) limit $1',
    [rounds + 20],
  )
  const times: number[] = []
  for (const { id } of rows) {
    const published = await client.query<{ ms: number }>('select pg_temp.republish($1) as ms', [id])
    times.push(published.rows[0].ms)
  }
  return times.slice(20)
}

const publisher = `
  create function pg_temp.republish(property_id uuid) returns double precision
    language plpgsql
  as $$
  declare
    started timestamptz := clock_timestamp();
  begin
    update public.properties set status = 'paused' where id = property_id;
    update public.properties set status = 'active' where id = property_id;
    return extract(epoch from clock_timestamp() - started) * 1000;
  end
  $$`

const timer = `
  create function pg_temp.timed(call text, args jsonb, out ms double precision, out items integer)
    language plpgsql
  as $$
  declare
    started timestamptz := clock_timestamp();
    answer json;
  begin
    execute 'select ' || call into answer using args;
    ms := extract(epoch from clock_timestamp() - started) * 1000;
    items := coalesce(
      (answer ->> 'count')::integer, json_array_length(coalesce(answer -> 'items', answer -> 'clusters')));
  end
  $$`

const types: Record<string, string[]> = {
  'private.search': ['text', 'jsonb', 'text', 'text', 'text', 'integer'],
  'private.count_listings': ['text', 'jsonb', 'text'],
  'private.list_feed': ['text', 'integer', 'integer'],
  'private.list_map_listings': ['jsonb', 'integer', 'jsonb'],
}

async function time(client: pg.Client, name: string, args: readonly unknown[]) {
  const list = types[name].map((type, i) =>
    type === 'jsonb' ? `$1 -> ${i}` : `($1 ->> ${i})::${type}`
  )
  const { rows } = await client.query<{ ms: number; items: number }>(
    'select ms, items from pg_temp.timed($1, $2)',
    [`${name}(${list})`, JSON.stringify(args)],
  )
  return rows[0]
}

async function cursorOf(client: pg.Client, one: Search, pages: number): Promise<string> {
  let cursor: string | null = null
  for (let page = 0; page < pages; page++) {
    const { q, sort } = one
    const { rows }: pg.QueryResult<{ nextCursor: string }> = await client.query(
      `select private.search('standard', '{}', $1, $2, $3)::json ->> 'nextCursor' as "nextCursor"`,
      [q, sort, cursor],
    )
    cursor = rows[0].nextCursor
  }
  return cursor!
}

async function openSampler(client: pg.Client): Promise<Sampler> {
  let seed = 7
  const whole = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const list = async (sql: string) => (await client.query(sql)).rows.map(({ one }) => one as string)
  const areas = await list('select id as one from public.areas order by id')
  const rare = await list(
    `select words.word as one
     from private.search_documents
     cross join lateral unnest(tsvector_to_array(document)) as words (word)
     where words.word !~ '[:0-9]'
     group by words.word having count(*) between 5 and 25
     order by md5(words.word) limit 500`,
  )
  return {
    area: () => areas[whole(areas.length)],
    rare: () => rare[whole(rare.length)],
    lat: () => 29.15 + whole(2500) / 10_000,
    lng: () => 47.85 + whole(2500) / 10_000,
    whole,
  }
}

// A listing without its record takes 5.0 KB including all indexes, plus a fifth for writes.
const bytesEach = 6000

const readIntoMemory = `
  create extension if not exists pg_prewarm with schema extensions;
  select extensions.pg_prewarm(oid::regclass) from pg_class
  where relkind in ('r', 'i', 't') and relpersistence = 'p' and pg_relation_size(oid) > 0`

/** Measures one or two numbers of listings on a temporary server. */
export async function compareShapes(
  sizes: readonly number[],
  say: (line: string) => void,
): Promise<Grown[]> {
  // All data fits into memory, as in a hosted project of this size. The disk speed of this machine would say
  // nothing about the searches.
  const sharedGigabytes = Math.ceil(sizes.reduce((sum, size) => sum + size) * bytesEach / 2 ** 30)
  if (sharedGigabytes * 2 ** 30 > totalmem() / 2) {
    throw new Error(`These sizes take ${sharedGigabytes} GB, more than half of the memory.`)
  }
  say(`a server with ${sharedGigabytes} GB of shared buffers`)
  return await onTemporaryServer(async (server) => {
    const urls: string[] = []
    for (const size of sizes) {
      const url = await server.createDatabase(`shapes_${size}`)
      await build(url, 'sql')
      say(`writing ${size} listings`)
      await loadListings(url, size, { records: false })
      const asSuperuser = new URL(new URL(url).pathname, server.adminUrl)
      await connected(asSuperuser.href, (client) => client.query(readIntoMemory))
      urls.push(url)
    }
    say('measuring')
    const [small, large = small] = await connected(
      urls[0],
      (one) =>
        urls[1] === undefined
          ? measureShapes([one])
          : connected(urls[1], (other) => measureShapes([one, other])),
    )
    return small.map((one, i) => ({
      shape: one.shape,
      at: [one, large[i]].slice(0, sizes.length),
      limits: sizes.map((size) => limitOf(one.shape, size)),
      growth: Math.round(100 * large[i].p50 / one.p50) / 100,
    }))
  }, { sharedGigabytes })
}

export function shapesTable(grown: Grown[], sizes: readonly number[]): string[][] {
  const ms = (value: number) => value.toFixed(2)
  const names = sizes.map((size) => size < 1e6 ? `${size / 1e3}k` : `${size / 1e6}M`)
  return [
    [
      'ms in the database',
      'rows',
      ...names.flatMap((name) => [`p50 ${name}`, `p99 ${name}`]),
      'growth',
      '',
    ],
    ...grown.map(({ shape, at, limits, growth }) => [
      shape,
      String(at.at(-1)!.rows),
      ...at.flatMap(({ p50, p99 }) => [ms(p50), ms(p99)]),
      `${growth.toFixed(2)}×`,
      [
        ...at.map(({ p99 }, i) => p99 > limits[i] && `p99 ${names[i]} above ${limits[i]}`),
        growth > 2 && 'grows',
      ].filter(Boolean).join(', '),
    ]),
  ]
}
