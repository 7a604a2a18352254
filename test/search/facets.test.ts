import { afterAll, beforeAll, expect, test } from 'vitest'
import { database, guest, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { bulk, isNightly } from '../support/nightly.ts'
import { categories, Oracle } from './oracle.ts'
import { uniqueWord } from './results.ts'
import { dice, fillWorld, randomSearch, type World } from './world.ts'

type Facet = { value?: unknown; from?: number; to?: number | null; count: number }[]
type Facets = Record<string, Facet | null>

let world: World
let oracle: Oracle

beforeAll(async () => {
  world = await fillWorld(bulk(1500, 600))
  oracle = await Oracle.open()
})
afterAll(() => oracle.close())

const lists = ['kinds', 'areaIds', 'governorateIds', 'furnished', 'amenities']
const all = ['type', 'bedrooms', 'price', ...lists]
/** Returns the filters that select a value of a facet. */
const added = (name: string, { value, from, to }: Facet[number]) =>
  name === 'price'
    ? { priceMin: from, ...(to !== null && { priceMax: to }) }
    : name === 'bedrooms'
    ? { bedroomsMin: value }
    : { [name]: lists.includes(name) ? [value] : value }
const without = (filters: Record<string, unknown>, name: string) => {
  const { [name]: _, [`${name}Min`]: _min, [`${name}Max`]: _max, ...others } = filters
  return others
}
const sum = (facet: Facet) => facet.reduce((total, { count }) => total + count, 0)

test('SRCH-03 each value of a facet counts what the list has with that value added', async () => {
  const roll = dice(90001)
  const strategies = Object.keys(categories)
  let values = 0
  for (let n = 0; n < bulk(150, 50); n++) {
    const search = randomSearch(strategies[n % strategies.length]!, roll, world)
    const { strategy, q, filters } = search
    if (n % 2 && strategy !== 'exchange') filters.type = n % 4 === 1 ? 'SALE' : 'RENT'
    const by = [0, 1, 2].map((next) => all[(n + next) % all.length]!)
    const { rows } = await oracle.client.query(
      `select private.count_listings($1, $2, $3, false, $4)::json -> 'facets' as facets`,
      [strategy, filters, q, by],
    )
    for (const [name, facet] of Object.entries(rows[0].facets as Facets)) {
      const where = { search, name }
      const others = without(filters, name)
      if (name === 'price' && strategy !== 'exchange' && !filters.type) {
        expect(facet, JSON.stringify(where)).toBeNull()
        continue
      }
      for (const one of facet!) {
        const given = { ...others, ...added(name, one) }
        const { count } = await oracle.expectedCount({ ...search, filters: given })
        expect({ ...where, ...one, count: Math.min(one.count, 1000) }).toEqual({
          ...where,
          ...one,
          count,
        })
        values++
      }
      // Every listing has a value for these fields, so their counts must add up to all listings.
      if (['type', 'kinds', 'areaIds', 'governorateIds'].includes(name)) {
        const { count } = await oracle.expectedCount({ ...search, filters: others })
        expect({ ...where, count: Math.min(sum(facet!), 1000) }).toEqual({ ...where, count })
      }
    }
  }
  expect(values).toBeGreaterThan(bulk(600, 200))
})

test('facets stand beside the count, by body and by query string, without their own filter', async () => {
  const seller = await signUp()
  const word = uniqueWord()
  for (const [bedrooms, price] of [[1, 480], [2, 500], [2, 650]]) {
    await publishListing(seller, { type: 'RENT', titleAr: `شقة ${word}`, bedrooms, price })
  }
  await publishListing(seller, { titleAr: `فيلا ${word}`, areaId: 'qibla', furnished: 'full' })
  const ask = async (filters: Record<string, string>) => {
    const query = new URLSearchParams({ q: word, ...filters })
    const { body } = await guest.get(`/search/count?${query}`)
    const { by, ...others } = filters
    const same = await guest.post('/search/count', {
      strategy: 'standard',
      q: word,
      ...others,
      by: by!.split(','),
      ...(others.kinds && { kinds: [others.kinds] }),
    })
    expect(same.body).toEqual(body)
    return body
  }
  expect(await ask({ by: 'kinds,areaIds,type', kinds: 'villa' })).toEqual({
    count: 1,
    capped: false,
    facets: {
      kinds: [{ value: 'apartment', count: 3 }, { value: 'villa', count: 1 }],
      areaIds: [{ value: 'qibla', count: 1 }],
      type: [{ value: 'SALE', count: 1 }],
    },
  })
  expect((await ask({ by: 'price,bedrooms,furnished', type: 'RENT' })).facets).toEqual({
    price: [
      { from: 400, to: 499.999, count: 1 },
      { from: 500, to: 599.999, count: 1 },
      { from: 600, to: 799.999, count: 1 },
    ],
    bedrooms: [{ value: 1, count: 3 }, { value: 2, count: 2 }],
    furnished: [],
  })
  expect((await ask({ by: 'price' })).facets).toEqual({ price: null })
  expect((await guest.get(`/search/count?q=${word}`)).body).toEqual({ count: 4, capped: false })
})

test('by more than three, or by what is no facet, is refused', async () => {
  for (const by of [['type', 'kinds', 'areaIds', 'price'], ['q'], ['usage'], 'kinds', [3]]) {
    expect(await guest.post('/search/count', { strategy: 'standard', by })).toMatchObject({
      status: 422,
      body: { error: { code: 'validation_failed' } },
    })
  }
  expect((await guest.get('/search/count?by=usage')).status).toBe(422)
  expect((await guest.get('/search?by=kinds')).body.error.code).toBe('filter_unknown')
})

test.runIf(isNightly)(
  'of more than 10,000 one in 16 is counted, and two digits are said',
  async () => {
    const { identityId } = await signUp()
    const client = await database().connect()
    try {
      await client.query('begin; set local statement_timeout = 0')
      await client.query(
        `insert into public.properties (
           owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2, bedrooms,
           governorate_id, area_id, published_at, expires_at
         )
         select $1, 'individual', 'RENT', 'active', (array['house', 'house', 'apartment'])[1 + n % 3],
           'عقار مجرب', 300, 500, n % 4, 'jahra', 'jahra', now(), now() + interval '1 day'
         from generate_series(1, 18000) as n`,
        [identityId],
      )
      await client.query('analyze private.search_documents')
      const { rows: [{ facets }] } = await client.query(
        `select private.count_listings('standard', '{"areaIds":["jahra"]}', facets => $1)
           -> 'facets' as facets`,
        [['kinds', 'bedrooms']],
      )
      const [house, apartment] = facets.kinds
      expect([house.value, apartment.value]).toEqual(['house', 'apartment'])
      for (
        const [one, exact] of [[house, 12_000], [apartment, 6000], [
          facets.bedrooms[3],
          4500,
        ]] as const
      ) {
        expect(one.approximate).toBe(true)
        expect(Math.abs(one.count / exact - 1)).toBeLessThan(0.25)
        expect(String(one.count)).toMatch(/^[1-9][0-9]0*$/)
      }
    } finally {
      await client.query('rollback')
      client.release()
    }
  },
)
