import type pg from 'pg'
import { database } from '../support/client.ts'
import { type Reading, readingOf, type Search } from './world.ts'

// Selects every public listing with all searchable fields. The query is written for clarity, not speed.
const everything = `
  create temporary table shown on commit drop as
  select
    properties.id, properties.type, properties.kind, properties.usage, properties.price,
    coalesce(properties.land_area_m2, properties.built_area_m2) as size, properties.bedrooms,
    properties.bathrooms, properties.furnished, properties.is_direct, properties.governorate_id,
    properties.area_id, properties.request_year, properties.published_at, properties.shown_lat as lat,
    properties.shown_lng as lng, properties.drop_pct, properties.drop_until, auctions.ends_at,
    properties.floor_no, properties.plot_position,
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
    and accounts.status = 'active' and not accounts.stays_hidden`

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
type Page = { items: { id: string }[]; nextCursor: string | null }

const number = (value: string) => `${value}::float8`

function conditionOf(
  { strategy, filters }: Pick<Search, 'strategy' | 'filters'>,
  value: Value,
): string[] {
  const all = (...numbers: number[]) => numbers.map(value).map(number)
  return [
    categories[strategy],
    ...Object.entries(filters).map(([name, wanted]) => {
      if (name === 'bbox') {
        const [west, south, east, north] = all(...wanted)
        return `lng >= ${west} and lng < ${east} and lat >= ${south} and lat < ${north}`
      } else if (name === 'near') {
        const [lat, lng, km] = all(wanted.lat, wanted.lng, wanted.km)
        return `${way(lat, lng)} <= ${km}`
      }
      return conditions[name](value(name === 'furnished' ? [wanted].flat() : wanted))
    }),
  ]
}

export class Oracle {
  readonly client: pg.PoolClient

  private constructor(client: pg.PoolClient) {
    this.client = client
  }

  /** Opens one snapshot for the searches and the oracle. Rows of `fill` are rolled back in the end. */
  static async open(fill?: (client: pg.PoolClient) => Promise<unknown>): Promise<Oracle> {
    const client = await database().connect()
    await client.query('begin isolation level repeatable read')
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

  async expected({ strategy, q, sort, filters }: Search): Promise<string[]> {
    const values: unknown[] = []
    const value = (one: unknown) => `$${values.push(one)}`
    const where = conditionOf({ strategy, filters }, value)
    // Distances are rounded to a thousandth of a millimetre, because the two computations differ beyond it.
    const order = sort === 'distance'
      ? `round((${
        way(number(value(filters.near.lat)), number(value(filters.near.lng)))
      })::numeric, 9), id`
      : orders[sort ?? defaultSorts[strategy] ?? 'newest']
    const common = values.length
    const found = async (...readings: string[][]) => {
      values.length = common
      const match = readings.map((words) => `words && ${value(words)}::text[]`)
      const { rows } = await this.client.query(
        `select id from shown where ${[...where, ...match].join(' and ')} order by ${order}`,
        values,
      )
      return rows.map(({ id }) => id as string)
    }

    if (q === undefined) return await found()
    const reading = await this.whatFits(strategy, readingOf(q))
    where.push(...saying(reading))
    const readings = await Promise.all(reading.words.map(this.readingsOf))
    const exact = await found(...readings.map(([word]) => [word]))
    if (!reading.words.length || await this.fitting(strategy, reading) >= 5) return exact
    const frequent = await Promise.all(reading.words.map((word) => this.isCommon(word)))
    const inDoubt = frequent.some((is, i) => !is && readings[i].length > 1)
    const like = await found(
      ...readings.map((all, i) => inDoubt && frequent[i] ? all.slice(0, 1) : all),
    )
    return [...exact, ...like.filter((id) => !exact.includes(id))]
  }

  async expectedCount(search: Search) {
    const { strategy, q, filters } = search
    const values: unknown[] = []
    const value = (one: unknown) => `$${values.push(one)}`
    const where = conditionOf({ strategy, filters }, value)
    if (q !== undefined) {
      const reading = readingOf(q)
      where.push(...saying(reading))
      where.push(...reading.words.map((word) => `words && ${value([word])}::text[]`))
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

  /** Returns the reading or, if nothing matches it, the reading without what the search leaves out. */
  private async whatFits(strategy: string, whole: Reading): Promise<Reading> {
    if (await this.fitting(strategy, whole)) return whole
    const isNumber = (word: string) => /^[0-9]+$/.test(word)
    const [known, alike]: string[][] = [[], []]
    for (const word of whole.words) {
      const [, ...like] = await this.readingsOf(word)
      if (isNumber(word) || await this.fitting(strategy, { words: [word] })) known.push(word)
      else if (like.some((other) => other !== word)) alike.push(word)
    }
    const words = known.filter((word) => !isNumber(word))
    const steps = [{ ...whole, words: known }, { ...whole, words }, {
      ...whole,
      words,
      soft: undefined,
    }]
    let left: Reading = whole
    for (const step of steps) {
      left = { ...step, words: [...step.words, ...alike] }
      const some = await Promise.all(alike.map(this.readingsOf))
      if (await this.fitting(strategy, step, some)) return this.orWhole(left, whole)
    }
    for (const { hard, soft } of [whole, { ...whole, soft: undefined }]) {
      const bare = { hard, soft, words: [] }
      if (!whole.words.length || !saying(bare).length) continue
      if (await this.fitting(strategy, bare)) return bare
    }
    return this.orWhole(left, whole)
  }

  private orWhole(left: Reading, whole: Reading) {
    return left.words.length || left.hard || left.soft ? left : whole
  }

  async fitting(strategy: string, reading: Reading, alike: string[][] = []): Promise<number> {
    const readings = [...reading.words.map((word) => [word]), ...alike]
    const match = readings.map((_, i) => `words && $${i + 1}::text[]`)
    const { rows } = await this.client.query(
      `select count(*)::integer as n from shown where ${
        [categories[strategy], ...saying(reading), ...match].join(' and ')
      }`,
      readings,
    )
    return rows[0].n
  }

  /** Returns whether so many listings have the word that it is not a typing mistake. */
  private isCommon = remembered(async (word: string): Promise<boolean> => {
    const { rows } = await this.client.query(
      'select from private.search_vocabulary where word = $1 and listings >= 16',
      [word],
    )
    return rows.length > 0
  })

  /** Returns the word itself and the most similar words, but none that would replace a name. */
  private readingsOf = remembered(async (word: string): Promise<string[]> => {
    const { rows: names } = await this.client.query(
      'select from private.search_names where word = $1',
      [word],
    )
    if (/[0-9]/.test(word) || word.length < 3 || names.length) return [word]
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
    return [word, ...[...alike, ...near].map((row) => row.word as string)]
  })

  async walk({ strategy, q, sort, limit, filters }: Search, pages = Infinity) {
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const { rows: [{ page }] }: { rows: { page: Page }[] } = await this.client.query(
        'select private.search($1, $2, $3, $4, $5, $6)::json as page',
        [strategy, filters, q, sort, cursor, limit],
      )
      ids.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor && --pages)
    return { ids, ended: cursor === null }
  }
}

const saying = ({ hard, soft }: Reading) => [hard, soft].filter((one) => one !== undefined)

function remembered<T>(ask: (word: string) => Promise<T>) {
  const known = new Map<string, Promise<T>>()
  return (word: string) => {
    if (!known.has(word)) known.set(word, ask(word))
    return known.get(word)!
  }
}
