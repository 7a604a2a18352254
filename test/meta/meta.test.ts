import { expect, test } from 'vitest'
import { guest } from '../support/client.ts'

const lists = ['governorates', 'areas', 'kinds', 'amenities', 'enums']

test('the governorates and areas of Kuwait are there, each area in its governorate', async () => {
  const governorates = (await guest.get('/meta/governorates')).body.items
  const areas = (await guest.get('/meta/areas')).body.items

  expect(governorates.map((one: { id: string }) => one.id)).toEqual(
    ['capital', 'hawalli', 'farwaniya', 'mubarak-al-kabeer', 'ahmadi', 'jahra'],
  )
  expect(areas).toHaveLength(119)
  expect(areas[0]).toEqual({
    id: 'kuwait-city',
    governorateId: 'capital',
    nameAr: 'مدينة الكويت',
    nameEn: 'Kuwait City',
    aliasAr: null,
    lat: 29.37,
    lng: 47.978,
    approximate: false,
  })
  const known = new Set(governorates.map((one: { id: string }) => one.id))
  for (const area of areas) expect(known).toContain(area.governorateId)
})

test('kinds say which types of listing they usually have', async () => {
  const { items } = (await guest.get('/meta/kinds')).body

  expect(items).toHaveLength(24)
  expect(items[4]).toEqual({
    code: 'gov_house',
    textAr: 'بيت حكومي',
    textEn: 'Government house',
    usualTypes: ['EXCHANGE', 'SALE'],
  })
})

test('enums holds every vocabulary, in display order', async () => {
  const { body } = await guest.get('/meta/enums')
  const { items } = (await guest.get('/meta/amenities')).body

  expect(Object.keys(body)).toHaveLength(14)
  expect(body.amenity).toEqual(items)
  expect(body.plotPosition.map((word: { code: string }) => word.code)).toEqual([
    'one_street',
    'corner',
    'two_streets',
    'front_back',
    'street_alley',
    'head_three_sides',
    'on_square',
  ])
  expect(body.kind).toHaveLength(24)
})

test.each(lists)('/meta/%s is sent once: a client that has it gets 304', async (name) => {
  const first = await guest.get(`/meta/${name}`)
  // A proxy that compresses the answer makes its ETag weak.
  const tag = first.headers.get('etag')!.replace(/^W\//, '')

  expect(first.status).toBe(200)
  expect(first.headers.get('cache-control')).toBe('public, max-age=300, s-maxage=86400')
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
    const again = await guest.get(`/meta/${name}`, { headers: { 'if-none-match': known } })
    expect(again).toMatchObject({ status: 304, body: null })
    expect(again.headers.get('etag')).toBe(tag)
  }
  const other = await guest.get(`/meta/${name}`, { headers: { 'if-none-match': '"other"' } })
  expect(other).toMatchObject({ status: 200, body: first.body })
})

test.each(lists)('/meta/%s accepts no parameters and no other method', async (name) => {
  expect(await guest.get(`/meta/${name}?limit=1`)).toMatchObject({
    status: 422,
    body: { error: { code: 'validation_failed', fields: [{ path: 'limit', code: 'unknown' }] } },
  })
  expect(await guest.post(`/meta/${name}`, {})).toMatchObject({
    status: 405,
    body: { error: { code: 'method_not_allowed' } },
  })
})
