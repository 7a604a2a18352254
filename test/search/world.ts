/** Thousands of listings over all types and categories, and random searches among them. */
import { randomUUID } from 'node:crypto'
import { database, type Person, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { searchWords } from './search-text.ts'

export type Search = {
  strategy: string
  q?: string
  sort?: string
  limit: number
  // deno-lint-ignore no-explicit-any
  filters: Record<string, any>
}

export type World = { companyIds: string[] }

/** 3,000 listings of a person, two companies, one of them not verified, and an office. */
export async function fillWorld(count = 3000): Promise<World> {
  const person = await signUp()
  const rival = await signUp()
  const verified = await insertOrganisation(person.id, 'company')
  const office = await insertOrganisation(person.id, 'office')
  const unproven = await insertOrganisation(rival.id, 'company')
  const db = database()
  await db.query('update public.organisations set verified = false where identity_id = $1', [
    unproven,
  ])
  const { rows } = await db.query(
    listings,
    [count, [person.identityId, rival.identityId, verified, office, unproven], randomUUID()],
  )
  const ids = rows.map(({ id }) => id)
  await db.query(auctions, [ids])
  await db.query(drops, [ids])
  await db.query('analyze private.search_documents')
  return { companyIds: [verified, unproven, office, randomUUID()] }
}

const listings = `
  with places as (
    select areas.*, row_number() over (order by id) as n from public.areas
  ), kinds as (
    select code, text_ar, row_number() over (order by position) as n from public.vocabularies
    where vocabulary = 'kind'
  ), drawn as (
    select
      n,
      $2::uuid[] as owners,
      1 + floor(random() * 5)::integer as owner,
      (array['SALE', 'SALE', 'RENT', 'RENT', 'EXCHANGE'])[1 + floor(random() * 5)] as type,
      1 + floor(random() * 24) as kind,
      -- Few areas have many listings, so that filters meet.
      1 + floor(power(random(), 3) * 119) as place,
      random() as a, random() as b, random() as c, random() as d
    from generate_series(1, $1::integer) as n
  )
  insert into public.properties (
    owner_identity_id, owner_type, type, status, kind, usage, title_ar, title_en, description_ar,
    price, land_area_m2, built_area_m2, bedrooms, bathrooms, furnished, is_direct, governorate_id,
    area_id, lat, lng, location_precision, request_year, required_year, created_at, published_at,
    expires_at, floor_no, plot_position, block
  )
  select
    owners[owner], 'individual', type,
    case when a < 0.92 then 'active' when a < 0.96 then 'paused' else 'archived' end,
    kinds.code,
    (array['residential_private', 'investment', 'commercial', null])[1 + floor(b * 4)],
    concat_ws(' ', (array['شقّة', 'فيلّا', 'أرض', 'الدور', 'بيت'])[1 + floor(c * 5)],
      (array['فاخرة', 'زاوية', 'مؤثثة', 'هادئة', 'واسعة', 'جديدة'])[1 + floor(d * 6)], 'رقم ' || drawn.n),
    case when b < 0.3 then 'Corner ' || kinds.code || ' near the sea' end,
    (array['إطلالة على البحر', 'قريبة من المدرسة', 'تشطيب سوبر ديلوكس', null])[1 + floor(a * 4)]
      || case when drawn.n % 97 = 0 then ' نادرة' else '' end || ' ' || left(md5($3 || drawn.n), 12),
    case
      when type = 'EXCHANGE' and c < 0.5 then null
      when type = 'RENT' then 100 + floor(d * 40) * 25
      else 50000 + floor(d * 60) * 5000.125
    end,
    case when b < 0.7 then 100 + floor(c * 40) * 25 end,
    case when b >= 0.7 or a < 0.2 then 80 + floor(a * 30) * 10.5 end,
    nullif(floor(a * 8), 7), floor(b * 5), (array['none', 'partial', 'full', null])[1 + floor(c * 4)],
    owner <= 2 and d < 0.4,
    places.governorate_id, places.id,
    case when c < 0.9 then 29.2 + a * 0.2 end, case when c < 0.9 then 47.9 + b * 0.2 end,
    case when c < 0.9 then (array['exact', 'block', 'area'])[1 + floor(d * 3)] end,
    case when type = 'EXCHANGE' and a < 0.8 then 1980 + floor(b * 40) end,
    case when type = 'EXCHANGE' and a < 0.8 then 1990 end,
    born, born, now() + interval '20 days', nullif(floor(d * 9), 8) - 1,
    (array['corner', 'front_back', 'two_streets', null])[1 + floor(b * 4)],
    (array['3', '٣', 'قطعة 3', 'ق ١١', null])[1 + floor(a * 5)]
  from drawn
  join places on places.n = drawn.place
  join kinds on kinds.n = drawn.kind
  cross join lateral (
    select now() - interval '12 hours' - floor(a * 900) * interval '1 hour' as born
  ) as age
  returning id`

// Live ones, scheduled ones, and some that are over.
const auctions = `
  insert into public.auctions (property_id, starts_at, ends_at, start_price, min_increment)
  select
    id, now() + (n % 7 - 4) * interval '1 day',
    now() + (n % 7 - 4) * interval '1 day' + (1 + n % 3) * interval '30 hours', 1000, 100
  from (
    select id, row_number() over (order by id) as n from public.properties
    where id = any ($1) and type = 'SALE'
  ) as chosen
  where n % 4 = 0`

// Deals, drops that are too small for one, and prices that rose.
const drops = `
  update public.properties
  set price = round(properties.price * (array[0.7, 0.85, 0.94, 0.97, 1.2])[1 + n % 5], 3)
  from (
    select id, row_number() over (order by id) as n from public.properties
    where id = any ($1) and type <> 'EXCHANGE'
  ) as chosen
  where chosen.id = properties.id and n % 3 = 0`

/** A word that no other listing has. */
export const letters = () =>
  Array.from({ length: 12 }, () => 'بتثجحخدرزسشصضطظعغفقكلمنهو'[Math.floor(Math.random() * 25)])
    .join('')

/**
 * Writes bits until those of all listings of a person and of all common words are written; a job may be
 * doing it, too.
 */
export async function fold(person: Person) {
  for (let left = true; left;) {
    await database().query('select private.fold_search_words(1)')
    const { rows: [row] } = await database().query(
      `select exists (
         select from private.search_changes
         join public.properties on properties.id = search_changes.property_id
         where owner_identity_id = $1
       ) or exists (
         select from private.search_common_words where not is_folded
       ) as left`,
      [person.identityId],
    )
    left = row.left
  }
}

/**
 * Twenty common words: each has 200 listings, half of them for exchange, and meets the four before
 * it and the four after it, in twenty of each strategy at least; the others it never meets.
 */
export async function plantWords(): Promise<string[]> {
  const person = await signUp()
  const words = Array.from({ length: 20 }, letters)
  await database().query(
    `insert into public.properties (
       owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2,
       governorate_id, area_id, published_at, expires_at
     )
     select $1, 'individual', case when n / 20 % 2 = 0 then 'SALE' else 'EXCHANGE' end, 'active',
       'villa', array_to_string(array(
         select ($2::text[])[1 + (n + next) % 20] from generate_series(0, 4) as next
       ), ' '), 185000, 500, 'hawalli', 'salmiya', now() - interval '1 year',
       now() + interval '1 day'
     from generate_series(0, 799) as n`,
    [person.identityId, words],
  )
  await fold(person)
  return words
}

/** A random number below, the same in every run. */
export function dice(seed: number) {
  return (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
}

/** What a query says: by fields (hard ones always hold, soft ones can be left out) and by words. */
export type Reading = { hard?: string; soft?: string; words: string[] }

const block = `regexp_replace(private.ascii_digits(block), '[^0-9]', '', 'g')`
const kind = (code: string, word: string) => `(kind = '${code}' or said && '{${word}}')`
const area = (code: string, word: string) => `(area_id = '${code}' or said && '{${word}}')`
const flat = kind('apartment', 'شقه')

/** Queries and their readings, written by hand. */
const queries: Record<string, Reading> = {
  'شقة': { hard: flat, words: [] },
  'الفيلا': { hard: kind('villa', 'فيلا'), words: [] },
  'ارض': { hard: kind('land', 'ارض'), words: [] },
  'دور': { hard: kind('floor', 'دور'), words: [] },
  'فاخره': { words: ['فاخره'] },
  'موثثة': { words: ['موثثه'] },
  'مفروشة': { hard: `furnished in ('partial', 'full')`, words: [] },
  'زاوية': { hard: `(plot_position = 'corner' or said && '{زاويه}')`, words: [] },
  'البحر': { words: ['بحر'] },
  'المدرسه': { words: ['مدرسه'] },
  'ديلوكس': { words: ['ديلوكس'] },
  'نادرة': { words: ['نادره'] },
  'نادره ارض': { hard: kind('land', 'ارض'), words: ['نادره'] },
  'شقة فاخرة': { hard: flat, words: ['فاخره'] },
  'السالمية': { hard: area('salmiya', 'سالميه'), words: [] },
  'سالمييه': { words: ['سالمييه'] },
  'شقة سالمييه': { hard: flat, words: ['سالمييه'] },
  'حولي شقة': { hard: `${flat} and ${area('hawalli', 'حولي')}`, words: [] },
  'فاخرررة': { words: ['فاخررره'] },
  'corner': { hard: `(plot_position = 'corner' or said && '{corner}')`, words: [] },
  'cornar sea': { words: ['cornar', 'sea'] },
  'KW-100150': { hard: `said && '{kw100150}'`, words: [] },
  'رقم ٧': { words: ['رقم', '7'] },
  'غغغظظظ': { words: ['غغغظظظ'] },
  'شقة غغغظظظ 99999': { hard: flat, words: ['غغغظظظ', '99999'] },
  'شقة ٣ غرف مفروشة': {
    hard: `${flat} and furnished in ('partial', 'full')`,
    soft: 'bedrooms >= 3',
    words: [],
  },
  'فيلا 7000 متر': { hard: kind('villa', 'فيلا'), soft: 'size between 6300 and 7700', words: [] },
  'بيت او فيلا ٤٠٠م': {
    hard: `(kind in ('house', 'villa') or said && '{بيت,فيلا}')`,
    soft: 'size between 360 and 440',
    words: [],
  },
  'شقة دور ارضي': { hard: flat, soft: 'floor_no = 0', words: [] },
  'اقل من 60 الف': { hard: 'price <= 60000', words: [] },
  'شقة ق ٣': {
    hard: flat,
    soft: `(${block} = '3' or said && '{3}' and said && '{قطعه,ق,block,ق3}')`,
    words: [],
  },
}

export const readingOf = (q: string): Reading => queries[q] ?? { words: searchWords(q) }

const kinds = [
  'apartment',
  'villa',
  'house',
  'land',
  'floor',
  'chalet',
  'farm',
  'shop',
  'studio',
  'office',
]
const areaIds = [
  'abdali',
  'abraq-khaitan',
  'abu-ftaira',
  'abu-halifa',
  'adailiya',
  'salmiya',
  'sharq',
]
const governorateIds = ['capital', 'hawalli', 'farwaniya', 'mubarak-al-kabeer', 'ahmadi', 'jahra']

/** A search with a few filters of this strategy. */
export function randomSearch(
  strategy: string,
  roll: (below: number) => number,
  world: World,
): Search {
  const some = <T>(from: T[]) => from[roll(from.length)]
  const several = <T>(from: T[]) => from.filter(() => roll(from.length) < 2).slice(0, 9)
  const filters: Search['filters'] = {}
  const draw = (chance: number, fill: () => void) => roll(100) < chance && fill()

  draw(15, () => (filters.type = some(['SALE', 'RENT', 'EXCHANGE'])))
  draw(20, () => (filters.kinds = several(kinds)))
  draw(10, () => (filters.usage = some(['residential_private', 'investment', 'commercial'])))
  draw(10, () => (filters.governorateIds = several(governorateIds)))
  draw(15, () => (filters.areaIds = several(areaIds)))
  draw(15, () => (filters.priceMin = some([0, 350, 60000, 100000.25])))
  draw(15, () => (filters.priceMax = some([600, 1000.5, 150000, 300000])))
  if (filters.priceMin > filters.priceMax) delete filters.priceMin
  draw(12, () => (filters.areaM2Min = some([1, 250, 385.5])))
  draw(12, () => (filters.areaM2Max = some([400, 800])))
  draw(12, () => (filters.bedroomsMin = some([0, 1, 3, 6, 7])))
  draw(10, () => (filters.bathroomsMin = some([1, 3])))
  draw(8, () => (filters.furnished = some(['none', 'partial', ['full'], ['none', 'full'], []])))
  draw(6, () => (filters.floorMin = some([-1, 0, 2, 5])))
  draw(6, () => (filters.floorMax = some([0, 3, 6])))
  if (filters.floorMin > filters.floorMax) delete filters.floorMin
  draw(6, () => (filters.plotPosition = some([['corner'], ['corner', 'front_back'], []])))
  draw(6, () => (filters.block = some(['3', '11', '12'])))
  draw(8, () => (filters.isDirect = roll(2) === 0))
  draw(8, () => (filters.verifiedOnly = roll(2) === 0))
  draw(8, () => (filters.postedSince = new Date(Date.now() - roll(900) * 3_600_000).toISOString()))
  draw(12, () => {
    const [lng, lat] = [47.9 + roll(1000) / 10000, 29.2 + roll(1000) / 10000]
    filters.bbox = [lng, lat, lng + 0.03 + roll(900) / 10000, lat + 0.03 + roll(900) / 10000]
  })
  draw(15, () => {
    filters.near = {
      lat: 29.2 + roll(9999) / 50000,
      lng: 47.9 + roll(9999) / 50000,
      km: 1 + roll(9),
    }
  })
  if (strategy === 'company') draw(30, () => (filters.companyId = some(world.companyIds)))
  if (strategy === 'exchange') {
    draw(20, () => (filters.requestYearMin = 1985 + roll(10)))
    draw(20, () => (filters.requestYearMax = 1995 + roll(30)))
  }

  const sorts = ['newest', 'price_asc', 'price_desc', 'area_desc']
  if (strategy === 'deal') sorts.push('drop_desc')
  if (strategy === 'auction') sorts.push('ends_at')
  if (filters.near) sorts.push('distance', 'distance')
  return {
    strategy,
    q: roll(100) < 40 ? some(Object.keys(queries)) : undefined,
    sort: roll(3) ? some(sorts) : undefined,
    limit: some([1, 3, 20, 50]),
    filters,
  }
}
