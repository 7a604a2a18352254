// The demo world, on a database of its own.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { databaseAt } from './connection.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from './build.ts'
import { schemaPaths } from './migration.ts'
import { onTemporaryServer } from './temporary-server.ts'

const seed = readFileSync(new URL('../../supabase/seed.sql', import.meta.url), 'utf8')
const demo: { identifier: string; password: string; note: string }[] = JSON.parse(
  readFileSync(new URL('../stack/demo-accounts.json', import.meta.url), 'utf8'),
)
const notices: string[] = []
let client: pg.Client
let stop: () => void
let stopped: Promise<void>

beforeAll(async () => {
  await new Promise<void>((ready, failed) => {
    stopped = onTemporaryServer(async (server) => {
      const url = await server.createDatabase('demo')
      await build(url, schemaPaths.sql)
      client = new pg.Client(databaseAt(url))
      await client.connect()
      client.on('notice', ({ message }) => notices.push(message ?? ''))
      await client.query(seed)
      ready()
      await new Promise<void>((resolve) => (stop = resolve))
      await client.end()
    })
    stopped.catch(failed)
  })
})

afterAll(async () => {
  stop?.()
  await stopped
})

// deno-lint-ignore no-explicit-any
async function rows(sql: string): Promise<any[]> {
  return (await client.query(sql)).rows
}

async function counts(sql: string): Promise<Record<string, number>> {
  return Object.fromEntries((await rows(sql)).map(({ name, count }) => [name, Number(count)]))
}

test('there are 60 people, 8 companies, 12 offices, an admin and 2,000 listings', async () => {
  expect(
    await counts(
      `select identities.type || ' ' || identities.status as name, count(*)
       from public.identities group by 1`,
    ),
  ).toEqual({
    'individual active': 61,
    'company active': 7,
    'company pending_verification': 1,
    'office active': 10,
    'office pending_verification': 2,
  })
  expect(await rows('select count(*)::integer from public.properties')).toEqual([{ count: 2000 }])
  expect(await rows('select email from public.admins join public.accounts on id = account_id'))
    .toEqual([{ email: 'admin@example.com' }])
})

test('every area, kind, type and state is there, most of it active', async () => {
  const [found] = await rows(
    `select count(distinct area_id)::integer as areas, count(distinct kind)::integer as kinds,
       count(*) filter (where listed)::integer as listed from public.properties`,
  )
  expect(found).toMatchObject({ areas: 119, kinds: 24 })
  expect(found.listed).toBeGreaterThan(1600)
  const states = await counts('select status as name, count(*) from public.properties group by 1')
  for (
    const state of [
      'active',
      'draft',
      'paused',
      'sold',
      'rented',
      'exchanged',
      'expired',
      'archived',
    ]
  ) expect(states[state], state).toBeGreaterThan(0)
})

test('each search strategy has something to find', async () => {
  const found = await counts(
    `select strategy as name, json_array_length(found.page::json -> 'items') as count
     from unnest('{standard,exchange,auction,deal,company}'::text[]) as strategy,
       private.search(strategy, '{}', page_size => 50) as found (page)`,
  )
  for (const [strategy, count] of Object.entries(found)) expect(count, strategy).toBeGreaterThan(10)
  const [auctions] = await rows(
    `select count(*) filter (where starts_at <= now())::integer as live,
       count(*) filter (where starts_at > now())::integer as to_come from public.auctions`,
  )
  expect(auctions.live).toBeGreaterThan(5)
  expect(auctions.to_come).toBeGreaterThan(5)
})

test('every listing satisfies the rules for real listings', async () => {
  expect(
    await rows('select private.check_property(properties, true) from public.properties'),
  ).toHaveLength(2000)
  expect(
    await rows(
      `select id from public.properties
       where published_at > now() or created_at > published_at
         or status = 'active' and expires_at <= now()
         or status in ('sold', 'rented', 'exchanged') and closed_at not between published_at and now()`,
    ),
  ).toEqual([])
  expect(
    await rows(
      `select owner_identity_id from public.properties
       where listed and owner_type = 'individual' group by 1 having count(*) > 5`,
    ),
  ).toEqual([])
})

