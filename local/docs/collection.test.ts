import { expect, test } from 'vitest'
import { collectionOf } from './collection.ts'

test('a collection has a folder for each area, with the examples of its operations', () => {
  const json = (example: unknown) => ({ content: { 'application/json': { example } } })
  const operation = { summary: 'Change it', description: 'By its id.', tags: ['things'] }
  const collection = collectionOf({
    info: { title: 'Things', version: '1' },
    servers: [{ url: 'https://things.example' }],
    tags: [{ name: 'things', description: 'All of them.' }, { name: 'other', description: '' }],
    paths: {
      '/things/{id}': {
        patch: {
          ...operation,
          security: [],
          parameters: [
            { name: 'id', in: 'path', example: 'a' },
            { name: 'q', in: 'query', example: 'ب' },
            { name: 'limit', in: 'query' },
            { $ref: '#/components/parameters/IdempotencyKey' },
          ],
          requestBody: json({ name: 'بيت' }),
          responses: { 200: json({ id: 'a' }), 404: json({}) },
        },
      },
    },
  })
  const request = {
    method: 'PATCH',
    auth: { type: 'noauth' },
    header: [{ key: 'Idempotency-Key', value: '{{$guid}}' }],
    url: {
      raw: '{{api}}/things/:id?q=%D8%A8',
      path: ['things', ':id'],
      query: [{ key: 'q', value: 'ب' }],
      variable: [{ key: 'id', value: 'a' }],
    },
    body: { mode: 'raw', raw: '{\n  "name": "بيت"\n}' },
  }
  expect(collection).toMatchObject({
    variable: [{ key: 'api', value: 'https://things.example' }, {}, {}],
    item: [
      {
        name: 'things',
        item: [{ name: 'PATCH /things/{id}', request, response: [{ code: 200 }] }],
      },
      { name: 'other', item: [] },
    ],
  })
})
