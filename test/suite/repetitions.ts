// Records repetitions. Only acts that depend on an outside service (a package registry) are repeated after a
// failure, and each is printed at the end; repeating others would hide faults of ours.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { variable } from '../../local/config/environment.ts'

/** Runs an act that depends on outside services, and repeats it once after a failure. */
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
