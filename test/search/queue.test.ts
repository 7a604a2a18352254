// These tests hold back the database's responses to count the requests that wait.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, signUp } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { defaultSettings, type Facade, hasStack, startFacade } from '../support/facade.ts'
import { publishListing } from '../support/listings.ts'
import { waitUntil } from '../support/wait.ts'

describe.runIf(hasStack)('searches at once', () => {
  let proxy: Awaited<ReturnType<typeof startCountingProxy>>
  let facade: Facade
  let person: Person
  let listing: string

  beforeAll(async () => {
    person = await signUp()
    listing = (await publishListing(person)).id
    proxy = await startCountingProxy(defaultSettings().FACADE_DB_URL!)
    facade = await startFacade({ FACADE_DB_URL: proxy.url, FACADE_DB_POOL: '4' })
    await Promise.all(Array.from({ length: 4 }, () => get('/favorites', person)))
  })

  afterAll(async () => {
    proxy?.release()
    await facade?.stop()
    proxy?.stop()
  })

  const get = (path: string, { accessToken }: { accessToken?: string } = {}) =>
    facade.get(path, accessToken ? { authorization: `Bearer ${accessToken}` } : {})

  /** Returns the messages to the database once there are `count` and the facade has read all requests. */
  async function messages(count: number) {
    const taken: string[] = []
    await waitUntil(`${count} messages`, () => {
      taken.push(...proxy.takeMessages())
      return taken.length >= count
    })
    // Once these requests have a response, the facade has read all earlier requests.
    for (let after = 0; after < 3; after++) await get('/errors')
    return [...taken, ...proxy.takeMessages()]
  }

  test.each([
    '/search?limit=3',
    '/search/count',
    '/search/suggest?q=sal',
    '/feed?limit=3',
    '/map/areas',
  ])(
    'guests who ask for %s at once share one question to the database, and nothing is kept of it',
    async (path) => {
      proxy.takeMessages()
      proxy.hold()
      const requests = Array.from({ length: 20 }, () => get(path))
      expect(await messages(1)).toHaveLength(1)
      proxy.release()
      const [first, ...others] = await Promise.all(requests)
      expect(first!.status).toBe(200)
      for (const { status, body } of others) expect([status, body]).toEqual([200, first!.body])
      expect((await get(path)).status).toBe(200)
      expect(await messages(1)).toHaveLength(1)
    },
  )

  test('who has a token, or asks anything else, has an answer of its own', async () => {
    proxy.takeMessages()
    proxy.hold()
    const requests = [get('/search'), get('/search', person)]
    expect(await messages(2)).toHaveLength(2)
    proxy.release()
    for (const { status } of await Promise.all(requests)) expect(status).toBe(200)
  })

  test.each([
    ['/search', () => '/search'],
    ['/feed', () => '/feed'],
    ['/map/areas', () => '/map/areas'],
    ['/map/listings', () => '/map/listings?bbox=47,29,48,30&zoom=12'],
    ['similar', () => `/properties/${listing}/similar`],
  ])('%s takes half of the connections, and the rest goes on', async (_, path) => {
    proxy.takeMessages()
    proxy.hold()
    const searches = Array.from({ length: 4 }, () => get(path(), person))
    expect(await messages(2)).toHaveLength(2)
    const saved = get('/favorites', person)
    expect(await messages(1)).toHaveLength(1)
    const refused = await Promise.race(searches)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])
    proxy.release()
    const statuses = (await Promise.all(searches)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 503, 503])
    expect((await saved).status).toBe(200)
  })
})
