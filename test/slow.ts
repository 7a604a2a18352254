// `npm run test:slow -- [--seed=N] [areas or files]`: runs the suite on slowed processes, to find bugs that
// depend on timing. Each process runs a quarter of the time, some responses are delayed (LATE_ANSWERS), jobs
// run at random moments, and the tests of a file run in random order. Without areas it runs a third of them,
// chosen by the seed (three consecutive seeds cover all); `--all` runs all. Other arguments go to vitest.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sendSignal, treeOf } from '../local/processes/process-info.ts'
import { filtersFor, thirdOf } from './suite/areas.ts'
import { thisTree } from './suite/since.ts'

if (process.platform === 'win32') {
  console.error(
    'Windows has no signals that stop and continue a process: npm run test:slow runs elsewhere.',
  )
  process.exit(1)
}
const given = process.argv.slice(2)
const seedGiven = given.find((one) => one.startsWith('--seed='))
const seed = seedGiven ? Number(seedGiven.slice('--seed='.length)) : Date.now() % 100_000
if (!Number.isInteger(seed) || seed < 0 || seed > 999_999_999) {
  console.error('--seed is a whole number of at most nine digits.')
  process.exit(1)
}
const rest = given.filter((one) => one !== seedGiven && one !== '--all')
const named = rest.some((one) => !one.startsWith('-'))
const filters = named || given.includes('--all') ? [] : thirdOf(thisTree(), seed)

const held = mkdtempSync(join(tmpdir(), 'held-processes-'))
const program = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const say = () =>
  console.log(`-- seed ${seed}: ${filters.join(' ') || rest.join(' ') || 'everything'}`)

say()
const began = Date.now()
const slower = spawn(
  process.execPath,
  [program('suite/slower.ts'), String(process.pid), String(seed), held],
  { stdio: ['pipe', 'inherit', 'inherit'] },
)
const run = spawn(
  process.execPath,
  [program('run.ts'), ...filters, ...filtersFor(rest)],
  {
    stdio: ['ignore', 'inherit', 'inherit'],
    // The run gets its own session: when a shell exits, the system kills the stopped processes of its own.
    detached: true,
    env: {
      ...process.env,
      SLOW: String(seed),
      LATE_ANSWERS: String(seed),
      HELD_PROCESSES: held,
      RUN_BY: `npm run test:slow -- --seed=${seed}`,
    },
  },
)
let over = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    slower.kill(signal)
    // Signals the whole process group, as Ctrl-C in a terminal does.
    sendSignal(-run.pid!, signal)
  })
}
slower.once('exit', () => {
  if (over) return
  // Processes that are stopped at this moment would stay stopped.
  for (const { pid } of treeOf(process.pid)) if (pid !== process.pid) sendSignal(pid, 'SIGCONT')
  console.error('What slows the others has ended: the rest of this run is not slow.')
  process.exitCode = 1
})
const ended = new Promise<number>((done) => slower.once('exit', (code) => done(code ?? 1)))
const code = await new Promise<number>((done) => run.once('close', (code) => done(code ?? 1)))
over = true
slower.stdin.end()
process.exitCode = process.exitCode || code || await ended
rmSync(held, { recursive: true, force: true })
console.log(`-- ${Math.round((Date.now() - began) / 60_000)} minutes`)
say()
