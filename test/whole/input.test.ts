import { beforeAll, describe, expect, test } from 'vitest'
import { database, type Person, request, signUp } from '../support/client.ts'
import { bodyLimit, type Input, inputsOf, typeOf } from '../support/openapi.ts'
import { sendLiteral } from '../support/raw-http.ts'
import { each, isText, routes, type Senders, signUpSenders, someOf } from './input-requests.ts'

// Sends invalid values for every input of every route. answers.ts checks that no response is a 5xx or missing
// from the OpenAPI description.

let senders: Senders
let owner: Person
let listing: string

beforeAll(async () => {
  senders = await signUpSenders()
  ;({ owner, listing } = senders)
})

const withBody = routes.filter(({ body }) => body)
const built: Senders['built'] = (...input) => senders.built(...input)
const call: Senders['call'] = (...sent) => senders.call(...sent)
const headers: Senders['headers'] = (path) => senders.headers(path)

/** Derives a number from a name, so that different fields and routes try different values. */
const indexOf = ({ name }: { name: string }) =>
  [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)

const isNumber = ({ schema }: Input) => ['integer', 'number'].includes(typeOf(schema)!)

// Values as JSON text, and whether they may be valid as a number.
const numbers: [text: string, possible: boolean][] = [
  ['-1', true],
  ['0', true],
  ['-0', true],
  ['0.1', true],
  ['12.3456', true],
  ['1e308', true],
  ['1e-400', false],
  ['1e400', false],
  ['9007199254740993', false],
  ['9223372036854775808', true],
  ['0.1000000000000000055511151231257827', true],
  ['0.1234567890123456789', false],
  ['"NaN"', false],
  ['"Infinity"', false],
  ['"-Infinity"', false],
  ['"1e3"', false],
  ['"0x10"', false],
  ['"1,000"', false],
  ['"١٢٣"', false],
  ['" 5 "', false],
  ['"5"', false],
  ['true', false],
  ['[]', false],
  ['{}', false],
  ['""', true], // a cleared field, which means null where null is allowed
]

describe('INP-04 numbers at the edge', () => {
  const inBodies = withBody.filter((operation) => inputsOf(operation).some(isNumber))
  const inQueries = routes.filter((operation) =>
    inputsOf(operation).some((input) => isNumber(input) && input.in === 'query')
  )

  test.each(inBodies)(
    '$method $path accepts a number exactly or refuses it',
    async ({ operation }) => {
      const inputs = inputsOf(operation).filter((input) => isNumber(input) && input.in === 'body')
      const cells = inputs.flatMap((input) =>
        someOf(numbers, indexOf(input)).map(([text, possible]) => ({ input, text, possible }))
      )
      await each(cells, async ({ input, text, possible }) => {
        const { path, body } = built(operation, input, '@@')
        const sent = JSON.stringify(body).replace('"@@"', text)
        const reply = await request(operation.method, path, sent, { headers: headers(path) })
        const what = `${input.name} ${text} ${JSON.stringify(reply.body).slice(0, 300)}`
        if (!possible) expect(reply.status, what).toBe(422)
        const answered = reply.body?.[input.name]
        if (reply.status < 300 && typeof answered === 'number') {
          expect(answered, what).toBe(Number(text) + 0)
        }
      })
    },
  )

  test.each(inQueries)('$method $path reads plain decimals only', async ({ operation }) => {
    const inputs = inputsOf(operation).filter((input) => isNumber(input) && input.in === 'query')
    const texts = ['1e3', '0x10', ' 5 ', '', '1,000', '١٬٠٠٠', 'NaN', 'Infinity', '+5', '5.', '.5']
    const more = ['true', 'null', '9007199254740993', '1e400', '--1', '1-', '5n', '0b1']
    const cells = inputs.flatMap((input) =>
      someOf([...texts, ...more], indexOf(input)).map((text) => ({ input, text }))
    )
    await each(cells, async ({ input, text }) => {
      const { status } = await call(operation, built(operation, input, text))
      expect(status, `${input.name}=${text}`).toBe(422)
    })
  })
})

const controls = ['\u0001', '\u0007', '\u001b', '\u007f', '\u009f']
const texts = [
  'مَدِينَة السَّالْمِيَّة',
  '👨‍👩‍👧‍👦 بيت',
  `بيت${'\u0301'.repeat(10_000)}`,
  'بيت\u202eتيب',
  'بي\u200bت\u200dكبير',
  '\ufeffبيت كبير',
  'بيت \ufffd كبير',
  'بيت \ue000 كبير',
  'بيت 𠮷 كبير',
  '   ',
  '\u2028\u2029',
  'ﷺ'.repeat(200),
  'ا'.repeat(100_000),
  ...controls.map((control) => `بيت${control}كبير`),
]

describe('INP-08 text in every script', () => {
  test.each(withBody)('$method $path accepts it or refuses it', async ({ operation }) => {
    const inputs = inputsOf(operation).filter((input) => isText(input) && input.in === 'body')
    const cells = inputs.flatMap((input, index) =>
      texts.filter((_, i) => i % 3 === index % 3).map((value) => ({ input, value }))
    )
    await each(cells, ({ input, value }) => call(operation, built(operation, input, value)))
  })

  // Existing passwords are compared exactly as typed (accounts/passwords.test.ts).
  const asTyped = ['password', 'currentPassword']
  const withText = withBody.flatMap((one) => {
    const input = inputsOf(one.operation)
      .find((input) => isText(input) && input.in === 'body' && !asTyped.includes(input.name))
    return input ? [{ ...one, input }] : []
  })

  test.each(withText)('$method $path refuses NUL and half characters', async (one) => {
    const { operation, input } = one
    for (
      const text of ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00x"', '"\\ud800\\ud800"']
    ) {
      const { path, body } = built(operation, input, '@@')
      const sent = JSON.stringify(body).replace('"@@"', text)
      const reply = await request(operation.method, path, sent, { headers: headers(path) })
      expect(reply.status, text).toBe(422)
    }
  })
})

