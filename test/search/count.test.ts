import { beforeEach, expect, test } from 'vitest'
import { guest, type Person, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { known, uniqueWord } from './results.ts'
import { spread } from './vocabulary.ts'

let seller: Person

beforeEach(async () => {
  seller = await signUp()
})

const count = (body: Record<string, unknown>) =>
  known(() => guest.post('/search/count', { strategy: 'standard', ...body }))
const quick = (query: Record<string, string>) =>
  known(() => guest.get(`/search/count?${new URLSearchParams(query)}`))
const exactly = (count: number) => ({ count, capped: false })

test('a count is of what the search lists, by body and by query string', async () => {
  const word = uniqueWord()
  for (const [n, areaId] of ['salmiya', 'salmiya', 'qibla'].entries()) {
    await publishListing(seller, { titleAr: `شقة ${word}`, areaId, bedrooms: n + 1 })
  }
  expect(await count({ q: word })).toEqual(exactly(3))
  expect(await quick({ q: `${word} السالمية` })).toEqual(exactly(2))
  expect(await count({ q: word, areaIds: ['salmiya'], bedroomsMin: 2 })).toEqual(exactly(1))
  expect(await quick({ q: word, areaIds: 'salmiya', bedroomsMin: '4' })).toEqual(exactly(0))
  expect(await count({ q: `${word} السالمية`, areaIds: ['qibla'] })).toEqual(exactly(0))
  expect(await count({ q: `${word} للبدل` })).toEqual(exactly(0))
  expect(await count({ strategy: 'exchange', q: word })).toEqual(exactly(0))
  expect(await count({ q: '؟!' })).toEqual(exactly(0))
})

test('each strategy counts its own, and no longer what was taken off the market', async () => {
  const company = await insertOrganisation(seller.id, 'company')
  const word = uniqueWord()
  const { id } = await publishListing(seller, { titleAr: `فيلا ${word}` })
  await seller.post('/auth/identity/switch', { identityId: company })
  await publishListing(seller, { titleAr: `بيت ${word}` })
  expect(await count({ q: word })).toEqual(exactly(2))
  expect(await count({ strategy: 'company', q: word })).toEqual(exactly(1))
  expect(await count({ strategy: 'company', companyId: company })).toEqual(exactly(1))
  await seller.post('/auth/identity/switch', { identityId: seller.identityId })
  expect((await seller.post(`/properties/${id}/pause`)).status).toBe(200)
  expect(await count({ q: word })).toEqual(exactly(1))
})

test('what is only like it is not counted, but told of where nothing fits', async () => {
  const letters = 'بتثجحخدرزسشصضطظعغفقكلمنهو'
  const word = Array.from({ length: 12 }, () => letters[Math.floor(Math.random() * 25)]).join('')
  await publishListing(seller, { titleAr: `شقة ${word}` })
  await spread(word)
  const misspelt = { q: `${word.slice(0, -1)}${word.endsWith('ب') ? 'ت' : 'ب'}` }
  expect(await count(misspelt)).toEqual({ ...exactly(0), similar: true })
  expect(await quick(misspelt)).toEqual({ ...exactly(0), similar: true })
  expect(await quick({ ...misspelt, literal: 'true' })).toEqual({ ...exactly(0), similar: true })
  expect(await count({ ...misspelt, bedroomsMin: 90 })).toEqual(exactly(0))
  expect(await count({ q: word })).toEqual(exactly(1))
  expect(await count({ q: `${word} 7777 متر` })).toEqual({ ...exactly(0), similar: true })
  const { body } = await guest.post('/search/advanced', { strategy: 'standard', ...misspelt })
  expect([body.items.length, body.similarFrom]).toEqual([1, 0])
})

test('SRCH-09 a count has no order, no pages and no cards; what else is refused a search refuses, too', async () => {
  const post = (body: unknown) => guest.post('/search/count', body)
  for (
    const [name, value] of Object.entries({ sort: 'newest', cursor: 'x', limit: 5, fields: 'card' })
  ) {
    const refused = {
      status: 422,
      body: { error: { code: 'filter_unknown', fields: [{ path: name, code: 'filter_unknown' }] } },
    }
    expect(await post({ strategy: 'standard', [name]: value })).toMatchObject(refused)
    expect(await guest.get(`/search/count?${name}=${value}`)).toMatchObject(refused)
  }
  const code = async (body: unknown) => (await post(body)).body.error.code
  expect(await code({ strategy: 'Standard' })).toBe('search_strategy_unknown')
  for (const none of [{}, { strategy: null }]) expect(await code(none)).toBe('validation_failed')
  expect(await code({ strategy: 'standard', requestYearMin: 2030 })).toBe('filter_unknown')
  expect(await code({ strategy: 'standard', priceMin: 2, priceMax: 1 })).toBe('range_invalid')
  expect(await code({ strategy: 'standard', bbox: [1, 1, 1, 1] })).toBe('bbox_invalid')
  expect(await code({ strategy: 'standard', q: 'x'.repeat(201) })).toBe('validation_failed')
  expect((await guest.get('/search/count?strategy=deal')).body.error.code).toBe('filter_unknown')
})
