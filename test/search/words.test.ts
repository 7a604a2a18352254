import { beforeEach, expect, test } from 'vitest'
import { guest, type Person, type Reply, signUp } from '../support/client.ts'
import { publishListing, uniquePrice } from '../support/listings.ts'
import { fits, ids, known, uniqueWord } from './results.ts'
import { spread } from './vocabulary.ts'

let seller: Person

beforeEach(async () => {
  seller = await signUp()
})

const search = (body: Record<string, unknown>) =>
  guest.post('/search/advanced', { strategy: 'standard', ...body })
const quick = (query: Record<string, string>) => guest.get(`/search?${new URLSearchParams(query)}`)

/** Returns a word of letters only, because only such words can match similar words. */
const ownLetters = () =>
  Array.from({ length: 12 }, () => 'بتثجحخدرزسشصضطظعغفقكلمنهو'[Math.floor(Math.random() * 25)])
    .join('')

test('INP-03 words are found in any order, however they are spelt', async () => {
  const word = uniqueWord()
  const { id, refNo } = await publishListing(seller, {
    titleAr: `شَقَّـة مؤثّثة إطلالة ${word}`,
    titleEn: 'Corner Apartment',
    descriptionAr: 'قطعة ٣ شارع ١٠٤، قريبة من المستشفى',
    areaId: 'qibla',
    kind: 'apartment',
  })
  const spellings = [
    'مؤثثة شقة',
    'اطلاله موثثه شقه',
    'الشقة المؤثثه',
    'قطعه 3 شارع 104',
    'مستشفي',
    'APARTMENT corner',
    'القبلة', // the listing's area
    'جبلة شقة', // another name of the area
    'العاصمة', // the governorate
  ]
  for (const spelling of spellings) {
    expect([spelling, fits(await quick({ q: `${spelling} ${word}` }))]).toEqual([spelling, [id]])
  }
  expect(fits(await quick({ q: `فيلا ${word}` }))).not.toContain(id)
  for (const q of [refNo, refNo.toLowerCase(), refNo.replace('-', ''), refNo.slice(3)]) {
    expect(ids(await quick({ q }))).toContain(id)
  }
})

test('INP-01 INP-02 INP-03 search text is only text, whatever it means elsewhere', async () => {
  const word = uniqueWord()
  const { id } = await publishListing(seller, { descriptionAr: `a.b status=eq,draft ${word}` })
  const found = [
    `a.b ${word}`,
    `${word},status`,
    `draft);eq(${word}`,
    `'${word}'`,
    `"${word}" & a | b:*`,
    `%${word}%`,
    `((((${word}`,
    `${word} \\`,
    `!${word}`,
  ]
  for (const q of found) expect([q, fits(await quick({ q }))]).toEqual([q, [id]])
  const notFound = [
    `${word}z`,
    word.slice(0, -1),
    `${word.slice(0, 8)}%`,
    `_${word.slice(1)}`,
    `${word} x,owner_identity_id.neq.0`,
    `${word}' OR 1=1--`,
  ]
  // `literal` excludes similar listings, which have some of the words.
  for (const q of notFound) expect([q, ids(await quick({ q, literal: 'true' }))]).toEqual([q, []])
  const signs = ['%', '_', '\\', '%'.repeat(200), '<->', ':*', '&|!', '((((', "'", '*', '$$']
  for (const q of signs) expect([q, ids(await quick({ q }))]).toEqual([q, []])

  const others = [
    '1); select pg_sleep(3)--',
    "E'\\''",
    '%27',
    '{{7*7}}',
    '${7*7}',
    'x,owner_identity_id.neq.0',
    '%,title.ilike.%a%',
    'a),or(status.eq.draft',
    '&select=*',
    'id=gt.0',
  ]
  for (const q of others) {
    const byBody = await search({ q })
    expect(byBody.status).toBe(200)
    expect(ids(await quick({ q }))).toEqual(ids(byBody))
  }
  expect(await quick({ q: '%'.repeat(5000) })).toMatchObject({ status: 422 })
  expect(await quick({ q: 'ب'.repeat(200) })).toMatchObject({ status: 200 })
  expect(await quick({ q: 'ب'.repeat(201) })).toMatchObject({ status: 422 })
  expect(await quick({ q: '🏠'.repeat(200) })).toMatchObject({ status: 200 })
})

