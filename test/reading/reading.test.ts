import { beforeEach, expect, test } from 'vitest'
import { database, guest, type Person, type Reply, signUp } from '../support/client.ts'
import { byHand } from '../admin/studio.ts'
import { publishListing } from '../support/listings.ts'
import { fits, ids, uniqueWord } from '../search/results.ts'
import { typedForms } from '../support/typed-forms.ts'

let seller: Person
let word: string

beforeEach(async () => {
  seller = await signUp()
  word = uniqueWord()
})

type Body = Record<string, unknown>
const search = (body: Body) => guest.post('/search/advanced', { strategy: 'standard', ...body })

const publish = async (fields: Body) =>
  (await publishListing(seller, { descriptionAr: `إعلان ${word}`, ...fields })).id

const found = ({ body }: Reply) =>
  Object.fromEntries(
    body.understood.found.map(({ field, value }: Record<string, string>) => [field, value]),
  )

test('a query is read, and the first page says as what', async () => {
  const house = { kind: 'house', areaId: 'mishref', landAreaM2: 400 }
  const fitting = await publish({ ...house, titleAr: 'عقار مميز' })
  await publish({ ...house, landAreaM2: 500 })
  await publish({ ...house, areaId: 'bayan' })

  const page = await search({ q: `بيت للبيع في مشرف ٤٠٠ متر ${word}` })
  expect(fits(page)).toEqual([fitting])
  expect(page.body).toMatchObject({
    similarFrom: 1,
    understood: { words: [word], ignored: [], guessed: [], conflicts: [], strategy: null },
  })
  expect(found(page)).toEqual({
    type: 'SALE',
    kinds: 'gov_house,house,villa',
    areaIds: 'mishref',
    areaM2Min: '360',
    areaM2Max: '440',
  })
  expect(page.body.understood.found).toContainEqual(
    { field: 'areaIds', value: 'mishref', text: 'مشرف' },
  )
  const sent = new URLSearchParams({ q: `بيت للبيع في مشرف ٤٠٠ متر ${word}` })
  const quick = await guest.get(`/search?${sent}`)
  expect([fits(quick), quick.body.understood]).toEqual([[fitting], page.body.understood])
  expect((await search({})).body).toMatchObject({ similarFrom: null, understood: null })
})

test('kinds and places are judged by the field, whatever the text lists', async () => {
  await publish({
    kind: 'stable',
    areaId: 'kabd',
    titleAr: 'جاخور شقة بيت فيلا أرض دور حولي السالمية الكويت',
    descriptionAr: `للبيع للإيجار شقق وبيوت في حولي والسالمية والعاصمة ${word}`,
  })
  const flat = { kind: 'apartment', titleAr: 'عرض خاص' }
  const inHawalli = await publish({ ...flat, areaId: 'hawalli' })
  const beside = await publish({ ...flat, areaId: 'maidan-hawalli' })
  await publish({ kind: 'office', areaId: 'hawalli', titleAr: 'مكتب وليس شقة' })
  expect(fits(await search({ q: `شقة حولي ${word}` }))).toEqual([inHawalli])
  expect(fits(await search({ q: `شقق ${word}` }))).toEqual([beside, inHawalli])
  expect(fits(await search({ q: `شقق في الكويت ${word}` }))).toEqual([beside, inHawalli])
  const governorate = await search({ q: `شقة محافظة حولي ${word}` })
  expect(found(governorate)).toEqual({ kinds: 'apartment', governorateIds: 'hawalli' })
  expect(fits(governorate)).toEqual([beside, inHawalli])
  const count = { strategy: 'standard', q: `شقة حولي ${word}` }
  expect((await guest.post('/search/count', count)).body).toEqual({ count: 1, capped: false })
  const excluded = await search({ q: `حولي ${word}`, areaIds: ['kabd'] })
  expect([ids(excluded), excluded.body.understood.conflicts]).toEqual([[], ['areaIds']])
  const elsewhere = await search({ q: `محافظة الجهراء ${word}`, areaIds: ['hawalli'] })
  expect([ids(elsewhere), elsewhere.body.understood.conflicts]).toEqual([[], []])
})

