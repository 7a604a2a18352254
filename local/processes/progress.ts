// How long to wait for a process: as long as it gets on. A slow machine is given the time that it needs,
// and one that hangs is noticed soon.
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { treeOf } from './process-info.ts'

type Patience = {
  /** For how many milliseconds it may do nothing. */
  idle: number
  /** For how many at most, whatever it does; where the system does not say what it does, too. */
  limit: number
  /** A file that it writes to. */
  output?: string
  signal?: AbortSignal
}

/**
 * Resolves when a process has got no further: neither it nor one below it had time on a processor,
 * started or ended, and nothing was written. Never, once `signal` says that nobody waits any more.
 */
export async function stuck(pid: number | undefined, patience: Patience): Promise<void> {
  const { idle, limit, output, signal } = patience
  const began = Date.now()
  let [last, changed] = ['', began]
  for (;;) {
    await sleep(Math.min(500, idle / 4), undefined, { ref: false })
    if (signal?.aborted) return await new Promise(() => {})
    const now = stateOf(pid, output)
    if (now === '' || now !== last) [last, changed] = [now, Date.now()]
    if (Date.now() - changed > idle || Date.now() - began > limit) return
  }
}

/** '' where the system does not say: it may have no room for the process that asks it, or no file left. */
function stateOf(pid: number | undefined, output?: string): string {
  try {
    const tree = pid === undefined ? [] : treeOf(pid).map(({ pid, time }) => `${pid} ${time}`)
    const written = output && statSync(output, { throwIfNoEntry: false })?.size
    return tree.length ? [...tree, written].join() : ''
  } catch {
    return ''
  }
}
