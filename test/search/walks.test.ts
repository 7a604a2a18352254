import { afterAll, beforeAll, expect, test } from 'vitest'
import type pg from 'pg'
import { database, signUp } from '../support/client.ts'
import { dice } from './world.ts'

let client: pg.PoolClient
let owner: string
let started: Date
// What other tests publish is searched as well, and left out of what is compared.
let own: Set<string>

beforeAll(async () => {
  owner = (await signUp()).identityId
  client = await database().connect()
  await client.query('begin isolation level repeatable read')
  const { rows: [clock] } = await client.query('select now()')
  started = clock.now
  const { rows } = await client.query(crowd, [owner])
  own = new Set(rows.map(({ id }) => id))
  await client.query('analyze private.search_documents')
})

afterAll(async () => {
  await client.query('rollback')
  client.release()
})

// More listings of a type, kind and area than a walk passes by; a few at once in each millisecond
// of the last second, so that what other tests have published does not stand before them.
const crowd = `
  insert into public.properties (
    owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2, bedrooms,
    bathrooms, furnished, governorate_id, area_id, published_at, expires_at
  )
  select
    $1, 'individual', case n % 9 when 0 then 'SALE' when 1 then 'EXCHANGE' else 'RENT' end,
    'active', case when n % 7 = 0 then 'farm' else 'chalet' end,
    concat_ws(' ', 'شاليه على البحر', case when n % 13 = 0 then 'قرب السالمية' end),
    case when n % 9 = 1 and dice < 20 then null else 10 * dice end, 100 + n % 400, n % 13, n % 5,
    (array['none', 'partial', 'full'])[1 + n % 3], areas.governorate_id, areas.id,
    now() - n / 4 * interval '1 millisecond', now() + interval '20 days'
  from (
    select n, ('x' || left(md5(n::text), 4))::bit(16)::integer % 100 as dice
    from generate_series(1, 4000) as n
  ) as drawn
  join public.areas on areas.id =
    case when n % 11 = 0 then 'sharq' when n % 17 = 0 then 'hawalli' else 'salmiya' end
  returning id`

type Filters = Record<string, unknown>

/** The ids of ours that a search of the newest should find, by the plainest SQL that says so. */
async function plainly(
  strategy: string,
  filters: Filters,
  words: string[] = [],
): Promise<string[]> {
  const { rows } = await client.query(
    `select properties.id
     from public.properties
     left join public.auctions on auctions.property_id = properties.id
     left join public.areas on areas.id = properties.area_id
     cross join jsonb_to_record($2) as wanted (
       type text, kinds text[], "areaIds" text[], "governorateIds" text[], "priceMin" numeric,
       "priceMax" numeric, "areaM2Min" numeric, "areaM2Max" numeric, "bedroomsMin" integer,
       "bathroomsMin" integer, furnished text, "postedSince" timestamptz
     )
     where properties.listed and properties.owner_identity_id = $4
       and case $1 when 'exchange' then properties.type = 'EXCHANGE'
         else properties.type <> 'EXCHANGE' and coalesce(auctions.ends_at <= now(), true) end
       and coalesce(properties.type = wanted.type, wanted.type is null)
       and coalesce(properties.kind = any (kinds), kinds is null)
       and coalesce(properties.area_id = any ("areaIds"), "areaIds" is null)
       and coalesce(properties.governorate_id = any ("governorateIds"), "governorateIds" is null)
       and coalesce(price >= "priceMin", "priceMin" is null)
       and coalesce(price <= "priceMax", "priceMax" is null)
       and coalesce(coalesce(land_area_m2, built_area_m2) >= "areaM2Min", "areaM2Min" is null)
       and coalesce(coalesce(land_area_m2, built_area_m2) <= "areaM2Max", "areaM2Max" is null)
       and coalesce(bedrooms >= "bedroomsMin", "bedroomsMin" is null)
       and coalesce(bathrooms >= "bathroomsMin", "bathroomsMin" is null)
       and coalesce(properties.furnished = wanted.furnished, wanted.furnished is null)
       and coalesce(published_at >= "postedSince", "postedSince" is null)
       and ($3::text[] = '{}' or private.search_words(concat_ws(' ', title_ar, title_en,
         description_ar, description_en, areas.name_ar, areas.name_en, areas.alias_ar)) @> $3)
     order by published_at desc, properties.id desc`,
    [strategy, filters, words, owner],
  )
  return rows.map(({ id }) => id)
}

/** Our own of the first pages of a search, joined by their cursors. */
async function pages(strategy: string, filters: Filters, limit: number, most: number, q?: string) {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const { rows: [page] }: { rows: { items: { id: string }[]; nextCursor: string | null }[] } =
      await client.query(
        `select items, "nextCursor"
         from api.search($1, $2, $5, page_cursor => $3, page_size => $4)`,
        [strategy, filters, cursor, limit, q],
      )
    ids.push(...page.items.map(({ id }) => id).filter((id) => own.has(id)))
    cursor = page.nextCursor
  } while (cursor && --most)
  return { ids, ended: cursor === null }
}

