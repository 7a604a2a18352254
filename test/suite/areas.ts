// Resolves the names of areas in commands: `favorites` means `test/favorites/`.
import type { Tree } from './since.ts'

/** Returns arguments for vitest; files and everything from the first option on stay unchanged. */
export function filtersFor(given: string[]): string[] {
  const options = given.findIndex((one) => one.startsWith('-'))
  return given.map((one, nth) =>
    one.includes('/') || options >= 0 && nth >= options ? one : `test/${one}/`
  )
}

type Files = Pick<Tree, 'files'>

const testsOf = ({ files }: Files) => files.filter((file) => file.endsWith('.test.ts'))

export function areasOf(tree: Files): string[] {
  const folders = testsOf(tree).map((file) => /^(test|local)\/[\w-]+\//.exec(file)?.[0])
  return [...new Set(folders)].filter((folder) => folder !== undefined).sort()
}

/** Returns a third of the areas, with about a third of the test files. Three consecutive seeds cover all. */
export function thirdOf(tree: Files, seed: number): string[] {
  const thirds = [0, 1, 2].map(() => ({ areas: [] as string[], size: 0 }))
  const sized = areasOf(tree).map((area) => ({
    area,
    size: testsOf(tree).filter((file) => file.startsWith(area)).length,
  }))
  for (const { area, size } of sized.sort((one, other) => other.size - one.size)) {
    const smallest = thirds.reduce((one, other) => other.size < one.size ? other : one)
    smallest.areas.push(area)
    smallest.size += size
  }
  return thirds[seed % 3]!.areas.sort()
}
