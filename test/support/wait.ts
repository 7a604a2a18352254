/** Waiting for what comes about by itself. The limits only say when to give up. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until a condition holds; one that throws does not hold yet. Gives the milliseconds it took. */
export async function waitUntil(
  what: string,
  check: () => boolean | Promise<boolean>,
  limit = 60_000,
): Promise<number> {
  const began = Date.now()
  const holds = async () => await check()
  for (let pause = 1; !await holds().catch(() => false); pause = Math.min(2 * pause, 20)) {
    if (Date.now() - began > limit) throw new Error(`still waiting after ${limit} ms: ${what}`)
    await sleep(pause)
  }
  return Date.now() - began
}

/** Waits until there is a value, and gives it. */
export async function waitFor<T>(what: string, get: () => Promise<T | undefined>): Promise<T> {
  let found: T | undefined
  await waitUntil(what, async () => (found = await get()) !== undefined)
  return found!
}
