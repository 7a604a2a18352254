/** Time limits by one clock: a timer for each would be a tenth of the work of a small request. */
import type { ErrorCode } from './errors.ts'
import { Refusal } from './problem.ts'

type Waiting = { until: number; end: () => void }

const waiting = new Set<Waiting>()
const clock = setInterval(() => {
  const now = Date.now()
  for (const { until, end } of waiting) if (until < now) end()
}, 250)
// Alone it keeps nothing alive.
Deno.unrefTimer(clock)

/** What the work gives, or the refusal when it takes longer; up to a quarter of a second late. */
export async function within<T>(ms: number, work: Promise<T>, code: ErrorCode): Promise<T> {
  let limit: Waiting
  const late = new Promise<never>((_, reject) => {
    limit = { until: Date.now() + ms, end: () => reject(new Refusal(code)) }
    waiting.add(limit)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    waiting.delete(limit!)
  }
}

/** What a client sends. What does not come in time, or from one that is gone, comes no more: 408. */
export const arrived = <T>(ms: number, coming: Promise<T>): Promise<T> =>
  within(ms, coming, 'upload_timeout').catch(() => {
    throw new Refusal('upload_timeout')
  })
