/** Counts a run's tests for its closing line: into the file SUMMARY for run.ts, or printed. */
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

export const summary: Reporter = {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
    let passed = 0
    let failed = errors.length
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state)
      passed += states.filter((state) => state === 'passed').length
      failed += states.filter((state) => state === 'failed').length
      if (!states.includes('failed') && module.state() === 'failed') failed++
    }
    const file = process.env.SUMMARY
    if (file) writeFileSync(file, JSON.stringify([passed, failed]))
    else console.log(`\n${passed} passed, ${failed} failed`)
  },
}
