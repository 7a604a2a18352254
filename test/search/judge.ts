// Judges the results of everyday queries (test/vectors/everyday.json). For each query, that file has the
// person's wishes as conditions on the rows. No code is shared with the parser of queries or the search.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { connected } from '../../local/schema/build.ts'
import type { Stack } from '../support/stack.ts'

type Range = Partial<Record<`${'price' | 'areaM2' | 'floor'}${'Min' | 'Max'}`, number>>
type Conditions = Range & {
  type?: string
  kinds?: string[]
  areaIds?: string[]
  governorateIds?: string[]
  bedroomsMin?: number
  bathroomsMin?: number
  block?: string
  furnished?: string[]
  plotPosition?: string[]
  amenities?: string[]
  isDirect?: true
  near?: { lat: number; lng: number; km: number }
  says?: string
}
type Wants = Conditions & { not?: Conditions; sort?: 'price_asc' }
export type Query = { class: string; q: string; strategy?: 'standard' | 'exchange'; wants: Wants }

type Understood = { found: { field: string; value: string }[] }
type Page = {
  items: { id: string }[]
  similarFrom: number | null
  similar: { from: number; changed: string[] }[]
  understood: Understood
}
export type Verdict = {
  query: Query
  fitting: number
  hit: boolean
  wrong: string[]
  empty: boolean
}

const vectors = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'))

export const queries = vectors<Query[]>('everyday')

type Fault = 'wrong' | 'empty' | 'missed'
type Listings = 'demo' | 'generated'

/** Queries with results that are not right yet: the reason, and the fault with each set of listings. */
export const open = vectors<({ q: string; why: string } & Partial<Record<Listings, Fault>>)[]>(
  'everyday-open',
)

// If a listing lacks a field, its text is judged instead, with interchangeable letters counted as one.
const rows = `
  create temporary table judged as
  select
    id, type, kind, governorate_id, area_id, price, area_m2, bedrooms, bathrooms, floor_no, furnished,
    plot_position, amenities, is_direct, case when lat is not null then shown_lat end as lat,
    case when lat is not null then shown_lng end as lng,
    case when location_precision is distinct from 'area' then block end as block,
    translate(lower(concat_ws(' ', title_ar, title_en, description_ar, description_en)),
      'أإآىةؤئ٠١٢٣٤٥٦٧٨٩', 'ااايهوي0123456789') as text
  from public.properties
  where listed and (auction_ends_at is null or auction_ends_at <= now())`

const saidPositions: Record<string, string> = {
  corner: 'زاويه|corner',
  front_back: 'بطن ?و ?ظهر',
  street_alley: 'شارع ?و ?سكه',
  one_street: 'شارع واحد',
}

const saidAmenities: Record<string, string> = {
  pool: 'مسبح|حمام سباحه|pool',
  diwaniya: 'ديوانيه',
  elevator: 'مصعد|اصنصير|elevator|lift',
  sea_view: 'اطلاله بحريه|(علي|ع) ?(ال)?بحر|sea view',
  maid_room: 'غرفه (ال)?(خادمه|خدامه)|maid',
  balcony: 'بلكون|balcony',
}

const saidFloors = ['ارضي|ground', 'اول', 'ثاني', 'ثالث', 'رابع', 'خامس']

const text = (value: string | number) => pg.escapeLiteral(String(value))
const oneOf = (values: string[]) => `any (array[${values.map(text)}])`
const unless = (column: string, said?: string) =>
  said ? `or ${column} is null and text ~ ${text(said)}` : ''

const conditions: Record<string, (value: never) => string> = {
  type: (type: string) => `type = ${text(type)}`,
  kinds: (kinds: string[]) => `kind = ${oneOf(kinds)}`,
  areaIds: (ids: string[]) => `area_id = ${oneOf(ids)}`,
  governorateIds: (ids: string[]) => `governorate_id = ${oneOf(ids)}`,
  priceMin: (least: number) => `price >= ${least}`,
  priceMax: (most: number) => `price <= ${most}`,
  areaM2Min: (least: number) => `area_m2 >= ${least}`,
  areaM2Max: (most: number) => `area_m2 <= ${most}`,
  bedroomsMin: (least: number) => `bedrooms >= ${least}`,
  bathroomsMin: (least: number) => `bathrooms >= ${least}`,
  floorMin: (least: number) => `(floor_no >= ${least} ${unless('floor_no', saidFloor(least))})`,
  floorMax: (most: number) => `(floor_no <= ${most} ${unless('floor_no', saidFloor(most))})`,
  block: (block: string) =>
    `(block = ${text(block)} or text ~ ${text(`\\m(قطعه|ق|block) ?${block}\\M`)})`,
  furnished: (codes: string[]) =>
    `(furnished = ${oneOf(codes)} or furnished is null and text ~ 'مفروش|furnished'
      and (text ~ '(غير|بدون) ?مفروش|unfurnished') = ${codes.includes('none')})`,
  plotPosition: ([code]: string[]) =>
    `(plot_position = ${text(code)} ${unless('plot_position', saidPositions[code])})`,
  amenities: (codes: string[]) =>
    codes.map((code) => `(${text(code)} = any (amenities) or text ~ ${text(saidAmenities[code]!)})`)
      .join(' and '),
  isDirect: () => `(is_direct or text ~ 'من المالك|(بدون|دون|بلا) (وسيط|مكتب|سمسار)|no broker')`,
  near: ({ lat, lng, km }: NonNullable<Conditions['near']>) =>
    `2 * 6371 * asin(sqrt(sind((lat - ${lat}) / 2) ^ 2
      + cosd(lat) * cosd(${lat}) * sind((lng - ${lng}) / 2) ^ 2)) <= ${km}`,
  says: (said: string) => `text ~ ${text(said)}`,
}

