import { beforeEach, expect, test } from 'vitest'
import { database, guest, type Person, type Reply, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { ids, uniqueWord } from './results.ts'

let seller: Person

beforeEach(async () => {
  seller = await signUp()
})

type Body = Record<string, unknown>
type Page = { items: { id: string }[]; nextCursor: string | null }
const search = (body: Body) => guest.post('/search/advanced', { strategy: 'standard', ...body })
const quick = (query: string) => guest.get(`/search?${query}`)

/** Publishes listings with that word and returns their ids, newest first. */
async function offers(word: string, prices: number[]): Promise<string[]> {
  const made: string[] = []
  for (const price of prices) {
    made.unshift((await publishListing(seller, { descriptionAr: `إعلان ${word}`, price })).id)
  }
  return made
}

test('pages have no gap and no repeat while listings come and go', async () => {
  const q = uniqueWord()
  const [d, c, b, a] = await offers(q, [100, 200, 300, 400])
  const first = await search({ q, limit: 2 })
  expect(ids(first)).toEqual([d, c])

  const [newest] = await offers(q, [600])
  await seller.delete(`/properties/${c}`) // the last listing of the first page
  await seller.post(`/properties/${b}/pause`)
  const second = await search({ q, limit: 2, cursor: first.body.nextCursor })
  expect(ids(second)).toEqual([a])
  expect(second.body.nextCursor).toBeNull()
  expect(ids(await search({ q, limit: 1 }))).toEqual([newest])
})

test('a listing whose price moves in mid walk moves: ahead it comes at its new place, back it is missed', async () => {
  const q = uniqueWord()
  const [f, e, d, c, b, a] = await offers(
    q,
    [100, 200, 300, 400, 500, 600].map((fils) => fils * 100),
  )
  const walk = async (sort: string, moves: [string, number][]) => {
    const pages = [await search({ q, sort, limit: 2 })]
    for (const [id, price] of moves) {
      expect((await seller.patch(`/properties/${id}`, { price })).status).toBe(200)
    }
    while (pages.at(-1)!.body.nextCursor) {
      pages.push(await search({ q, sort, limit: 2, cursor: pages.at(-1)!.body.nextCursor }))
    }
    for (const page of pages) expect(new Set(ids(page)).size).toBe(ids(page).length)
    return pages.map((page) => ids(page))
  }

  // a was on the first page and comes again with its new price; e is missed.
  expect(await walk('price_asc', [[a!, 45_000], [e!, 15_000]])).toEqual([[a, b], [c, d], [a, f]])
  // Now their order is e, b, c, d, a, f.
  expect(await walk('price_desc', [[a!, 35_000], [e!, 70_000]])).toEqual([[f, a], [d, a], [c, b]])
})

test('a cursor is good whatever plan a connection has made meanwhile', async () => {
  const word = uniqueWord()
  const made = await offers(word, [100, 200, 300, 400, 500])
  const client = await database().connect()
  const seen: string[] = []
  let cursor: string | null = null
  try {
    for (const plan of ['hashagg', 'sort', 'hashagg', 'sort', 'hashagg']) {
      await client.query('discard plans')
      await client.query(`set enable_${plan} = off`)
      const { rows: [{ page }] }: { rows: { page: Page }[] } = await client.query(
        `select private.search('standard', '{}', $1, page_cursor => $2, page_size => 1)::json as page`,
        [`${word} إعلان`, cursor],
      )
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
      await client.query(`reset enable_${plan}`)
    }
  } finally {
    client.release()
  }
  expect(seen).toEqual(made)
})

test.each([
  ...[0, 51, null].flatMap((size) => [
    [`private.search('standard', '{}', page_size => ${size})`, 'limit'],
    [`private.search('standard', '{}', 'فيلا', page_size => ${size})`, 'limit'],
    [`private.list_feed('all', 1, ${size})`, 'limit'],
  ]),
  ...[0, 501, null].map((page) => [`private.list_feed('all', ${page}, 20)`, 'page']),
])('the database itself refuses %s', async (call, path) => {
  await expect(database().query(`select ${call}`)).rejects.toMatchObject({
    code: 'PT422',
    detail: JSON.stringify({ fields: [{ code: 'invalid', path }] }).replaceAll(/[:,]/g, '$& '),
  })
})

test('equal sort keys are ordered by id, on every page', async () => {
  const q = uniqueWord()
  const made = await offers(q, [250, 250, 250, 250, 250])
  for (const sort of ['price_asc', 'price_desc', 'area_desc']) {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page: Reply = await search({ q, sort, limit: 2, cursor })
      seen.push(...ids(page))
      cursor = page.body.nextCursor ?? undefined
    } while (cursor)
    const sorted = [...made].sort()
    expect(seen).toEqual(sort === 'price_asc' ? sorted : sorted.reverse())
  }
})

