import { describe, expect, test } from 'vitest'
import { cleaned } from '../../test/support/stand-ins.ts'
import {
  chooseExamples,
  type Example,
  type Found,
  operationsOf,
  printExamples,
  untrueIn,
  visitObjects,
} from './examples.ts'
import { validatorOf } from './validators.ts'

const text = { type: 'string' }
const schemas = {
  Thing: { type: 'object', properties: { id: text, name: text }, required: ['id'] },
}
const thing = { $ref: '#/components/schemas/Thing' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const description = {
  components: { schemas },
  paths: {
    '/things/{id}': {
      get: {
        operationId: 'get_thing',
        parameters: [
          { name: 'id', in: 'path', schema: text },
          { name: 'limit', in: 'query', schema: { type: 'integer' } },
        ],
        responses: { 200: json(thing) },
      },
      put: {
        operationId: 'put_thing',
        parameters: [{ name: 'id', in: 'path', schema: text }],
        requestBody: { required: true, ...json(thing) },
        responses: { 204: {} },
      },
    },
  },
}
const operations = operationsOf(description)
const validate = validatorOf(schemas)
const good: Example = { request: 'GET /things/1', status: 200, answer: { id: '1' } }
const found = (examples: Found['examples'], more: Partial<Found> = {}): Found => ({
  whole: false,
  examples,
  kinds: {},
  types: {},
  always: {},
  ...more,
})
const chosen = (present: Example[], ...others: Example[]) =>
  chooseExamples(
    operations,
    Object.fromEntries(present.map((one) => ['get_thing', one])),
    found({ get_thing: others }),
    validate,
    schemas,
  ).get_thing

describe('an example', () => {
  const other = { ...good, request: 'GET /things/2' }

  test('stays while it holds, and else is the first found that does', () => {
    expect(chosen([good], other)).toBe(good)
    expect(chosen([], other)).toBe(other)
    const wrong: Example[] = [
      { ...good, answer: { id: 1 } },
      { ...good, answer: { name: 'a' } },
      { ...good, answer: { id: '1', colour: 'red' } },
      { ...good, query: { limit: 'ten' } },
      { ...good, query: { colour: 'red' } },
      { ...good, status: 201 },
      { request: 'GET /things/1', status: 200 },
    ]
    for (const one of wrong) expect(chosen([one], other)).toBe(other)
    expect(chosen(wrong)).toBeUndefined()
  })

  test('gets null for a field that is new, where that may be null', () => {
    const taught = (colour: object) => {
      const newer = {
        Thing: {
          ...schemas.Thing,
          properties: { ...schemas.Thing.properties, colour },
          required: ['id', 'colour'],
        },
      }
      const kept = chooseExamples(
        operationsOf(structuredClone(description)),
        { get_thing: good },
        undefined,
        validatorOf(newer),
        newer,
      )
      return kept.get_thing?.answer
    }
    expect(taught({ type: ['string', 'null'] })).toEqual({ id: '1', colour: null })
    expect(taught(text)).toBeUndefined()
    expect(good.answer).toEqual({ id: '1' })
  })

  test('has the body that its operation needs', () => {
    const put = (example: Example) =>
      chooseExamples(operations, { put_thing: example }, undefined, validate, schemas).put_thing
    expect(put({ request: 'PUT /things/1', body: { id: '1' }, status: 204 })).toBeDefined()
    expect(put({ request: 'PUT /things/1', status: 204 })).toBeUndefined()
    expect(put({ request: 'PUT /things/1', body: { id: 1 }, status: 204 })).toBeUndefined()
  })

  test('is untrue where answers have other fields or types', () => {
    const answers = found({}, {
      kinds: { list: { '': 'ThingPage', 'items[]': 'Thing' } },
      types: { ThingPage: { items: ['array'] }, Thing: { id: ['string'], at: ['null'] } },
      always: { ThingPage: ['items'], Thing: ['id', 'at'] },
    })
    const faults = (answer: unknown) =>
      untrueIn('list', { request: 'GET /things', status: 200, answer }, answers)
    expect(faults({ items: [{ id: '1', at: null }] })).toEqual([])
    expect(faults({ items: [] })).toEqual([])
    expect(faults({ items: [{ id: 1, at: null }] }))
      .toEqual(['items[].id is number in the example, and in no answer'])
    expect(faults({ items: [{ id: '1' }] }))
      .toEqual(['every items[] has at, and the example has not'])
    expect(faults({ items: [], more: true }))
      .toEqual(['more is boolean in the example, and in no answer'])
  })
})

test('objects are visited where their fields are described, those of a component by its name', () => {
  const page = {
    properties: {
      items: { items: { anyOf: [thing, { type: 'null' }] } },
      any: { type: 'object' },
      more: { properties: { thing } },
    },
  }
  const seen: string[][] = []
  const value = { items: [{ id: '1' }, null], any: { id: 1 }, more: { thing: { id: '2' } } }
  visitObjects(value, page, schemas, (_, place, kind) => seen.push([place, kind]))
  expect(seen).toEqual([['', ''], ['items[]', 'Thing'], ['more', ''], ['more.thing', 'Thing']])
})

test('what a run makes anew has stand-ins, the same in request and answer', () => {
  const now = Date.parse('2031-05-05T05:05:05Z')
  const id = 'b78862f1-2115-457a-8337-496df49a0f42'
  const met = cleaned({
    request: `GET /things/${id}`,
    body: { identifier: '+96550001234', password: id, code: '482913', limit: 3 },
    answer: {
      id,
      phone: '50001234',
      email: `${id}@example.com`,
      createdAt: '2031-05-05T05:05:04.12+00:00',
      endsAt: '2031-05-06T05:05:04Z',
      licenceExpiresOn: '2031-06-04',
      url: `http://127.0.0.1:61234/storage/v1/object/public/${id}/4f00aa11bb22cc33dd44.jpg`,
      refNo: 'KW-998877',
      titleAr: 'شقة للإيجار في السالمية',
      nextCursor: 'eyJhIjoxfQ',
    },
  }, now)
  expect(met).toEqual({
    request: 'GET /things/00000000-0000-4000-8000-000000000001',
    body: { identifier: '+96555512345', password: 'Diwaniya-2026', code: '123456', limit: 3 },
    answer: {
      id: '00000000-0000-4000-8000-000000000001',
      phone: '55512345',
      email: 'salem@example.com',
      createdAt: '2026-11-01T09:00:00.482+00:00',
      endsAt: '2026-11-02T09:00:00Z',
      licenceExpiresOn: '2026-12-01',
      url: 'http://127.0.0.1:54321/storage/v1/object/public/00000000-0000-4000-8000-000000000001/' +
        '00000000000000000001.jpg',
      refNo: 'KW-104233',
      titleAr: 'شقة للإيجار في السالمية',
      nextCursor: 'b3BhcXVl',
    },
  })
  expect(cleaned(met, Date.parse('2026-11-01T09:00:00Z'))).toEqual(met)
})

test('the file says on its first line what makes it, and is what was printed', () => {
  const file = printExamples({ get_thing: good })
  expect(file.split('\n')[0]).toMatch(/"generated": "Generated by \\"npm run docs\\"/)
  expect(JSON.parse(file)).toMatchObject({ get_thing: good })
})
