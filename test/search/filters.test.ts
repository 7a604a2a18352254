import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { database, guest } from '../support/client.ts'

type Rule = {
  name: string
  form: string
  lowest: string | null
  highest: string | null
  strategy: string | null
}
type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; allOf?: Schema[] }

let rules: Rule[]
let body: Record<string, Schema>
let query: Record<string, Schema>
let counted: { body: Record<string, Schema>; query: Record<string, Schema> }

beforeAll(async () => {
  const { rows } = await database().query('select * from private.search_filter_rules')
  rules = rows
  const description = (await guest.get('/openapi.json')).body
  const whole = (schema: Schema): Schema => {
    const named = description.components.schemas[String(schema.$ref).split('/').at(-1)!] ?? {}
    return Object.assign({}, named, ...(schema.allOf ?? []).map(whole), schema)
  }
  const bodyOf = (path: string) => {
    const { content } = description.paths[path].post.requestBody
    const { properties } = whole(content['application/json'].schema)
    return Object.fromEntries(
      Object.entries(properties!).map(([name, schema]) => [name, whole(schema)]),
    )
  }
  const queryOf = (path: string) =>
    Object.fromEntries(
      description.paths[path].get.parameters
        .filter((one: { in: string }) => one.in === 'query')
        .map(({ name, schema }: { name: string; schema: Schema }) => [name, whole(schema)]),
    )
  body = bodyOf('/search/advanced')
  query = queryOf('/search')
  counted = { body: bodyOf('/search/count'), query: queryOf('/search/count') }
})

const others = ['strategy', 'q', 'sort', 'cursor', 'limit', 'fields', 'literal']

test('the filters that clients are told of are those of the database, and no others', () => {
  const names = rules.map(({ name }) => name).toSorted()
  expect(Object.keys(body).filter((name) => !others.includes(name)).toSorted()).toEqual(names)
  const everywhere = rules.filter(({ strategy }) => strategy === null).map(({ name }) => name)
  expect(Object.keys(query).filter((name) => !others.includes(name)).toSorted())
    .toEqual(everywhere.toSorted())
})

test('a count takes what its search takes, but no order and no pages', () => {
  for (const [taken, by] of [[counted.body, body], [counted.query, query]]) {
    const { sort, cursor, limit, fields, ...others } = by
    expect([sort, cursor, limit, fields].every(Boolean)).toBe(true)
    const { by: facets, ...counted } = taken
    expect(facets).toBeDefined()
    expect(counted).toEqual(others)
  }
})

const forms: Record<string, string> = {
  type: 'string',
  code: 'string',
  codes: 'array',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  uuid: 'string',
  owner: 'string',
  block: 'string',
  box: 'array',
  circle: 'object',
}

test('each has the form and the bounds that it is told to have', () => {
  for (const { name, form, lowest, highest } of rules) {
    const inBody = body[name]
    if (form in forms) expect([name, inBody.type]).toEqual([name, forms[form]])
    if (lowest === null) continue
    for (const schema of [inBody, query[name]].filter(Boolean)) {
      expect([name, schema.minimum, schema.maximum]).toEqual([name, +lowest, +highest!])
    }
  }
})

test('each is judged at both doors as its row says: unknown elsewhere, refused beyond its bounds', async () => {
  const search = (strategy: string, filters: Record<string, unknown>) =>
    guest.post('/search/advanced', { strategy, limit: 1, ...filters })
  const inDatabase = (strategy: string, filters: Record<string, unknown>) =>
    database().query('select private.parse_search_filters($2, $1)', [strategy, filters])
      .then(() => 'parsed', (error) => error.message)
  for (const { name, form, lowest, highest, strategy } of rules) {
    const at = strategy ?? 'standard'
    if (strategy) {
      const value = form === 'uuid' ? randomUUID() : +highest!
      const reply = await search('standard', { [name]: value })
      expect([name, reply.body.error?.code]).toEqual([name, 'filter_unknown'])
    }
    if (lowest === null) continue
    const cases = [[+lowest, 200], [+highest!, 200], [+lowest - 1, 422], [+highest! + 1, 422]]
    for (const [value, status] of cases) {
      const reply = await search(at, { [name]: value })
      expect([name, value, reply.status]).toEqual([name, value, status])
      expect([name, value, await inDatabase(at, { [name]: value })])
        .toEqual([name, value, status === 200 ? 'parsed' : 'validation_failed'])
    }
  }
})
