import { beforeAll, describe, expect, test } from 'vitest'
import { type ErrorCode, errors, isErrorCode } from '../../functions/_shared/errors/errors.ts'
import { signUpAdmin } from '../support/admins.ts'
import { asCaller, type Person, request, signUp } from '../support/client.ts'
import {
  concreteSchema,
  type Input,
  inputsOf,
  type Operation,
  operations,
  requestWith,
  type Schema,
  typeOf,
} from '../support/openapi.ts'
import { isLeftOut } from './input-requests.ts'

// The error codes of missing and out-of-bounds fields, for every request body in the OpenAPI description.

let owner: Person
let admin: Person
beforeAll(async () => {
  ;[owner, admin] = await Promise.all([signUp(), signUpAdmin()])
})

const routes = operations
  .filter(({ body }) => body && typeOf(body) === 'object')
  .map((operation) => ({ ...operation, operation }))

/** The paths of the required fields, including fields inside objects and lists. */
function requiredIn(given: Schema, path = ''): string[] {
  const schema = concreteSchema(given)
  const under = (name: string) => (path ? `${path}.${name}` : name)
  if (schema.items) return requiredIn(schema.items, under('0'))
  return [
    ...(schema.required ?? []).map(under),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
      requiredIn(one, under(name))
    ),
  ]
}

async function faultOf(operation: Operation, input: Input, value: unknown) {
  const { path, body } = requestWith(operation, input, value)
  const person = operation.path.startsWith('/admin') ? admin : owner
  const reply = await request(operation.method, path, body, {
    headers: {
      'accept-language': 'en',
      ...(operation.secured && { authorization: `Bearer ${person.accessToken}` }),
      ...(operation.path.startsWith('/admin') && { 'x-proof': admin.proof }),
    },
  })
  const { fields = [] } = reply.body?.error ?? {}
  const [fault, ...more] = fields.filter((field: { path: string }) => field.path === input.name)
  expect(more).toEqual([])
  return { status: reply.status, ...fault, top: reply.body?.error?.code }
}

const inBody = (operation: Operation) =>
  inputsOf(operation).filter((one) => one.in === 'body' && !isLeftOut(operation, one))

describe('PR-13 the code of a field says what is wrong', () => {
  test.each(routes)('$method $path without what it needs', async ({ operation }) => {
    for (const name of requiredIn(operation.body!)) {
      const fault = await faultOf(operation, { in: 'body', name, schema: {} }, undefined)
      expect(fault, name).toMatchObject({
        status: 422,
        code: 'required',
        message: 'This field is required',
        top: 'validation_failed',
      })
    }
  })

  // A sign-in treats an invalid identifier or password like a wrong one.
  const notSaid = ['login identifier', 'login password']
  // The service looks up the records that these fields concern before it checks the fields.
  const afterOthers = ['create_conversation message', 'send_message body', 'update_review comment']

  // "" means null where null is allowed; in a list, the whole item is then checked.
  const isEmptiable = ({ schema, name }: Input, minLength: number) =>
    minLength === 1 && ([schema.type].flat().includes('null') || /\.\d\./.test(name))

  const edges = routes.flatMap((route) =>
    inBody(route.operation).flatMap((input) => {
      const { minLength, maxLength, minimum, maximum, enum: words } = input.schema
      const fill = typeOf(input.schema) === 'string' && !words
      const own = `${route.id} ${input.name}`
      if (notSaid.includes(own) || afterOthers.includes(own)) return []
      return [
        ...(fill && minLength && !isEmptiable(input, minLength)
          ? [['too_short', 'x'.repeat(minLength - 1), minLength]]
          : []),
        ...(fill && maxLength ? [['too_long', 'x'.repeat(maxLength + 1), maxLength]] : []),
        ...(!fill && minimum !== undefined ? [['too_small', minimum - 1]] : []),
        ...(!fill && maximum !== undefined ? [['too_big', maximum + 1]] : []),
      ].map(([code, value, bound]) => ({
        ...route,
        input,
        own,
        code: code as string,
        value,
        bound: bound as number | undefined,
      }))
    })
  )

  test('there are edges of each kind', () => {
    const kinds = new Set(edges.map(({ code }) => code))
    expect([...kinds].toSorted()).toEqual(['too_big', 'too_long', 'too_short', 'too_small'])
    expect(edges.length).toBeGreaterThan(80)
  })

  test.each(edges)('$own is $code', async ({ operation, input, code, value, bound }) => {
    const fault = await faultOf(operation, input, value)
    expect(fault.status, JSON.stringify(fault)).toBe(422)
    if (isErrorCode(fault.code)) {
      expect(fault).toMatchObject({ top: fault.code, message: errors[fault.code as ErrorCode][2] })
    } else {
      expect(fault).toMatchObject({ code, top: 'validation_failed' })
      if (bound !== undefined) expect(fault.message).toContain(String(bound))
    }
  })
})

test('PR-13 a function past the facade says the same', async () => {
  const refusal = (sql: string) =>
    asCaller(owner, (client) =>
      client.query(sql).then(
        () => undefined,
        ({ message, detail }) => [message, ...JSON.parse(detail).fields],
      ))
  const required = (path: string) => ['validation_failed', { path, code: 'required' }]
  expect(await refusal(`select api.create_property('{}')`)).toEqual(required('type'))
  expect(await refusal(`select api.create_review(gen_random_uuid(), null)`))
    .toEqual(required('rating'))
  expect(await refusal(`select api.create_property('{"type":"SALE","titleAr":"x","block":" "}')`))
    .toEqual([
      'validation_failed',
      { path: 'block', code: 'too_short', min: 1 },
      { path: 'titleAr', code: 'too_short', min: 5 },
    ])
  expect(await refusal(`select api.update_me('{"fullName":"x"}')`))
    .toEqual(['validation_failed', { path: 'fullName', code: 'too_short', min: 2 }])
  expect(await refusal(`select api.create_property('{"type":"SALE","bedrooms":101}')`))
    .toEqual(['validation_failed', { path: 'bedrooms', code: 'too_big' }])
})
