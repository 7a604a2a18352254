import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { causeOf, classifyError, stackLinesOf } from '../../functions/_shared/errors/refusal.ts'
import { faultsOf } from '../support/answers.ts'
import { baseUrl, database, type Person, signUp } from '../support/client.ts'
import {
  defaultSettings,
  type Facade,
  hasStack,
  startFacade,
  testLocally,
} from '../support/facade.ts'
import { waitUntil } from '../support/wait.ts'

describe.runIf(hasStack)('a facade in trouble', () => {
  const leaks = /select |insert |pg_|relation|schema|function|postgres|node_modules|\.ts\b|deno/i
  let cut: Facade
  let astray: Facade
  let owner: Person

  beforeAll(async () => {
    owner = await signUp()
    const elsewhere = new URL(defaultSettings().FACADE_DB_URL!)
    elsewhere.pathname = '/template1'
    ;[cut, astray] = await Promise.all([
      startFacade({ FACADE_DB_URL: 'postgres://facade:nobody-answers-there@127.0.0.1:9/postgres' }),
      // This database lacks our functions, so calls fail with an unexpected error.
      startFacade({ FACADE_DB_URL: elsewhere.href }),
    ])
  })

  afterAll(() => Promise.all([cut?.stop(), astray?.stop()]))

  async function get(facade: Facade, path: string, headers: Record<string, string> = {}) {
    const response = await fetch(facade.url + path, { headers })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: JSON.parse(text), text }
  }

  const bearer = () => ({ authorization: `Bearer ${owner.accessToken}` })

  test('INP-18 without a database everything that needs it is 503 with Retry-After', async () => {
    for (const path of ['/meta/areas', '/feed', '/auth/me']) {
      const reply = await get(cut, path, bearer())
      expect([reply.status, reply.body.error.code]).toEqual([503, 'service_unavailable'])
      expect(reply.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(faultsOf('GET', path, reply)).toEqual([])
      expect(reply.text).not.toMatch(leaks)
    }
    expect((await get(cut, '/errors')).status).toBe(200)
    expect((await get(cut, '/auth/me')).status).toBe(401)
    await waitUntil('health says what is down', async () => {
      const { status, database, auth } = (await get(cut, '/health')).body
      return [status, database, auth].join() === 'degraded,down,ok'
    })
  })

  test('INP-18 an unforeseen error is 500 with an id that is in the log', async () => {
    const reply = await get(astray, '/auth/me', bearer())
    const { error } = reply.body
    expect([reply.status, error.code]).toEqual([500, 'internal'])
    expect(error.message).toContain(error.requestId)
    expect(error.requestId).toBe(reply.headers.get('x-request-id'))
    expect(reply.text).not.toMatch(leaks)

    const lines = astray.output().split('\n').filter((line) => line.includes(error.requestId))
    const line = JSON.parse(lines.find((one) => one.includes('"route"'))!)
    expect(line).toMatchObject({
      method: 'GET',
      route: '/auth/me',
      status: 500,
      code: 'internal',
      account: owner.id,
    })
    expect(lines.length).toBeGreaterThan(1)
    expect(astray.output()).not.toContain(owner.accessToken)
  })

  test('a token in the query is ignored, and no log shows it', async () => {
    const reply = await get(astray, `/auth/me?access_token=${owner.accessToken}`)
    expect(reply.status).toBe(401)
    expect([...reply.headers.values()].join()).not.toContain(owner.accessToken)
    expect(astray.output()).not.toContain(owner.accessToken)
  })
})

describe('INP-23 what Postgres cannot do with what it is given', () => {
  const secret = `من أرسل ${randomUUID()}`
  const many =
    `select to_tsvector('simple', string_agg($1 || n, ' ')) from generate_series(1, 99999) as n`
  const ways: [string, string, string, string][] = [
    ['no number', '22P02', 'select $1::integer', secret],
    ['no JSON', '22P02', 'select $1::jsonb', `{"${secret}"`],
    ['no pattern', '2201B', `select 'x' ~ $1`, `(${secret}`],
    ['no date', '22007', 'select $1::date', secret],
    ['too many words', '54000', many, secret],
    ['too deep', '54001', `select (repeat('[', 200000) || $1)::json`, secret],
  ]
  test.each(ways)(
    '%s is 422, and neither log nor alarm repeats it',
    async (_what, state, text, value) => {
      const error = await database().query(text, [value]).then(
        () => expect.fail('Postgres took it'),
        (thrown) => thrown,
      )
      expect(error.code).toBe(state)
      const { code, detail, cause } = classifyError(error, { role: 'authenticated' })
      expect([code, detail]).toEqual(['validation_failed', undefined])
      expect(cause).toBe(causeOf(error))
      expect(cause).toMatch(new RegExp(`^${state} \\w+$`))
      expect(stackLinesOf(error)).not.toContain(secret)
      // If the value did not come from a client, exceeding a Postgres limit (class 54) is an internal error.
      const { code: forFacade } = classifyError(error, { role: 'facade' }, false)
      expect(forFacade).toBe(/^54/.test(state) ? 'internal' : 'validation_failed')
    },
  )
})

