import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { baseUrl, guest, type Person, request, signUp } from '../support/client.ts'
import { startFacade, testLocally } from '../support/facade.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { operations, pathOf, queryOf } from '../support/openapi.ts'
import { secondsKept, type SharedCache, startSharedCache } from '../support/shared-cache.ts'

let owner: Person
let reader: Person
let listing: string
let company: string
let office: string
let cache: SharedCache

beforeAll(async () => {
  ;[owner, reader] = await Promise.all([signUp(), signUp()])
  listing = await insertListing(owner.identityId)
  company = await insertOrganisation(owner.id, 'company')
  office = await insertOrganisation(owner.id, 'office')
  cache = await startSharedCache(baseUrl)
})

afterAll(() => cache?.stop())

const rarely = 'public, max-age=300, s-maxage=86400'
const slowly = 'public, s-maxage=60, stale-while-revalidate=300'
const search = 'public, s-maxage=15, stale-while-revalidate=15'

const rules: Record<string, { path: () => string; rule: string | RegExp }> = {
  list_errors: { path: () => '/errors', rule: rarely },
  get_app: { path: () => '/meta/app', rule: 'public, max-age=60, s-maxage=60' },
  list_governorates: { path: () => '/meta/governorates', rule: rarely },
  list_areas: { path: () => '/meta/areas', rule: rarely },
  list_kinds: { path: () => '/meta/kinds', rule: rarely },
  list_amenities: { path: () => '/meta/amenities', rule: rarely },
  list_enums: { path: () => '/meta/enums', rule: rarely },
  list_map_areas: {
    path: () => '/map/areas',
    rule: 'public, s-maxage=300, stale-while-revalidate=600',
  },
  list_area_price_history: {
    path: () => '/map/areas/salmiya/history?type=SALE&kind=villa',
    rule: 'public, s-maxage=300, stale-while-revalidate=600',
  },
  list_feed: { path: () => '/feed', rule: /^public, s-maxage=\d+, stale-while-revalidate=\d+$/ },
  quick_search: { path: () => '/search', rule: search },
  quick_count_listings: { path: () => '/search/count?type=RENT', rule: search },
  suggest: { path: () => '/search/suggest?q=sal', rule: 'public, s-maxage=300' },
  list_map_listings: { path: () => '/map/listings?bbox=47.9,29.2,48.1,29.4&zoom=12', rule: search },
  get_property: { path: () => `/properties/${listing}`, rule: 'public, s-maxage=10' },
  list_similar_properties: { path: () => `/properties/${listing}/similar`, rule: slowly },
  list_price_history: { path: () => `/properties/${listing}/price-history`, rule: slowly },
  list_companies: { path: () => '/companies', rule: slowly },
  list_offices: { path: () => '/offices', rule: slowly },
  get_company: { path: () => `/company/${company}`, rule: slowly },
  get_office: { path: () => `/office/${office}`, rule: slowly },
  get_advertiser: { path: () => `/identities/${owner.identityId}`, rule: slowly },
  list_advertiser_listings: {
    path: () => `/identities/${owner.identityId}/listings`,
    rule: slowly,
  },
  list_reviews: { path: () => `/reviews?identityId=${owner.identityId}`, rule: slowly },
  get_health: { path: () => '/health', rule: 'private, no-store' },
}

const reads = operations.filter(({ method }) => method === 'GET')
const publicReads = reads.filter(({ secured }) => !secured)
const badTokens = ['Bearer nonsense', 'Bearer a.b.c', 'Basic dXNlcjpwYXNz', 'Bearer']

function expectPrivate({ headers }: { headers: Headers }, what: string) {
  expect(headers.get('cache-control'), what).toBe('private, no-store')
  expect(headers.get('etag'), what).toBe(null)
}

describe('what guests read', () => {
  test('is every public GET, and each has a rule', () => {
    expect(Object.keys(rules).sort()).toEqual(publicReads.map(({ id }) => id).sort())
  })

  test.each(Object.entries(rules))('%s carries its Cache-Control', async (_, { path, rule }) => {
    const { status, headers } = await guest.get(path())
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toEqual(
      typeof rule === 'string' ? rule : expect.stringMatching(rule),
    )
    const varies = headers.get('vary')!.split(/\s*,\s*/)
    expect(varies).toEqual(expect.arrayContaining(['Authorization', 'Origin']))
  })

  test('the description of the API too', async () => {
    expect((await guest.get('/openapi.json')).headers.get('cache-control')).toBe(rarely)
    expectPrivate(await reader.get('/openapi.json'), 'with a token')
  })

  test('the feed never beyond the next snapshot', async () => {
    const requestedAt = Date.now()
    const { headers, body } = await guest.get('/feed')
    const [fresh, stale] = headers.get('cache-control')!.match(/\d+/g)!.map(Number)
    const next = Date.parse(body.snapshot) + 300_000
    expect(fresh! + stale!).toBeLessThanOrEqual((next - requestedAt) / 1000)
    expect(fresh).toBeLessThanOrEqual(30)
    expect(stale).toBeLessThanOrEqual(30)
  })

  test('a listing has an ETag: 304 while it is the same, and anew when it has changed', async () => {
    const path = `/properties/${await insertListing(owner.identityId)}`
    const first = await guest.get(path)
    const tag = first.headers.get('etag')!
    const again = { headers: { 'if-none-match': tag } }
    expect(await guest.get(path, again)).toMatchObject({ status: 304, body: null })
    expect((await owner.patch(path, { titleAr: 'عنوان آخر' })).status).toBe(200)
    const changed = await guest.get(path, again)
    expect([changed.status, changed.body.titleAr]).toEqual([200, 'عنوان آخر'])
  })

  test('what is refused is kept by nobody', async () => {
    for (
      const path of [
        `/properties/${randomUUID()}`,
        '/properties/nothing',
        '/search?nothing=1',
        '/feed?page=0',
        '/nothing',
        '/favorites',
      ]
    ) expectPrivate(await guest.get(path), path)
    expectPrivate(await guest.post('/search/advanced', { strategy: 'standard' }), 'POST')
  })
})

