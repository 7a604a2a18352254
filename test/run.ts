// `npm test`: runs the areas on one embedded stack and, in parallel, the tests that need a stack to
// themselves (*.alone.test.ts) on two others. The final checks run on each stack. On a given project
// (SUPABASE_URL) the three groups run one after the other. Arguments go to vitest; --since=<commit> selects
// the tests affected by changes since that commit, and the tests that span areas.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { variable } from '../local/config/environment.ts'
import { examplesFile } from '../local/docs/examples.ts'
import { unansweredCodes } from './support/answered-codes.ts'
import { uncalledFunctions } from './support/called-functions.ts'
import { foundIn, keepFound, untrue } from './support/found-examples.ts'
import { atNight } from './suite/at-night.ts'
import { repetitionsIn } from './suite/repetitions.ts'
import { makeProject } from './suite/new-project.ts'
import { argumentsFor } from './suite/since.ts'
import { isNightly } from './support/nightly.ts'
import type { Failed, Summary } from './summary.ts'

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'property-tests-'))
const given = argumentsFor(process.argv.slice(2))
const byDay = !given.length && !isNightly
const calledFunctions = join(folder, 'called-functions')
const answeredCodes = join(folder, 'answered-codes')
const metExamples = join(folder, 'met-examples')
const repetitions = join(folder, 'repetitions')
const newProject = join(folder, 'new-project')
// Hundreds of processes load the same modules, so Node caches the compiled code.
process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled')
const running = new Set<ReturnType<typeof spawn>>()
// The terminal sends Ctrl-C to every process; this one waits, because the stacks need time to stop.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => running.forEach((child) => child.kill('SIGTERM')))

type Run = Summary & { said: string }

/** Runs some projects of vitest.config.ts. With `aside`, their output is returned instead of printed. */
function run(projects: string[], aside: boolean): Promise<Run> {
  const summary = join(folder, projects.join('-'))
  const names = projects.flatMap((name) => ['--project', name])
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--passWithNoTests', ...names, ...given],
    {
      env: {
        ...process.env,
        SUMMARY: summary,
        CALLED_FUNCTIONS: calledFunctions,
        ANSWERED_CODES: answeredCodes,
        MET_EXAMPLES: metExamples,
        REPETITIONS: repetitions,
        NEW_PROJECT: newProject,
        ...(byDay ? { BY_DAY: '1' } : {}),
      },
      stdio: aside ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    },
  )
  running.add(child)
  let said = ''
  child.stdout?.on('data', (text) => (said += text))
  child.stderr?.on('data', (text) => (said += text))
  return new Promise((resolve) =>
    child.once('close', (code) => {
      running.delete(child)
      resolve({ ...summaryIn(summary, projects, code), said })
    })
  )
}

/** Returns the reporter's result (summary.ts). An aborted run counts as failed even if its tests passed. */
function summaryIn(file: string, projects: string[], code: number | null): Summary {
  const said: Summary = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { passed: 0, failed: [] }
  if (code !== 0 && !said.failed.length) {
    said.failed.push({ said: `${projects.join(', ')}: exit ${code}` })
  }
  return said
}

const areas = () => run(['areas', 'always'], false)
const alone = (aside: boolean) => run(['alone', 'after', 'always'], aside)
const aloneToo = (aside: boolean) => run(['alone too', 'always'], aside)
await makeProject(newProject)
const runs = variable('SUPABASE_URL')
  ? [await areas(), await alone(given.length > 0), await aloneToo(given.length > 0)]
  : await Promise.all([areas(), alone(true), aloneToo(true)])
for (const { said, passed, failed } of runs) {
  if (passed || failed.length) process.stdout.write(said)
}
// Failures are repeated at the end, where people look.
const failed: Failed[] = runs.flatMap((one) => one.failed)
// Functions that were never called are reported only after the whole suite.
const uncalled = given.length ? [] : uncalledFunctions(calledFunctions)
const unanswered = given.length ? [] : unansweredCodes(answeredCodes)
const found = foundIn(metExamples, !given.length)
if (Object.keys(found.examples).length) keepFound(found)
for (
  const [what, missing] of [
    ['no test calls these functions', uncalled],
    ['no test saw these described codes answered', unanswered],
    [`${examplesFile} is not what was answered: npm run docs`, given.length ? [] : untrue(found)],
  ] as const
) if (missing.length) failed.push({ said: [what, ...missing].join('\n    ') })
const repeated = repetitionsIn(repetitions)
rmSync(folder, { recursive: true, force: true })
for (const { said, again } of failed) {
  console.log(`\nFAILED ${said}${again ? `\n  again: ${again}` : ''}`)
}
const passed = runs.reduce((sum, one) => sum + one.passed, 0)
if (repeated.length) {
  const count = `${repeated.length} ${repeated.length === 1 ? 'repetition' : 'repetitions'}`
  console.log(`\n${count} of what is not ours:\n    ${repeated.join('\n    ')}`)
}
if (byDay) console.log(`\n${atNight.length} files run only at night (test/suite/at-night.ts)`)
console.log(`\n${passed} passed, ${failed.length} failed`)
process.exitCode = failed.length ? 1 : 0