describe('INP-10 INP-11 deep and wide', () => {
  const nested = (depth: number, open: string, close: string) =>
    open.repeat(depth) + '1' + close.repeat(depth)

  test.each(withBody)('$method $path refuses more than 32 levels', async ({ operation }) => {
    const { path } = built(operation)
    const cells = [33, 100, 10_000, 40_000].flatMap((depth) =>
      ([['[', ']'], ['{"a":', '}'], ['[{"a":', '}]']] as const)
        .map(([open, close]) => ({ depth, open, close }))
    )
    for (const { depth, open, close } of someOf(cells, indexOf({ name: operation.id }))) {
      const body = `{"a":${nested(Math.floor(depth / (open.length > 5 ? 2 : 1)), open, close)}}`
      const { status } = await request(operation.method, path, body, { headers: headers(path) })
      const expected = body.length > bodyLimit(operation) ? 413 : 422
      expect(status, `${depth} ${open}`).toBe(expected)
    }
  })

  test('32 levels are accepted, 33 are too deep', async () => {
    const answer = async (depth: number) =>
      (await owner.patch('/auth/me', `{"a":${nested(depth - 1, '[', ']')}}`)).body.error.fields
    expect(await answer(32)).toMatchObject([{ path: 'a', code: 'unknown' }])
    expect(await answer(33)).toMatchObject([{ path: '', code: 'too_big' }])
  })

  test('brackets in a string are not levels', async () => {
    const fullName = `سالم ${'['.repeat(50)}`
    expect((await owner.patch('/auth/me', { fullName })).status).toBe(200)
  })

  test.each(withBody)('$method $path refuses too many of anything', async ({ operation }) => {
    const { path } = built(operation)
    const keys = Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join()
    const input = inputsOf(operation).find(({ schema }) => typeOf(schema) === 'array')
    const many = input && JSON.stringify(built(operation, input, Array(50_000).fill(1)).body)
    const sent = [`{${keys}}`, `{"${'k'.repeat(200_000)}":1}`, ...(many ? [many] : [])]
    const limit = bodyLimit(operation)
    for (const body of sent) {
      const reply = await request(operation.method, path, body, { headers: headers(path) })
      expect(reply.status).toBe(body.length > limit ? 413 : 422)
      expect(JSON.stringify(reply.body).length).toBeLessThan(20_000)
    }
  })
})

describe('INP-14 the same key twice', () => {
  test('the last one counts, in what is checked, stored and answered', async () => {
    const path = `/properties/${listing}`
    const twice = await owner.patch(path, '{"price":1,"price":250.125}')
    expect([twice.status, twice.body.price]).toEqual([200, 250.125])
    const hidden = await owner.patch(path, '{"price":2,"\\u0070rice":251}')
    expect([hidden.status, hidden.body.price]).toEqual([200, 251])
    const { rows } = await database().query('select price from public.properties where id = $1', [
      listing,
    ])
    expect(rows[0].price).toBe('251')
    expect((await owner.patch(path, '{"price":1,"price":"x"}')).status).toBe(422)
  })

  test.each(withBody)('$method $path checks the one that counts', async ({ operation }) => {
    const { path, body } = built(operation)
    const [first] = Object.keys(body!)
    const text = JSON.stringify(body)
    const twice = `${text.slice(0, -1)},"${first}":{"not":["this"]}}`
    const { status } = await request(operation.method, path, twice, { headers: headers(path) })
    expect(status).toBe(422)
  })
})

describe('INP-15 the same parameter twice', () => {
  const withQuery = routes.filter(({ parameters }) => parameters.some((one) => one.in === 'query'))

  test.each(withQuery)('$method $path', async ({ operation }) => {
    for (const { name, in: where } of operation.parameters) {
      if (where !== 'query') continue
      const { path } = built(operation)
      const and = path.includes('?') ? '&' : '?'
      for (const odd of [`${name}=1&${name}=2`, `${name}[]=1`, `${name}[x]=1`, `${name}.x=1`]) {
        const { status } = await request('GET', `${path}${and}${odd}`, undefined, {
          headers: headers(path),
        })
        expect(status, odd).toBe(422)
      }
    }
  })

  test.each(routes)(
    '$method $path refuses a parameter that it does not know',
    async ({ operation }) => {
      const { path, body } = built(operation)
      const and = path.includes('?') ? '&' : '?'
      const { status } = await call(operation, { path: `${path}${and}unknown=1`, body })
      expect(status).toBe(422)
    },
  )

  test('two tokens in one request act for neither', async () => {
    const both = [`Bearer ${owner.accessToken}`, `Bearer ${(await signUp()).accessToken}`]
    const reply = await sendLiteral('GET', '/auth/me', {
      headers: { authorization: both as never },
    })
    expect(reply.status).not.toBe(200)
  })
})
