import { randomInt, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  database,
  guest,
  type Person,
  projectUrl,
  publishableKey,
  signUp,
} from '../support/client.ts'
import { inputsOf, operations, requestWith } from '../support/openapi.ts'
import { givePhone, insertListing, insertOrganisation } from '../support/fixtures.ts'

let seller: Person
let viewer: Person

beforeAll(async () => {
  ;[seller, viewer] = await Promise.all([signUp(), signUp()])
})

type Found = { items: { id: string }[] }
const idsOf = ({ items }: Found) => items.map(({ id }) => id)

describe('INP-02 INP-03 what is searched for is a text', () => {
  const price = randomInt(10_000_000, 90_000_000) + 0.5
  const mark = `zq${randomUUID().slice(0, 8)}`
  const titles: Record<string, string> = {}

  beforeAll(async () => {
    for (const title of [`${mark} a b`, `${mark} x owner identity id`, `${mark} 100% _a_ or (b)`]) {
      const id = await insertListing(seller.identityId, { title_ar: title, price })
      titles[id] = title
    }
  })

  const words = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? []

  test.each([
    'x,owner_identity_id.neq.0',
    '%,title.ilike.%a%',
    'a),or(status.eq.draft',
    'a.b',
    'a:b',
    'a*',
    '"a"',
    'a\\',
    'a (',
    'a )',
    'a & !b | x',
    'a <-> b',
    'a:*',
    '&select=*',
    'id=gt.0',
    '100%',
    '_a_',
    '%a%',
    "a' or '1'='1",
    'a\nb',
  ])('%j finds the rows that have its words, by both routes', async (text) => {
    const q = `${mark} ${text}`
    const filters = { priceMin: price, priceMax: price }
    const body = { strategy: 'standard', q, ...filters }
    const advanced = await guest.post('/search/advanced', body)
    const query = new URLSearchParams({ q, priceMin: String(price), priceMax: String(price) })
    const quick = await guest.get(`/search?${query}`)
    expect([advanced.status, quick.status]).toEqual([200, 200])
    expect(idsOf(quick.body)).toEqual(idsOf(advanced.body))

    const exact = Object.keys(titles)
      .filter((id) => words(q).every((word) => words(titles[id]!).includes(word)))
    const found = idsOf(advanced.body)
    // Listings with every word come first, and similar ones may follow.
    expect(new Set(found.slice(0, exact.length))).toEqual(new Set(exact))
    for (const id of found) expect(Object.keys(titles)).toContain(id)
  })

  test.each(['%', '_', '\\', '%'.repeat(100), '<->', ':*', '((((', '"', "'", '|', '!', '&', '*'])(
    '%j has no word and finds nothing',
    async (q) => {
      const { status, body } = await guest.get(`/search?${new URLSearchParams({ q })}`)
      expect([status, body.items]).toEqual([200, []])
    },
  )

  test.each(['kinds=villa&kinds=house', 'areaIds=salmiya&areaIds=bayan'])(
    'INP-15 %s is refused, where one list with a comma is taken',
    async (query) => {
      expect((await guest.get(`/search?${query}`)).status).toBe(422)
      expect((await guest.get(`/search?${query.replace(/&\w+=/, ',')}`)).status).toBe(200)
    },
  )

  test('a text longer than the limit is refused', async () => {
    const q = '%'.repeat(5000)
    expect((await guest.post('/search/advanced', { strategy: 'standard', q })).status).toBe(422)
  })
})

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)

