// Checks that response times do not reveal what the responses hide.
import { expect } from 'vitest'
import { expectWithin } from '../support/promised-times.ts'
import { pause } from '../support/wait.ts'

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

/**
 * Returns the two-sided p-value of the Mann-Whitney rank test; a small value means that the samples differ.
 */
function rankTest(a: number[], b: number[]): number {
  const all = [
    ...a.map((value) => ({ value, first: true })),
    ...b.map((value) => ({
      value,
      first: false,
    })),
  ].sort((x, y) => x.value - y.value)
  let sum = 0
  for (let start = 0; start < all.length;) {
    let end = start
    while (end < all.length && all[end]!.value === all[start]!.value) end++
    const rank = (start + end + 1) / 2
    for (let i = start; i < end; i++) if (all[i]!.first) sum += rank
    start = end
  }
  const expected = a.length * (all.length + 1) / 2
  const deviation = Math.sqrt(a.length * b.length * (all.length + 1) / 12)
  const z = Math.abs(sum - expected) / deviation
  // Returns twice the upper tail of the normal distribution (Abramowitz and Stegun 26.2.17).
  const t = 1 / (1 + 0.2316419 * z)
  const series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 +
                t * 1.330274429))))
  return 2 * Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) * series
}

type Kind = { before?: () => Promise<unknown>; ask: () => Promise<unknown> }

/**
 * Expects medians that differ by less than the promised limit and, if `ranked`, a
 * rank test without a difference.
 */
export async function expectSameTimes(kinds: Record<string, Kind>, samples: number, ranked = true) {
  const names = Object.keys(kinds)
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]]))
  for (let i = -5; i < samples; i++) {
    // The kinds are measured in random order with pauses in between, so that the background work of one
    // request does not slow the next.
    for (const name of names.toSorted(() => Math.random() - 0.5)) {
      const { before, ask } = kinds[name]!
      await before?.()
      await pause(5, 'time is the subject')
      const began = performance.now()
      await ask()
      if (i >= 0) times[name]!.push(performance.now() - began)
    }
  }
  const medians = names.map((name) => median(times[name]!))
  const table = names.map((name, i) => `${name.padEnd(32)} ${medians[i]!.toFixed(2)} ms`)
  console.log(table.join('\n'))
  expectWithin(
    'answers that must look alike differ by',
    Math.max(...medians) - Math.min(...medians),
  )
  if (!ranked) return
  const pairs = names.flatMap((one, i) => names.slice(i + 1).map((other) => [one, other] as const))
  for (const [one, other] of pairs) {
    // Bonferroni correction: the probability of a false alarm is 1 in 100 for all pairs together.
    const p = rankTest(times[one]!, times[other]!)
    expect(p, `${one} / ${other}`).toBeGreaterThan(0.01 / pairs.length)
  }
}
