import { expect, test } from 'vitest'
import { cardOf } from '../support/cards.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'

type Item = { id: string; kind: string; publishedAt: string; isFavorite: boolean }

async function newest(person: Pick<Person, 'get'>, query = ''): Promise<Item[]> {
  const items: Item[] = []
  const { rows } = await database().query(
    `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
  )
  for (const page of [1, 2, 3]) {
    const { body } = await person.get(
      `/feed?limit=50&page=${page}&snapshot=${rows[0].now}${query}`,
    )
    items.push(...body.items)
  }
  return items
}

const of = (items: Item[], id: string) => items.find((item) => item.id === id)

test("a published listing is in everybody's feed, with its card", async () => {
  const seller = await signUp()
  const id = await insertListing(seller.identityId, { title_ar: 'فيلا بحديقة للبيع في السالمية' })
  const listing = (await guest.get(`/properties/${id}`)).body

  expect(of(await newest(guest), id)).toEqual({
    ...cardOf(listing),
    kind: 'property',
    propertyKind: 'villa',
  })
})

test('a filter shows its type only, and an unknown one is refused by name', async () => {
  const seller = await signUp()
  const sale = await insertListing(seller.identityId)
  const rent = await insertListing(seller.identityId, { type: 'RENT', price: 500 })
  const exchange = await insertListing(seller.identityId, { type: 'EXCHANGE', price: null })

  for (const [filter, id] of Object.entries({ sale, rent, exchange })) {
    const items = await newest(guest, `&filter=${filter}`)
    expect([sale, rent, exchange].filter((one) => of(items, one))).toEqual([id])
  }
  for (const filter of ['', 'SALE', 'Sale', 'office', '__proto__', 'constructor', 'sale,rent']) {
    expect(await guest.get(`/feed?filter=${filter}`)).toMatchObject({
      status: 422,
      body: {
        error: {
          code: 'feed_filter_unknown',
          message: 'التصنيف المطلوب غير معروف',
          fields: [{ path: 'filter' }],
        },
      },
    })
  }
})

test("FAV-05 isFavorite in the feed is the acting identity's own", async () => {
  const [saver, other] = [await signUp(), await signUp()]
  const id = await insertListing(other.identityId)
  await saver.post(`/favorites/${id}`)
  const saved = async (person: Pick<Person, 'get'>) => of(await newest(person), id)!.isFavorite

  expect(await saved(saver)).toBe(true)
  expect(await saved(other)).toBe(false)
  expect(await saved(guest)).toBe(false)

  const company = await insertOrganisation(saver.id)
  await saver.post('/auth/identity/switch', { identityId: company })
  expect(await saved(saver)).toBe(false)
})

test('ISO-14 deleted, archived, paused or sold listings are not in the feed', async () => {
  const seller = await signUp()
  const actions = ['archive', 'pause', 'mark-sold']
  const ids = await Promise.all([...actions, 'delete'].map(() => insertListing(seller.identityId)))
  for (const [i, action] of actions.entries()) await seller.post(`/properties/${ids[i]}/${action}`)
  await seller.delete(`/properties/${ids[3]}`)

  const items = [...await newest(guest), ...await newest(seller)]
  expect(ids.filter((id) => of(items, id))).toEqual([])
})

test('without a snapshot the feed is of the last five minutes, and names its snapshot', async () => {
  const id = await insertListing((await signUp()).identityId, {
    published_at: new Date(Date.now() - 3_600_000),
  })
  // Moves the publication into the past, so that the first page is not empty.
  await database().query(
    `update private.publications set since = published_at where property_id = $1`,
    [id],
  )
  const lastFive = () => Math.floor(Date.now() / 300_000) * 300_000
  const before = lastFive()
  const { body } = await guest.get('/feed')

  expect([before, lastFive()]).toContain(Date.parse(body.snapshot))
  const again = await guest.get(`/feed?snapshot=${body.snapshot}`)
  expect(again.body.snapshot).toBe(body.snapshot)
})

test('a snapshot lasts six hours', async () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

  expect(await guest.get(`/feed?snapshot=${ago(350)}`)).toMatchObject({ status: 200 })
  for (const snapshot of [ago(361), ago(-60), '2026-01-01', '1', 'now', '', 'infinity']) {
    expect(await guest.get(`/feed?snapshot=${snapshot}`)).toMatchObject({
      status: 422,
      body: { error: { code: 'cursor_invalid', fields: [{ path: 'snapshot' }] } },
    })
  }
})

test.each([
  'page=0',
  'page=-1',
  'page=1.5',
  'page=501',
  'page=1000000000',
  'page=9223372036854775808',
  'page=a',
  'page=',
  'page=1e2',
  'page=0x1',
  'page=1&page=2',
  'limit=0',
  'limit=-1',
  'limit=51',
  'limit=1000000000',
  'limit=NaN',
  'limit=',
  'cursor=x',
  'offset=1',
])('INP-04 INP-07 ?%s is refused and named', async (query) => {
  expect(await guest.get(`/feed?${query}`)).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed', fields: [{ path: query.split('=')[0] }] } },
  })
})

test('INP-07 the last page that can be asked for answers, and says that there is none after', async () => {
  for (const limit of [1, 50]) {
    const { status, body } = await guest.get(`/feed?page=500&limit=${limit}`)
    expect({ status, page: body.page, hasMore: body.hasMore }).toEqual(
      { status: 200, page: 500, hasMore: false },
    )
    expect(body.items.length).toBeLessThanOrEqual(limit)
  }
})
