import { randomUUID } from 'node:crypto'
import { database, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { bulk } from '../support/nightly.ts'
import { searchWords } from './search-text.ts'

export type Search = {
  strategy: string
  q?: string
  sort?: string
  limit: number
  // deno-lint-ignore no-explicit-any
  filters: Record<string, any>
}

export type World = { companyIds: string[]; ownerIds: string[] }

export async function fillWorld(count = bulk(3000, 1500)): Promise<World> {
  const person = await signUp()
  const rival = await signUp()
  const verified = await insertOrganisation(person.id, 'company')
  const office = await insertOrganisation(person.id, 'office')
  const unproven = await insertOrganisation(rival.id, 'company')
  const db = database()
  await db.query('update public.organisations set verified = false where identity_id = $1', [
    unproven,
  ])
  const ownerIds = [person.identityId, rival.identityId, verified, office, unproven]
  const { rows } = await db.query(listings, [count, ownerIds, randomUUID()])
  const ids = rows.map(({ id }) => id)
  await db.query(auctions, [ids])
  await db.query(drops, [ids])
  await db.query('analyze private.search_documents')
  return { companyIds: [verified, unproven, office, randomUUID()], ownerIds }
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
      -- A few areas have most of the listings, so that several filters together find some.
      1 + floor(power(random(), 3) * 119) as place,
      random() as a, random() as b, random() as c, random() as d
    from generate_series(1, $1::integer) as n
  )
  insert into public.properties (
    owner_identity_id, owner_type, type, status, kind, usage, title_ar, title_en, description_ar,
    price, land_area_m2, built_area_m2, bedrooms, bathrooms, furnished, is_direct, governorate_id,
    area_id, lat, lng, location_precision, request_year, required_year, created_at, published_at,
    expires_at, floor_no, plot_position, amenities, block
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
      || case when drawn.n % 97 = 0 then ' نادرة' else '' end
      || (array['', ' مفروشة من المالك', ' غير مفروشة حمامين', ' قطعة ٣ الدور الأرضي', ' ق٣ طابق ٢ ومسبح', ' دور ثاني'])[
        1 + drawn.n % 6] || ' ' || left(md5($3 || drawn.n), 12),
    case
      when type = 'EXCHANGE' and c < 0.5 then null
      when type = 'RENT' then 100 + floor(d * 40) * 25
      else 50000 + floor(d * 60) * 5000.125
    end,
    case when b < 0.7 then 100 + floor(c * 40) * 25 end,
    case when b >= 0.7 or a < 0.2 then 80 + floor(a * 30) * 10.5 end,
    nullif(floor(a * 8), 7), nullif(floor(b * 5), 4), (array['none', 'partial', 'full', null])[1 + floor(c * 4)],
    owner <= 2 and d < 0.4,
    places.governorate_id, places.id,
    case when c < 0.9 then 29.2 + a * 0.2 end, case when c < 0.9 then 47.9 + b * 0.2 end,
    case when c < 0.9 then (array['exact', 'block', 'area'])[1 + floor(d * 3)] end,
    case when type = 'EXCHANGE' and a < 0.8 then 1980 + floor(b * 40) end,
    case when type = 'EXCHANGE' and a < 0.8 then 1990 end,
    born, born, now() + interval '20 days', nullif(floor(d * 9), 8) - 1,
    (array['corner', 'front_back', 'two_streets', null])[1 + floor(b * 4)],
    (array['pool', 'elevator', 'garden'])[1:floor(b * 5)::integer],
    (array['3', '٣', 'قطعة 3', 'ق ١١', null])[1 + floor(a * 5)]
  from drawn
  join places on places.n = drawn.place
  join kinds on kinds.n = drawn.kind
  cross join lateral (
    select now() - interval '12 hours' - floor(a * 900) * interval '1 hour' as born
  ) as age
  returning id`

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

const drops = `
  update public.properties
  set price = round(properties.price * (array[0.7, 0.85, 0.94, 0.97, 1.2])[1 + n % 5], 3)
  from (
    select id, row_number() over (order by id) as n from public.properties
    where id = any ($1) and type <> 'EXCHANGE'
  ) as chosen
  where chosen.id = properties.id and n % 3 = 0`

export const letters = () =>
  Array.from({ length: 12 }, () => 'بتثجحخدرزسشصضطظعغفقكلمنهو'[Math.floor(Math.random() * 25)])
    .join('')

type Dice = (below: number) => number

export function dice(seed: number): Dice {
  return (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
}

/**
 * The meaning of a query: its filters (`read`), SQL for filters that a listing's text can also meet (`says`),
 * and the words.
 */
export type Reading = {
  read: Record<string, string | number | boolean | string[]>
  says?: Record<string, string>
  words: string[]
}

/** A condition on the field or, if the listing has no value for it, on its text. */
const open = (field: string, is: string, text: string) =>
  `(${field} ${is} or ${field} is null and (${text}))`
const thirdBlock = open(
  `regexp_replace(private.ascii_digits(block), '[^0-9]', '', 'g')`,
  `= '3'`,
  `text ~ '(^| )(ق|قطعه|block)( رقم)? ?3( |$)'`,
)
const isFloor = (number: number, text: string) =>
  open(
    'floor_no',
    `= ${number}`,
    `text ~ '(^| )(دور|طابق|floor)( رقم)? ?${number}( |$)' or ${text}`,
  )
const isGround = isFloor(0, `said && '{ارضي,ground}'`)
const isSecond = isFloor(2, `text ~ '(^| )((دور|طابق) ثاني|second floor)( |$)'`)
const isCorner = open('plot_position', `= 'corner'`, `said && '{زاويه,ركن,corner}'`)
const isFurnished = open(
  'furnished',
  `in ('partial', 'full')`,
  `said && '{مفروش,مفروشه,furnished}' and text !~ '(^| )غير مفروش(ه)?( |$)'`,
)
const isBare = open('furnished', `= 'none'`, `text ~ '(^| )غير مفروش(ه)?( |$)'`)

const isPool = `('pool' = any (amenities) or text ~ '(^| )و?مسبح( |$)')`

const reading = (read: Reading['read'], says = {}, words: string[] = []) => ({ read, says, words })
const says = {
  block: { block: thirdBlock },
  ground: { floorMin: isGround, floorMax: isGround },
  second: { floorMin: isSecond, floorMax: isSecond },
  corner: { plotPosition: isCorner },
  furnished: { furnished: isFurnished },
  // 0 bathrooms means that the number is unknown. Listings of test/reading mention it in other ways, too.
  bathrooms: {
    bathroomsMin: open(
      'nullif(bathrooms, 0)',
      '>= 2',
      `text ~ '(^| )(و?حمامين|و?[2-9] حمامات|(two|[2-9]) bathrooms)( |$)'`,
    ),
  },
  pool: { amenities: isPool },
  direct: { isDirect: `(is_direct or text ~ '(^| )((من|مع) مالك|بدون وسيط)( |$)')` },
}
const flat = { kinds: ['apartment'] }
const villa = { kinds: ['villa', 'house'] }
const house = { kinds: ['house', 'villa', 'gov_house'] }
const land = { kinds: ['land', 'residential_plot'] }
const studio = { kinds: ['studio'] }
const salmiya = { areaIds: ['salmiya'] }
const hawalli = { areaIds: ['hawalli'] }
const corner = { plotPosition: ['corner'] }
const furnished = { furnished: ['partial', 'full'] }
const block = { block: '3' }
const ground = { floorMin: 0, floorMax: 0 }

const queries: Record<string, Reading> = {
  'شقة': reading(flat),
  'الفيلا': reading(villa),
  'ارض': reading(land),
  'دور': reading({ kinds: ['floor'] }),
  'فاخره': reading({}, {}, ['فاخره']),
  'موثثة': reading({}, {}, ['موثثه']),
  'مفروشة': reading(furnished, says.furnished),
  'غير مفروش': reading({ furnished: ['none'] }, { furnished: isBare }),
  'زاوية': reading(corner, says.corner),
  'البحر': reading({}, {}, ['بحر']),
  'المدرسه': reading({}, {}, ['مدرسه']),
  'ديلوكس': reading({}, {}, ['ديلوكس']),
  'نادرة': reading({}, {}, ['نادره']),
  'نادره ارض': reading(land, {}, ['نادره']),
  'شقة فاخرة': reading(flat, {}, ['فاخره']),
  'نادرة مو السالمية': reading({ notAreaIds: ['salmiya'] }, {}, ['نادره']),
  'السالمية': reading(salmiya),
  'سالمييه': reading({}, {}, ['سالمييه']),
  'شقة سالمييه': reading(flat, {}, ['سالمييه']),
  'حولي شقة': reading({ ...flat, ...hawalli }),
  'بيت في الكويت': reading(house),
  'فاخرررة': reading({}, {}, ['فاخررره']),
  'corner': reading(corner, says.corner),
  'cornar sea': reading({}, {}, ['cornar', 'sea']),
  'KW-100150': reading({}, {}, ['kw100150']),
  'رقم ٧': reading({}, {}, ['رقم', '7']),
  'غغغظظظ': reading({}, {}, ['غغغظظظ']),
  'شقة غغغظظظ 99999': reading(flat, {}, ['غغغظظظ', '99999']),
  'نادرة هادئة غغغظظظ': reading({}, {}, ['نادره', 'هاديه', 'غغغظظظ']),
  'شقة ٣ غرف مفروشة': reading({ ...flat, ...furnished, bedroomsMin: 3 }, says.furnished),
  'فيلا 7000 متر': reading({ ...villa, areaM2Min: 6300, areaM2Max: 7700 }),
  'بيت او فيلا ٤٠٠م': reading({ ...house, areaM2Min: 360, areaM2Max: 440 }),
  'استوديو ٩ غرف السالمية نادرة': reading({ ...studio, ...salmiya, bedroomsMin: 9 }, {}, ['نادره']),
  'استوديو حولي ق ٣ مفروشة هادئة': reading(
    { ...studio, ...hawalli, ...block, ...furnished },
    { ...says.block, ...says.furnished },
    ['هاديه'],
  ),
  'استراحة حولي 3 دينار': reading(
    { kinds: ['istiraha'], ...hawalli, priceMin: 2.7, priceMax: 3.3 },
  ),
  'مزرعة اقل من 52 الف السالمية': reading({ kinds: ['farm'], ...salmiya, priceMax: 52_000 }),
  'شقة دور ارضي': reading({ ...flat, ...ground }, says.ground),
  'الطابق الثاني فاخرة': reading({ floorMin: 2, floorMax: 2 }, says.second, ['فاخره']),
  'اقل من 60 الف': reading({ priceMax: 60_000 }),
  'شقة ق ٣': reading({ ...flat, ...block }, says.block),
  'زاوية ق ٣': reading({ ...corner, ...block }, { ...says.corner, ...says.block }),
  'شقة من المالك': reading({ ...flat, isDirect: true }, says.direct),
  'شقة مع مسبح': reading({ ...flat, amenities: ['pool'] }, says.pool),
  'مسبح غغغظظظ': reading({ amenities: ['pool'] }, says.pool, ['غغغظظظ']),
  'شقة حمامين': reading({ ...flat, bathroomsMin: 2 }, says.bathrooms),
  'بدون وسيط': reading({ isDirect: true }, says.direct),
}

export const readingOf = (q: string): Reading => queries[q] ?? { read: {}, words: searchWords(q) }

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

const some = <T>(roll: Dice, from: T[]) => from[roll(from.length)]
const several = <T>(roll: Dice, from: T[]) => from.filter(() => roll(from.length) < 2).slice(0, 9)

/** Each filter: the percentage of random searches that have it, and a function that picks a value. */
// deno-lint-ignore no-explicit-any
export const filters: Record<string, [chance: number, value: (roll: Dice, world: World) => any]> = {
  type: [15, (roll) => some(roll, ['SALE', 'RENT', 'EXCHANGE'])],
  kinds: [20, (roll) => several(roll, kinds)],
  usage: [10, (roll) => some(roll, ['residential_private', 'investment', 'commercial'])],
  governorateIds: [10, (roll) => several(roll, governorateIds)],
  areaIds: [15, (roll) => several(roll, areaIds)],
  notKinds: [8, (roll) => several(roll, kinds)],
  notGovernorateIds: [6, (roll) => several(roll, governorateIds)],
  notAreaIds: [8, (roll) => several(roll, areaIds)],
  priceMin: [15, (roll) => some(roll, [0, 350, 60000, 100000.25])],
  priceMax: [15, (roll) => some(roll, [600, 1000.5, 150000, 300000])],
  areaM2Min: [12, (roll) => some(roll, [1, 250, 385.5])],
  areaM2Max: [12, (roll) => some(roll, [400, 800])],
  bedroomsMin: [12, (roll) => some(roll, [0, 1, 3, 6, 7])],
  bathroomsMin: [10, (roll) => some(roll, [1, 3])],
  furnished: [8, (roll) => some(roll, ['none', 'partial', ['full'], ['none', 'full'], []])],
  floorMin: [6, (roll) => some(roll, [-1, 0, 2, 5])],
  floorMax: [6, (roll) => some(roll, [0, 3, 6])],
  plotPosition: [6, (roll) => some(roll, [['corner'], ['corner', 'front_back'], []])],
  amenities: [4, (roll) => some(roll, [['pool'], ['elevator', 'pool'], []])],
  block: [6, (roll) => some(roll, ['3', '11', '12'])],
  isDirect: [8, (roll) => roll(2) === 0],
  verifiedOnly: [8, (roll) => roll(2) === 0],
  postedSince: [8, (roll) => new Date(Date.now() - roll(900) * 3_600_000).toISOString()],
  bbox: [12, (roll) => {
    const [lng, lat] = [47.9 + roll(1000) / 10000, 29.2 + roll(1000) / 10000]
    return [lng, lat, lng + 0.03 + roll(900) / 10000, lat + 0.03 + roll(900) / 10000]
  }],
  near: [15, (roll) => ({
    lat: 29.2 + roll(9999) / 50000,
    lng: 47.9 + roll(9999) / 50000,
    km: 1 + roll(9),
  })],
  ownerId: [8, (roll, world) => some(roll, world.ownerIds)],
  companyId: [30, (roll, world) => some(roll, world.companyIds)],
  requestYearMin: [20, (roll) => 1985 + roll(10)],
  requestYearMax: [20, (roll) => 1995 + roll(30)],
}

export const strategyOf: Record<string, string> = {
  companyId: 'company',
  requestYearMin: 'exchange',
  requestYearMax: 'exchange',
}

export function randomSearch(
  strategy: string,
  roll: Dice,
  world: World,
  names = Object.keys(filters).filter((name) =>
    (strategyOf[name] ?? strategy) === strategy && roll(100) < filters[name][0]
  ),
): Search {
  const chosen: Search['filters'] = Object.fromEntries(
    names.map((name) => [name, filters[name][1](roll, world)]),
  )
  for (const name of ['price', 'areaM2', 'floor', 'requestYear']) {
    if (chosen[`${name}Min`] > chosen[`${name}Max`]) {
      chosen[`${name}Min`] = chosen[`${name}Max`]
    }
  }
  const sorts = ['newest', 'price_asc', 'price_desc', 'area_desc']
  if (strategy === 'deal') sorts.push('drop_desc')
  if (strategy === 'auction') sorts.push('ends_at')
  if (chosen.near) sorts.push('distance', 'distance')
  return {
    strategy,
    q: roll(100) < 40 ? some(roll, Object.keys(queries)) : undefined,
    sort: roll(3) ? some(roll, sorts) : undefined,
    limit: some(roll, [1, 3, 20, 50]),
    filters: chosen,
  }
}

/**
 * Inserts more listings of a type, kind and area than a search reads in index order. Four are published in
 * each millisecond up to now, so that other tests' listings do not come before them.
 */
export const crowd = `
  insert into public.properties (
    owner_identity_id, owner_type, type, status, kind, title_ar, price, land_area_m2, bedrooms,
    bathrooms, furnished, governorate_id, area_id, lat, lng, location_precision, published_at,
    expires_at
  )
  select
    $1, 'individual', case n % 9 when 0 then 'SALE' when 1 then 'EXCHANGE' else 'RENT' end,
    'active', case when n % 7 = 0 then 'farm' else 'chalet' end,
    concat_ws(' ', 'شاليه على البحر', case when n % 13 = 0 then 'قرب السالمية' end,
      case when n % 3 = 0 then 'فاخرة' end, case when n % 3 = 1 then 'زاوية نادرة' end),
    case when n % 9 = 1 and dice < 20 then null else 10 * dice end, 100 + n % 400, n % 13, n % 5,
    (array['none', 'partial', 'full'])[1 + n % 3], areas.governorate_id, areas.id,
    29.2 + dice * 0.002, 47.9 + n % 50 * 0.004, 'block',
    now() - n / 4 * interval '1 millisecond', now() + interval '20 days'
  from (
    select n, ('x' || left(md5(n::text), 4))::bit(16)::integer % 100 as dice
    from generate_series(1, $2::integer) as n
  ) as drawn
  join public.areas on areas.id =
    case when n % 11 = 0 then 'sharq' when n % 17 = 0 then 'hawalli' else 'salmiya' end
  returning id`
