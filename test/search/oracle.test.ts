import { afterAll, beforeAll, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { guest, type Reply } from '../support/client.ts'
import { bulk } from '../support/nightly.ts'
import { slowness } from '../suite/slowness.ts'
import { categories, linesOf, Oracle } from './oracle.ts'
import {
  dice,
  fillWorld,
  filters,
  randomSearch,
  type Search,
  strategyOf,
  type World,
} from './world.ts'

/** The total time for comparing random searches, in seconds. */
const seconds = Number(variable('ORACLE_SECONDS'))

let world: World
let oracle: Oracle

beforeAll(async () => {
  world = await fillWorld()
  oracle = await Oracle.open()
})

afterAll(() => oracle.close())

/** Compares the pages (all, if there are few) with the oracle and returns whether any listing was found. */
async function compare(search: Search, pages = 4): Promise<boolean> {
  const expected = await oracle.expected(search)
  const { ids, ended } = await oracle.walk(search, expected.length > 200 ? pages : Infinity)
  expect({ search, ids }).toEqual({ search, ids: expected.slice(0, ids.length) })
  expect({ search, ended }).toEqual({ search, ended: ids.length === expected.length })
  expect({ search, count: await oracle.counted(search) })
    .toEqual({ search, count: await oracle.expectedCount(search) })
  return ids.length > 0
}

const strategies = Object.keys(categories)

test(
  'SRCH-03 with pairs of filters, every one at night, in every order, searches find what the oracle finds',
  async () => {
    const roll = dice(271)
    const names = Object.keys(filters)
    const step = bulk(1, 3)
    let [met, compared, found] = [0, 0, 0]
    for (const [n, one] of names.entries()) {
      for (const other of names.slice(n + 1)) {
        const own = [one, other].map((name) => strategyOf[name]).filter(Boolean)
        if (new Set(own).size > 1 || met++ % step) continue
        const strategy = own[0] ?? strategies[compared % strategies.length]
        const search = randomSearch(strategy, roll, world, [one, other])
        if (await compare({ ...search, limit: 50 })) found++
        compared++
      }
    }
    expect(compared).toBeGreaterThan(250 / step)
    expect(found).toBeGreaterThan(compared / 2)
  },
)

test.each(strategies)(
  'SRCH-03 random searches of strategy %s find what the oracle finds, in its order, page by page, and count it',
  async (strategy) => {
    const roll = dice(strategy.length * 7919)
    const end = Date.now() + seconds * 1000 / strategies.length
    let [compared, found] = [0, 0]
    for (; compared < bulk(50, 15) || Date.now() < end; compared++) {
      // Plans are discarded now and then, so that both new and cached plans are compared.
      if (compared % 10 === 0) await oracle.client.query('discard plans')
      if (await compare(randomSearch(strategy, roll, world))) found++
    }
    // Some searches must find something; otherwise the comparison would prove nothing.
    expect(found).toBeGreaterThan(compared / 10)
  },
  (1000 * seconds + 300_000) * slowness,
)

test('SRCH-03 random searches find at the facade what the oracle finds', async () => {
  const roll = dice(4243)
  let searches = Array.from(
    { length: bulk(100, 40) },
    (_, n) => randomSearch(strategies[n % strategies.length], roll, world),
  )
  // A response lacks the listings that were published between it and the oracle's snapshot, so such searches
  // are repeated.
  for (let round = 0; round < 5 && searches.length; round++) {
    const answers = []
    for (const search of searches) answers.push(await answered(search))
    const now = await Oracle.open()
    const differ = []
    for (const [n, search] of searches.entries()) {
      const { ids, ended } = answers[n]
      const expected = await now.expected(search)
      const same = JSON.stringify(ids) === JSON.stringify(expected.slice(0, ids.length))
      if (!same || ended !== (ids.length === expected.length)) differ.push(search)
    }
    await now.close()
    searches = differ
  }
  expect(searches).toEqual([])
})

async function answered({ filters, ...search }: Search, pages = 3) {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const { body } = await guest.post('/search/advanced', { ...search, ...filters, cursor })
    ids.push(...linesOf(body))
    cursor = body.nextCursor ?? undefined
  } while (cursor && --pages)
  return { ids, ended: cursor === undefined }
}

test('SRCH-04 random searches give the same by query string and by body', async () => {
  const roll = dice(4242)
  for (let n = 0; n < bulk(200, 60); n++) {
    const { q, sort, limit, filters } = randomSearch('standard', roll, world)
    const { near, ...others } = filters
    const query = new URLSearchParams({ limit: String(limit) })
    if (q) query.set('q', q)
    if (sort) query.set('sort', sort)
    if (near) query.set('near', [near.lat, near.lng, near.km].join(','))
    for (const [name, value] of Object.entries(others)) {
      if (value.length !== 0) query.set(name, String(value))
    }
    let cursor: string | null = null
    for (let page = 0; page < (n % 5 ? 1 : 3); page++) {
      const ways: (() => Promise<Reply['body']>)[] = [
        async () =>
          (await guest.post('/search/advanced', {
            strategy: 'standard',
            q,
            sort,
            limit,
            ...filters,
            ...(cursor && { cursor }),
          })).body,
        async () =>
          (await guest.get(
            `/search?${query}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
          ))
            .body,
      ]
      const [first, ...same] = await undisturbed(ways)
      expect(first.items).toBeDefined()
      for (const other of same) {
        expect({ query: String(query), ids: idsOf(other) })
          .toEqual({ query: String(query), ids: idsOf(first) })
        expect(other.nextCursor).toBe(first.nextCursor)
      }
      cursor = first.nextCursor
      if (!cursor) break
    }
  }
})

/** Repeats all reads until the first one gives the same again, so nothing was published in between. */
async function undisturbed<T>(ways: (() => Promise<T>)[]): Promise<T[]> {
  for (;;) {
    const all = []
    for (const way of [...ways, ways[0]]) all.push(await way())
    const last = all.pop()
    if (JSON.stringify(idsOf(last)) === JSON.stringify(idsOf(all[0]))) return all
  }
}

// deno-lint-ignore no-explicit-any
const idsOf = (page: any): string[] => page.items.map(({ id }: { id: string }) => id)
