import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import pg from 'pg'
import { database, type Person, signUp } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { defaultSettings, type Facade, hasStack, startFacade } from '../support/facade.ts'
import { inputsOf, operations, requestWith, talksToAuth } from '../support/openapi.ts'
import { insertListing } from '../support/fixtures.ts'

// A request sends at most one message to the database, whatever its outcome.
describe.runIf(hasStack)('one round trip', () => {
  let proxy: Awaited<ReturnType<typeof startCountingProxy>>
  let facade: Facade
  let owner: Person
  let suspended: Person
  let listing: string

  beforeAll(async () => {
    ;[owner, suspended] = await Promise.all([signUp(), signUp()])
    listing = await insertListing(owner.identityId)
    await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
      suspended.id,
    ])
    proxy = await startCountingProxy(defaultSettings().FACADE_DB_URL!)
    facade = await startFacade({ FACADE_DB_URL: proxy.url, FACADE_DB_POOL: '2' })
  })

  afterAll(async () => {
    await facade?.stop()
    proxy?.stop()
  })

  test('the counter counts', async () => {
    const client = new pg.Client({ connectionString: proxy.url })
    await client.connect()
    proxy.takeMessages()
    await client.query('select 1')
    await client.query('select 1; select 2')
    await client.query('select $1::int', [1])
    await client.end()
    expect(proxy.takeMessages()).toHaveLength(3)
  })

  async function messages(
    method: string,
    { path, body }: { path: string; body?: unknown },
    headers: Record<string, string> = {},
  ) {
    proxy.takeMessages()
    const response = await fetch(facade.url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const text = await response.text()
    expect(response.status, `${method} ${path} ${text}`).toBeLessThan(500)
    return { count: proxy.takeMessages().length, ok: response.ok }
  }

  const as = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })

  test('a plain call is one message, so the proxy counts', async () => {
    expect(await messages('GET', { path: '/auth/me' }, as(owner))).toEqual({ count: 1, ok: true })
    expect(await messages('GET', { path: '/meta/areas' })).toEqual({ count: 1, ok: true })
  })

  test.each(operations.filter((operation) => !talksToAuth(operation)))(
    '$method $path sends one message at most, also when it is refused',
    async (operation) => {
      const { method } = operation
      const id = inputsOf(operation).find((input) => input.schema.format === 'uuid')
      const plain = requestWith(operation)
      const own = id ? requestWith(operation, id, listing) : plain
      const wrong = { ...plain, body: operation.body && { unknown: 1 } }
      const key = { 'idempotency-key': crypto.randomUUID() }
      const one = 'at most one message'
      expect((await messages(method, plain)).count, one).toBeLessThanOrEqual(1)
      expect((await messages(method, plain, as(owner))).count, one).toBeLessThanOrEqual(1)
      expect((await messages(method, own, { ...as(owner), ...key })).count, one)
        .toBeLessThanOrEqual(1)
      expect((await messages(method, own, { ...as(owner), ...key })).count, one)
        .toBeLessThanOrEqual(1)
      const expecting = { ...as(owner), 'x-expect-identity': owner.id }
      expect((await messages(method, own, expecting)).count, one).toBeLessThanOrEqual(1)
      expect((await messages(method, own, as(suspended))).count, one).toBeLessThanOrEqual(1)
      if (operation.body) expect((await messages(method, wrong, as(owner))).count).toBe(0)
      if (operation.secured) expect((await messages(method, plain)).count).toBe(0)
    },
  )
})