test('one word may mean several kinds or areas', async () => {
  const made: Record<string, string> = {}
  const houses = ['house', 'villa', 'gov_house', 'floor']
  const others = ['land', 'residential_plot', 'building', 'investment_building']
  for (const kind of [...houses, ...others]) {
    made[kind] = await publish({ kind, titleAr: 'عرض خاص' })
  }
  const areas = ['shuwaikh', 'shuwaikh-industrial', 'wafra', 'wafra-residential', 'surra', 'sharq']
  const south = ['zahra', 'salam', 'hitteen', 'shuhada', 'siddiq']
  for (const areaId of [...areas, ...south, 'kuwait-city']) {
    made[areaId] = await publish({ kind: 'parking', areaId, titleAr: 'عرض خاص' })
  }
  const means: Record<string, string[]> = {
    'بيت': ['house', 'villa', 'gov_house'],
    'بيت حكومي': ['gov_house'],
    'فيلا': ['house', 'villa'],
    'أرض': ['land', 'residential_plot'],
    'قسيمة': ['land', 'residential_plot'],
    'قسيمة سكنية': ['residential_plot'],
    'الشويخ': ['shuwaikh', 'shuwaikh-industrial'],
    'الشويخ الصناعية': ['shuwaikh-industrial'],
    'الوفرة': ['wafra', 'wafra-residential'],
    'جنوب السرة': south,
    'السرة': ['surra'],
    'العاصمة': ['shuwaikh', 'shuwaikh-industrial', 'surra', 'sharq', 'kuwait-city'],
    'مدينة الكويت': ['kuwait-city', 'sharq'],
    'الديرة': ['kuwait-city', 'sharq'],
    'بناية': ['building', 'investment_building'],
    'عمارة استثمارية': ['investment_building'],
    'موقف سيارات kuwait': [...areas, ...south, 'kuwait-city'],
  }
  for (const [said, names] of Object.entries(means)) {
    const page = await search({ q: `${said} ${word}`, limit: 50 })
    const expected = names.map((name) => made[name]).toSorted()
    expect([said, fits(page).toSorted()]).toEqual([said, expected])
    expect(page.body.understood.words).toEqual([word])
  }
})

