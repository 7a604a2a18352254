import pg from 'pg'
import { database } from '../support/client.ts'
import { readingOf, type Search } from './world.ts'

// Selects every public listing with all searchable fields. The query is written for clarity, not speed.
const everything = `
  create temporary table shown on commit drop as
  select
    properties.id, properties.type, properties.kind, properties.usage,
    nullif(properties.price, 0) as price,
    coalesce(properties.land_area_m2, properties.built_area_m2) as size, properties.bedrooms,
    properties.bathrooms, properties.furnished, properties.is_direct, properties.governorate_id,
    properties.area_id, properties.request_year, properties.published_at, properties.shown_lat as lat,
    properties.shown_lng as lng, properties.lat is not null as has_pin, properties.drop_pct,
    properties.drop_until, auctions.ends_at,
    properties.floor_no, properties.plot_position, properties.amenities,
    case when properties.location_precision is distinct from 'area' then properties.block end as block,
    identities.id as owner_id, identities.type as owner_type,
    coalesce(organisations.verified, false) as verified,
    private.search_words(concat_ws(' ',
      properties.title_ar, properties.title_en, properties.description_ar, properties.description_en,
      'KW-' || properties.ref_no, 'KW' || properties.ref_no, areas.name_ar, areas.name_en,
      areas.alias_ar, governorates.name_ar, governorates.name_en, kinds.text_ar, kinds.text_en,
      usages.text_ar, usages.text_en)) as words,
    private.search_words(concat_ws(' ',
      properties.title_ar, properties.title_en, properties.description_ar, properties.description_en,
      'KW-' || properties.ref_no, 'KW' || properties.ref_no)) as said,
    private.search_text(concat_ws(' ',
      properties.title_ar, properties.title_en, properties.description_ar,
      properties.description_en)) as text
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
    and accounts.status = 'active' and accounts.delete_at is null`