function randomFilters(roll: (below: number) => number): Filters {
  const filters: Filters = {}
  const some = <T>(from: T[]) => from[roll(from.length)]
  const draw = (chance: number, name: string, from: unknown[]) => {
    if (roll(100) < chance) filters[name] = some(from)
  }
  draw(40, 'areaIds', [['salmiya'], ['salmiya'], ['sharq', 'salmiya'], ['sharq', 'sharq'], [
    'abdali',
  ]])
  draw(40, 'kinds', [['chalet'], ['chalet'], ['farm', 'chalet'], ['farm', 'villa'], [
    'chalet',
    'chalet',
  ]])
  draw(40, 'type', ['SALE', 'RENT', 'RENT', 'EXCHANGE'])
  draw(20, 'governorateIds', [['hawalli'], ['capital'], ['capital', 'hawalli']])
  draw(20, 'priceMin', [0, 10, 500, 980])
  draw(20, 'priceMax', [980, 990, 100000])
  draw(20, 'areaM2Min', [0, 300, 498])
  draw(10, 'areaM2Max', [499, 1000])
  draw(30, 'bedroomsMin', [0, 3, 11, 12])
  draw(20, 'bathroomsMin', [0, 4])
  draw(20, 'furnished', ['none', 'partial', 'full'])
  draw(10, 'postedSince', [new Date(started.getTime() - roll(1000)).toISOString()])
  return filters
}

test.each(['standard', 'exchange'])(
  'the newest of strategy %s are those that plain SQL finds, page by page, however many fit',
  async (strategy) => {
    const roll = dice(strategy.length * 104729)
    let found = 0
    for (let n = 0; n < 300; n++) {
      const filters = randomFilters(roll)
      const limit = [1, 3, 20, 50][roll(4)]
      const expected = await plainly(strategy, filters)
      const { ids, ended } = await pages(strategy, filters, limit, 4)

      expect({ filters, limit, ids }).toEqual({
        filters,
        limit,
        ids: expected.slice(0, ids.length),
      })
      // Pages of what others published may follow ours.
      const missing = ended ? expected.length - ids.length : 0
      expect({ filters, limit, missing }).toEqual({ filters, limit, missing: 0 })
      found += Math.min(1, ids.length)
    }
    expect(found).toBeGreaterThan(100)
  },
  300_000,
)

test.each(['newest', 'price_asc', 'area_desc'])(
  'in the order %s a code that is named twice counts once',
  async (sort) => {
    const ids = async (filters: Filters) => {
      const { rows } = await client.query(
        `select item ->> 'id' as id
         from api.search('standard', $1, null, $2), json_array_elements(items) as item`,
        [filters, sort],
      )
      return rows.map(({ id }) => id)
    }
    const once = await ids({ areaIds: ['salmiya'], kinds: ['farm'] })
    expect(once).toHaveLength(20)
    expect(await ids({ areaIds: ['salmiya', 'salmiya'], kinds: ['farm', 'farm'] })).toEqual(once)
  },
)

test('what lies behind more listings than a walk passes by is found all the same', async () => {
  await client.query(
    `update public.properties set bedrooms = 77, published_at = now() - interval '3 years'
     where id in (select id from public.properties
       where owner_identity_id = $1 and kind = 'chalet' and type = 'RENT' and area_id = 'salmiya'
       order by id limit 3)`,
    [owner],
  )
  const narrowed = [{}, { areaIds: ['salmiya'] }, { kinds: ['chalet'], type: 'RENT' }]
  for (const filters of narrowed.map((filters) => ({ ...filters, bedroomsMin: 77 }))) {
    const expected = await plainly('standard', filters)
    expect(expected).toHaveLength(3)
    expect(await pages('standard', filters, 2, 9)).toEqual({ ids: expected, ended: true })
  }
})

test.each([['السالمية', ['سالميه']], ['شاليه السالمية', ['شاليه', 'سالميه']]])(
  'the newest with %s are in the area or have the words, page by page',
  async (q, words) => {
    for (const filters of [{}, { kinds: ['farm'] }, { bedroomsMin: 11, priceMax: 100 }]) {
      const expected = await plainly('standard', filters, words)
      expect(expected.length).toBeGreaterThan(20)
      const { ids } = await pages('standard', filters, 20, 5, q)
      expect({ filters, ids }).toEqual({ filters, ids: expected.slice(0, ids.length) })
      expect(ids.length).toBeGreaterThan(20)
    }
  },
)

test('the facade, whose filters are not parsed again, finds what the Data API finds', async () => {
  const roll = dice(31)
  for (let n = 0; n < 100; n++) {
    const filters = randomFilters(roll)
    const { rows: [{ page, same }] } = await client.query(
      `select to_jsonb(page) as page, private.search_listings('standard', $1)::jsonb as same
       from api.search('standard', $1) as page`,
      [filters],
    )
    expect({ filters, page: same }).toEqual({ filters, page })
  }
})
