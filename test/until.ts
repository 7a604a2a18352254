import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something holds, and says what did not. The limit is only when to give up. */
export async function until(what: string, check: () => boolean | Promise<boolean>, limit = 60_000) {
  const began = Date.now()
  const holds = async () => await check()
  while (!await holds().catch(() => false)) {
    if (Date.now() - began > limit) throw new Error(`${what} is not true after ${limit} ms`)
    await sleep(20)
  }
  return Date.now() - began
}