test('an exactly full last page says that nothing follows', async () => {
  const q = uniqueWord()
  await offers(q, [100, 200, 300, 400, 500])
  expect((await search({ q, limit: 5 })).body.nextCursor).toBeNull()
  expect((await search({ q, limit: 4 })).body.nextCursor).toEqual(expect.any(String))
})

test('INP-07 a cursor is good for the query that it came from only', async () => {
  const q = uniqueWord()
  await offers(q, [100, 200, 300])
  const { nextCursor: cursor } = (await search({ q, limit: 1 })).body
  const refused = {
    status: 422,
    body: {
      error: { code: 'cursor_invalid', fields: [{ path: 'cursor', code: 'cursor_invalid' }] },
    },
  }

  expect(await search({ q, limit: 2, cursor })).toMatchObject({ status: 200 }) // the page size may change
  expect(await quick(`q=${q}&cursor=${cursor}`)).toMatchObject({ status: 200 })
  expect(await search({ q: `${q} x`, cursor })).toMatchObject(refused)
  expect(await search({ cursor })).toMatchObject(refused)
  expect(await search({ q, priceMin: 1, cursor })).toMatchObject(refused)
  expect(await search({ q, sort: 'price_asc', cursor })).toMatchObject(refused)
  expect(await search({ q, strategy: 'exchange', cursor })).toMatchObject(refused)
  for (const broken of [`${cursor}x`, cursor.slice(1), 'x', 'x'.repeat(4000), `${cursor}%27`]) {
    expect(await search({ q, cursor: broken })).toMatchObject(refused)
  }
  const { body } = await seller.get('/properties/mine?limit=1')
  expect(await search({ q, cursor: body.nextCursor })).toMatchObject(refused)
  expect(await search({ q, cursor: 'x'.repeat(10_240) })).toMatchObject({ status: 422 })
})

test.each(['0', '-1', '51', '100', '1e9', '1.5', 'a', '', ' 5', '9223372036854775808', '0x10'])(
  'INP-07 a limit of %j is refused',
  async (limit) => {
    expect(await quick(`limit=${encodeURIComponent(limit)}`)).toMatchObject({ status: 422 })
    const asText = ['1e9', ' 5', '0x10', '', 'a'].includes(limit)
    expect(await search({ limit: asText ? limit : Number(limit) }))
      .toMatchObject({ status: 422 })
  },
)

test('INP-07 a limit of 1 and of 50 is accepted, and there is no offset', async () => {
  for (const limit of [1, 50]) {
    expect(await search({ limit })).toMatchObject({ status: 200 })
    expect(await quick(`limit=${limit}`)).toMatchObject({ status: 200 })
  }
  for (const name of ['page', 'offset']) {
    expect(await quick(`${name}=1`)).toMatchObject({
      status: 422,
      body: { error: { code: 'filter_unknown' } },
    })
  }
})

const money = ['priceMin', 'priceMax']
const wholes = ['bedroomsMin', 'bathroomsMin']

