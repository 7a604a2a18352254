import { defineConfig } from 'vitest/config'
import { summary } from './test/summary.ts'

// Three groups, one after another: the areas in parallel, then what needs the stack to itself
// (rates as they are, stopped processes), then the checks that must hold after everything.
const group = (name: string, groupOrder: number, include: string[], alone: boolean) => ({
  extends: true as const,
  test: {
    name,
    include,
    exclude: include.includes('test/*.test.ts') ? ['test/invariants.test.ts'] : [],
    sequence: { groupOrder },
    fileParallelism: !alone,
  },
})

export default defineConfig({
  test: {
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/answers.ts'],
    reporters: ['default', summary],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Many tests wait for something more than they work.
    maxWorkers: 6,
    projects: [
      group('areas', 0, ['test/*.test.ts'], false),
      group('alone', 1, ['test/alone/*.test.ts'], true),
      group('after', 2, ['test/invariants.test.ts'], true),
    ],
  },
})
