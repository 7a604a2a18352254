// Checks that the OpenAPI description, as served, follows the rules for client generators.
import { expect, test } from 'vitest'
import { plainDescription, type Schema } from '../support/openapi.ts'

const { paths, components } = plainDescription

type Found = { at: string; schema: Schema }

function schemasIn(part: unknown, at = '', isSchema = false): Found[] {
  if (typeof part !== 'object' || !part) return []
  return [
    ...(isSchema ? [{ at, schema: part }] : []),
    ...Object.entries(part)
      // These keywords contain exact schemas, which generators ignore, or examples, which are not schemas.
      .filter(([name]) => !/^(x-any-of|examples?|not)$/.test(name) || /properties$/.test(at))
      .flatMap(([name, one]) =>
        schemasIn(
          one,
          `${at}/${name}`,
          /^(schema|items|additionalProperties)$/.test(name) && !/properties$/.test(at) ||
            /(^\/schemas|\/(properties|anyOf|oneOf|allOf))$/.test(at),
        )
      ),
  ]
}

const all = [...schemasIn(paths), ...schemasIn({ schemas: components.schemas })]
const where = (isSo: (schema: Schema, at: string) => unknown) =>
  all.filter(({ schema, at }) => isSo(schema, at)).map(({ at }) => at)
const types = ({ type }: Schema) => [type].flat()

test('all schemas are looked at', () => {
  expect(all.length).toBeGreaterThan(1000)
  expect(where((schema) => schema.properties?.priceLabel).length).toBeGreaterThan(3)
})

test('no schema is several: a union is one object, and what holds together too', () => {
  expect(where(({ allOf, oneOf }) => allOf ?? oneOf)).toEqual([])
  const isNullable = ([one, other, ...more]: Schema[]) =>
    one?.$ref && other?.type === 'null' && !more.length
  expect(where(({ anyOf }) => anyOf && !isNullable(anyOf))).toEqual([])
})

test('an object that may be null is a component, and no component is null itself', () => {
  expect(where((schema) => schema.properties && types(schema).includes('null'))).toEqual([])
  expect(where((schema, at) => /^\/schemas\/\w+$/.test(at) && types(schema).includes('null')))
    .toEqual([])
})

test('numbers with decimals are doubles', () => {
  const decimals = where((schema) => types(schema).includes('number'))
  expect(decimals.length).toBeGreaterThan(20)
  expect(where((schema) => types(schema).includes('number') && schema.format !== 'double'))
    .toEqual([])
})

test('booleans are plain, and the names of an enum are told apart', () => {
  expect(where((schema) => types(schema).includes('boolean') && schema.enum)).toEqual([])
  const nameOf = (value: unknown) => String(value).replace(/\W/g, '').toLowerCase()
  expect(where(({ enum: values }) => values && new Set(values.map(nameOf)).size < values.length))
    .toEqual([])
})

test('an object has fields or values of a kind, or is free: nowhere fields and anything else', () => {
  expect(where((schema) => schema.additionalProperties === true)).toEqual([])
  expect(
    where(({ additionalProperties: more }) =>
      typeof more === 'object' && !Object.keys(more).length
    ),
  ).toEqual([])
})

test('no rule for several fields has `properties`, of which generators make classes', () => {
  const rules = all.flatMap(({ schema }) => 'not' in schema ? JSON.stringify(schema.not) : [])
  expect(rules.length).toBeGreaterThan(5)
  expect(rules.filter((rule) => rule.includes('"properties"'))).toEqual([])
})

test('no two components have one name, of whatever kind they are', () => {
  const { schemas, parameters, responses } = components
  const names = [schemas, parameters, responses].flatMap(Object.keys)
    .map((name) => name.toLowerCase())
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([])
})

test('every refusal is the one problem', () => {
  const refusals = Object.values(paths).flatMap(Object.values).flatMap(({ responses }) =>
    Object.entries(responses).filter(([status]) => status >= '400').map(([, answer]) => answer)
  )
  expect(refusals.length).toBeGreaterThan(500)
  expect(refusals.filter((answer) => !('$ref' in Object(answer)))).toEqual([])
  for (const [name, { content }] of Object.entries(components.responses)) {
    const { schema } = content!['application/json']!
    expect(schema, name).toEqual({ $ref: '#/components/schemas/Problem' })
  }
})
