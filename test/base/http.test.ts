import { beforeAll, describe, expect, test } from 'vitest'
import { database, guest, newPhone, type Person, request, signUp } from '../support/client.ts'
import { moduleOf, runFacadeCode } from '../support/facade-code.ts'
import { everyOperation, operations, pathOf, requestWith } from '../support/openapi.ts'
import { requestHead, sendBytes, sendLiteral, statusCodes } from '../support/raw-http.ts'

let owner: Person

beforeAll(async () => {
  owner = await signUp()
})

describe('OPS-03 what is reachable', () => {
  test('the registered routes are those of the description', async () => {
    const code = `const { app } = await import(${moduleOf('api/app.ts')})
      console.log(JSON.stringify(app.routes))`
    const routes: { method: string; path: string }[] = JSON.parse(await runFacadeCode(code))
    const registered = routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    const described = everyOperation.map(({ method, path }) => `${method} ${path}`)
    const pages = ['GET /sandbox/done', 'GET /sandbox/{ref}', 'POST /sandbox/{ref}']
    expect([...new Set(registered)].filter((one) => !pages.includes(one)).sort())
      .toEqual([...described, 'GET /openapi.json', 'GET /asyncapi.json', 'GET /docs'].sort())
  })

  test.each([
    '/.git/config',
    '/.git/HEAD',
    '/.env',
    '/.env.local',
    '/debug',
    '/debug/pprof',
    '/metrics',
    '/actuator/health',
    '/server-status',
    '/openapi.yaml',
    '/swagger.json',
    '/index.ts',
    '/index.js.map',
    '/app.ts',
    '/v1/health',
    '/v2/favorites',
    '/api/health',
    '/admin',
    '/console',
    '/graphql',
    '/backup.sql',
    '/package.json',
    '/functions/api/env.ts',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/health/',
    '/HEALTH',
    '/favorites/ids/',
    '//health',
    '/favicon.ico',
  ])('%s is 404', async (path) => {
    const { status, body } = await sendLiteral('GET', path)
    expect([status, body.error.code]).toEqual([404, 'route_not_found'])
  })

  test('a known path with another method is 405 and lists those allowed', async () => {
    for (const path of new Set(operations.map((operation) => operation.path))) {
      const of = operations.filter((operation) => operation.path === path)
      const { status, body, headers } = await sendLiteral('PROPFIND', pathOf(of[0]!))
      expect([status, body.error.code], path).toEqual([405, 'method_not_allowed'])
      const allowed = headers.allow!.split(', ')
      for (const { method } of of) expect(allowed, path).toContain(method)
    }
  })
})

