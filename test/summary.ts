// Vitest reporter: writes the number of passed tests and the failures to the file SUMMARY for run.ts. If
// SUMMARY is not set, it prints a last line.
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Reporter, TestModule } from 'vitest/node'
import { variable } from '../local/config/environment.ts'
import { commandFor } from './suite/command.ts'

export type Summary = {
  passed: number
  failed: Failed[]
}

export type Failed = {
  said: string
  again?: string
}

export const summary: Reporter = {
  onTestRunEnd(modules: readonly TestModule[], errors) {
    const said: Summary = {
      passed: 0,
      failed: errors.map((error) => ({ said: why('outside tests', [error]) })),
    }
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId)
      const fail = (what: string, errors: readonly Failure[], test?: string) =>
        said.failed.push({
          said: why([file, what].filter(Boolean).join(' > '), errors),
          again: commandFor(file, test),
        })
      if (module.errors().length) fail('', module.errors())
      // A suite itself has errors if one of its hooks fails.
      for (const suite of module.children.allSuites()) {
        if (suite.errors().length) fail(suite.fullName, suite.errors())
      }
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result()
        if (state === 'passed') said.passed++
        if (state === 'failed') fail(test.fullName, errors ?? [], test.fullName)
      }
    }
    const file = variable('SUMMARY')
    if (file) writeFileSync(file, JSON.stringify(said))
    else console.log(`\n${said.passed} passed, ${said.failed.length} failed`)
  },
}

type Failure = {
  message: string
  diff?: string
  stacks?: { file: string; line: number }[]
}

function why(where: string, errors: readonly Failure[]): string {
  const reasons = errors.flatMap(({ message, diff, stacks }) => [
    message.slice(0, 600),
    ...(diff ? [stripVTControlCharacters(diff).slice(0, 600)] : []),
    ...(stacks?.[0] ? [`(${relative(process.cwd(), stacks[0].file)}:${stacks[0].line})`] : []),
  ])
  return [where, ...reasons.join('\n').split('\n')].join('\n    ')
}