describe.runIf(hasStack)('ISO-19 cross-origin rules', () => {
  let facade: Facade
  const app = 'https://app.example'

  beforeAll(async () => {
    facade = await startFacade({ CORS_ORIGINS: app })
  })

  afterAll(() => facade?.stop())

  const ask = (origin: string, method: string) =>
    fetch(`${facade.url}/errors`, {
      method,
      headers: { origin, 'access-control-request-method': 'GET' },
    })

  test.each(['OPTIONS', 'GET'])(
    '%s: an allowed origin is named, any other is not',
    async (method) => {
      expect((await ask(app, method)).headers.get('access-control-allow-origin')).toBe(app)
      for (
        const origin of [
          'https://evil.example',
          'null',
          'https://app.example.evil.example',
          'https://evilapp.example',
          'http://app.example',
          'https://app.example:8443',
          'https://APP.example.',
        ]
      ) {
        const { headers } = await ask(origin, method)
        expect(headers.get('access-control-allow-origin'), origin).toBe(null)
        expect(headers.get('access-control-allow-credentials'), origin).toBe(null)
      }
    },
  )
})

const onLinux = existsSync('/proc/self/statm')

describe('CORS of a page', () => {
  const preflight = (url: string, origin: string, headers: string[]) =>
    fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': headers.sort().join(','),
      },
    })
  const sent = ['authorization', 'content-type', 'accept-language', 'idempotency-key', 'if-match']
    .concat(['x-expect-identity', 'x-region', 'apikey', 'x-client-info'])

  test('may send what clients and the documents send, through the whole project', async () => {
    const origin = 'http://localhost:3000'
    const response = await preflight(`${baseUrl}/favorites/ids`, origin, sent)
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    const allowed = response.headers.get('access-control-allow-headers')!.toLowerCase().split(',')
    for (const name of sent) expect(allowed, name).toContain(name)
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
    expect(allowed).not.toContain('x-forwarded-for')
  })

  testLocally('of whatever port of the developer is let in, but not in production', async () => {
    const origins = ['http://localhost:4321', 'http://127.0.0.1:8080', 'https://localhost']
    const [own, production] = await Promise.all([
      startFacade({ CORS_ORIGINS: undefined }),
      startFacade({ CORS_ORIGINS: undefined, ENVIRONMENT: 'production' }),
    ])
    try {
      for (const origin of origins) {
        const named = async ({ url }: Facade) =>
          (await preflight(`${url}/errors`, origin, sent)).headers.get(
            'access-control-allow-origin',
          )
        expect(await named(own), origin).toBe(origin)
        expect(await named(production), origin).toBe(null)
      }
      for (
        const origin of ['http://localhost.evil.example', 'http://localhost:3000@evil.example']
      ) {
        const { headers } = await preflight(`${own.url}/errors`, origin, sent)
        expect(headers.get('access-control-allow-origin'), origin).toBe(null)
      }
    } finally {
      await Promise.all([own.stop(), production.stop()])
    }
  })
})

describe.runIf(hasStack && onLinux)('INP-11 wide structures', () => {
  const megabytes = (pid: number) =>
    Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096 / 1_048_576

  test('a very wide body is refused, and its memory is released', async () => {
    const facade = await startFacade()
    const keys = Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join()
    const bodies = [
      `{${keys}}`,
      `{"${'k'.repeat(1_000_000)}":1}`,
      `[${'1,'.repeat(1_000_000)}1]`,
      `{"kinds":[${'"a",'.repeat(50_000)}"a"],"strategy":"standard"}`,
    ]
    const shoot = async (times: number) => {
      for (let i = 0; i < times; i++) {
        for (const body of bodies) {
          const { status } = await fetch(`${facade.url}/search/advanced`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          })
          expect(status).toBe(body.length > 256 * 1024 ? 413 : 422)
        }
      }
    }
    await shoot(5)
    // A leak would grow in every round, so one round without growth is enough.
    let growth = Infinity
    for (let round = 0; round < 3 && growth >= 50; round++) {
      const before = megabytes(facade.pid)
      await shoot(15)
      growth = megabytes(facade.pid) - before
    }
    await facade.stop()
    expect(growth).toBeLessThan(50)
  })
})
