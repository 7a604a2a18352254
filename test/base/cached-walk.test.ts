// Measures how much load a shared cache takes off the database while guests browse popular pages.
import { expect } from 'vitest'
import { signUp } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { defaultSettings, testLocally } from '../support/facade.ts'
import { startFacadeProcess } from '../support/facade-process.ts'
import { insertListing } from '../support/fixtures.ts'
import { startSharedCache } from '../support/shared-cache.ts'

const areas = ['salmiya', 'hawalli', 'jabriya', 'mishref', 'rumaithiya', 'bayan', 'salwa']
const kinds = ['apartment', 'villa', 'land', 'house']
const requests = 1000

/** Yields the same pseudo-random numbers in every run. */
function* numbers(): Generator<number, never> {
  for (let seed = 1;; seed = seed * 48271 % 2147483647) yield seed / 2147483647
}

/**
 * Returns the paths that one guest after another requests. As in Zipf's law, a few are far more frequent.
 */
function walk(listings: string[]): string[] {
  const random = numbers()
  const chance = (of: number) => random.next().value < of
  const oneOf = <T>(things: T[]) => things[Math.floor(things.length ** random.next().value) - 1]!
  const paths: string[] = []
  while (paths.length < requests) {
    paths.push('/meta/app', '/feed')
    // One guest in five loads the reference lists; the others have them in their cache.
    if (chance(0.2)) paths.push('/meta/areas', '/meta/kinds', '/meta/enums', '/meta/amenities')
    if (chance(0.2)) paths.push('/map/areas', '/map/listings?bbox=47.9,29.2,48.1,29.4&zoom=12')
    for (let searches = 0; searches < 4 && chance(0.7); searches++) {
      const filters = [`areaIds=${oneOf(areas)}`, `type=${oneOf(['RENT', 'SALE'])}`]
      if (chance(0.6)) filters.push(`kinds=${oneOf(kinds)}`)
      if (chance(0.5)) filters.push(`priceMax=${50 * Math.ceil(400 * random.next().value)}`)
      paths.push(`/search?${filters.join('&')}`)
      for (let seen = 0; seen < 3 && chance(0.5); seen++) {
        const listing = `/properties/${oneOf(listings)}`
        paths.push(listing, `${listing}/similar`)
        if (chance(0.3)) paths.push(`${listing}/price-history`)
      }
    }
  }
  return paths.slice(0, requests)
}

testLocally(
  'guests behind a cache cost the database a call in three requests at most',
  async () => {
    const { identityId } = await signUp()
    const listings = await Promise.all(Array.from({ length: 60 }, () => insertListing(identityId)))
    const database = await startCountingProxy(defaultSettings().FACADE_DB_URL!)
    const facade = await startFacadeProcess({ FACADE_DB_URL: database.url })
    // The cache's clock advances by 10 ms with each request, as if there were a hundred requests a second.
    let started = 0
    const cache = await startSharedCache(`http://127.0.0.1:${facade.port}`, () => started * 10)
    try {
      const paths = walk(listings)
      database.takeMessages()
      for (const path of paths) {
        started++
        const answer = await fetch(cache.url + path)
        expect(answer.status, `${path} ${await answer.text()}`).toBe(200)
      }
      const calls = database.takeMessages().length
      const { hits, requests: passed } = cache.takeCounts()
      console.log(`${requests} requests of guests: ${calls} calls of the database`)
      expect(hits + passed).toBe(requests)
      expect(calls).toBeGreaterThan(0)
      expect(calls).toBeLessThanOrEqual(requests / 3)
    } finally {
      cache.stop()
      facade.kill()
      database.stop()
    }
  },
)
