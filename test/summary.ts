/** Closes a run with one line that machines and people read alike. */
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
    console.log(`\n${passed} passed, ${failed} failed`)
  },
}
