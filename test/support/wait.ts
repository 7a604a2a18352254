// Waits for a state, never for a time (docs/tests.md). A limit only ends a wait for an event that will never
// come, so it is far longer than the slowest machine needs.
import { setTimeout as sleep } from 'node:timers/promises'
import { slowness } from '../suite/slowness.ts'

const giveUpAfter = 240_000 * slowness

/**
 * Waits until a condition holds; a condition that throws does not hold yet. Returns the milliseconds that it
 * took. If progress is reported, the limit counts from the last progress.
 */
export async function waitUntil(
  what: string,
  check: () => boolean | Promise<boolean>,
  limit = giveUpAfter,
  lastProgress = () => 0,
): Promise<number> {
  const began = Date.now()
  const holds = async () => await check()
  // A long wait checks less often, so it may end up to two percent late.
  const longest = () => Math.min(Math.max(20, (Date.now() - began) / 50), 250)
  for (let pause = 1; !await holds().catch(() => false); pause = Math.min(2 * pause, longest())) {
    if (Date.now() - Math.max(began, lastProgress()) > limit) {
      throw new Error(`still waiting after ${limit} ms: ${what}`)
    }
    await sleep(pause)
  }
  return Date.now() - began
}

export async function waitFor<T>(what: string, get: () => Promise<T | undefined>): Promise<T> {
  let found: T | undefined
  await waitUntil(what, async () => (found = await get()) !== undefined)
  return found!
}

/**
 * The reasons for letting time pass: a crash or race may happen at any moment, or the test is about time. In
 * the second case the tested part has a short limit, and the test waits ten times as long.
 */
export type Reason = 'any moment is right' | 'time is the subject'

/** Lets time pass if there is no state to wait for. */
export const pause = (ms: number, _reason: Reason): Promise<void> => sleep(ms)
