import { beforeAll, expect, test } from 'vitest'
import { database, guest, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { letters } from './world.ts'
import { countSuggestions, countWords, spread } from './vocabulary.ts'
import { waitUntil } from '../support/wait.ts'

type Suggestion = {
  text: string
  kind: string
  filters: Record<string, unknown>
  count: number | null
}

const suggest = async (q: string, limit = 8): Promise<Suggestion[]> => {
  const reply = await guest.get(
    `/search/suggest?${new URLSearchParams({ q, limit: String(limit) })}`,
  )
  expect(reply.status, q).toBe(200)
  return reply.body.items
}
const texts = async (q: string) => (await suggest(q)).map(({ text }) => text)

const word = letters()

beforeAll(async () => {
  const { identityId } = await signUp()
  for (
    const [type, kind, area_id, governorate_id] of [
      ['RENT', 'apartment', 'salmiya', 'hawalli'],
      ['SALE', 'villa', 'sabah-al-salem', 'mubarak-al-kabeer'],
      ['EXCHANGE', 'gov_house', 'salmiya', 'hawalli'],
    ]
  ) {
    await insertListing(identityId, {
      type,
      kind,
      area_id,
      governorate_id,
      title_ar: `بيت ${word}`,
    })
  }
  await countWords(word)
  await countSuggestions()
})

test.each([
  ['السال', 'السالمية', { areaIds: ['salmiya'] }],
  ['الس', 'السالمية', { areaIds: ['salmiya'] }],
  ['سالميه', 'السالمية', { areaIds: ['salmiya'] }],
  ['salmi', 'Salmiya', { areaIds: ['salmiya'] }],
  ['Al-Salm', 'Salmiya', { areaIds: ['salmiya'] }],
  ['7awal', 'Hawalli', { areaIds: ['hawalli'] }],
  ['جبل', 'القبلة', { areaIds: ['qibla'] }],
  ['صباح الس', 'صباح السالم', { areaIds: ['sabah-al-salem'] }],
  ['محافظة الف', 'محافظة الفروانية', { governorateIds: ['farwaniya'] }],
  ['شاليه', 'شاليه', { kinds: ['chalet'] }],
  ['apartm', 'Apartment', { kinds: ['apartment'] }],
  ['sha2', 'Apartment', { kinds: ['apartment'] }],
  ['بيوت حك', 'بيت حكومي', { kinds: ['gov_house'] }],
])('%s may become %s', async (q, text, filters) => {
  expect(await suggest(q)).toContainEqual(expect.objectContaining({ text, filters }))
})

test.each([
  ['السالمبة', 'السالمية'],
  ['الساملية', undefined], // two letters are wrong
  ['سالمبه', 'السالمية'],
  ['كالمية', 'السالمية'],
  ['سلمية', 'السالمية'],
  ['ساالمية', 'السالمية'],
  ['jabxxya', undefined],
  ['jabriha', 'Jabriya'],
  ['jqb', undefined], // in a word of three letters, none may be wrong
  ['صباح السالن', 'صباح السالم'],
])('%s is %s but for a letter', async (q, text) => {
  if (text) expect(await texts(q)).toContain(text)
  else expect(await suggest(q)).toEqual([])
})

test.each([
  ['شقق للايجار الس', 'شقة للإيجار في السالمية', {
    type: 'RENT',
    kinds: ['apartment'],
    areaIds: ['salmiya'],
  }],
  ['السالمية شق', 'شقة للإيجار في السالمية', {
    type: 'RENT',
    kinds: ['apartment'],
    areaIds: ['salmiya'],
  }],
  ['flats for rent in salm', 'Apartment for rent in Salmiya', {
    type: 'RENT',
    kinds: ['apartment'],
    areaIds: ['salmiya'],
  }],
  ['شقق للا', 'شقة للإيجار', { type: 'RENT', kinds: ['apartment'] }],
  ['فيلا للبيع صباح السا', 'فيلا للبيع في صباح السالم', {
    type: 'SALE',
    kinds: ['villa'],
    areaIds: ['sabah-al-salem'],
  }],
  ['بيت حكومي للبدل السال', 'بيت حكومي للبدل في السالمية', {
    strategy: 'exchange',
    type: 'EXCHANGE',
    kinds: ['gov_house'],
    areaIds: ['salmiya'],
  }],
])('%s may become the phrase %s', async (q, text, filters) => {
  expect(await suggest(q)).toContainEqual({
    text,
    kind: 'phrase',
    filters,
    count: expect.any(Number),
  })
})

test('no phrase is suggested of which nothing is listed, and places without listings are', async () => {
  const { rows } = await database().query(
    `select areas.name_ar as name from public.areas where not exists (
       select from private.search_documents where area_id = areas.id) limit 1`,
  )
  if (rows[0]) expect((await suggest(rows[0].name)).map(({ kind }) => kind)).toContain('area')
  expect(await suggest('مخيم للبدل في فيلكا')).toEqual([])
})

test('what is counted is what the search counts with these filters', async () => {
  // All queries use one database snapshot, because other tests publish in the meantime.
  const client = await database().connect()
  const ask = async (sql: string, values: unknown[]) =>
    (await client.query(`select ${sql} as answer`, values)).rows[0].answer
  try {
    await waitUntil('none but us counts', async () => {
      await client.query('begin isolation level repeatable read')
      try {
        if (await ask(`private.count_suggestions('0')`, []) > 0) return true
      } catch (error) {
        expect(error).toMatchObject({ code: '40001' })
      }
      await client.query('rollback')
      return false
    })
    for (const q of ['شقق', 'السالمية', 'حولي', 'للبيع', 'بيت حكومي للبدل', 'villa']) {
      const items: Suggestion[] = (await ask('private.suggest($1, 20)', [q])).items
      for (const { filters: { strategy = 'standard', ...filters }, count, text } of items) {
        if (count === null) continue
        const counted = await ask('private.count_listings($1, $2)', [strategy, filters])
        expect([text, counted.count]).toEqual([text, Math.min(count, 1000)])
      }
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('a word is suggested once five accounts wrote it, and no more from the moment that it is hidden', async () => {
  const begun = word.slice(0, -2)
  expect(await suggest(begun)).toEqual([])
  await spread(word)
  const one = { text: word, kind: 'word', filters: { q: word }, count: null }
  expect(await suggest(begun)).toEqual([one])
  expect(await suggest(`${word.slice(0, 4)}xx`)).toEqual([])
  expect(await suggest(`${word.slice(0, 4)}${word[4] === 'ب' ? 'ت' : 'ب'}${word.slice(5)}`))
    .toEqual([one])
  const whole = `3 غرف ${word}`
  expect(await suggest(`3 غرف ${begun}`)).toEqual([{ ...one, text: whole, filters: { q: whole } }])
  await database().query('insert into private.suggest_hidden values ($1)', [`ال${word}`])
  expect(await suggest(begun)).toEqual([])
  await database().query('delete from private.suggest_hidden where word = $1', [`ال${word}`])
})

test.each([
  ['الأفن', 'الأفنيوز'],
  ['الافنبوز', 'الأفنيوز'],
  ['avenu', 'The Avenues'],
  ['the avanues', 'The Avenues'],
  ['مارينا م', 'مارينا مول'],
  ['مستشفى جاب', 'مستشفى جابر الأحمد'],
])('%s may become the landmark %s, found as it is read', async (q, text) => {
  const found = (await suggest(q)).find((item) => item.text === text)!
  expect(found).toMatchObject({ kind: 'landmark', count: null })
  const reply = await guest.post('/search/advanced', { strategy: 'standard', ...found.filters })
  expect(reply.status).toBe(200)
  const { rows: [{ filters }] } = await database().query(
    `select (private.read_query($1, 'standard')).filters as filters`,
    [text],
  )
  const { lat, lng, km } = found.filters.near as Record<string, number>
  expect(filters).toEqual({ near: [lat, lng, km] })
})

test('after a landmark as before it the whole text is completed, after phrases', async () => {
  for (
    const [q, text] of [
      ['شقق مارينا م', 'شقق مارينا مول'],
      ['شقة للايجار يم الافن', 'شقة للايجار يم الأفنيوز'],
      ['flat near the avanu', 'flat near The Avenues'],
      ['الافنيوز شق', 'الافنيوز شقة'],
    ]
  ) {
    expect(await suggest(q!)).toContainEqual({
      text,
      kind: 'word',
      filters: { q: text },
      count: null,
    })
  }
})

test('a landmark that an admin adds, renames or deletes is read at once', async () => {
  const client = await database().connect()
  try {
    await client.query('begin')
    const reads = async (q: string) =>
      (await client.query(`select (private.read_query($1, null)).filters as read`, [q])).rows[0]
        .read
    await client.query(
      `insert into private.landmarks values ('zz', 'برج ظظقق', 'Zzqq Tower', 29.3, 47.9)`,
    )
    await client.query(`insert into private.reading_words values ('zzqqy', 'landmark', 'zz')`)
    for (const q of ['برج ظظقق', 'zzqq tower', 'zzqqy']) {
      expect(await reads(q)).toEqual({ near: [29.3, 47.9, 3] })
    }
    await client.query(`update private.landmarks set name_ar = 'برج ظظغغ' where id = 'zz'`)
    expect(await reads('برج ظظقق')).toEqual({})
    expect(await reads('برج ظظغغ')).toEqual({ near: [29.3, 47.9, 3] })
    await client.query(`delete from private.landmarks where id = 'zz'`)
    for (const q of ['برج ظظغغ', 'zzqqy']) expect(await reads(q)).toEqual({})
    await expect(client.query(`insert into private.landmarks values ('zz', 'x', 'x', 51.5, 0.1)`))
      .rejects
      .toThrow('landmarks_are_in_kuwait')
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('after what is more than place, kind and type the whole text is completed, by names first', async () => {
  const text = 'شقة 3 غرف السالمية'
  expect((await suggest('شقة 3 غرف السال'))[0]).toEqual({
    text,
    kind: 'word',
    filters: { q: text },
    count: null,
  })
})

test('what is not wanted is not suggested', async () => {
  for (const q of ['مو السالمية شق', 'مو شقة الس']) {
    const items = await suggest(q)
    expect(items.filter(({ filters }) => filters.areaIds || filters.kinds), q).toEqual([])
  }
})

test('nothing is suggested for nothing, and as many as are asked for', async () => {
  for (const q of ['', '  ', 'ـــ', '؟!', 'x'.repeat(200)]) expect(await suggest(q)).toEqual([])
  expect((await guest.get('/search/suggest')).body).toEqual({ items: [] })
  expect(await suggest('ا', 3)).toHaveLength(3)
  const refused = async (query: string) => (await guest.get(`/search/suggest?${query}`)).status
  expect(await refused('q=x&limit=0')).toBe(422)
  expect(await refused('q=x&limit=51')).toBe(422)
  expect(await refused(`q=${'x'.repeat(201)}`)).toBe(422)
  expect(await refused('q=x&kind=area')).toBe(422)
})
