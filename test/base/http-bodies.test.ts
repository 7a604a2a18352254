import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { guest, type Person, signUp } from '../support/client.ts'
import { bodyLimit, type Operation, operations, requestWith } from '../support/openapi.ts'
import { requestHead, sendBytes, sendLiteral, statusCodes } from '../support/raw-http.ts'

let owner: Person

beforeAll(async () => {
  owner = await signUp()
})

const bearer = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })
const tokenFor = ({ secured }: Operation) => (secured ? bearer(owner) : {})
const json = { 'content-type': 'application/json' }
const withBody = operations.filter(({ body }) => body)

describe('INP-12 too large, with a length', () => {
  const small = 8 * 1024
  const large = 256 * 1024
  const filled = (size: number) => `{"identifier":"${'x'.repeat(size - 17)}"}`

  test.each([['/auth/login', small], ['/search/advanced', large]])(
    'the limit of %s is %i to the byte',
    async (path, limit) => {
      expect(filled(limit).length).toBe(limit)
      expect((await guest.post(path, filled(limit))).status).toBe(422)
      expect((await guest.post(path, filled(limit + 1))).status).toBe(413)
    },
  )

  test.each(operations.filter(({ method, form }) => method !== 'GET' && !form))(
    '$method $path refuses a byte more before anything else',
    async (operation) => {
      const { path } = requestWith(operation)
      const limit = bodyLimit(operation)
      for (const size of [limit + 1, 10 * limit]) {
        const reply = await sendLiteral(operation.method, path, {
          headers: json,
          body: filled(size),
        })
        expect([reply.status, reply.body.error.code]).toEqual([413, 'body_too_large'])
      }
    },
  )

  test('a body without a length is counted as it comes', async () => {
    const chunk = `${small.toString(16)}\r\n${'x'.repeat(small)}\r\n`
    const got = await sendBytes(
      requestHead(
        'POST',
        '/auth/login',
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
      ) +
        chunk + chunk,
      { answers: 1 },
    )
    expect(statusCodes(got)).toEqual([413])
  })

  test('a false Content-Length is refused or cut, and nobody waits for it', async () => {
    const post = (length: string, body: string, more = {}) =>
      sendBytes(
        requestHead(
          'POST',
          '/auth/login',
          'Content-Type: application/json',
          `Content-Length: ${length}`,
        ) +
          body,
        more,
      )
    expect(statusCodes(await post('1000000000', '{"a":1}  ', { answers: 1 }))).toEqual([413])
    expect(statusCodes(await post('-1', '{"a":1}'))).toEqual([400])
    expect(statusCodes(await post('ten', '{"a":1}'))).toEqual([400])
    expect(statusCodes(await post('1e1', '{"a":1}'))).toEqual([400])
    // The data after the declared ten bytes must not be parsed as another request.
    const cut = await post('10', `{"a":1}   ${'x'.repeat(1_000_000)}`)
    expect(statusCodes(cut)).toEqual([400])
  })

  test('a compressed body is not decompressed', async () => {
    const body = gzipSync('{"identifier":"a@example.com","password":"x"}')
    const headers = { ...json, 'content-encoding': 'gzip' }
    const reply = await sendLiteral('POST', '/auth/login', { headers, body })
    expect([reply.status, reply.body.error.code]).toEqual([400, 'body_not_json'])
  })
})

describe('INP-13 wrong content types', () => {
  const types = [
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/jsonp',
    'application/json; charset=utf-16',
    'text/plain; application/json',
    'application/json, text/plain',
  ]
  const damaged = [
    '{"a":1,}',
    '{"a":1} // no',
    "{'a':1}",
    '{a:1}',
    '[1,2',
    'undefined',
    'NaN',
    '\u{feff}\u{feff}{}',
    '{}{}',
    '{"a":\u0001"b"}',
    '{"a":"\n"}',
  ]

  test.each(withBody)('$method $path takes JSON in UTF-8 only', async (operation) => {
    const { path, body } = requestWith(operation)
    for (const type of types) {
      const headers = { ...tokenFor(operation), ...(type && { 'content-type': type }) }
      const text = type?.includes('utf-16')
        ? Buffer.from(JSON.stringify(body), 'utf16le')
        : JSON.stringify(body)
      const reply = await sendLiteral(operation.method, path, { headers, body: text })
      expect([reply.status, reply.body.error.code], type)
        .toEqual([415, 'content_type_unsupported'])
    }
    for (
      const text of [...damaged, Buffer.from([0x7b, 0xff, 0x7d]), Buffer.from('{}', 'utf16le')]
    ) {
      const headers = { ...tokenFor(operation), ...json }
      const reply = await sendLiteral(operation.method, path, { headers, body: text })
      expect([reply.status, reply.body.error.code], String(text)).toEqual([400, 'body_not_json'])
    }
    for (const text of ['null', '[]', '"a"', '1', 'true', '\u{feff}[]']) {
      const headers = { ...tokenFor(operation), ...json }
      const reply = await sendLiteral(operation.method, path, { headers, body: text })
      expect(reply.status, text).toBe(422)
    }
  })

  test('the content type may vary in case and carry its charset', async () => {
    for (const type of ['Application/JSON', 'application/json;charset=UTF-8']) {
      const reply = await sendLiteral('POST', '/auth/login', {
        headers: { 'content-type': type },
        body: '{"identifier":"nobody@example.com","password":"wrong"}',
      })
      expect(reply.status).toBe(401)
    }
  })

  test('a byte order mark before a body does not count', async () => {
    const reply = await sendLiteral('POST', '/auth/login', {
      headers: json,
      body: '\u{feff}{"identifier":"nobody@example.com","password":"wrong"}',
    })
    expect([reply.status, reply.body.error.code]).toEqual([401, 'invalid_credentials'])
  })

  const needless = operations.filter(({ method, form, bodyRequired }) =>
    method !== 'GET' && !form && !bodyRequired
  )
  test.each(needless)(
    '$method $path needs no body: an empty one is none, of whatever type',
    async (operation) => {
      const { id, method, body: described } = operation
      const ask = async (headers: Record<string, string>, body?: string) => {
        const person = id === 'logout' ? await signUp() : owner
        const all = { ...(operation.secured && bearer(person)), ...headers }
        return (await sendLiteral(method, requestWith(operation).path, { headers: all, body }))
          .status
      }
      const plain = await ask({})
      expect([400, 415]).not.toContain(plain)
      for (const type of [undefined, 'application/json', ...(described ? types : [])]) {
        const headers: Record<string, string> = type ? { 'content-type': type } : {}
        expect(await ask(headers, ''), type).toBe(plain)
        expect(await ask({ ...headers, 'transfer-encoding': 'chunked' }), type).toBe(plain)
      }
      for (const body of ['{}', '\u{feff}', '\u{feff}{}']) {
        expect(await ask(json, body), JSON.stringify(body)).toBe(plain)
      }
    },
  )
})
