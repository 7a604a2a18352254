import { beforeAll, describe, expect, test } from 'vitest'
import { guest, type Person, type Reply, request, signUp } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { sendCallback } from '../support/money.ts'
import { bulk } from '../support/nightly.ts'
import {
  bodyLimit,
  everyOperation,
  type Input,
  inputsOf,
  type Operation,
  operations,
  requestWith,
  resolve,
  type Schema,
} from '../support/openapi.ts'
import { jpeg } from '../support/pictures.ts'
import { formFor, postForm } from '../support/uploads.ts'
import { sendLiteral } from '../support/raw-http.ts'
import { insertListing } from '../support/fixtures.ts'
import { isLeftOut } from './input-requests.ts'

// PR-13: sends values of every shape, built from the OpenAPI description, for every input of every operation.
// answers.ts checks that each response is described and not a 5xx other than 503; in this file, a 503 also
// fails. input.test.ts covers fields such as names of people and prices.

let owner: Person
let listing: string

beforeAll(async () => {
  owner = await signUp()
  listing = await insertListing(owner.identityId)
})

const as = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })
const isWebhook = ({ id }: Operation) => id.startsWith('receive_webhook')
// Webhooks check their signature first, and tests can only sign for the embedded stack's sandbox.
const reachable = [...operations, ...everyOperation.filter((one) => isWebhook(one) && hasStack)]
const routes = reachable.map((operation) => ({ ...operation, operation }))

/** Sends a request with valid credentials, so that only its shape can be refused. */
async function call(operation: Operation, path: string, body?: string): Promise<Reply> {
  const reply = isWebhook(operation)
    ? await sendCallback(body ?? '{}', { path: path.replace(/webhook\/\w+/, 'webhook/sandbox') })
    : operation.form
    ? await postForm(owner, path, formFor(operation.id, picture))
    : await request(operation.method, path, body, { headers: as(owner) })
  expect(reply.status, `${operation.method} ${path} ${body?.slice(0, 300)}`).toBeLessThan(500)
  return reply
}

const picture = jpeg({ width: 8, height: 8 })

function built(operation: Operation, input?: Input, text?: string) {
  const given = input && input.in !== 'body' ? text : '@@'
  const { path, body } = requestWith(operation, input, given)
  const own = operation.path.startsWith('/properties/{id}') && input?.in !== 'path'
  return {
    path: own ? path.replace(/[0-9a-f-]{36}/, listing) : path,
    body: body && JSON.stringify(body).replace('"@@"', () => text!),
  }
}

let turn = 0

/** Runs the work on six values at a time: in nightly runs on all values, otherwise on every fourteenth. */
async function each<T>(all: T[], work: (one: T) => Promise<unknown>) {
  const some = all.filter(() => turn++ % bulk(1, 14) === 0)
  let next = 0
  const worker = async () => {
    while (next < some.length) await work(some[next++]!)
  }
  await Promise.all(Array.from({ length: 6 }, worker))
}

/** Returns all fields of a body, including containers and the fields of every member of a union. */
function bodyInputs(given: Schema, path = ''): Input[] {
  const schema = resolve(given)
  const under = (name: string) => (path ? `${path}.${name}` : name)
  return [
    ...(path ? [{ in: 'body' as const, name: path, schema: given }] : []),
    ...(schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []).flatMap((one) =>
      bodyInputs(one, path).filter(({ name }) => name !== path)
    ),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
      bodyInputs(one, under(name))
    ),
    ...(schema.items ? bodyInputs(schema.items, under('0')) : []),
  ]
}

function typesOf(given: Schema): string[] | undefined {
  const schema = resolve(given)
  const parts = schema.anyOf ?? schema.oneOf
  if (parts) {
    const types = parts.map(typesOf)
    return types.every((one) => one !== undefined) ? types.flat() as string[] : undefined
  }
  return schema.type === undefined ? undefined : [schema.type].flat()
}

