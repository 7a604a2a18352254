import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { byClass, differences, judge } from '../../test/search/judge.ts'
import { patience } from '../../test/suite/slowness.ts'
import { type Stack, startStack } from '../../test/support/stack.ts'

const seeds = ['seed.sql', 'seed_life.sql'].map((name) =>
  readFileSync(new URL(`../../supabase/${name}`, import.meta.url), 'utf8')
)
const demo: { identifier: string; password: string; note: string }[] = JSON.parse(
  readFileSync(new URL('./accounts.json', import.meta.url), 'utf8'),
)
const notices: string[] = []
let stack: Stack
let client: pg.Client

beforeAll(async () => {
  stack = await startStack({
    SEED: 'demo',
    RATES: 'off',
    HASHING: 'quick',
    GATEWAYS: '0',
    PATIENCE: patience,
  })
  client = new pg.Client({ connectionString: stack.databaseUrl })
  await client.connect()
  client.on('notice', ({ message }) => notices.push(message ?? ''))
})

afterAll(async () => {
  await client?.end()
  await stack?.stop()
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
       from public.identities join public.accounts on accounts.id = account_id
       where accounts.email is distinct from 'decoy@accounts.invalid' group by 1`,
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
      'pending_review',
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

test('the accounts of accounts.json can sign in', async () => {
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

test('searches of everyday life find what is meant, but for what is known to be open', async () => {
  const verdicts = await judge(stack)
  const { all, ...classes } = byClass(verdicts)
  console.table({ ...classes, all })
  expect(all['next best']).toBeGreaterThanOrEqual(0.9 * all['nothing fits'])
  expect(differences(verdicts, 'demo')).toEqual([])
})

test('it is not loaded twice', async () => {
  const print = async () =>
    await rows(
      `select md5(string_agg(id || title_ar || description_ar || coalesce(price::text, ''), ''
         order by id)) as print from public.properties`,
    )
  const before = await print()
  for (const seed of seeds) await client.query(seed)
  expect(await print()).toEqual(before)
  expect(notices).toEqual(expect.arrayContaining([
    'This project has accounts already, so the demo world was not added to it.',
    'Nothing was added to the demo world: it is not there, or has begun to live.',
  ]))
})

describe('what an app shows of it on its first day', () => {
  type Viewer = { note: string; id: string; token: string }
  let viewers: Viewer[]

  // deno-lint-ignore no-explicit-any
  async function ask(path: string, token?: string, init: RequestInit = {}): Promise<any> {
    const response = await fetch(`${stack.baseUrl}${path}`, {
      ...init,
      headers: {
        'content-type': 'application/json',
        ...token && { authorization: `Bearer ${token}` },
      },
    })
    const body = await response.json()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
    return body
  }
  const post = (path: string, body: object, token?: string) =>
    ask(path, token, { method: 'POST', body: JSON.stringify(body) })

  beforeEach(async () => {
    viewers = []
    for (const { identifier, password, note } of demo) {
      const session = await post('/auth/login', { identifier, password })
      viewers.push({ note, id: session.activeIdentity.id, token: session.accessToken })
    }
  })

  test('every screen of a person has something, for each of the demo accounts', async () => {
    for (const { note, id, token } of viewers.slice(0, 4)) {
      for (
        const path of [
          '/properties/mine',
          '/favorites',
          '/conversations',
          '/conversations?archived=true',
          '/notifications?unread=true',
          '/notifications?unread=false',
          '/blocks',
          '/invoices',
          '/wallet/transactions',
          '/feed',
          `/reviews?identityId=${id}`,
        ]
      ) expect((await ask(path, token)).items, `${path}, ${note}`).not.toEqual([])
      const { items: own } = await ask('/properties/mine?status=active', token)
      const { days, totals } = await ask(`/properties/${own.at(-1).id}/insights`, token)
      expect([days.length, totals.views > 0], note).toEqual([30, true])
      const { items } = await ask('/conversations', token)
      const [newest] = items
      const { items: messages } = await ask(`/conversations/${newest.id}/messages`, token)
      expect(messages.at(-1).id, note).toBe(newest.lastMessage.id)
      expect(messages.map((message: { seq: number }) => message.seq), note)
        .toEqual(messages.map((_: unknown, index: number) => index + 1))
      expect((await ask('/conversations', token)).unreadTotal, note).toBeGreaterThan(0)
      const kinds = (await ask('/notifications?limit=50', token)).items
        .map(({ kind }: { kind: string }) => kind)
      expect(kinds, note).toEqual(
        expect.arrayContaining(['message_new', 'lead_new', 'favorite_price_drop', 'review_new']),
      )
    }
  })

  // For the lists that need an id or a parameter: returns the path to request.
  const fillings: Record<string, () => Promise<string>> = {
    list_documents: async () => {
      const { rows: [waiting] } = await client.query(
        `select phone, identities.id from public.identities
         join auth.users on users.id = account_id
         where identities.status = 'pending_verification' and phone is not null limit 1`,
      )
      const identifier = waiting.phone.slice(3)
      const { accessToken } = await post('/auth/login', { identifier, password: demo[0]!.password })
      viewers.push({ note: 'waits', id: waiting.id, token: accessToken })
      return `/auth/identities/${waiting.id}/documents`
    },
    list_messages: async () => {
      const { items: [conversation] } = await ask('/conversations', viewers[0]!.token)
      return `/conversations/${conversation.id}/messages`
    },
    list_reviews: () => Promise.resolve(`/reviews?identityId=${viewers[0]!.id}`),
    list_advertiser_listings: () => Promise.resolve(`/identities/${viewers[0]!.id}/listings`),
    list_price_history: async () => {
      const { items: [card] } = await ask('/search?limit=1')
      return `/properties/${card.id}/price-history`
    },
    list_area_price_history: async () => {
      const [{ area_id, type, kind, months }] = await rows(
        `select area_id, type, kind, count(*)::integer as months from private.area_price_history
         where median_price is not null group by 1, 2, 3 order by 4 desc limit 1`,
      )
      expect(months).toBeGreaterThan(20)
      return `/map/areas/${area_id}/history?type=${type}&kind=${kind}`
    },
    list_similar_properties: async () => {
      const { items: [card] } = await ask('/search?limit=1&kinds=apartment')
      return `/properties/${card.id}/similar`
    },
    suggest: async () => {
      await client.query(`select private.count_suggestions('0')`)
      return `/search/suggest?q=${encodeURIComponent('سال')}`
    },
    list_map_listings: () => Promise.resolve('/map/listings?bbox=47.9,29.3,48.1,29.4&zoom=12'),
  }
  const empty: Record<string, string> = {
    list_devices: 'an app registers its own',
    list_invoice_refunds: 'nobody in the demo got money back',
    list_my_reports: 'those who report in the demo are others',
    list_passkeys: 'a device makes its own',
  }

  test('every list of the API has something for somebody', async () => {
    const switchTo = (identityId: string, { token }: Viewer) =>
      post('/auth/identity/switch', { identityId }, token)
    const switched = [[viewers[2]!, 'company'], [viewers[3]!, 'office']] as const
    for (const [viewer, type] of switched) {
      const { items } = await ask('/auth/identities', viewer.token)
      await switchTo(items.find((one: { type: string }) => one.type === type).id, viewer)
    }
    const { paths, components } = await ask('/openapi.json')
    let lists = 0
    for (const [path, { get }] of Object.entries<{ get?: Operation }>(paths)) {
      const schema = get?.responses['200']?.content?.['application/json']?.schema
      const shown = components.schemas[schema?.$ref?.split('/').at(-1) ?? '']
      if (!get || !(shown?.properties?.items || get.operationId === 'list_map_listings')) continue
      lists += 1
      if (empty[get.operationId]) continue
      const filled = await fillings[get.operationId]?.() ?? path
      const found = await Promise.allSettled(viewers.map(({ token }) => ask(filled, token)))
      const answers = found.flatMap((one) => one.status === 'fulfilled' ? [one.value] : [])
      expect(answers.some((answer) => (answer.items ?? answer.clusters ?? []).length > 0), filled)
        .toBe(true)
    }
    expect(lists).toBeGreaterThan(25)
    for (const [viewer] of switched) await switchTo(viewer.id, viewer)
  })
  type Operation = {
    operationId: string
    responses: Record<string, { content?: Record<string, { schema?: { $ref?: string } }> }>
  }

  test('administrators find listings, companies with papers and reports that wait', async () => {
    const { token } = viewers[4]!
    for (const kind of ['listing', 'identity', 'report']) {
      expect((await ask(`/admin/moderation?kind=${kind}`, token)).items, kind).not.toEqual([])
    }
    const { items: [waiting] } = await ask('/admin/moderation?kind=identity', token)
    expect(waiting.identity.documents).toHaveLength(2)
    const paper = await fetch(`${stack.baseUrl}${waiting.identity.documents[0].url}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(paper.status).toBe(200)
    expect(paper.headers.get('content-type')).toBe('image/png')
  })

  test('most listings have pictures, which are PNG of the size that is said', async () => {
    const { items } = await ask('/search?limit=50')
    const shown = items.filter((card: { picture: unknown }) => card.picture)
    expect(shown.length).toBeGreaterThan(30)
    expect(new Set(shown.map((card: { picture: { url: string } }) => card.picture.url)).size)
      .toBe(shown.length)
    for (const { picture } of shown.slice(0, 8)) {
      const response = await fetch(picture.url)
      expect(response.headers.get('content-type')).toBe('image/png')
      const png = Buffer.from(await response.arrayBuffer())
      expect(png.subarray(1, 4).toString()).toBe('PNG')
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([picture.width, picture.height])
    }
    const { items: companies } = await ask('/companies')
    const logo = await fetch(companies[0].logoUrl)
    expect(logo.status).toBe(200)
  })

  test('what happened in it happened before now, and nobody is told of what is not there', async () => {
    for (
      const [table, column] of [
        ['messages', 'created_at'],
        ['notifications', 'created_at'],
        ['leads', 'created_at'],
        ['reviews', 'replied_at'],
        ['favorites', 'created_at'],
      ]
    ) {
      expect(
        await rows(`select * from public.${table} where ${column} > now() limit 1`),
        table,
      ).toEqual([])
    }
    // The stored unread counts must match the messages.
    expect(
      await rows(
        `select conversation_id from public.participants as side
         where unread <> (
           select count(*) from public.messages
           where messages.conversation_id = side.conversation_id and seq > side.last_read_seq
             and sender_identity_id <> side.identity_id
         )`,
      ),
    ).toEqual([])
    expect(await rows('select * from private.alarms')).toEqual([])
  })
})