export const categories: Record<string, string> = {
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
  notKinds: (value) => `kind <> all (${value}::text[])`,
  notGovernorateIds: (value) => `governorate_id <> all (${value}::text[])`,
  notAreaIds: (value) => `area_id <> all (${value}::text[])`,
  priceMin: (value) => `price >= ${value}::numeric`,
  priceMax: (value) => `price <= ${value}::numeric`,
  areaM2Min: (value) => `size >= ${value}::numeric`,
  areaM2Max: (value) => `size <= ${value}::numeric`,
  bedroomsMin: (value) => `bedrooms >= ${value}::integer`,
  bathroomsMin: (value) => `bathrooms >= ${value}::integer`,
  furnished: (value) => `(${value} = '{}' or furnished = any (${value}::text[]))`,
  floorMin: (value) => `floor_no >= ${value}::integer`,
  floorMax: (value) => `floor_no <= ${value}::integer`,
  plotPosition: (value) => `(${value} = '{}' or plot_position = any (${value}::text[]))`,
  amenities: (value) => `amenities @> ${value}::text[]`,
  block: (value) => `regexp_replace(private.ascii_digits(block), '[^0-9]', '', 'g') = ${value}`,
  isDirect: (value) => `is_direct = ${value}::boolean`,
  verifiedOnly: (value) => `(verified or not ${value}::boolean)`,
  postedSince: (value) => `published_at >= ${value}::timestamptz`,
  ownerId: (value) => `owner_id = ${value}::uuid and (owner_type = 'individual' or verified)`,
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

const defaultSorts: Record<string, string> = { deal: 'drop_desc', auction: 'ends_at' }

type Value = (one: unknown) => string
export type Page = {
  items: { id: string }[]
  nextCursor: string | null
  similar: { from: number; changed: string[] }[]
}

const number = (value: string) => `${value}::float8`

function conditionOf(
  { strategy, filters }: Pick<Search, 'strategy' | 'filters'>,
  value: Value,
): string[] {
  const all = (...numbers: number[]) => numbers.map(value).map(number)
  return [
    categories[strategy],
    ...Object.entries(filters).map(([name, given]) => {
      if (name === 'bbox') {
        const [west, south, east, north] = all(...given)
        return `lng >= ${west} and lng < ${east} and lat >= ${south} and lat < ${north}`
      } else if (name === 'near') {
        const [lat, lng, km] = all(given.lat, given.lng, given.km)
        return `has_pin and ${way(lat, lng)} <= ${km}`
      }
      return conditions[name](value(name === 'furnished' ? [given].flat() : given))
    }),
  ]
}

export class Oracle {
  readonly client: pg.PoolClient

  private constructor(client: pg.PoolClient) {
    this.client = client
  }

  /** Opens one snapshot for the searches and the oracle. The rows that `fill` adds are rolled back. */
  static async open(fill?: (client: pg.PoolClient) => Promise<unknown>): Promise<Oracle> {
    const client = await database().connect()
    await client.query('begin isolation level repeatable read')
    await client.query('set local statement_timeout = 0')
    await fill?.(client)
    await client.query(everything)
    return new Oracle(client)
  }

  async renew() {
    await this.client.query(`drop table shown; ${everything}`)
  }

  async close() {
    await this.client.query('rollback')
    this.client.release()
  }

  /** Returns the listings of all pages in order, in the form of `linesOf`. */
  async expected(search: Search): Promise<string[]> {
    const { q, filters } = search
    const { read, says = {}, words } = q === undefined ? { read: {}, words: [] } : readingOf(q)
    const is = (name: string) => says[name] ?? conditions[name](inline(read[name]))
    const exact = await this.first(search, [
      ...Object.keys(read).map(is),
      ...words.map((word) => has(word)),
    ])
    if (q === undefined || exact.length >= 5 || contradict(filters, read)) return exact

    const readings = await this.readingsOf(words)
    const any = words.length ? [has(...readings.flat())] : []
    const near = await this.nearest(read.areaIds)
    const wider = wideners(near)
    const found: { id: string; step: number; index: number }[] = []
    for (let step = -1; step <= 5 && exact.length + found.length < 5; step++) {
      const isOpen = (name: string) => step >= (steps[name] ?? Infinity)
      const names = Object.keys(read).filter((name) => !isOpen(name) || name in wider)
      const held = names.map((name) => isOpen(name) ? wider[name](read[name] as never) : is(name))
      // Excluded values alone do not say what the person wants.
      const asks = names.some((name) => !name.startsWith('not'))
      const said = step === -1 ? readings.map((all) => has(...all)) : step === 0 || !asks ? any : []
      if (!asks && !said.length) continue
      const ids = await this.first(search, [...held, ...said], 200)
      const known = [...exact, ...found.map(({ id }) => id)]
      const added = ids.filter((id) => !known.includes(id))
      found.push(...added.map((id, index) => ({ id, step, index })))
    }
    const names = Object.keys(read).toSorted()
    const { rows } = await this.client.query(
      `select id, area_id, array[${names.map(is)}]::boolean[] as met,
         ${jsonOf(readings.map((all) => jsonOf(all.map((word) => has(word)))))} as said
       from shown where id = any ($1)`,
      [found.map(({ id }) => id)],
    )
    const similar = found.map(({ id, step, index }) => {
      const { area_id, met, said } = rows.find((row) => row.id === id)
      const changed = names.filter((_, n) => !met[n])
      // The less similar a word is, the less it counts as a match.
      const lacking = said.map((all: boolean[]) =>
        all.includes(true) ? all.indexOf(true) / all.length : 1
      ).reduce((sum: number, one: number) => sum + one, 0)
      return {
        sorted: [step, Math.round((changed.length + lacking) * 1e6), near.indexOf(area_id), index],
        line: `${id} ${[...changed, ...lacking ? ['words'] : []]}`,
      }
    })
    similar.sort((one, other) => {
      const differs = one.sorted.findIndex((value, n) => value !== other.sorted[n])
      return one.sorted[differs] - other.sorted[differs]
    })
    return [...exact, ...similar.slice(0, 30).map(({ line }) => line)]
  }

  private async first({ strategy, sort, filters }: Search, more: string[], most?: number) {
    const values: unknown[] = []
    const value = (one: unknown) => `$${values.push(one)}`
    const where = [...conditionOf({ strategy, filters }, value), ...more]
    // Rounds distances to a thousandth of a millimetre: beyond that, oracle and search calculate differently.
    const order = sort === 'distance'
      ? `round((${
        way(number(value(filters.near.lat)), number(value(filters.near.lng)))
      })::numeric, 9), id`
      : orders[sort ?? defaultSorts[strategy] ?? 'newest']
    const { rows } = await this.client.query(
      `select id from shown where ${where.join(' and ')} order by ${order} limit ${most ?? 'all'}`,
      values,
    )
    return rows.map(({ id }) => id as string)
  }

  /** Returns the five areas nearest to any of these, nearest first. */
  private async nearest(areaIds: unknown = []): Promise<string[]> {
    const { rows } = await this.client.query(
      `select areas.id
       from (select lat as own_lat, lng as own_lng from public.areas where id = any ($1)) as own
       cross join public.areas
       where areas.id <> all ($1) and areas.lat is not null and own_lat is not null
       group by areas.id
       order by min(${way('own_lat', 'own_lng')}), areas.id
       limit 5`,
      [areaIds],
    )
    return rows.map(({ id }) => id)
  }

  async expectedCount(search: Search) {
    const { strategy, q, filters } = search
    const values: unknown[] = []
    const value = (one: unknown) => `$${values.push(one)}`
    const where = conditionOf({ strategy, filters }, value)
    if (q !== undefined) {
      const { read, says = {}, words } = readingOf(q)
      where.push(
        ...Object.keys(read).map((name) => says[name] ?? conditions[name](inline(read[name]))),
        ...words.map((word) => has(word)),
      )
    }
    const { rows: [{ n }] } = await this.client.query(
      `select count(*)::integer as n from shown where ${where.join(' and ')}`,
      values,
    )
    const similar = n === 0 && (await this.expected(search)).length > 0
    return { count: Math.min(n, 1000), capped: n > 1000, ...(similar && { similar }) }
  }

  async counted({ strategy, q, filters }: Search) {
    const { rows } = await this.client.query(
      'select private.count_listings($1, $2, $3)::json as answer',
      [strategy, filters, q],
    )
    return rows[0].answer
  }

  /** Whether a word may be misspelt: not if it belongs to a name, has a digit, or is in many listings. */
  private isInDoubt = remembered(async (word: string): Promise<boolean> => {
    const { rows } = await this.client.query(
      `select from private.search_names where word = $1 union all
       select from private.search_vocabulary where word = $1 and listings >= 16`,
      [word],
    )
    return !/[0-9]/.test(word) && word.length >= 3 && !rows.length
  })

  /** Returns each word and, if it may be misspelt, the most similar words. */
  private readingsOf(words: string[]): Promise<string[][]> {
    return Promise.all(
      words.map(async (word) => await this.isInDoubt(word) ? this.alike(word) : [word]),
    )
  }

  private alike = remembered(async (word: string): Promise<string[]> => {
    const { rows } = await this.client.query(
      `select word, share::float8 from (
         select *, extensions.similarity(word, $1) as share from private.search_vocabulary
       ) as known
       where is_shared and share >= 0.3::real order by share desc, listings desc, word`,
      [word],
    )
    const stage = [[0.5, 5], [0.4, 2]].find(([share, enough]) =>
      rows.filter((row) =>
        row.share >= Math.fround(share) && row.word !== word
      ).length >= enough
    )?.[0] ?? 0.3
    const { rows: alike } = await this.client.query(
      `select word from (
         select distinct word, extensions.similarity(word, $1) as share from private.search_names
       ) as named left join private.search_vocabulary as known using (word)
       where share >= $2::real order by share desc, listings desc nulls last, word limit 3`,
      [word, Math.min(stage, 0.4)],
    )
    const near = rows.filter((row) => row.share >= Math.fround(stage)).slice(0, 10)
    return [...new Set([word, ...[...alike, ...near].map((row) => row.word as string)])]
  })

  async walk({ strategy, q, sort, limit, filters }: Search, pages = Infinity) {
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const { rows: [{ page }] }: { rows: { page: Page }[] } = await this.client.query(
        'select private.search($1, $2, $3, $4, $5, $6)::json as page',
        [strategy, filters, q, sort, cursor, limit],
      )
      ids.push(...linesOf(page))
      cursor = page.nextCursor
    } while (cursor && --pages)
    return { ids, ended: cursor === null }
  }
}

