import { defineConfig } from 'vitest/config'
import { summary } from './test/summary.ts'

// Three groups, one after another: the areas in parallel, then what needs the stack to itself
// (rates as they are, stopped processes), then the checks that must hold after everything, with the
// matrix, whose one long transaction would keep Realtime from opening its slot.
const after = ['test/matrix.test.ts', 'test/invariants.test.ts']

const group = (name: string, groupOrder: number, include: string[], alone: boolean) => ({
  extends: true as const,
  test: {
    name,
    include,
    exclude: include.includes('test/*.test.ts') ? after : [],
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
    hookTimeout: 120_000,
    // More than there are cores: many tests wait for something.
    maxWorkers: 5,
    projects: [
      group('areas', 0, ['test/*.test.ts'], false),
      group('alone', 1, ['test/alone/*.test.ts'], true),
      group('after', 2, after, true),
    ],
  },
})
