import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something holds, and says what did not. The limit is only when to give up. */
export async function until(what: string, check: () => boolean | Promise<boolean>, limit = 60_000) {
  const began = Date.now()
  const holds = async () => await check()
  for (let pause = 1; !await holds().catch(() => false); pause = Math.min(2 * pause, 20)) {
    if (Date.now() - began > limit) throw new Error(`${what} is not true after ${limit} ms`)
    await sleep(pause)
  }
  return Date.now() - began
}
