import { defineConfig } from 'vitest/config'
import { variable } from './local/config/environment.ts'
import { atNight } from './test/suite/at-night.ts'
import { slowness } from './test/suite/slowness.ts'
import { WaitingFirst } from './test/suite/waiting-first.ts'
import { summary } from './test/summary.ts'

// Groups, one after another on one stack: the areas in parallel, what needs the stack to itself
// (rates as they are, stopped processes), what writes in one long transaction, for which Realtime
// would have to wait before it opens a slot, and what must always hold after everything. `npm test`
// runs them on three stacks at once (test/run.ts): one file at a time is mostly waiting, so what is alone
// comes in two halves, and the long transactions follow the smaller one.
const after = [
  'test/whole/matrix.test.ts',
  'test/search/boxes.test.ts',
  'test/search/map-crowds.test.ts',
  'test/search/oracle-crowd.test.ts',
  'test/search/oracle.test.ts',
  'test/reading/vectors.test.ts',
  'test/whole/invariants-planted.test.ts',
]
const everything = ['{test,local}/**/*.test.ts']
const aside = ['**/*.alone.test.ts', '**/*.timing.test.ts']
const night = variable('BY_DAY') ? atNight : []
const always = ['test/whole/invariants.test.ts']
const half = ['test/{accounts,base}/**/*.alone.test.ts']

// Where things are slowed on purpose, in random order as well.
const order = variable('SLOW') ? { shuffle: true, seed: Number(variable('SLOW')) } : {}

const group = (
  name: string,
  groupOrder: number,
  include: string[],
  exclude: string[],
  alone: boolean,
) => ({
  extends: true as const,
  test: {
    name,
    include,
    exclude,
    sequence: { groupOrder, ...order },
    fileParallelism: !alone,
  },
})

export default defineConfig({
  test: {
    sequence: variable('SLOW') ? order : { sequencer: WaitingFirst },
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/each-file.ts'],
    reporters: ['default', summary],
    // When to give up, no more: a busy machine takes several times what a quiet one does.
    testTimeout: 300_000 * slowness,
    hookTimeout: 300_000 * slowness,
    expect: { poll: { timeout: 240_000 * slowness } },
    // More than there are cores: many tests wait for something. With five, peaks of all that they open
    // came near the 60 connections of the smallest project.
    maxWorkers: 4,
    // A process runs one file after another: what files share is loaded, and the description compiled, once.
    isolate: false,
    projects: [
      group('areas', 0, everything, [...aside, ...after, ...always, ...night], false),
      group('alone', 1, half, night, true),
      group('alone too', 2, ['{test,local}/**/*.alone.test.ts'], [...half, ...night], true),
      group('after', 3, after, [], true),
      group('always', 4, always, [], true),
    ],
  },
})