test('INP-04 a number in a query string is a plain decimal or refused', async () => {
  const never = [
    '-1',
    '1e400',
    '1e-400',
    '1e308',
    '1e3',
    '0x10',
    '1,000',
    ' 5 ',
    'NaN',
    'Infinity',
    '-Infinity',
    'true',
    'null',
    '[]',
    '',
    '9007199254740993',
    '9223372036854775808',
  ]
  for (const name of [...money, ...wholes, 'areaM2Min']) {
    for (const value of never) {
      const reply = await quick(`${name}=${encodeURIComponent(value)}`)
      expect([name, value, reply.status]).toEqual([name, value, 422])
    }
    expect(await quick(`${name}=0`)).toMatchObject({ status: 200 })
  }
  for (const name of money) {
    expect(await quick(`${name}=0.125`)).toMatchObject({ status: 200 })
    expect(await quick(`${name}=2.8999999999999999`)).toMatchObject({ status: 200 })
    expect(await quick(`${name}=12.3456`)).toMatchObject({ status: 422 })
    expect(await quick(`${name}=99999999999.999`)).toMatchObject({ status: 200 })
    expect(await quick(`${name}=100000000000`)).toMatchObject({ status: 422 })
  }
  for (const name of wholes) {
    expect(await quick(`${name}=1.5`)).toMatchObject({ status: 422 })
    expect(await quick(`${name}=100`)).toMatchObject({ status: 200 })
    expect(await quick(`${name}=101`)).toMatchObject({ status: 422 })
  }
})

test('INP-04 digits in a query string may be Arabic or Persian', async () => {
  const [cheap, dear] = await offers(uniqueWord(), [650.5, 600])
  const found = async (filters: Record<string, string>) => {
    const query = new URLSearchParams({ ownerId: seller.identityId, ...filters })
    const reply = await quick(String(query))
    return [reply.status, reply.status === 200 && ids(reply)]
  }
  const inDigits: Record<string, string>[] = [
    { priceMin: '٦٥٠٫٥' },
    { priceMin: '۶۵۰٫۵', priceMax: '٦٥٠٫٥٠٠' },
    { priceMin: '٦٠٠٫٠٠١', postedSince: '٢٠٢٦-٠١-٠١' },
    { limit: '١', sort: 'price_desc' },
  ]
  for (const filters of inDigits) {
    expect([filters, await found(filters)]).toEqual([filters, [200, [dear]]])
  }
  expect(await found({ priceMax: '٦٠٠' })).toEqual([200, [cheap]])
  for (const priceMin of ['١٬٠٠٠', '٥٫', '٫٥', '٥٫٥٫٥', '⑤', '½', '٥ ', '٥'.repeat(43)]) {
    expect([priceMin, await found({ priceMin })]).toEqual([priceMin, [422, false]])
  }
  const box = 'zoom=١٠&bbox=٤٧٫٩,٢٩٫٢,٤٨٫١,٢٩٫٤'
  expect((await guest.get(`/map/listings?${encodeURI(box)}`)).status).toBe(200)
  expect((await found({ near: '٢٩٫٣٣,٤٨٫٠٧,٣' }))[0]).toBe(200)
})

test('INP-04 a number in a body is a number or refused', async () => {
  const never = [
    '-1',
    '12.3456',
    '1e400',
    '1e308',
    '"5"',
    '"NaN"',
    '"١٢٣"',
    'true',
    '[]',
    '{}',
    '""',
  ]
  const send = (name: string, value: string) =>
    guest.post('/search/advanced', `{"strategy":"exchange","${name}":${value}}`)
  for (const name of [...money, ...wholes, 'areaM2Max', 'requestYearMin']) {
    for (const value of never) {
      expect([name, value, (await send(name, value)).status]).toEqual([name, value, 422])
    }
  }
  for (const name of money) {
    for (const value of ['0', '-0', '0.1', '1e3', '99999999999.999', 'null']) {
      expect([name, value, (await send(name, value)).status]).toEqual([name, value, 200])
    }
  }
})