test('a detail is judged by the field and, where the listing leaves it open, by its text', async () => {
  const flat = { type: 'RENT', kind: 'apartment', titleAr: 'عرض خاص', bathrooms: null }
  const says = (descriptionAr: string, more = {}) =>
    publish({ ...flat, descriptionAr: `${descriptionAr} ${word}`, ...more })
  const location = (precision: string) => ({ lat: 29.33, lng: 48.07, precision })
  const made = {
    full: await says('للعوائل', { furnished: 'full' }),
    contrary: await says('مفروشة', { furnished: 'none' }),
    furnished: await says('مفروشة بالكامل'),
    bare: await says('غير مفروشة'),
    third: await says('للعوائل', { floorNo: 3 }),
    other: await says('الدور الثالث', { floorNo: 1 }),
    said: await says('شقة بالدور الثالث'),
    digit: await says('طابق ٣ غرف ٥'),
    resident: await says('أول ساكن في الدور الثاني، السعر غير قابل للتفاوض، شقة مفروشة'),
    rooms: await says('دور ٣ غرف، قطعة ٥ متر'),
    block: await says('للعوائل', { block: 'ق ٥', location: location('block') }),
    elsewhere: await says('قطعة ٥', { block: '7', location: location('block') }),
    hidden: await says('قطعة ٥', { block: '5', location: location('area') }),
    joined: await says('ق٥ شارع ٣'),
    corner: await says('زاوية على شارعين'),
    owner: await says('للعوائل', { isDirect: true }),
    baths: await says('للعوائل', { bathrooms: 3 }),
    one: await says('حمامين', { bathrooms: 1 }),
    saidBaths: await says('3 غرف و٤ حمامات'),
    spelt: await says('two bathrooms, قطعة ٩'),
    dual: await says('غرفتين وحمامين'),
    pool: await says('للعوائل', { amenities: ['pool', 'elevator'] }),
    saidPool: await says('حديقة ومسبح', { amenities: ['elevator'] }),
    none: await says('بدون مصعد', { amenities: ['garden'] }),
    direct: await says('للتواصل مع المالك مباشرة بدون وسيط'),
  }
  const cases: Record<string, (keyof typeof made)[]> = {
    'مفروشة': ['full', 'furnished', 'resident'],
    'furnished': ['full', 'furnished', 'resident'],
    'مفروشة بالكامل': ['full', 'furnished', 'resident'],
    'غير مفروشة': ['contrary', 'bare'],
    'الدور الثالث': ['third', 'said', 'digit'],
    'الدور الثاني': ['resident'],
    'الدور الأول': ['other'],
    'طابق 3': ['third', 'said', 'digit'],
    'قطعة 5': ['block', 'hidden', 'joined'],
    'block 5': ['block', 'hidden', 'joined'],
    'corner': ['corner'],
    'شارعين': ['corner'],
    'زاوية ق 5': [],
    'حمامين': ['baths', 'saidBaths', 'spelt', 'dual'],
    '٣ حمامات': ['baths', 'saidBaths'],
    'من المالك': ['owner', 'direct'],
    'مع مسبح': ['pool', 'saidPool'],
    'elevator': ['pool', 'saidPool'],
    'مصعد وحديقة': ['saidPool'],
    'no broker': ['owner', 'direct'],
  }
  for (const [said, names] of Object.entries(cases)) {
    const q = `شقة ${said} ${word}`
    const expected = names.map((name) => made[name]).toSorted()
    const page = await search({ q })
    expect([said, fits(page).toSorted()]).toEqual([said, expected])
    const count = await guest.post('/search/count', { strategy: 'standard', q })
    expect([said, count.body.count]).toEqual([said, expected.length])
  }
  const given = await search({ q: `شقة مفروشة ${word}`, furnished: ['partial', 'full'] })
  expect(fits(given)).toEqual([made.full])
  for (
    const [q, filter] of [
      ['مفروشة', { furnished: 'none' }],
      ['ق 5', { block: '7' }],
      ['من المالك', { isDirect: false }],
    ] as const
  ) {
    const { body } = await search({ q: `شقة ${q} ${word}`, ...filter })
    expect([body.items, body.understood.conflicts]).toEqual([[], Object.keys(filter)])
  }
})

test('دور with an ordinal is the kind floor, too, where no other kind is named', async () => {
  const made: Record<string, string> = {}
  for (const kind of ['floor', 'shop', 'apartment']) {
    made[kind] = await publish({ kind, floorNo: 0, titleAr: 'عرض خاص' })
  }
  await publish({ kind: 'floor', floorNo: 2, titleAr: 'عرض خاص' })
  const cases: [said: string, kinds: string[]][] = [
    ['دور أرضي', ['floor']],
    ['ground floor', ['floor']],
    ['محل دور ارضي', ['shop']],
    ['الدور الأرضي شقة', ['apartment']],
    ['طابق أرضي', ['apartment', 'shop', 'floor']],
  ]
  for (const [said, kinds] of cases) {
    const page = await search({ q: `${said} ${word}` })
    expect([said, fits(page)]).toEqual([said, kinds.map((kind) => made[kind])])
    expect(found(page)).toMatchObject({ floorMin: '0', floorMax: '0' })
  }
  const page = await search({ q: `دور أرضي ${word}`, kinds: ['apartment'] })
  expect(found(page)).not.toHaveProperty('kinds')
  expect([fits(page), page.body.understood.conflicts]).toEqual([[made.apartment], []])
})

