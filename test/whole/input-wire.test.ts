// Sends raw HTTP that no library would produce to every service behind the gateway. The service accepts it,
// as on the platform, or refuses it in its own error format.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { projectUrl, publishableKey, signUp } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { publishListing } from '../support/listings.ts'
import { sendBytes, statusCodes } from '../support/raw-http.ts'

const { host } = new URL(projectUrl)
const api = '/functions/v1/api'

/** Returns a request's head in UTF-8. It closes the connection unless a line says otherwise. */
const head = (method: string, target: string, ...lines: string[]) =>
  [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    `apikey: ${publishableKey}`,
    ...(lines.some((line) => line.startsWith('Connection:')) ? [] : ['Connection: close']),
    ...lines,
    '',
    '',
  ].join('\r\n')
const json = 'Content-Type: application/json'

async function exchange(text: string | Buffer) {
  const got = await sendBytes(text)
  const parts = got.split(/(?=HTTP\/1\.1 \d{3} )/).filter((part) => !part.startsWith('HTTP/1.1 1'))
  return parts.map((part) => ({
    status: Number(part.slice(9, 12)),
    text: part,
    // deno-lint-ignore no-explicit-any
    body: JSON.parse(/\{.*\}/s.exec(part)?.[0] ?? 'null') as any,
  }))
}

