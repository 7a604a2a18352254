import { expect, test } from 'vitest'
import { type Schema, undescribedFields } from './sentences.ts'

const described = (
  schemas: Record<string, Schema>,
  parameters = [{ name: 'limit', in: 'query' }],
) =>
  undescribedFields({
    paths: { '/things': { get: { operationId: 'list_things', parameters } } },
    components: { schemas },
  })

test('a record, a field and a parameter without a sentence are found, however deep', () => {
  const schemas = {
    Thing: { properties: { id: {}, weight: {}, parts: { items: { properties: { size: {} } } } } },
    Other: { description: 'Another.', allOf: [{ properties: { colour: {} } }] },
  }
  expect(described(schemas)).toEqual([
    'Thing',
    'Thing.weight',
    'Thing.parts',
    'Thing.parts.size',
    'Other.colour',
    'list_things?limit',
  ])
})

test('what refers to a record that is described needs no sentence of its own', () => {
  const schemas = {
    Owner: { description: 'Who offers it.' },
    Thing: {
      description: 'A thing.',
      properties: {
        owner: { $ref: '#/components/schemas/Owner' },
        buyer: { anyOf: [{ $ref: '#/components/schemas/Owner' }, {}] },
        others: { items: { $ref: '#/components/schemas/Owner' } },
      },
    },
  }
  expect(described(schemas, [])).toEqual([])
})

test('counts of many words are described as a whole', () => {
  const counts = { description: 'By status.', properties: { open: {}, paid: {}, void: {} } }
  expect(described({ Figures: { description: 'Figures.', properties: { counts } } }, [])).toEqual(
    [],
  )
})