test('what is negated is left out, and what contradicts it is named', async () => {
  const made: Record<string, string> = {}
  for (const areaId of ['salmiya', 'hawalli', 'jahra']) made[areaId] = await publish({ areaId })
  made.farm = await publish({ kind: 'farm', areaId: 'wafra' })
  const cases: [q: string, names: string[], filters?: Body][] = [
    ['مو السالمية', ['hawalli', 'jahra', 'farm']],
    ['مو السالمية ولا حولي', ['jahra', 'farm']],
    ['مو محافظة حولي', ['jahra', 'farm']],
    ['محافظة حولي مو السالمية', ['hawalli']],
    ['غير مزرعة', ['salmiya', 'hawalli', 'jahra']],
    ['عدا الوفرة', ['salmiya', 'hawalli'], { notAreaIds: ['jahra'] }],
    ['مو السالمية', ['hawalli'], { areaIds: ['salmiya', 'hawalli'] }],
    ['مو السالمية', ['jahra', 'farm'], { notGovernorateIds: ['hawalli'] }],
    ['', ['hawalli'], { governorateIds: ['hawalli'], notAreaIds: ['salmiya'], notKinds: ['farm'] }],
    ['', [], { areaIds: ['salmiya'], notAreaIds: ['salmiya'] }],
  ]
  for (const [said, names, filters] of cases) {
    const q = `${said} ${word}`
    const page = await search({ q, ...filters })
    expect([q, fits(page)]).toEqual([q, names.map((name) => made[name]).reverse()])
    expect(page.body.understood.words).toEqual([word])
    const count = await guest.post('/search/count', { strategy: 'standard', q, ...filters })
    expect([q, count.body.count]).toEqual([q, names.length])
  }
  expect((await search({ q: `مو السالمية ${word}` })).body.similarFrom).toBe(null)
  const conflicts: [q: string, filters: Body, conflicts: string[]][] = [
    ['مو السالمية', { areaIds: ['salmiya'] }, ['areaIds']],
    ['السالمية', { notAreaIds: ['salmiya', 'jahra'] }, ['notAreaIds']],
    ['غير مزرعة', { kinds: ['farm'] }, ['kinds']],
    ['مو محافظة حولي', { governorateIds: ['hawalli'] }, ['governorateIds']],
    ['مو السالمية', { areaIds: ['salmiya', 'hawalli'] }, []],
    ['السالمية وحولي', { notAreaIds: ['salmiya'] }, []],
  ]
  for (const [said, filters, named] of conflicts) {
    const page = await search({ q: `${said} ${word}`, ...filters })
    expect([said, filters, page.body.understood.conflicts]).toEqual([said, filters, named])
    expect((named.length ? ids : fits)(page)).toHaveLength(named.length ? 0 : 1)
  }
})

test('a word of order is one where none is given, on every page; else it is named in ignored', async () => {
  const made: string[] = []
  for (const price of [300, 100, 200, 400]) {
    made.push(await publish({ type: 'RENT', price, builtAreaM2: price }))
  }
  const [third, first, second, last] = made
  const walk = async (body: Body) => {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Reply = await search({ ...body, limit: 1, ...(cursor && { cursor }) })
      seen.push(...ids(page))
      cursor = page.body.nextCursor
    } while (cursor)
    return seen
  }
  const cases: [said: string, sort: string, order: string[]][] = [
    ['الأرخص', 'price_asc', [first, second, third, last]],
    ['cheapest', 'price_asc', [first, second, third, last]],
    ['أغلى', 'price_desc', [last, third, second, first]],
    ['largest', 'area_desc', [last, third, second, first]],
    ['الأحدث', 'newest', [last, second, first, third]],
  ]
  for (const [said, sort, order] of cases) {
    const q = `${said} ${word}`
    const { body } = await search({ q })
    expect([said, body.understood]).toMatchObject([said, { found: [], words: [word], sort }])
    expect([said, await walk({ q })]).toEqual([said, order])
  }
  const q = `ارخص ${word}`
  expect(await walk({ q, sort: 'newest' })).toEqual([last, second, first, third])
  expect((await search({ q, sort: 'newest' })).body.understood)
    .toMatchObject({ words: [word], ignored: ['ارخص'], sort: null })
  expect((await guest.post('/search/count', { strategy: 'standard', q })).body.count).toBe(4)
  expect(ids(await search({ q, literal: true }))).toEqual([])
  const { body } = await search({ q, limit: 1 })
  const next = await search({ q, limit: 1, cursor: body.nextCursor, sort: 'newest' })
  expect(ids(next)).toEqual([second])
})