describe('raw UTF-8 in a request line', () => {
  test('means what its percent encoding means, on a kept connection too', async () => {
    const word = `كلمة${randomUUID().replaceAll('-', '')}`
    const { id } = await publishListing(await signUp(), {
      kind: 'apartment',
      titleAr: `شقة ${word}`,
    })
    const keep = 'Connection: keep-alive'
    const raw = head('GET', `${api}/search?q=${word}+شقة`, keep)
    const plain = head('GET', `${api}/search?q=${encodeURIComponent(`${word} شقة`)}`)
    const answers = await exchange(raw + plain)
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const again = await exchange(head('GET', `${api}/search?q=${word}`, 'X-Note: شقة'))
    for (const { body } of [...answers, ...again]) {
      expect(body.items.slice(0, body.similarFrom ?? 1)).toMatchObject([{ id }])
    }
  })

  test('a body that looks like a request line stays as it is', async () => {
    const fullName = 'GET /شقة HTTP/1.1'
    const { accessToken, get } = await signUp()
    const body = JSON.stringify({ fullName })
    const opening = head(
      'PATCH',
      `${api}/auth/me`,
      json,
      `Authorization: Bearer ${accessToken}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
    )
    expect(await exchange(opening + body)).toMatchObject([{ status: 200 }])
    expect((await get('/auth/me')).body.user.fullName).toBe(fullName)
  })

  test.each([
    [`${api}/شقة`, 404, { error: { code: 'route_not_found' } }],
    [`${api}/properties/شقة`, 422, { error: { code: 'validation_failed' } }],
    [`/functions/v1/شقة`, 404, { code: 'NOT_FOUND' }],
    ['/rest/v1/شقة', 404, { code: 'PGRST205' }],
    ['/rest/v1/rpc/list_reviews?select=شقة', 400, { code: expect.any(String) }],
    ['/storage/v1/object/public/avatars/شقة.png', 400, { statusCode: expect.any(String) }],
    ['/شقة', 404, { message: 'no Route matched with those values' }],
  ])('%s is %i in the shape of its part', async (target, status, body) => {
    expect(await exchange(head('GET', target))).toMatchObject([{ status, body }])
  })

  test('invalid UTF-8 does no harm', async () => {
    const text = head('GET', `${api}/search?q=@`)
    const [before, after] = text.split('@')
    const sent = Buffer.concat([
      Buffer.from(before!),
      Buffer.from([0xff, 0xd9]),
      Buffer.from(after!),
    ])
    const [{ status, body }] = await exchange(sent)
    if (status !== 200) expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    else expect(body.items).toEqual([])
  })
})

describe('odd percent encodings', () => {
  test.each([
    [`${api}/%zz`, 404, { error: { code: 'route_not_found' } }],
    [`${api}/properties/%ff`, 422, { error: { code: 'validation_failed' } }],
    ['/rest/v1/%zz', 404, { code: expect.stringMatching(/^PGRST/) }],
    ['/rest/v1/rpc/%ff', 404, { code: expect.stringMatching(/^PGRST/) }],
    ['/storage/v1/object/public/avatars/%zz', 400, { statusCode: 400 }],
    ['/realtime/v1/%zz', 404, { message: expect.any(String) }],
    ['/%zz', 404, { message: 'no Route matched with those values' }],
  ])('%s is %i in the shape of its part', async (target, status, body) => {
    expect(await exchange(head('GET', target))).toMatchObject([{ status, body }])
  })
})

// The real Auth responds to an unknown path with text (local/README.md).
test.runIf(!variable('REAL_AUTH')).each(['شقة', '%zz'])(
  '/auth/v1/%s is 404 in the shape of the stand-in',
  async (path) => {
    expect(await exchange(head('GET', `/auth/v1/${path}`)))
      .toMatchObject([{ status: 404, body: { code: 404 } }])
  },
)

describe('what a client expects', () => {
  const login = '{"identifier":"nobody@example.com","password":"wrong"}'
  const post = (expected: string, length = login.length) =>
    head('POST', `${api}/auth/login`, json, `Expect: ${expected}`, `Content-Length: ${length}`)

  test.each(['100-continue', '100-Continue', '200-ok', 'x'])(
    '%s changes no answer',
    async (one) => {
      expect(await exchange(post(one) + login)).toMatchObject([
        { status: 401, body: { error: { code: 'invalid_credentials' } } },
      ])
    },
  )

  test('100-continue is answered before the body comes, a length too large at once', async () => {
    expect(statusCodes(await sendBytes(post('100-continue'), { answers: 1 }))).toEqual([100])
    expect((await exchange(post('100-continue', 300_000))).map(({ status }) => status)).toEqual([
      413,
    ])
  })

  test('other parts accept it, too', async () => {
    const call = head('POST', '/rest/v1/rpc/nope', json, 'Expect: x', 'Content-Length: 2')
    expect(await exchange(`${call}{}`)).toMatchObject([{ status: 404, body: { code: 'PGRST202' } }])
  })
})

describe.runIf(hasStack)('requests that are none', () => {
  const get = head('GET', `${api}/health`)

  test.each<[string, string, number]>([
    ['a control character', get.replace('health', 'health?a=\x01'), 400],
    ['a space in the target', get.replace('health', 'health?a=b c'), 400],
    ['no target', get.replace(`${api}/health`, ''), 400],
    ['a target that is no path', get.replace(`${api}/health`, 'health'), 400],
    ['no host', get.replace(/Host: .*\r\n/, ''), 400],
    ['a header of 20 KB', head('GET', `${api}/health`, `X-Long: ${'x'.repeat(20_000)}`), 431],
    ['a target of 20 KB', get.replace('health', `health?q=${'x'.repeat(20_000)}`), 414],
    ['a raw target of 20 KB', get.replace('health', `health?q=${'ظ'.repeat(10_000)}`), 414],
    [
      'an upgrade to what there is not',
      head('GET', '/nope', 'Connection: Upgrade, close', 'Upgrade: x'),
      404,
    ],
  ])('%s is refused with a message', async (_, text, status) => {
    expect(await exchange(text)).toMatchObject([{ status, body: { message: expect.any(String) } }])
  })

  test('an upgrade that is not offered changes no answer', async () => {
    const upgrade = head('GET', `${api}/health`, 'Connection: Upgrade, close', 'Upgrade: h2c')
    expect(await exchange(upgrade)).toMatchObject([{ status: 200, body: { database: 'ok' } }])
  })

  test('a target that names the host means its path', async () => {
    const full = head('GET', `http://${host}${api}/health`)
    expect(await exchange(full)).toMatchObject([{ status: 200, body: { database: 'ok' } }])
  })
})

describe('a bad question at the Data API', () => {
  let token: string
  beforeAll(async () => {
    token = (await signUp()).accessToken
  })

  const ask = async (query: string, body = `{"identity_id":"${randomUUID()}"}`) => {
    const response = await fetch(`${projectUrl}/rest/v1/rpc/list_reviews?${query}`, {
      method: 'POST',
      headers: {
        apikey: publishableKey,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      },
      body,
    })
    return { status: response.status, body: await response.json() }
  }

  test.each([
    ['select=nope', '42703'],
    ['select=nope(*)', 'PGRST200'],
    ['select=id(', 'PGRST100'],
    ['select="', 'PGRST100'],
    ['select=items->', 'PGRST100'],
    ['select=)', 'PGRST100'],
    ['select=items::nope', '42704'],
    ['select=items.sum()', 'PGRST123'],
    ['order=nope', '42703'],
    ['nope=eq.1', '42703'],
    ['items=foo.1', 'PGRST100'],
  ])('%s is 400 %s', async (query, code) => {
    const reply = await ask(query)
    expect(reply).toMatchObject({ status: 400, body: { code, message: expect.any(String) } })
    expect(Object.keys(reply.body).sort()).toEqual(['code', 'details', 'hint', 'message'])
  })

  test.each([
    '{',
    '{"identity_id":{"toString":1}}',
    '{"identity_id":{"length":{"valueOf":1}}}',
    '"a"',
    '1',
  ])(
    'the body %s is refused without a failure',
    async (body) => {
      const reply = await ask('select=items', body)
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.status).toBeLessThan(500)
      expect(reply.body.code).toMatch(/^(PGRST\d{3}|PT422|\w{5})$/)
    },
  )
})