const saidFloor = (floor: number) =>
  saidFloors[floor] && `(دور|طابق) (ال)?(${saidFloors[floor]})|(${saidFloors[floor]}) floor`

const all = (positive: Conditions) =>
  Object.entries(positive).map(([name, value]) => conditions[name]!(value as never)).join(' and ')

function fitting({ strategy, wants: { not, sort, ...positive } }: Query): string {
  const among = [
    strategy === 'exchange' ? `type = 'EXCHANGE'` : `type in ('SALE', 'RENT')`,
    all(positive) || 'true',
    not ? `(${all(not)}) is not true` : 'true',
  ].join(' and ')
  // A request for the cheapest means the five cheapest, and all that cost as much as the fifth.
  return sort
    ? `select id from judged where ${among}
       order by price fetch first 5 rows with ties`
    : `select id from judged where ${among}`
}

const groups = [
  ['house', 'villa', 'gov_house', 'floor'],
  ['apartment', 'studio', 'annex'],
  ['land', 'residential_plot'],
  ['building', 'investment_building', 'commercial_complex'],
  ['office', 'shop', 'showroom'],
  ['warehouse', 'industrial_plot'],
  ['chalet', 'istiraha', 'farm', 'camp'],
]

/**
 * Selects the next best listings: of the wanted type, and either of a kind in the same group, or in one of
 * the wanted areas or the five nearest to them.
 */
function nextBest(query: Query, areas: Area[]): string {
  const { type, kinds, areaIds = [], governorateIds = [], near, not } = query.wants
  const named = areas.filter(({ id, governorate_id }) =>
    areaIds.includes(id) || governorateIds.includes(governorate_id)
  )
  const far = (one: { lat: number; lng: number }, other: { lat: number; lng: number }) =>
    Math.hypot((one.lat - other.lat) * 111, (one.lng - other.lng) * 97)
  const nearest = named.length
    ? areas.filter((area) => !named.includes(area))
      .map((area) => ({ area, km: Math.min(...named.map((one) => far(one, area))) }))
      .sort((one, other) => one.km - other.km).slice(0, 5).map(({ area }) => area)
    : []
  const places = [...named, ...nearest, ...areas.filter((area) => near && far(area, near) < 8)]
  const alike = [
    ...kinds ?? [],
    ...groups.filter((some) => some.some((one) => kinds?.includes(one))).flat(),
  ]
  const either = [
    ...kinds ? [all({ kinds: alike })] : [],
    ...places.length ? [all({ areaIds: places.map(({ id }) => id) })] : [],
  ]
  return fitting({ ...query, wants: { ...type && { type }, ...not && { not } } }) +
    (either.length ? ` and (${either.join(' or ')})` : '')
}

type Area = { id: string; governorate_id: string; lat: number; lng: number }

const amounts =
  'priceMin priceMax areaM2Min areaM2Max bedroomsMin bathroomsMin floorMin floorMax block'
    .split(' ')

/** Returns the amounts, type and areas that were read and contradict the wishes. */
function contradictions({ wants }: Query, { found }: Understood, areas: Area[]): string[] {
  const positive: Record<string, unknown> = wants
  const near = areas.filter(({ lat, lng }) =>
    wants.near && Math.hypot((lat - wants.near.lat) * 111, (lng - wants.near.lng) * 97) < 8
  )
  const of = ({ areaIds, governorateIds }: Conditions = {}) =>
    areas.filter((area) =>
      areaIds?.includes(area.id) || governorateIds?.includes(area.governorate_id)
    )
  const allowed = {
    areaIds: [...of(wants), ...near].map(({ id }) => id),
    governorateIds: [...of(wants), ...near].map((area) => area.governorate_id),
    notAreaIds: of(wants.not).map(({ id }) => id),
    notGovernorateIds: wants.not?.governorateIds ?? [],
  }
  return found.flatMap(({ field, value }) => {
    const right = field in allowed
      ? value.split(',').every((id) => allowed[field as keyof typeof allowed].includes(id))
      : field === 'type' || field === 'block'
      ? String(positive[field]) === value
      : !amounts.includes(field) || Math.abs(Number(value) - Number(positive[field])) < 0.01
    return right ? [] : [`${field}=${value}`]
  })
}

