// Slows all descendants of a process: node test/suite/slower.ts <pid> <seed> <folder of held processes>.
// Signals stop and continue each of them repeatedly, so that it runs a quarter of the time. When standard
// input ends (the runner has finished or was killed), it continues all of them and ends those still running.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  commandOf,
  type Process,
  processes,
  startTimeOf,
  treeOf,
} from '../../local/processes/process-info.ts'
import { drawsOf } from '../../local/processes/random.ts'
import { isHeld } from './held-processes.ts'

const [runner, seed] = process.argv.slice(2, 4).map(Number) as [number, number]
const held = process.argv[4]!

/** Milliseconds between searches for new processes. */
const checkEvery = 300
/**
 * `npm test` and the vitest processes directly below the runner only start and count tests, so they are
 * not slowed.
 */
const sparedLevels = 2

function signal({ pid }: Process, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

function slow(one: Process, draw: () => number): () => void {
  let timer: ReturnType<typeof setTimeout>
  const run = () => {
    // Most pauses are as short as on a busy machine; some are long enough for other processes to overtake.
    const ms = draw() < 0.8 ? 2 + 6 * draw() : 20 + 60 * draw()
    timer = setTimeout(() => stop(3 * ms), ms)
  }
  const stop = (ms: number) => {
    if (!signal(one, 'SIGSTOP')) return
    timer = setTimeout(() => {
      if (!isHeld(held, one.pid)) signal(one, 'SIGCONT')
      run()
    }, ms)
  }
  run()
  return () => {
    clearTimeout(timer)
    signal(one, 'SIGCONT')
  }
}

const draw = drawsOf(seed)
const nameOf = ({ pid, born }: Process) => `${pid} ${born}`
type Known = Process & { release: () => void }
/** The processes found so far, by pid and start time. A process stays known after its parent has ended. */
const known = new Map<string, Known>()

function spared(all: Process[]): Process[] {
  const below = (of: number[]) => all.filter(({ parent }) => of.includes(parent))
  const found: Process[] = []
  for (let depth = 0, level = [runner]; depth < sparedLevels; depth++) {
    const next = below(level).filter(({ pid }) => pid !== process.pid)
    found.push(...next)
    level = next.map(({ pid }) => pid)
  }
  return found
}

function takeNew() {
  const all = processes()
  const there = new Set(all.map(nameOf))
  for (const [name, one] of known) {
    if (there.has(name)) continue
    one.release()
    known.delete(name)
  }
  const take = (one: Process, release: () => void) => known.set(nameOf(one), { ...one, release })
  for (const one of spared(all)) if (!known.has(nameOf(one))) take(one, () => {})
  for (const one of treeOf(runner, all)) {
    if (one.pid === runner || one.pid === process.pid || known.has(nameOf(one))) continue
    take(one, slow(one, drawsOf(draw() * 2 ** 32)))
  }
}

const looking = setInterval(takeNew, checkEvery)

function releaseAll() {
  clearInterval(looking)
  for (const one of known.values()) one.release()
}

/** Ends the processes that a test, the stack or a killed runner has left running. */
async function endAll() {
  releaseAll()
  // The run's last process may be ending by itself at this moment.
  const left = process.ppid === runner
    ? await stillThere([...known.values()], 10_000)
    : [...known.values()]
  for (const one of left) {
    console.log(`left behind, and ended: ${commandOf(one.pid)}`)
    signal(one, 'SIGTERM')
  }
  for (const one of await stillThere(left, 30_000)) signal(one, 'SIGKILL')
  process.exit(left.length ? 1 : 0)
}

async function stillThere(some: Process[], limit: number): Promise<Process[]> {
  const there = () => some.filter((one) => startTimeOf(one.pid) === one.born)
  for (let waited = 0; waited < limit && there().length; waited += 100) await sleep(100)
  return there()
}

// On Ctrl-C all processes are continued, so that the run ends as quickly as without this program.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, releaseAll)
process.stdin.on('end', endAll).on('error', endAll).resume()
process.on('uncaughtException', (error) => {
  console.error(error)
  releaseAll()
  process.exit(1)
})
