/**
 * What was tried again. A failure of ours is never repeated: it would be hidden. What is not ours (a
 * registry of packages) may be, and each time is counted and printed at the end of the run.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { variable } from '../../local/config/environment.ts'

/** Does what depends on others; once more after a failure, which is counted. */
export async function onceMore<T>(what: string, act: () => Promise<T>, pause = 2000): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const file = variable('REPETITIONS')
    const [reason] = (error as Error).message.split('\n')
    if (file) appendFileSync(file, `${what}: ${reason!.slice(0, 200)}\n`)
    await sleep(pause)
    return await act()
  }
}

/** What was counted, in a line each. */
export const repetitionsIn = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