/** Whether four of the first five are right (all right ones, if there are fewer). Similar ones may follow. */
function hits({ items, similarFrom }: Page, meant: Set<string>): boolean {
  const first = items.slice(0, 5).map(({ id }) => meant.has(id))
  const shown = first.slice(0, similarFrom ?? 5)
  return first.filter(Boolean).length >= Math.min(4, meant.size) &&
    shown.filter((fits) => !fits).length <= 1
}

/**
 * Whether a search without a match shows only next best listings, each with its differences. The page may be
 * empty only if there are no such listings.
 */
function isNextBest(
  { items, similarFrom, similar }: Page,
  count: number,
  next: Set<string>,
): boolean {
  if (count || similarFrom !== (items.length ? 0 : null)) return false
  if (!items.length) return next.size === 0
  return similar.every(({ changed }) => changed.length > 0) &&
    items.slice(0, 5).every(({ id }) => next.has(id))
}

async function answerOf<T>(baseUrl: string, path: string, query: Query, more = {}): Promise<T> {
  const { strategy = 'standard', q } = query
  const answer = await fetch(`${baseUrl}/search/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ strategy, q, ...more }),
  })
  const body = await answer.json()
  if (!answer.ok) throw new Error(`${q}: ${answer.status} ${JSON.stringify(body)}`)
  return body
}

/** Judges all queries on a separate stack, among the listings that it has. */
export async function judge({ baseUrl, databaseUrl }: Stack): Promise<Verdict[]> {
  const { areas, meant, next } = await connected(databaseUrl, async (client) => {
    // Runs the job that counts words, because misspelt words are matched only with counted words.
    await client.query('select private.recount_search_words()')
    await client.query(rows)
    const { rows: areas } = await client.query<Area>(
      'select id, governorate_id, lat, lng from public.areas',
    )
    const idsOf = async (sql: string) =>
      new Set((await client.query<{ id: string }>(sql)).rows.map(({ id }) => id))
    const [meant, next] = [new Map<Query, Set<string>>(), new Map<Query, Set<string>>()]
    for (const query of queries) {
      meant.set(query, await idsOf(fitting(query)))
      if (!meant.get(query)!.size) next.set(query, await idsOf(nextBest(query, areas)))
    }
    return { areas, meant, next }
  })
  const verdicts: Verdict[] = []
  for (let at = 0; at < queries.length; at += 4) {
    const some = queries.slice(at, at + 4)
    verdicts.push(
      ...await Promise.all(some.map(async (query) => {
        const page = await answerOf<Page>(baseUrl, 'advanced', query, { limit: 10 })
        const fits = meant.get(query)!
        const { count } = await answerOf<{ count: number }>(baseUrl, 'count', query)
        return {
          query,
          fitting: fits.size,
          hit: fits.size ? hits(page, fits) : isNextBest(page, count, next.get(query)!),
          wrong: contradictions(query, page.understood, areas),
          empty: fits.size > 0 && page.items.length === 0,
        }
      })),
    )
  }
  return verdicts
}

const faultOf = ({ hit, wrong, empty }: Verdict): Fault | undefined =>
  wrong.length ? 'wrong' : empty ? 'empty' : hit ? undefined : 'missed'

/**
 * Counts by class: queries with a match (`n`) and how many of them were hits, queries without a match and how
 * many of them showed the next best, wrong readings, and empty pages.
 */
export function byClass(verdicts: Verdict[]) {
  const table: Record<string, Record<string, number>> = {}
  for (const one of verdicts) {
    for (const name of [one.query.class, 'all']) {
      const row = table[name] ??= {
        n: 0,
        hits: 0,
        wrong: 0,
        empty: 0,
        'nothing fits': 0,
        'next best': 0,
      }
      row.wrong += Number(one.wrong.length > 0)
      row.empty += Number(one.empty)
      if (one.fitting) (row.n++, row.hits += Number(one.hit))
      else (row['nothing fits']++, row['next best'] += Number(one.hit))
    }
  }
  const { all = {}, ...classes } = table
  return { ...classes, all }
}

/** The queries whose verdict differs from the list of open queries: no longer right, worse, or now right. */
export function differences(verdicts: Verdict[], among: Listings) {
  const known = new Map(open.map((one) => [one.q, one[among]]))
  return verdicts.flatMap((verdict) => {
    const { query: { q }, fitting, wrong } = verdict
    const [was = 'right', is = 'right'] = [known.get(q), faultOf(verdict)]
    return was === is ? [] : [{ q, was, is, fitting, wrong }]
  })
}