test('a blank text does not filter', async () => {
  const { id, price } = await publishListing(seller, { price: uniquePrice() })
  const filters = { priceMin: price, priceMax: price }
  for (const q of ['', ' \t\u00a0']) expect(ids(await search({ ...filters, q }))).toEqual([id])
})

// Phones add invisible marks to copied text, and Arabic keyboards have some more.
const marks = ['\u200f', '\u2068\u2069', '\ufeff \u00ad', 'َ', 'ّ ً', 'ـــ', 'ـِـ\u200d']

test.each(marks)('a text of marks alone (%j) does not filter, at any door', async (q) => {
  const location = { lat: 29.335, lng: 48.076, precision: 'exact' }
  const { id, price } = await publishListing(seller, { price: uniquePrice(), location })
  const filters = { priceMin: price, priceMax: price }
  const query = new URLSearchParams({ q, priceMin: String(price), priceMax: String(price) })
  for (const page of [await search({ ...filters, q }), await guest.get(`/search?${query}`)]) {
    expect(ids(page)).toEqual([id])
    expect(page.body).toMatchObject({ similarFrom: null, understood: null })
  }
  expect((await known(() => guest.get(`/search/count?${query}`))).count).toBe(1)
  const box = 'bbox=46.5,28.45,48.8,30.15&zoom=2'
  expect((await guest.get(`/map/listings?${box}&${query}`)).body.clusters).not.toEqual([])
})

test('marks beside words and signs change nothing', async () => {
  expect(ids(await search({ q: '\u200f%َ' }))).toEqual([])
})

test('where fewer than 5 match, similar ones follow, once each, on all pages', async () => {
  const word = ownLetters()
  const misspelt = word.slice(0, 6) + 'ي' + word.slice(7)
  const person = await signUp()
  const exact = await publishListing(person, { titleAr: `شقة ${misspelt}` })
  const similar = []
  for (let n = 0; n < 4; n++) {
    similar.unshift((await publishListing(person, { titleAr: `شقة ${word}` })).id)
  }
  await spread(word)

  expect(ids(await quick({ q: misspelt }))).toEqual([exact.id, ...similar])
  expect(ids(await quick({ q: `${misspelt} فيلا` }))).toEqual([exact.id, ...similar])
  for (const limit of ['1', '2', '3']) {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Reply = await quick({ q: misspelt, limit, ...(cursor && { cursor }) })
      seen.push(...ids(page))
      cursor = page.body.nextCursor
    } while (cursor)
    expect(seen).toEqual([exact.id, ...similar])
  }
})

test('where 5 match, nothing is matched loosely, but where a filter leaves fewer', async () => {
  const word = ownLetters()
  const misspelt = word.slice(0, 6) + 'ي' + word.slice(7)
  const [one, two] = await Promise.all([signUp(), signUp()])
  const right = []
  for (let n = 0; n < 5; n++) {
    const fields = { titleAr: `شقة ${word}`, bedrooms: n }
    right.unshift((await publishListing(one, fields)).id)
  }
  const other = await publishListing(two, { titleAr: `شقة ${misspelt}`, bedrooms: 4 })
  await spread(word, misspelt)

  expect(ids(await search({ q: word }))).toEqual(right)
  expect(ids(await search({ q: word, limit: 2 }))).toEqual(right.slice(0, 2))
  expect(ids(await search({ q: word, bedroomsMin: 4 }))).toEqual([right[0], other.id])
  expect(ids(await search({ q: word, bedroomsMin: 5 }))).toEqual([])
  const byPrice = await quick({ q: word, bedroomsMin: '4', sort: 'price_asc' })
  expect([fits(byPrice), ids(byPrice)]).toEqual([[right[0]], [right[0], other.id]])
  expect(ids(await search({ q: misspelt }))).toEqual([other.id, ...right])
  expect(ids(await search({ q: misspelt, bedroomsMin: 4 }))).toEqual([other.id, right[0]])
  expect(ids(await search({ q: misspelt, bedroomsMin: 5 }))).toEqual([])
})