// The order matters, because the last tests delete everything permanently.
describe('ISO-14 deleted and archived things', { shuffle: false }, () => {
  const price = randomInt(10_000_000, 90_000_000) + 0.25
  const strategies: Record<string, string> = {}

  beforeAll(async () => {
    const companyId = await insertOrganisation(seller.id)
    const at = (columns: object = {}, of = seller.identityId) =>
      insertListing(of, { price, ...columns })
    strategies.standard = await at()
    strategies.exchange = await at({ type: 'EXCHANGE' })
    strategies.company = await at({ owner_type: 'company' }, companyId)
    strategies.auction = await at()
    await database().query(
      `insert into public.auctions (property_id, starts_at, ends_at, start_price, min_increment)
       values ($1, now(), $2, 1, 1)`,
      [strategies.auction, inDays(2)],
    )
    strategies.deal = await at()
    await database().query(
      'update public.properties set drop_pct = 10, drop_until = $2 where id = $1',
      [strategies.deal, inDays(5)],
    )
    await viewer.post(`/favorites/${strategies.standard}`)
  })

  async function seen(): Promise<string[]> {
    const filters = { priceMin: price, priceMax: price }
    const found = await Promise.all([
      ...Object.keys(strategies).map((strategy) =>
        guest.post('/search/advanced', { strategy, ...filters })
      ),
      guest.get(`/search?priceMin=${price}&priceMax=${price}`),
    ])
    const direct = await fetch(`${projectUrl}/rest/v1/rpc/get_property`, {
      method: 'POST',
      headers: { apikey: publishableKey, 'content-type': 'application/json' },
      body: JSON.stringify({ property_id: strategies.standard }),
    })
    const single = await Promise.all(
      Object.values(strategies).flatMap((id) =>
        ['', '/similar', '/price-history'].map((path) => guest.get(`/properties/${id}${path}`))
      ),
    )
    return [
      ...found.flatMap(({ body }) => idsOf(body)),
      ...single.filter(({ status }) => status === 200).map(() => 'by id'),
      ...(direct.ok ? ['by the Data API'] : []),
    ]
  }

  test('listed ones are found, each by its strategy', async () => {
    const found = await seen()
    for (const id of Object.values(strategies)) expect(found).toContain(id)
    expect(found.filter((one) => one === 'by id')).toHaveLength(15)
    expect(found).toContain('by the Data API')
  })

  test.each(['archived', 'paused', 'draft', 'suspended', 'rejected', 'deleted'])(
    '%s ones are found by no strategy and by no id',
    async (status) => {
      await database().query('update public.properties set status = $1 where id = any ($2)', [
        status,
        Object.values(strategies),
      ])
      expect(await seen()).toEqual([])
      expect((await viewer.post(`/favorites/${strategies.exchange}`)).status).toBe(404)
      const saved = await viewer.get('/favorites')
      const hidden = ['draft', 'suspended', 'rejected', 'deleted'].includes(status)
      expect(saved.body.items.length).toBe(hidden ? 0 : 1)
    },
  )
})

describe('ISO-03 what anyone can read', () => {
  const canary = randomUUID()
  const phone = `+9655${randomInt(1_000_000, 9_999_999)}`
  let things: string[]

  beforeAll(async () => {
    await givePhone(seller, phone)
    const companyId = await insertOrganisation(seller.id)
    const near = { lat: 29.371234, lng: 47.981234, location_precision: 'block' }
    const listed = await insertListing(seller.identityId, { ...near, status_reason: canary })
    const hidden = { title_ar: `مخفي ${canary}`, ...near }
    things = [
      listed,
      companyId,
      seller.identityId,
      await insertListing(seller.identityId, { ...hidden, status: 'draft' }),
      await insertListing(seller.identityId, { ...hidden, status: 'deleted' }),
      await insertListing(companyId, { owner_type: 'company', ...near, description_en: 'open' }),
    ]
  })

  const open = operations.filter(({ secured, method }) => !secured && method === 'GET')

  test.each(open)('$method $path reveals nothing about a person', async (operation) => {
    const input = inputsOf(operation).find(({ schema }) => schema.format === 'uuid')
    const paths = input
      ? things.map((id) => requestWith(operation, input, id).path)
      : [requestWith(operation).path]
    for (const path of paths) {
      const { body } = await guest.get(path)
      const text = JSON.stringify(body)
      const secrets = [seller.id, seller.identifier, phone, phone.slice(4), canary]
      for (const secret of [...secrets, '29.371234', '47.981234']) {
        expect(text.includes(secret), `${path} shows ${secret}`).toBe(false)
      }
    }
  })

  test('a listing has the declared keys only, and none of them is a contact', async () => {
    const { body } = await guest.get(`/properties/${things[0]}`)
    for (const key of Object.keys(body)) {
      expect(key).not.toMatch(/phone|email|account|search|vector|reason.*note|lat$|lng$/i)
    }
    expect(body.statusReason).toBe(null)
    expect(body.pendingChanges).toBe(null)
    expect(body.location).toEqual({ lat: 29.37, lng: 47.98, precision: 'block' })
  })
})