test('INP-04 places are within the world, boxes are boxes, and a circle has at most 50 km', async () => {
  const near = { lat: 29.3, lng: 48, km: 5 }
  const bad = [
    { ...near, lat: 91 },
    { ...near, lng: 181 },
    { ...near, km: 0 },
    { ...near, km: -1 },
    { ...near, km: 50.001 },
    { ...near, km: 1e9 },
    { ...near, km: 'NaN' },
    { lat: 29.3, lng: 48 },
    { ...near, up: 1 },
    [29.3, 48, 5],
  ]
  for (const one of bad) {
    expect([one, (await search({ near: one })).status]).toEqual([one, 422])
  }
  for (const text of ['29.3,48', '29.3,48,5,1', 'a,b,c', '29.3,48,0', '', ',,', '29.3,48,1e1']) {
    expect([text, (await quick(`near=${text}`)).status]).toEqual([text, 422])
  }
  expect(await search({ near: { ...near, km: 50 } })).toMatchObject({ status: 200 })
  expect(await search({ near: { ...near, km: 0.001 } })).toMatchObject({ status: 200 })

  const refused = { status: 422, body: { error: { code: 'bbox_invalid' } } }
  const boxes = [
    [48, 29, 47, 30],
    [47, 30, 48, 29],
    [10, 10, 11, 11],
    [47, 29, 48],
    [47, 29, 48, 30, 31],
    ['47', 29, 48, 30],
    'everywhere',
  ]
  for (const bbox of boxes) expect([bbox, await search({ bbox })]).toMatchObject([bbox, refused])
  for (const text of ['48,29,47,30', '47,29,48', '47,29,48,a', '', '1e1,29,48,30']) {
    expect([text, await quick(`bbox=${text}`)]).toMatchObject([text, refused])
  }
  // A box around the whole world is clipped to Kuwait, and an empty box is valid.
  expect(await search({ bbox: [-180, -90, 180, 90] })).toMatchObject({ status: 200 })
  expect(await search({ bbox: [48, 29.3, 48, 29.3] })).toMatchObject({ status: 200 })
})

test('a key given twice is refused', async () => {
  for (const name of ['q', 'kinds', 'limit', 'near', 'priceMin', 'colour']) {
    expect([name, (await quick(`${name}=1&${name}=2`)).status]).toEqual([name, 422])
  }
})

test('lists in a query string are separated by commas, of known codes only', async () => {
  expect(await quick('kinds=villa,house&areaIds=salmiya&governorateIds=hawalli,capital'))
    .toMatchObject({ status: 200 })
  for (const query of ['kinds=villa,,house', 'kinds=', 'kinds=villa;house', 'areaIds=atlantis']) {
    expect([query, (await quick(query)).status]).toEqual([query, 422])
  }
  for (const query of ['isDirect=1', 'isDirect=TRUE', 'verifiedOnly=', 'postedSince=yesterday']) {
    expect([query, (await quick(query)).status]).toEqual([query, 422])
  }
  for (const query of ['isDirect=false', 'verifiedOnly=true', 'postedSince=2026-11-01']) {
    expect([query, (await quick(query)).status]).toEqual([query, 200])
  }
})

test('a day begins at midnight in Kuwait', async () => {
  const q = uniqueWord()
  const [id] = await offers(q, [700])
  const { publishedAt } = (await guest.get(`/properties/${id}`)).body
  const inKuwait = new Date(Date.parse(publishedAt) + 3 * 3_600_000).toISOString().slice(0, 10)
  const next = new Date(Date.parse(inKuwait) + 86_400_000).toISOString().slice(0, 10)
  expect(ids(await search({ q, postedSince: inKuwait }))).toEqual([id])
  expect(ids(await search({ q, postedSince: next }))).toEqual([])
  expect(ids(await search({ q, postedSince: publishedAt }))).toEqual([id])
})