describe('OPS-04 headers', () => {
  test.each(operations)('$method $path has the headers of every answer', async (operation) => {
    const { path, body } = requestWith(operation)
    const { headers } = await request(operation.method, path, body)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-type')).toBe('application/json; charset=UTF-8')
    expect(headers.get('server')).toBe(null)
    expect(headers.get('x-powered-by')).toBe(null)
    expect(headers.get('cache-control')).toMatch(/^(private, no-store|public, [a-z0-9=, -]+)$/)
    expect(headers.get('vary')).toMatch(/Authorization/)
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('who looks at the database', () => {
  test("finds no callers' data in the statement statistics", async () => {
    const person = await signUp()
    const mark = `بيت ${person.id.slice(0, 8)}`
    const name = { fullName: mark }
    expect((await person.get('/favorites')).status).toBe(200)
    expect((await person.patch('/auth/me', name)).status).toBe(200)
    const claims = Buffer.from(person.accessToken.split('.')[1]!, 'base64url')
    const { rows } = await database().query(
      `select query from extensions.pg_stat_statements
       where strpos(query, $1) > 0 or strpos(query, $2) > 0`,
      [JSON.parse(claims.toString()).session_id, mark],
    )
    expect(rows).toEqual([])
  })
})

describe('INP-17 odd HTTP', () => {
  const get = (path: string, ...lines: string[]) => requestHead('GET', path, ...lines)
  const exchange = async (text: string | Buffer, more?: { answers?: number; end?: boolean }) =>
    statusCodes(await sendBytes(text, more))

  test.each<[string, string, number[]]>([
    ['TRACE', requestHead('TRACE', '/health', 'Connection: close'), [405]],
    ['an unknown verb', requestHead('FETCH', '/health'), [400]],
    ['a lower-case verb', requestHead('get', '/health'), [400]],
    ['a header of 64 KB', get('/health', `X-Long: ${'x'.repeat(65_536)}`), [431]],
    ['a header without a name', get('/health', ': nothing'), [400]],
    ['a header with a space in its name', get('/health', 'X A: b'), [400]],
    [
      'both a length and chunks',
      requestHead('POST', '/auth/login', 'Content-Length: 5', 'Transfer-Encoding: chunked') +
      '0\r\n\r\nGET /x',
      [400],
    ],
    [
      'two lengths',
      requestHead('POST', '/auth/login', 'Content-Length: 5', 'Content-Length: 6') + '{"a":1',
      [400],
    ],
    ['chunks that are none', requestHead('POST', '/auth/login', 'Transfer-Encoding: x') + '{}', [
      400,
    ]],
    ['HTTP/9.9', get('/health').replace('1.1', '9.9'), [400]],
    ['no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
  ])('%s is refused and the next client is served', async (_, text, expected) => {
    expect(await exchange(text)).toEqual(expected)
    expect((await guest.get('/health')).status).toBe(200)
  })

  test('CONNECT opens nothing', async () => {
    const got = await sendBytes(`CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n`)
    expect(statusCodes(got).every((status) => status >= 400)).toBe(true)
  })

  test('a thousand headers are refused', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => `X-${i}: ${i}`)
    expect(await exchange(get('/health', ...many))).toEqual([431])
  })

  test('HTTP/1.0 is answered and closed', async () => {
    expect(await exchange(get('/health').replace('1.1', '1.0'))).toEqual([200])
  })

  test('pipelined requests are answered in their order', async () => {
    const three = get('/health') + get('/nope') + get('/favorites', 'Connection: close')
    expect(await exchange(three)).toEqual([200, 404, 401])
  })

  test('each of two connections at once gets its own answer', async () => {
    const sent = Array.from({ length: 20 }, async (_, i) => {
      const got = await sendBytes(get(i % 2 ? '/auth/me' : '/nope', 'Connection: close'))
      return [i % 2, ...statusCodes(got)]
    })
    for (const [odd, ...seen] of await Promise.all(sent)) expect(seen).toEqual([odd ? 401 : 404])
  })

  test('nothing after Connection: close is answered', async () => {
    const seen = await exchange(get('/health', 'Connection: close') + get('/nope'))
    expect(seen).toEqual([400])
  })

  test('half a request gets no answer and does no harm', async () => {
    expect(await exchange(get('/health').slice(0, 30), { end: true })).not.toContain(200)
    const half = requestHead(
      'POST',
      '/auth/login',
      'Content-Type: application/json',
      'Content-Length: 90',
    )
    expect(await exchange(`${half}{"identifier":`, { end: true })).not.toContain(200)
    expect((await guest.get('/health')).status).toBe(200)
  })
})

describe('INP-18 what errors say', () => {
  const leaks = /select |insert |pg_|relation|column|constraint|postgres|node_modules|\.ts\b|deno/i

  const causes: [number, string, () => Promise<{ status: number; body: unknown }>][] = [
    [400, 'body_not_json', () => guest.post('/auth/login', '{')],
    [401, 'token_missing', () => guest.get('/favorites')],
    [401, 'invalid_credentials', () => guest.post('/auth/login', wrong)],
    [403, 'identity_not_usable', () => actAsNobody()],
    [404, 'property_not_found', () => owner.post(`/favorites/${crypto.randomUUID()}`)],
    [404, 'route_not_found', () => guest.get('/nope')],
    [405, 'method_not_allowed', () => guest.put('/health')],
    [409, 'email_taken', () => guest.post('/auth/register', taken())],
    [413, 'body_too_large', () => guest.post('/auth/login', 'x'.repeat(300_000))],
    [415, 'content_type_unsupported', () => guest.post('/auth/login', 'a', text)],
    [422, 'validation_failed', () => owner.patch('/auth/me', { isAdmin: true })],
    [429, 'otp_resend_too_soon', () => registerTwice()],
  ]
  const wrong = { identifier: 'nobody@example.com', password: 'wrong' }
  const text = { headers: { 'content-type': 'text/plain' } }
  const taken = () => ({ identifier: owner.identifier, password: 'long enough' })

  async function actAsNobody() {
    const person = await signUp()
    await database().query('update public.accounts set active_identity_id = null where id = $1', [
      person.id,
    ])
    return await person.get('/favorites/ids')
  }
  async function registerTwice() {
    const attempt = { identifier: newPhone(), password: 'long enough' }
    await guest.post('/auth/register', attempt)
    return await guest.post('/auth/register', attempt)
  }

  test.each(causes)('%i %s', async (status, code, cause) => {
    const reply = await cause() as Awaited<ReturnType<typeof guest.get>>
    const { error } = reply.body
    expect([reply.status, error.code]).toEqual([status, code])
    expect(error.message).toMatch(/\p{Script=Arabic}/u)
    expect(error.messageEn).not.toMatch(/\p{Script=Arabic}/u)
    expect(error.requestId).toBe(reply.headers.get('x-request-id'))
    expect(JSON.stringify(reply.body)).not.toMatch(leaks)
    if (status === 429) expect(Number(reply.headers.get('retry-after'))).toBe(error.retryAfter)
  })

  test.each([
    ['en-GB,en;q=0.9', true],
    ['EN', true],
    ['fr-FR, fr;q=0.9, en;q=0.8', true],
    ['ar;q=0.5, en;q=0.8', true],
    ['en, ar', true],
    ['en-US,en;q=0.9,ar-KW;q=0.8', true],
    ['en;q=0.8, ar-KW;q=0.9', false],
    ['en;q=0.5, *;q=0.8', false],
    ['ar, en', false],
    ['en;q=0', false],
    ['en;q=2', false],
    ['enough', false],
    ['fr', false],
    [`en;q=0.1${', fr'.repeat(500)}, ar`, false],
    ['', false],
  ])('says it in the language that Accept-Language puts first: %s', async (language, english) => {
    const { body } = await guest.get('/favorites', { headers: { 'accept-language': language } })
    const { message, messageEn } = body.error
    expect(message === messageEn).toBe(english)
  })

  test('every code of the table has its status and both texts', async () => {
    const { body } = await guest.get('/errors')
    expect(body.items.length).toBeGreaterThan(80)
    for (const { code, status, ar, en } of body.items) {
      expect(status, code).toBeGreaterThanOrEqual(400)
      expect(ar, code).toMatch(/\p{Script=Arabic}/u)
      expect(en, code).toMatch(/^[A-Z]/)
    }
  })
})
