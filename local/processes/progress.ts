// Waits for a process as long as it makes progress, so that a slow machine gets enough time but a hang is
// noticed soon.
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { treeOf } from './process-info.ts'

type Patience = {
  /** The milliseconds without activity after which a process counts as stuck. */
  idle: number
  /** The milliseconds after which the process counts as stuck even if it is or may be active. */
  limit: number
  output?: string
  signal?: AbortSignal
}

/**
 * Resolves when a process makes no progress for `idle` milliseconds (it and its descendants use no processor
 * time, none starts or ends, and there is no output), or after `limit`. Never resolves once `signal` aborts.
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

/** Describes the activity so far, or '' if it is unknown, for example because no file can be opened. */
function stateOf(pid: number | undefined, output?: string): string {
  try {
    const tree = pid === undefined ? [] : treeOf(pid).map(({ pid, time }) => `${pid} ${time}`)
    const written = output && statSync(output, { throwIfNoEntry: false })?.size
    return tree.length ? [...tree, written].join() : ''
  } catch {
    return ''
  }
}