/** The ids of a page; the id of a similar listing is followed by the filters that it does not meet. */
export const linesOf = ({ items, similar }: Page) =>
  items.map(({ id }, index) => {
    const part = similar.findLast(({ from }) => from <= index)
    return part ? `${id} ${part.changed}` : id
  })

/** The step of the search for similar listings at which each filter is dropped or widened. */
const steps: Record<string, number> = {
  ...Object.fromEntries(
    [
      'areaM2Min',
      'areaM2Max',
      'bedroomsMin',
      'bathroomsMin',
      'isDirect',
      'furnished',
      'floorMin',
      'floorMax',
      'plotPosition',
      'amenities',
      'block',
    ].map((name) => [name, 2]),
  ),
  kinds: 3,
  areaIds: 4,
  priceMin: 5,
  priceMax: 5,
}

const groups = [
  ['house', 'villa', 'gov_house', 'floor'],
  ['apartment', 'studio', 'annex'],
  ['land', 'residential_plot'],
  ['chalet', 'istiraha', 'farm', 'camp'],
]

const wideners = (near: string[]): Record<string, (value: never) => string> => ({
  kinds: (kinds: string[]) =>
    conditions.kinds(
      inline([
        ...kinds,
        ...groups.filter((group) => kinds.some((kind) => group.includes(kind))).flat(),
      ]),
    ),
  areaIds: (areaIds: string[]) => conditions.areaIds(inline([...areaIds, ...near])),
  priceMin: (price: number) => conditions.priceMin(inline(price * 0.85)),
  priceMax: (price: number) => conditions.priceMax(inline(price * 1.15)),
})