test('literal: every word is only a word', async () => {
  const described = await publish({ titleAr: 'بيت للبيع في مشرف', areaId: 'salwa' })
  const house = await publish({ kind: 'house', areaId: 'mishref', titleAr: 'عقار مميز' })
  const q = `للبيع بيت في مشرف ${word}`
  expect(fits(await search({ q }))).toEqual([house])
  const literal = await search({ q, literal: true })
  expect(ids(literal)).toEqual([described])
  expect(literal.body).toMatchObject({ understood: null, similarFrom: null })
  expect(ids(await guest.get(`/search?${new URLSearchParams({ q, literal: 'true' })}`)))
    .toEqual([described])
})

test('what was read and what was given both hold; where they exclude each other it says so', async () => {
  const rent = await publish({ type: 'RENT', price: 250 })
  await publish({ type: 'RENT', price: 450 })
  const q = `للايجار اقل من 300 ${word}`
  expect(fits(await search({ q }))).toEqual([rent])
  expect(fits(await search({ q, priceMin: 200 }))).toEqual([rent])
  const excluded = await search({ q, priceMin: 400, type: 'SALE' })
  expect(excluded.body).toMatchObject({ items: [], nextCursor: null })
  expect(excluded.body.understood.conflicts).toEqual(['type', 'priceMin'])
})

test('a word of another strategy finds nothing and names it; one of its own is dropped', async () => {
  const exchange = { type: 'EXCHANGE', price: null, requestYear: 2012, requiredYear: 2014 }
  const id = await publish(exchange)
  const here = await search({ q: `للبدل ${word}` })
  expect(here.body).toMatchObject({ items: [], understood: { strategy: 'exchange' } })
  const there = await search({ strategy: 'exchange', q: `للبدل ${word}` })
  expect(ids(there)).toEqual([id])
  expect(there.body.understood).toMatchObject({ found: [], strategy: null })
  expect((await search({ strategy: 'exchange', q: `للبيع ${word}` })).body)
    .toMatchObject({ items: [], understood: { strategy: 'standard' } })
})

test('a number of a listing finds that listing and nothing else', async () => {
  const { id, refNo } = await publishListing(seller, {})
  const digits = refNo.slice(3)
  for (
    const q of [...Object.values(typedForms).map((form) => form(refNo)), `KW${digits}`, digits]
  ) {
    const page = await search({ q })
    expect([q, ids(page), found(page)]).toEqual([q, [id], { refNo }])
  }
  expect(ids(await search({ q: '9999999' }))).toEqual([])
})

test('words that say nothing are like no query, signs alone find nothing', async () => {
  const all = ids(await search({ limit: 5 }))
  expect(ids(await search({ limit: 5, q: 'في من على' }))).toHaveLength(all.length)
  expect(ids(await search({ q: ' -- , / ' }))).toEqual([])
})

test('the map shows what a query names, and nothing that is left out', async () => {
  const location = { lat: 29.3434, lng: 48.0789, precision: 'exact' }
  const id = await publish({ kind: 'chalet', location, titleAr: 'إعلان خاص' })
  await publish({ kind: 'villa', location, titleAr: 'إعلان خاص' })
  const map = async (zoom: number, q: string, more = {}) => {
    const query = { bbox: '48.07,29.34,48.09,29.35', zoom: String(zoom), q, ...more }
    return (await guest.get(`/map/listings?${new URLSearchParams(query)}`)).body
  }
  const shown = await map(16, `شاليهات للبيع ${word}`)
  expect(shown.points.map((point: { id: string }) => point.id)).toEqual([id])
  expect(shown.understood).toMatchObject({ words: [word], conflicts: [] })
  expect(await map(12, `شاليهات ${word}`)).toMatchObject({ clusters: [{ count: 1 }] })
  expect(await map(16, `شاليه 7000 متر ${word}`)).toMatchObject({ points: [] })
  expect(await map(16, `شاليه ${word} غغغظظظضضض`)).toMatchObject({ points: [] })
  expect(await map(16, `شاليه للايجار ${word}`, { type: 'SALE' }))
    .toMatchObject({ points: [], understood: { conflicts: ['type'] } })
  expect(await map(16, `إعلان ${word}`, { literal: 'true' }))
    .toMatchObject({ points: [{}, {}], understood: null })
  expect(await map(16, '%')).toMatchObject({ points: [] })
})

