import { defineConfig } from 'vitest/config'

Object.assign(process.env, { HASHING: 'default', TIMES: 'exact' })

// Times of answers: alone on a quiet machine, before a release. `npm test` checks the same cases'
// statuses, bodies and headers.
export default defineConfig({
  test: {
    globalSetup: ['test/setup.ts'],
    include: ['{test,local}/**/*.timing.test.ts'],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 60_000,
  },
})
