import { defineConfig } from 'vitest/config'
import { variable } from './local/config/environment.ts'
import { atNight } from './test/suite/at-night.ts'
import { slowness } from './test/suite/slowness.ts'
import { WaitingFirst } from './test/suite/waiting-first.ts'
import { summary } from './test/summary.ts'

// The groups of tests, which run one after another on a stack:
// - areas: in parallel
// - alone: tests that need the stack to themselves, because they enforce rate limits or stop processes
// - after: tests with one long transaction, which Realtime would have to wait for to open a replication slot
// - always: tests of what must hold after everything else
// `npm test` runs the groups on three stacks at once (test/run.ts). Files that run alone mostly wait, so they
// are split into two halves, and the long transactions follow the smaller half.
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

// With SLOW, everything is slowed down on purpose, and the tests run in random order.
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
    // These times only say when to give up: a busy machine takes several times as long as an idle one.
    testTimeout: 300_000 * slowness,
    hookTimeout: 300_000 * slowness,
    expect: { poll: { timeout: 240_000 * slowness } },
    // More workers than cores, because many tests wait for something. With five, peaks came near the 60
    // database connections of the smallest hosted projects.
    maxWorkers: 4,
    // A process runs one file after another, so shared modules and the compiled OpenAPI description are
    // reused.
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
