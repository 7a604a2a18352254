// All timeouts share one interval timer: a timer for each would add a tenth to the time of a small request.
import type { ErrorCode } from './errors.ts'
import { Refusal } from './refusal.ts'

type Waiting = { until: number; end: () => void }

const waiting = new Set<Waiting>()
let clock: ReturnType<typeof setInterval> | undefined

function tick() {
  const now = Date.now()
  for (const { until, end } of waiting) if (until < now) end()
  if (waiting.size > 0) return
  clearInterval(clock)
  clock = undefined
}

/**
 * Returns the result of the work. Throws `code` if it takes longer than `ms`; this may happen up to 250 ms
 * late.
 */
export async function withTimeout<T>(ms: number, work: Promise<T>, code: ErrorCode): Promise<T> {
  let limit: Waiting
  const late = new Promise<never>((_, reject) => {
    limit = { until: Date.now() + ms, end: () => reject(new Refusal(code)) }
    waiting.add(limit)
    clock ??= setInterval(tick, 250)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    waiting.delete(limit!)
  }
}

/** Throws 408 if the client's data does not arrive in time or the client has disconnected. */
export const receiveWithin = <T>(ms: number, arriving: Promise<T>): Promise<T> =>
  withTimeout(ms, arriving, 'upload_timeout').catch(() => {
    throw new Refusal('upload_timeout')
  })
