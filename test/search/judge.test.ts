// Judges the results of everyday queries (docs/tests.md) among many listings, in nightly runs only.
// local/demo/demo.test.ts judges them among the demo's listings.
import { expect, test } from 'vitest'
import { loadListings } from '../../bench/generate-listings.ts'
import { patience } from '../suite/slowness.ts'
import { database } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { isNightly } from '../support/nightly.ts'
import { startStack } from '../support/stack.ts'
import { byClass, differences, judge, open, queries } from './judge.ts'

test('there are 300 queries in eight classes, each once, of kinds and areas that there are', async () => {
  const texts = queries.map(({ q }) => q)
  expect(texts.filter((q, nth) => texts.indexOf(q) !== nth)).toEqual([])
  expect(open.map(({ q }) => q).filter((q) => !texts.includes(q))).toEqual([])
  const classes = Object.groupBy(queries, (query) => query.class)
  expect(Object.keys(classes)).toHaveLength(8)
  for (const [name, some] of Object.entries(classes)) {
    expect(some!.length, name).toBeGreaterThan(40)
  }
  const { rows: [{ ids }] } = await database().query(
    `select array(
       select id from public.areas union select id from public.governorates
       union select code from public.vocabularies
     ) as ids`,
  )
  for (const { q, wants: { not, ...conditions } } of queries) {
    const codes = [conditions, not ?? {}].flatMap((one) => Object.values(one).filter(Array.isArray))
    expect([q, codes.flat().filter((code) => !ids.includes(code))]).toEqual([q, []])
  }
})

test.runIf(hasStack && isNightly)(
  'among 20,000 listings everyday searches find what is meant, but for what is known to be open',
  async () => {
    const stack = await startStack({
      RATES: 'off',
      HASHING: 'quick',
      GATEWAYS: '0',
      PATIENCE: patience,
    })
    try {
      await loadListings(stack.databaseUrl, 20_000, { records: false })
      const verdicts = await judge(stack)
      const { all, ...classes } = byClass(verdicts)
      console.table({ ...classes, all })
      expect(all['next best']).toBeGreaterThanOrEqual(0.9 * all['nothing fits'])
      expect(differences(verdicts, 'generated')).toEqual([])
    } finally {
      await stack.stop()
    }
  },
)
