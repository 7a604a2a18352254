/**
 * Slows the processes below one, as a program beside it: node test/suite/slower.ts <pid> <seed> <folder of
 * held processes>. Each is stopped and continued by signals to a quarter of its time, in turns of its own.
 * When its input ends (the runner has finished, or was killed), it continues all, and ends what is left.
 */
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

/** Milliseconds between two looks for new processes. */
const look = 300
/** Below the runner `npm test` and its vitests start and count tests, and have no part in them. */
const sparedLevels = 2

function signal({ pid }: Process, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** The turns of a process; gives what ends them. */
function slow(one: Process, draw: () => number): () => void {
  let timer: ReturnType<typeof setTimeout>
  const run = () => {
    // Mostly as on a busy machine; now and then long enough for others to overtake.
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
/** By name: one that loses its parent stays in it. */
const known = new Map<string, Known>()

/** What lies close below the runner, but for this program. */
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

const looking = setInterval(takeNew, look)

function releaseAll() {
  clearInterval(looking)
  for (const one of known.values()) one.release()
}

/** What is left has been left behind by a test or the stack, or by a runner that was killed. */
async function endAll() {
  releaseAll()
  // The last of the run may be about to end.
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

/** Which of them have not ended after a time. */
async function stillThere(some: Process[], limit: number): Promise<Process[]> {
  const there = () => some.filter((one) => startTimeOf(one.pid) === one.born)
  for (let waited = 0; waited < limit && there().length; waited += 100) await sleep(100)
  return there()
}

// Ctrl-C: the run ends at its own speed.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, releaseAll)
process.stdin.on('end', endAll).on('error', endAll).resume()
process.on('uncaughtException', (error) => {
  console.error(error)
  releaseAll()
  process.exit(1)
})
