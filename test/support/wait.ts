/**
 * Waiting in tests: for a state, not for a time (docs/conventions.md, Tests). A limit only says when to
 * give up on what will never come, so it is far above what the slowest machine needs.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { slowness } from '../suite/slowness.ts'

const giveUpAfter = 240_000 * slowness

/** Waits until a condition holds; one that throws does not hold yet. Gives the milliseconds it took. */
export async function waitUntil(
  what: string,
  check: () => boolean | Promise<boolean>,
  limit = giveUpAfter,
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

/**
 * Why a test may let time pass: a crash or a race comes at some moment and every moment is right; or
 * time is the subject, the part's setting is short, and the test leaves it ten times as long.
 */
export type Reason = 'any moment is right' | 'time is the subject'

/** Lets time pass, where no state can be waited for. */
export const pause = (ms: number, _reason: Reason): Promise<void> => sleep(ms)