/** Whether a given filter contradicts one that was read from the query. */
const contradict = (given: Search['filters'], read: Record<string, unknown>) =>
  Object.entries(read).some(([name, value]) => {
    const own = [given[name]].flat().filter((one) => one !== undefined)
    if (name.startsWith('not')) {
      const opposite = given[name[3].toLowerCase() + name.slice(4)]
      return opposite?.length > 0 &&
        opposite.every((one: string) => (value as string[]).includes(one))
    } else if (Array.isArray(value)) {
      const not = given[`not${name[0].toUpperCase()}${name.slice(1)}`] ?? []
      return own.length > 0 && !own.some((one) => value.includes(one)) ||
        value.every((one) => not.includes(one))
    }
    if (name.endsWith('Min')) return given[name.replace('Min', 'Max')] < (value as number)
    if (name.endsWith('Max')) return given[name.replace('Max', 'Min')] > (value as number)
    return own.some((one) => one !== value)
  })

const inline = (value: unknown) =>
  Array.isArray(value)
    ? `array[${value.map((one) => pg.escapeLiteral(one))}]::text[]`
    : pg.escapeLiteral(String(value))
const has = (...words: string[]) => `words && ${inline(words)}`
const jsonOf = (parts: string[]) => `jsonb_build_array(${parts})`

function remembered<T>(ask: (word: string) => Promise<T>) {
  const known = new Map<string, Promise<T>>()
  return (word: string) => {
    if (!known.has(word)) known.set(word, ask(word))
    return known.get(word)!
  }
}
