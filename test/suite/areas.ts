/** Areas of the suite, as its commands name them: `favorites` is `test/favorites/`. */
import { drawsOf } from '../../local/processes/random.ts'
import type { Tree } from './since.ts'

/** Arguments for vitest: files, and what follows an option of it, stay what they are. */
export function filtersFor(given: string[]): string[] {
  const options = given.findIndex((one) => one.startsWith('-'))
  return given.map((one, nth) =>
    one.includes('/') || options >= 0 && nth >= options ? one : `test/${one}/`
  )
}

/** The folders that have tests. */
export function areasOf({ files }: Pick<Tree, 'files'>): string[] {
  const folders = files.filter((file) => file.endsWith('.test.ts'))
    .map((file) => /^(test|local)\/[\w-]+\//.exec(file)?.[0])
  return [...new Set(folders)].filter((folder) => folder !== undefined).sort()
}

/** A third of them; three seeds in a row, from one that three divides, give all. */
export function thirdOf(areas: string[], seed: number): string[] {
  const draw = drawsOf(Math.floor(seed / 3))
  const drawn = areas.map((area) => [draw(), area] as const).sort(([a], [b]) => a - b)
  return drawn.filter((_, nth) => nth % 3 === seed % 3).map(([, area]) => area).sort()
}