test('the words of another strategy do not count', async () => {
  const word = ownLetters()
  const misspelt = word.slice(0, 6) + 'ي' + word.slice(7)
  const person = await signUp()
  const right = []
  for (let n = 0; n < 5; n++) {
    right.unshift((await publishListing(person, { titleAr: `شقة ${word}` })).id)
  }
  const exchange = { type: 'EXCHANGE', price: null, requestYear: 2012, requiredYear: 2014 }
  const [rare, like] = [
    await publishListing(person, { titleAr: `شقة ${word}`, ...exchange }),
    await publishListing(person, { titleAr: `شقة ${misspelt}`, ...exchange }),
  ]
  await spread(word, misspelt)
  expect(ids(await search({ q: word }))).toEqual(right)
  expect(ids(await search({ strategy: 'exchange', q: word }))).toEqual([rare.id, like.id])
})

test('a filter never adds a fit, on any page, and both ways of asking agree', async () => {
  const word = ownLetters()
  const alike = [3, 6, 9].map((at) => word.slice(0, at) + 'ي' + word.slice(at + 1))
  const person = await signUp()
  for (let n = 0; n < 12; n++) {
    // 4 listings have the word itself, few enough for similar words to be added; 6 have one similar word.
    const titleAr = `شقة ${n < 4 ? word : n < 10 ? alike[0] : alike[n - 9]}`
    await publishListing(person, { titleAr, bedrooms: n % 3, areaId: n % 2 ? 'salmiya' : 'qibla' })
  }
  await spread(word, ...alike)
  const walk = async (body: Record<string, unknown>) => {
    const found: string[] = []
    const fitting: string[] = []
    let cursor: string | null = null
    do {
      const page: Reply = await search({ ...body, limit: 2, ...(cursor && { cursor }) })
      const query = Object.entries({ ...body, limit: 2, ...(cursor && { cursor }) })
        .map(([name, value]) => [name, String(value)])
      expect((await quick(Object.fromEntries(query))).body).toEqual(page.body)
      found.push(...ids(page))
      fitting.push(...fits(page))
      cursor = page.body.nextCursor
    } while (cursor)
    expect(new Set(found).size).toBe(found.length)
    return { found, fitting }
  }
  for (const q of [word, ...alike]) {
    const all = await walk({ q })
    // The other words differ from each other by two letters each, too many to count as similar.
    expect(all.found).toHaveLength(q === word ? 12 : q === alike[0] ? 6 : 5)
    const filters = [{ bedroomsMin: 1 }, { bedroomsMin: 2 }, { areaIds: ['qibla'] }]
    for (const filter of [...filters, { areaIds: ['salmiya'], bedroomsMin: 1 }]) {
      const { found, fitting } = await walk({ q, ...filter })
      expect(fitting.filter((id) => !all.fitting.includes(id)), JSON.stringify({ q, filter }))
        .toEqual([])
      expect(found.length).toBeGreaterThan(0)
    }
  }
})

test('a number is never matched loosely', async () => {
  const { refNo, id } = await publishListing(seller)
  const found = (await quick({ q: refNo })).body.items
  expect(found.map((item: { id: string }) => item.id)).toEqual([id])
})

test('what a filter asks is no word that a misspelt one could mean', async () => {
  const { id } = await publishListing(seller, { furnished: 'none', kind: 'villa' })
  for (const q of ['furnishednone', 'furnishd', 'unfurnishednone']) {
    const query = new URLSearchParams({
      q,
      postedSince: new Date(Date.now() - 60_000).toISOString(),
    })
    expect([q, ids(await guest.get(`/search?${query}`))]).toEqual([
      q,
      expect.not.arrayContaining([id]),
    ])
  }
})
