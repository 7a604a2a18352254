import { expect, test } from 'vitest'
import { database, guest } from '../support/client.ts'
import { description, resolve, type Schema } from '../support/openapi.ts'

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

type Words = Record<string, { code: string }[]>

function codesIn(schema: Schema, path: string, seen: Set<string>): [string, string[]][] {
  if (schema.$ref) {
    if (seen.has(schema.$ref)) return []
    seen.add(schema.$ref)
    return codesIn(resolve(schema), schema.$ref.split('/').at(-1)!, seen)
  }
  const codes = (schema.enum ?? []).filter((code) => typeof code === 'string')
  return [
    ...(codes.length ? [[path, codes] as [string, string[]]] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
      codesIn(part, `${path}.${name}`, seen)
    ),
    ...[schema.items, schema.anyOf, schema.oneOf, schema.allOf, schema.additionalProperties].flat()
      .flatMap((part) => typeof part === 'object' ? codesIn(part, path, seen) : []),
  ]
}

test('whatever code an answer can hold, enums has its words', async () => {
  const { body: words }: { body: Words } = await guest.get('/meta/enums')
  // Apps do not show these fields to people: constants, media types, and values for monitoring or browsers.
  const bare =
    /^(Session|SocialSession)\.tokenType$|\.currency$|^Document\.type$|^(Health|Passkey\w+)\./
  const seen = new Set<string>()
  const answers = Object.values(description.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, response]) =>
        status < '300' && 'content' in response
          ? Object.values(response.content ?? {}).flatMap(({ schema }) =>
            codesIn(schema, operationId, seen)
          )
          : []
      )
    )
  ).filter(([path]) => !bare.test(path))
  expect(answers.length).toBeGreaterThan(60)
  const lists = Object.values(words).map((items) => items.map(({ code }) => code))
  const wordless = answers.filter(([, codes]) =>
    !lists.some((list) => codes.every((code) => list.includes(code)))
  )
  expect(wordless).toEqual([])

  const { strategy, sort } = resolve({ $ref: '#/components/schemas/Search' }).properties!
  const { rows: [{ routes }] } = await database().query(
    'select array_agg(distinct route order by route) as routes from private.notification_kinds',
  )
  const codesOf = (name: string) => words[name]!.map(({ code }) => code)
  expect(codesOf('searchStrategy')).toEqual(strategy!.enum)
  expect(codesOf('searchSort')).toEqual(sort!.enum)
  expect(codesOf('notificationRoute').toSorted()).toEqual(routes)
})

test.each(lists)('/meta/%s is sent once: a client that has it gets 304', async (name) => {
  const first = await guest.get(`/meta/${name}`)
  // A proxy that compresses the response makes its ETag weak.
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
