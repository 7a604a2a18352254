// Reads what examples.ts has recorded in a run, and stores it for `npm run docs` (docs/examples.json).
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../../local/config/settings.ts'
import { type Found, foundFile, readExamples, untrueIn } from '../../local/docs/examples.ts'

export type Rank = [isUsual: number, isPlain: number, fields: number, shortness: number]
export type Ranked = { rank: Rank; text: string }

export function isBetter(one: Ranked, other: Ranked | undefined): boolean {
  if (!other) return true
  const at = one.rank.findIndex((value, nth) => value !== other.rank[nth])
  return at < 0 ? one.text < other.text : one.rank[at]! > other.rank[at]!
}

/** Reads the lines that examples.ts wrote. */
export function foundIn(file: string, whole: boolean): Found {
  const found: Found = { whole, examples: {}, kinds: {}, types: {}, always: {} }
  const ranked: Record<string, Ranked[]> = {}
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  for (const line of lines) {
    const [note, of, first, second] = line.split('\t') as [string, string, string, string]
    if (note === 'example') (ranked[of] ??= []).push(JSON.parse(first))
    else if (note === 'kind') (found.kinds[of] ??= {})[first] = second
    else if (note === 'type') {
      const types = (found.types[of] ??= {})[first] ??= []
      if (!types.includes(second)) types.push(second)
    } else {
      const names = first ? first.split(',') : []
      found.always[of] = (found.always[of] ?? names).filter((name) => names.includes(name))
    }
  }
  for (const [id, all] of Object.entries(ranked)) {
    const sorted = all.sort((one, other) => isBetter(one, other) ? -1 : 1)
    found.examples[id] = sorted.slice(0, 5).map(({ text }) => JSON.parse(text))
  }
  return found
}

export function keepFound(found: Found) {
  const file = join(root, foundFile)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(found))
}

/** Returns how docs/examples.json differs from the responses in the whole suite. */
export function untrue(found: Found): string[] {
  const examples = readExamples()
  return Object.keys(found.examples).toSorted().flatMap((id) => {
    const example = examples[id]
    return example ? untrueIn(id, example, found).map((one) => `${id}: ${one}`) : [`${id} has none`]
  })
}
