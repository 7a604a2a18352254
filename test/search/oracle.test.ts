import { afterAll, beforeAll, expect, test } from 'vitest'
import { guest, type Reply } from '../support/client.ts'
import { categories, Oracle } from './oracle.ts'
import { dice, fillWorld, plantWords, randomSearch, type World } from './world.ts'

let world: World
let planted: string[]
let oracle: Oracle

beforeAll(async () => {
  world = await fillWorld()
  planted = await plantWords()
  oracle = await Oracle.open()
})

afterAll(() => oracle.close())

test.each(Object.keys(categories))(
  'SRCH-03 200 random searches of strategy %s find what the oracle finds, in its order',
  async (strategy) => {
    const roll = dice(strategy.length * 7919)
    let found = 0
    for (let n = 0; n < 200; n++) {
      const search = randomSearch(strategy, roll, world)
      const expected = await oracle.expected(search)
      const { ids, ended } = await oracle.walk(search, 4)

      expect({ search, ids }).toEqual({ search, ids: expected.slice(0, ids.length) })
      expect({ search, ended }).toEqual({ search, ended: ids.length === expected.length })
      found += Math.min(1, ids.length)
    }
    // Most of them find something, or they would show nothing.
    expect(found).toBeGreaterThan(80)
  },
  300_000,
)

test(
  'two words of a strategy count as rare exactly when fewer than 5 listings have them',
  async () => {
    // What was planted, and as many others as the stack holds, up to ten.
    const { rows } = await oracle.client.query(
      `select word from private.search_common_words where word !~ ':'
     order by word = any ($1) desc, md5(word) limit 30`,
      [planted],
    )
    const known = rows.map(({ word }) => word as string)
    expect(known.slice(0, planted.length).toSorted()).toEqual(planted.toSorted())
    const answers = { true: 0, false: 0 }
    for (const strategy of Object.keys(categories)) {
      for (const [n, one] of known.entries()) {
        for (const other of known.slice(n)) {
          const pair = [one, other]
          const { rows: [{ few }] } = await oracle.client.query(
            `select private.has_few_matches(
               $1, row('[]', $2, null, 0)::private.search_reading) as few`,
            [strategy, pair],
          )
          const n = await oracle.fitting(strategy, { words: pair })
          expect({ strategy, pair, few }).toEqual({ strategy, pair, few: n < 5 })
          answers[few ? 'true' : 'false']++
        }
      }
    }
    expect(Math.min(answers.true, answers.false)).toBeGreaterThan(100)
  },
  300_000,
)

test('SRCH-04 300 random searches give the same by query string and by body', async () => {
  const roll = dice(4242)
  for (let n = 0; n < 300; n++) {
    const { q, sort, limit, filters } = randomSearch('standard', roll, world)
    const { near, ...others } = filters
    const query = new URLSearchParams({ limit: String(limit) })
    if (q) query.set('q', q)
    if (sort) query.set('sort', sort)
    if (near) query.set('near', [near.lat, near.lng, near.km].join(','))
    for (const [name, value] of Object.entries(others)) {
      if (value.length !== 0) query.set(name, String(value))
    }
    const body = { strategy: 'standard', q, sort, limit, ...filters }
    const [first, same] = await undisturbed(
      () => guest.post('/search/advanced', body),
      () => guest.get(`/search?${query}`),
    )
    expect(first.status).toBe(200)
    expect(idsOf(same)).toEqual(idsOf(first))
    expect(same.body.nextCursor).toBe(first.body.nextCursor)
    const cursor = first.body.nextCursor
    if (!cursor || n % 5) continue
    const [next, nextSame] = await undisturbed(
      () => guest.post('/search/advanced', { ...body, cursor }),
      () => guest.get(`/search?${query}&cursor=${encodeURIComponent(cursor)}`),
    )
    expect(idsOf(nextSame)).toEqual(idsOf(next))
  }
})

/** Two reads with nothing published in between: the first one again says the same after them. */
async function undisturbed(one: () => Promise<Reply>, other: () => Promise<Reply>) {
  let before = await one()
  for (;;) {
    const between = await other()
    const after = await one()
    if (JSON.stringify(idsOf(before)) === JSON.stringify(idsOf(after))) return [before, between]
    before = after
  }
}

const idsOf = ({ body }: { body: { items: { id: string }[] } }) => body.items.map(({ id }) => id)
