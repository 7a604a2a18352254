import { defineConfig } from 'vitest/config'

Object.assign(process.env, { HASHING: 'default', TIMES: 'exact' })

// Tests of response times, which run alone on an idle machine before a release. `npm test` checks the
// statuses, bodies and headers of the same cases.
export default defineConfig({
  test: {
    globalSetup: ['test/setup.ts'],
    include: ['{test,local}/**/*.timing.test.ts'],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 60_000,
  },
})
