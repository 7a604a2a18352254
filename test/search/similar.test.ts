// If fewer than five listings match a query, similar ones follow. A filter by owner excludes other tests'
// listings.
import { beforeEach, expect, test } from 'vitest'
import { guest, type Person, type Reply, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { linesOf } from './oracle.ts'
import { known } from './results.ts'
import { spread } from './vocabulary.ts'
import { letters } from './world.ts'

let seller: Person

beforeEach(async () => {
  seller = await signUp()
})

type Body = Record<string, unknown>
const search = (q: string, more: Body = {}) =>
  guest.post('/search/advanced', { strategy: 'standard', q, ownerId: seller.identityId, ...more })
let listed = 0
/** Inserts a listing that is published a second after the previous one. */
const list = (columns: Body = {}) =>
  insertListing(seller.identityId, {
    published_at: new Date(Date.now() - 3_600_000 + 1000 * listed++),
    ...columns,
  })

/** Returns the listings of a page by their names in `made`, each with the filters that it does not meet. */
const shown = ({ body }: Reply, made: Record<string, string>) =>
  linesOf(body).map((line) => {
    const [id, ...changed] = line.split(' ')
    return [Object.keys(made).find((name) => made[name] === id), ...changed].join(' ')
  })

async function allPages(q: string, limit: number, more: Body = {}) {
  const pages: Reply[] = []
  do {
    const cursor = pages.at(-1)?.body.nextCursor
    pages.push(await search(q, { ...more, limit, ...(cursor && { cursor }) }))
  } while (pages.at(-1)!.body.nextCursor)
  return pages
}

test('words are let go first: the fewest come first, and a word alike is nearer than none', async () => {
  const [one, other] = [letters(), letters()]
  const alike = one.slice(0, 6) + 'ي' + one.slice(7)
  const made = {
    neither: await list({ title_ar: 'فيلا للبيع' }),
    other: await list({ title_ar: `فيلا ${other}` }),
    alike: await list({ title_ar: `فيلا ${alike}` }),
    both: await list({ title_ar: `فيلا ${alike} ${other}` }),
    shop: await list({ title_ar: `محل ${one} ${other}`, kind: 'shop' }),
  }
  await spread(alike)
  const page = await search(`فيلا ${one} ${other}`)
  expect(shown(page, made)).toEqual(['both words', 'other words', 'alike words', 'neither words'])
  expect(page.body).toMatchObject({
    similarFrom: 0,
    similar: [{ from: 0, changed: ['words'] }],
    understood: { words: [one, other], ignored: [], guessed: [{ from: one, to: [alike] }] },
  })
  await list({ title_ar: `فيلا ${one} ${other}` })
  expect((await search(`فيلا ${one} ${other}`)).body.similarFrom).toBe(1)
  const literal = await search(`${one} ${other}`, { literal: true })
  expect(shown(literal, made).slice(-1)).toEqual(['both words'])
  expect(literal.body).toMatchObject({ similar: [{ from: 2 }], understood: null })
})

test('the most alike comes first, a name before what only resembles it', async () => {
  const flat = { kind: 'apartment', title_ar: 'عرض خاص' }
  const made = {
    salmiya: await list(flat),
    salmi: await list({ ...flat, governorate_id: 'jahra', area_id: 'salmi' }),
    salem: await list({ ...flat, governorate_id: 'mubarak-al-kabeer', area_id: 'sabah-al-salem' }),
  }
  const page = await search('شقة سالمييه')
  expect(shown(page, made)).toEqual(['salmiya words', 'salmi words', 'salem words'])
  expect(page.body.understood.guessed).toEqual([
    { from: 'سالمييه', to: ['سالميه', 'سالمي', 'سالم'] },
  ])
})

test('then details, kinds, areas and the price, each only to reach five', async () => {
  const fits = { kind: 'villa', area_id: 'salmiya', price: 100_000, block: '3', bedrooms: 5 }
  const q = 'فيلا للبيع السالمية ق 3 5 غرف اقل من 100 الف'
  const made: Record<string, string> = { fits: await list(fits) }
  const others = {
    both: { block: '4', bedrooms: 2 },
    block: { block: '4' },
    kind: { kind: 'floor' },
    nearest: { area_id: 'rumaithiya' },
    near: { area_id: 'salwa' },
    price: { price: 114_000 },
  }
  for (const [name, columns] of Object.entries(others)) {
    made[name] = await list({ ...fits, ...columns })
  }
  // None of these listings is shown at any step.
  await list({ ...fits, type: 'RENT' })
  await list({ ...fits, kind: 'shop' })
  await list({ ...fits, price: 116_000 })
  await list({ ...fits, governorate_id: 'jahra', area_id: 'kabd' })
  const nearer = ['fits', 'block block', 'both bedroomsMin,block']
  expect(shown(await search(q), made))
    .toEqual([...nearer, 'kind kinds', 'nearest areaIds', 'near areaIds'])
  expect(shown(await search(q, { kinds: ['villa', 'shop'], areaIds: ['salmiya'] }), made))
    .toEqual([...nearer, 'price priceMax'])
  expect(shown(await search(q, { block: '3' }), made))
    .toEqual(['fits', 'kind kinds', 'nearest areaIds', 'near areaIds', 'price priceMax'])
  for (let n = 2; n <= 3; n++) await list(fits)
  expect((await search(q)).body.similar)
    .toEqual([{ from: 3, changed: ['block'] }, { from: 4, changed: ['bedroomsMin', 'block'] }])
  for (let n = 4; n <= 5; n++) await list(fits)
  expect((await search(q)).body).toMatchObject({ items: [{}, {}, {}, {}, {}], similar: [] })
})

test('near a landmark is up to 8 km from it', async () => {
  const at = (lat: number) =>
    list({ kind: 'apartment', lat, lng: 47.934, location_precision: 'exact' })
  const made = { here: await at(29.32), near: await at(29.35), far: await at(29.4) }
  expect(shown(await search('شقة قريبة من الأفنيوز'), made)).toEqual(['here', 'near near'])
})

test('a listing that has nothing of what is asked is not shown', async () => {
  const word = letters()
  const made = {
    kind: await list({ kind: 'farm' }),
    word: await list({ title_ar: `فيلا ${word}` }),
  }
  for (const q of [letters(), '9000 متر', 'ق 77 طابق 99', '1234567']) {
    expect([q, (await search(q)).body]).toMatchObject([q, { items: [], similar: [] }])
  }
  expect(shown(await search('استراحة 9000 متر'), made)).toEqual(['kind areaM2Min,kinds'])
  expect(shown(await search(`9000 متر ${word}`), made)).toEqual(['word areaM2Min'])
})

test('what was given holds, and where it excludes what was read nothing is similar', async () => {
  await list({ kind: 'villa', bedrooms: 2 })
  const excluded = (await search('شاليه', { kinds: ['villa'] })).body
  expect(excluded).toMatchObject({ items: [], similar: [], understood: { conflicts: ['kinds'] } })
  expect((await search('فيلا 9 غرف', { bedroomsMin: 3 })).body.items).toEqual([])
  expect((await search('فيلا للبدل')).body)
    .toMatchObject({ items: [], similar: [], understood: { strategy: 'exchange' } })
})

test('thirty similar ones follow at most, on pages that say what each lacks, as long as it fits', async () => {
  const made: string[] = []
  for (let n = 0; n < 40; n++) {
    made.unshift(
      await list({ kind: 'farm', bedrooms: 2, plot_position: n % 2 ? 'corner' : 'one_street' }),
    )
  }
  const fits = [await list({ kind: 'farm', bedrooms: 7, plot_position: 'corner' })]
  const q = 'مزرعة زاوية 7 غرف'
  const lines = [
    ...fits,
    ...made.filter((_, n) => n % 2 === 0).map((id) => `${id} bedroomsMin`),
    ...made.filter((_, n) => n % 2).map((id) => `${id} bedroomsMin,plotPosition`),
  ].slice(0, 31)
  for (const limit of [1, 7, 50]) {
    const pages = await allPages(q, limit)
    expect([limit, pages.flatMap(({ body }) => linesOf(body))]).toEqual([limit, lines])
    for (const { body } of pages) expect(body.similarFrom).toBe(body.similar[0]?.from ?? null)
    expect(pages.slice(1).map(({ body }) => body.understood)).toEqual(
      pages.slice(1).map(() => null),
    )
  }
  const first = await search(q, { limit: 2 })
  await seller.post(`/properties/${made[2]}/pause`)
  const second = await search(q, { limit: 2, cursor: first.body.nextCursor })
  expect(linesOf(second.body)).toEqual([lines[3], lines[4]])
})

test('of equal changes the order is that of the search', async () => {
  const prices = [300, 100, 200]
  const made: string[] = []
  for (const price of prices) {
    made.push(await list({ kind: 'farm', type: 'RENT', price, bedrooms: 2 }))
  }
  const lines = async (sort: string) => linesOf((await search('مزرعة 9 غرف', { sort })).body)
  expect(await lines('price_asc')).toEqual([1, 2, 0].map((n) => `${made[n]} bedroomsMin`))
  expect(await lines('newest')).toEqual([2, 1, 0].map((n) => `${made[n]} bedroomsMin`))
})

test('a count says that there are similar ones where nothing fits', async () => {
  await list({ kind: 'farm', bedrooms: 2 })
  const count = (q: string) =>
    known(() =>
      guest.post('/search/count', { strategy: 'standard', ownerId: seller.identityId, q })
    )
  expect(await count('مزرعة 9 غرف')).toEqual({ count: 0, capped: false, similar: true })
  expect(await count('مزرعة')).toEqual({ count: 1, capped: false })
  expect(await count('محل 9 غرف')).toEqual({ count: 0, capped: false })
})