describe('ISO-18 who sends a token', () => {
  const isMeta = ({ tags }: { tags: string[] }) => tags.includes('meta')

  test.each(reads.filter(isMeta))(
    '$method $path is kept by the app itself',
    async ({ id, path }) => {
      const cached = id === 'get_app' ? 'private, max-age=60' : 'private, max-age=300'
      const { body } = await guest.get(path)
      for (
        const answer of [
          await reader.get(path),
          await guest.get(path, { headers: { authorization: 'Bearer nonsense' } }),
        ]
      ) {
        expect([answer.headers.get('cache-control'), answer.body]).toEqual([cached, body])
        expect(answer.headers.get('vary')).toContain('Authorization')
        expect(secondsKept(answer), path).toBe(0)
        const again = { headers: { 'if-none-match': answer.headers.get('etag')! } }
        expect(await reader.get(path, again)).toMatchObject({ status: 304, body: null })
      }
    },
  )

  test.each(reads.filter((one) => !isMeta(one)))(
    '$method $path is kept by no cache',
    async (operation) => {
      const path = rules[operation.id]?.path() ?? pathOf(operation) + queryOf(operation)
      const answers = await Promise.all([
        reader.get(path),
        reader.get(path, { headers: { 'if-none-match': '*' } }),
        ...badTokens.map((authorization) => guest.get(path, { headers: { authorization } })),
      ])
      for (const answer of answers) {
        expectPrivate(answer, path)
        expect(answer.status, path).not.toBe(304)
        expect(secondsKept(answer), path).toBe(0)
      }
    },
  )
})

describe('a cache in front', () => {
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(cache.url + path, { headers })
    return { status: response.status, body: await response.json(), headers: response.headers }
  }
  const as = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })

  test('answers guests by itself, and others never', async () => {
    await reader.post(`/favorites/${listing}`)
    const path = `/properties/${listing}`
    cache.takeCounts()
    const first = await get(path)
    expect(await get(path)).toMatchObject({ status: 200, body: first.body })
    expect(cache.takeCounts()).toEqual({ hits: 1, requests: 1, passedBy: 0 })
    expect(first.body.isFavorite).toBe(false)
    expect((await get(path, as(reader))).body.isFavorite).toBe(true)
    const ignored = await get(path, { authorization: 'Bearer nonsense' })
    expect(ignored.headers.get('x-auth-ignored')).toBe('1')
    expect(cache.takeCounts()).toEqual({ hits: 0, requests: 0, passedBy: 2 })
    expect((await get(path)).body).toEqual(first.body)
  })

  test('keeps nothing of whoever has a token, whichever comes first', async () => {
    const saved = await insertListing(owner.identityId)
    await reader.post(`/favorites/${saved}`)
    const paths = [
      `/properties/${saved}`,
      '/favorites',
      '/favorites/ids',
      '/auth/me',
      '/search?limit=5',
      '/feed?limit=5',
      '/map/areas',
    ]
    for (const path of paths) expect((await get(path, as(reader))).status).toBe(200)
    for (const path of paths) await get(path)
    for (const path of paths) await get(path)
    const { hits } = cache.takeCounts()
    expect(hits).toBeGreaterThanOrEqual(3)
    const cached = cache.texts()
    expect(cached.length).toBeGreaterThanOrEqual(4)
    for (const text of cached) {
      expect(text).not.toContain('"isFavorite":true')
      expect(text).not.toContain(reader.id)
      expect(text).not.toContain('"error"')
    }
  })

  test('has for a web app what is allowed to it', async () => {
    const path = '/meta/kinds'
    cache.takeCounts()
    const plain = await get(path)
    const foreign = await get(path, { origin: 'https://evil.example' })
    expect(plain.status).toBe(200)
    expect(foreign.headers.get('access-control-allow-origin')).toBe(null)
    expect(cache.takeCounts()).toMatchObject({ hits: 0, requests: 2 })
  })
})

testLocally('GUEST_CACHE=false: everything is private, and reads are counted again', async () => {
  const facade = await startFacade({ GUEST_CACHE: 'false', READ_RATE: '1000' })
  try {
    for (const { path } of Object.values(rules)) {
      const answer = await facade.get(path())
      expect(answer.status).toBe(200)
      expectPrivate(answer, path())
    }
    const counted = await facade.get('/search')
    expect(counted.headers.get('ratelimit-limit')).toBe('1000')
  } finally {
    await facade.stop()
  }
})

testLocally('what guests read has no RateLimit headers where caches may keep it', async () => {
  const facade = await startFacade({ READ_RATE: '1000' })
  try {
    const named = (headers: Headers) => [...headers.keys()].filter((key) => /^ratelimit/.test(key))
    for (const { path } of Object.values(rules)) {
      expect(named((await facade.get(path())).headers)).toEqual([])
    }
    const authorization = `Bearer ${reader.accessToken}`
    expect(named((await facade.get('/search', { authorization })).headers)).toHaveLength(3)
    expect(named((await facade.get('/search', { authorization: 'Bearer x' })).headers))
      .toHaveLength(3)
  } finally {
    await facade.stop()
  }
})

test('HEAD says what GET says', async () => {
  const { status, headers } = await request('HEAD', '/meta/kinds')
  expect([status, headers.get('cache-control')]).toEqual([200, rarely])
})