function typeOfJson(text: string): string[] {
  const value = JSON.parse(text)
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  return typeof value === 'number' ? ['number', 'integer'] : [typeof value]
}

const names = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'toLocaleString',
  'valueOf',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  '__defineGetter__',
  '__lookupSetter__',
]

const shadowing = [
  '{"length":{"toString":1,"valueOf":1}}',
  '{"size":{"valueOf":null}}',
  '{"toString":1,"valueOf":1}',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"isAdmin":true}}}',
  '{"hasOwnProperty":0}',
  '[{"toString":[]}]',
  '{"a":{"b":[{"\\u0076alueOf":1}]}}',
]

const odd = [
  'null',
  'true',
  '0',
  '-1.5',
  '1e300',
  '[]',
  '[[]]',
  '[null]',
  '[{}]',
  '["a",1,false]',
  '{}',
  '{"length":-1}',
  '{"length":{}}',
  '{"length":"5","0":"a"}',
  '{"size":1e9}',
  '{"then":1,"toJSON":1}',
  '{"":{"":{"":[{"":1}]}}}',
  `${'['.repeat(25)}${']'.repeat(25)}`,
  '""',
  '" "',
  '"\\u0000"',
  '"\\udead"',
  '"__proto__"',
  '"[object Object]"',
  `"${'ظ'.repeat(5000)}"`,
]

describe('PR-13 keys that stand before what every object has', () => {
  test.each(routes)('$method $path refuses them in its query', async ({ operation }) => {
    const { path, body } = built(operation)
    const and = path.includes('?') ? '&' : '?'
    await each([...names, '%63onstructor'], async (name) => {
      const { status, body: { error } } = await call(operation, `${path}${and}${name}=1`, body)
      expect([status, error.fields]).toMatchObject([
        422,
        [{ path: decodeURIComponent(name), code: expect.stringMatching(/^(filter_)?unknown$/) }],
      ])
    })
  })

  test.each(routes.filter(({ body }) => body))(
    '$method $path refuses them in its body, at every depth',
    async ({ operation }) => {
      const { path, body } = built(operation)
      const refused = async (text: string) => {
        const reply = await call(operation, path, text)
        expect(reply.status, text).toBe(422)
        const { path: named, code } = reply.body.error.fields[0]
        expect(code, text).toMatch(/^(filter_)?unknown$/)
        expect(named.split('.').filter((step: string) => names.includes(step)), text).not.toEqual(
          [],
        )
      }
      const more = body === '{}' ? '{' : `${body!.slice(0, -1)},`
      await each(names, (name) => refused(`${more}"${name}":{"a":1}}`))
      const inputs = bodyInputs(operation.body!)
      const cells = inputs.flatMap((input) => shadowing.map((value) => ({ input, value })))
      await each(cells, ({ input, value }) => refused(built(operation, input, value).body!))
    },
  )

  test('and leave the process unaffected', async () => {
    const { body } = await guest.get('/health')
    expect(body.status).toBe('ok')
    expect(body).not.toHaveProperty('isAdmin')
    expect((await owner.get('/auth/me')).status).toBe(200)
  })

  test('as values they are text', async () => {
    const fullName = 'constructor toString'
    expect((await owner.patch('/auth/me', { fullName })).body.user.fullName).toBe(fullName)
  })
})

