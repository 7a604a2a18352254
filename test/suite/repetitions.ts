// Records retries. Only steps that depend on an outside service (a package registry) are retried, and each
// retry is printed at the end of the run. Other retries would hide our own bugs.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { variable } from '../../local/config/environment.ts'

/** Runs a step that depends on an outside service, and retries it once after a failure. */
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

export const repetitionsIn = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
