// Records repetitions. Our own failures are never repeated, because that would hide them; those of outside
// services (a package registry) may be, and each is counted and printed at the end.
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