describe('PR-13 values of every shape', () => {
  test.each(routes.filter(({ body }) => body))(
    '$method $path accepts each in its body or says where it is wrong',
    async ({ operation }) => {
      const cells = bodyInputs(operation.body!).flatMap((input) =>
        odd.map((value) => ({ input, value }))
      )
      await each(cells, async ({ input, value }) => {
        const { path, body } = built(operation, input, value)
        const reply = await call(operation, path, body)
        const types = typesOf(input.schema)
        // null counts as an absent field (INP-24).
        if (!types || value === 'null' || isLeftOut(operation, input)) return
        if (typeOfJson(value).some((one) => types.includes(one))) return
        if (value === '""' && types.includes('null')) return // a cleared field (INP-27)
        const what = `${input.name} ${value.slice(0, 100)} ${JSON.stringify(reply.body)}`
        if (Buffer.byteLength(body!) > bodyLimit(operation)) {
          return expect(reply.status, what).toBe(413)
        }
        expect(reply.status, what).toBe(422)
        expect(JSON.stringify(reply.body.error.fields), what).toContain(input.name.split('.')[0])
      })
    },
  )

  const texts = [
    '__proto__',
    'constructor',
    'toString',
    '{"length":{"toString":1}}',
    '[]',
    'null',
    'true',
    '-1',
    '1e309',
    '\u0000',
    '\u202e',
    'ظ'.repeat(1500),
    ',,,,',
  ]
  const raw = ['%', '%zz', '%ff', '%c3%28', '%ed%a0%80', '%u0041']

  test.each(routes.filter((operation) => inputsOf(operation).some((one) => one.in !== 'body')))(
    '$method $path accepts each in its path and query or refuses it',
    async ({ operation }) => {
      const inputs = inputsOf(operation).filter((input) => input.in !== 'body')
      const cells = inputs.flatMap((input) => texts.map((value) => ({ input, value })))
      await each(cells, async ({ input, value }) => {
        const { path, body } = built(operation, input, value)
        const { status } = await call(operation, path, body)
        const ids = input.schema.format === 'uuid'
        if (ids) expect(status, `${input.name} ${value}`).toBe(422)
      })
      const literally = inputs.flatMap((input) => raw.map((value) => ({ input, value })))
      if (isWebhook(operation) || operation.form) return
      await each(literally, async ({ input, value }) => {
        const { path, body } = built(operation, input, '@@')
        const at = path.replace('%40%40', value)
        const headers = { ...as(owner), ...(body && { 'content-type': 'application/json' }) }
        const reply = await sendLiteral(operation.method, at, { headers, body })
        expect(reply.status, at).toBeLessThan(500)
        if (reply.status >= 400) expect(reply.body.error.code, at).toMatch(/^[a-z_]+$/)
        if (input.schema.format === 'uuid') expect([404, 422], at).toContain(reply.status)
      })
      await each(inputs.filter((input) => input.in === 'query'), async ({ name }) => {
        const { path, body } = built(operation)
        const and = path.includes('?') ? '&' : '?'
        for (const key of [`${name}[toString]`, `${name}.__proto__`, `${name}[]`]) {
          const { status } = await call(operation, `${path}${and}${key}=1`, body)
          expect(status, key).toBe(422)
        }
      })
    },
  )

  test.each(routes.filter((operation) => !isWebhook(operation) && !operation.form))(
    '$method $path accepts each in its headers or refuses it',
    async ({ operation }) => {
      const { path, body } = built(operation)
      const described = operation.parameters.filter((one) => one.in === 'header')
      const headers = [
        ...described.map(({ name }) => name),
        'accept-language',
        'idempotency-key',
        'if-match',
        'if-none-match',
        'x-expect-identity',
        'x-forwarded-for',
      ]
      const values = ['__proto__', '{"toString":1}', '', '\xff', 'x'.repeat(4000)]
      const cells = headers.flatMap((name) => values.map((value) => ({ name, value })))
      await each(cells, async ({ name, value }) => {
        // This body is refused, so that the request has no effect.
        const sent = body && '{"constructor":1}'
        const { status } = await request(operation.method, path, sent, {
          headers: { ...(operation.secured && as(owner)), [name]: value },
        })
        expect(status, `${name}: ${value.slice(0, 50)}`).toBeLessThan(500)
        if (name === 'x-expect-identity') expect(status).toBe(422)
        if (body) expect(status).toBe(422)
      })
    },
  )
})