test('a word that an admin adds is read from then on, also by a new walk alone', async () => {
  const name = uniqueWord().replace(/[0-9]/g, '') + 'xq'
  const farms = [await publish({ kind: 'farm' }), await publish({ kind: 'farm' })].reverse()
  const texts: string[] = []
  for (let n = 1; n <= 5; n++) texts.unshift(await publish({ titleAr: `عرض ${name} ${n}` }))
  const q = `${name} ${word}`
  const before = await search({ q, limit: 1 })
  expect(ids(before)).toEqual(texts.slice(0, 1))
  await database().query(
    `insert into private.reading_words (phrase, field, value) values ($1, 'kind', 'farm')`,
    [name.toUpperCase()],
  )
  expect(await search({ q, limit: 1, cursor: before.body.nextCursor })).toMatchObject({
    status: 422,
    body: { error: { code: 'cursor_invalid' } },
  })
  expect(fits(await search({ q }))).toEqual(farms)
  await database().query('delete from private.reading_words where phrase = $1', [
    name.toLowerCase(),
  ])
})

test.each([
  ['a name of a place', 'السالمية', 'kind', 'villa', /is the name of area salmiya/],
  ['a name of a kind', 'Villa', 'area', 'salmiya', /is the name of kind villa/],
  ['a word of a type', 'للبيع', 'kind', 'villa', /already says type SALE/],
  ['a word with a meaning', 'مفروشة', 'stopword', '', /already says furnished/],
  ['no word', ' -- ', 'kind', 'villa', /one to five words/],
  ['too many words', 'a b c d e f', 'kind', 'villa', /one to five words/],
  ['an unknown field', 'xyzzy', 'nosuch', '', /field is one of/],
  ['an unknown code', 'xyzzy', 'kind', 'nosuch', /value is a code of kind/],
  ['no number', 'xyzzy', 'times', 'many', /value is a number/],
  ['an unknown landmark', 'xyzzy', 'landmark', '29.3 47.9', /value is a code of landmark/],
  ['a value that says nothing', 'xyzzy', 'stopword', 'villa', /value stays empty/],
])('%s is refused as a new word, with a sentence', async (_, phrase, field, value, sentence) => {
  const added = database().query(
    'insert into private.reading_words (phrase, field, value) values ($1, $2, $3)',
    [phrase, field, value],
  )
  await expect(added).rejects.toThrow(sentence)
})

test('names of places are changed where they stand, and are read as they are changed', async () => {
  const db = database()
  await expect(byHand(`delete from private.reading_words where phrase = 'سالميه'`)).rejects.toThrow(
    /name of a place or kind/,
  )
  await expect(byHand(`update private.reading_words set value = 'x' where phrase = 'سالميه'`))
    .rejects.toThrow(/name of a place or kind/)
  const client = await db.connect()
  try {
    await client.query('begin')
    await client.query(`update public.areas set alias_ar = 'ظظظقق الكبرى' where id = 'doha'`)
    const { rows } = await client.query(
      `select (private.read_query('ظظظقق الكبري', 'standard')).found as found`,
    )
    expect(rows[0].found).toMatchObject([{ field: 'areaIds', value: 'doha' }])
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('the first 30 words are read, repeats among them; with literal, the first 30 different ones', async () => {
  const { id } = await publishListing(seller, { titleAr: `شقة في ${word}` })
  const after = (times: number) => `${'في '.repeat(times)}${word}`
  const words = async (q: string) => (await search({ q })).body.understood.words
  expect(await words(after(29))).toEqual([word])
  expect(await words(after(30))).toEqual([])
  expect(fits(await search({ q: after(30), literal: true }))).toEqual([id])
})