test('prices are realistic', async () => {
  const ranges: Record<string, [number, number]> = {
    'SALE apartment': [40_000, 300_000],
    'SALE house': [130_000, 950_000],
    'SALE villa': [300_000, 1_600_000],
    'SALE investment_building': [1_000_000, 5_000_000],
    'RENT apartment': [150, 900],
    'RENT floor': [250, 1_500],
    'RENT shop': [200, 4_000],
    'RENT parking': [10, 80],
  }
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const [type, kind] = name.split(' ')
    const { rows: [found] } = await client.query(
      `select min(price)::float8 as least, max(price)::float8 as most from public.properties
       where type = $1 and kind = $2`,
      [type, kind],
    )
    expect(found.least, name).toBeGreaterThanOrEqual(least)
    expect(found.most, name).toBeLessThanOrEqual(most)
  }
  expect(
    await rows(
      `select id from public.properties where price <> round(price) or price % 5 <> 0
         or type <> 'EXCHANGE' and price is null`,
    ),
  ).toEqual([])
})

test('expensive areas are more expensive than remote ones', async () => {
  const [{ dear, far }] = await rows(
    `select avg(price / area_m2) filter (where area_id in ('nuzha', 'shamiya', 'rawda')) as dear,
       avg(price / area_m2) filter (where area_id in ('jahra', 'mutlaa', 'wafra-residential')) as far
     from public.properties where type = 'SALE' and kind = 'house'`,
  )
  expect(Number(dear)).toBeGreaterThan(1.5 * Number(far))
})

test('texts are clean Arabic, and verbs agree with their nouns', async () => {
  const texts = await rows('select kind, title_ar, description_ar from public.properties')
  const feminine =
    'apartment villa residential_plot land building investment_building farm istiraha ' +
    'industrial_plot'
  for (const { kind, title_ar: title, description_ar: description } of texts) {
    for (const text of [title, description]) expect(text).toMatch(/^[ء-ْ0-9²،. ]+$/)
    expect(`${title} ${description}`).not.toMatch(/ {2}|^ | $| [،.]|\.\.|NULL/)
    const verb = /[يت]تكون/.exec(description)?.[0]
    if (verb) expect(verb).toBe(feminine.split(' ').includes(kind) ? 'تتكون' : 'يتكون')
  }
  expect(new Set(texts.map((one) => one.description_ar)).size).toBeGreaterThan(1900)
})

test('only kinds with rooms have rooms', async () => {
  expect(
    await rows(
      `select distinct kind from public.properties
       where (bedrooms is not null or bathrooms is not null) and kind in
         ('residential_plot', 'land', 'industrial_plot', 'warehouse', 'parking', 'camp', 'shop')`,
    ),
  ).toEqual([])
})

test('the accounts of demo-accounts.json can sign in', async () => {
  for (const { identifier, password, note } of demo) {
    const { rows: [user] } = await client.query(
      `select encrypted_password = extensions.crypt($2, encrypted_password) as right,
         num_nulls(confirmation_token, recovery_token, email_change_token_new, email_change,
           email_change_token_current, phone_change, phone_change_token, reauthentication_token)
           as nulls,
         (select count(*)::integer from auth.identities where user_id = users.id) as identities
       from auth.users where email = $1 or phone = '965' || $1`,
      [identifier, password],
    )
    expect(user, note).toEqual({ right: true, nulls: 0, identities: 1 })
  }
})

test('it is not loaded twice', async () => {
  const print = async () =>
    await rows(
      `select md5(string_agg(id || title_ar || description_ar || coalesce(price::text, ''), ''
         order by id)) as print from public.properties`,
    )
  const before = await print()
  await client.query(seed)
  expect(await print()).toEqual(before)
  expect(notices).toContain(
    'This project has accounts already, so the demo world was not added to it.',
  )
})
