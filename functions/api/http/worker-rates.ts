/**
 * Limits that each worker keeps in its memory, best effort: of reads, so that a read stays one
 * read-only message to the database, and of refused writes, which nothing else counts. What must be
 * counted exactly is counted in the database.
 */
import type { MiddlewareHandler } from 'hono'
import type { ApiContext, ApiEnv } from '../../_shared/context.ts'
import { setRateHeaders } from '../../_shared/db.ts'
import { env } from '../../_shared/env.ts'
import { classifyError, Refusal } from '../../_shared/refusal.ts'
import type { Check } from './checks.ts'

const minute = 60_000
const capacity = 50_000

type Window = { until: number; count: number }

/** Counts by account or address, each in its own minute. */
class RateWindows {
  private readonly windows = new Map<string, Window>()
  private readonly max: number

  constructor(max: number) {
    this.max = max
  }

  /** The caller's window, whether or not anything is left of it. */
  of(c: ApiContext, key = c.get('caller').sub ?? c.get('address')) {
    const now = Date.now()
    let window = this.windows.get(key)
    if (!window || window.until <= now) {
      // Better to forget all counts than to grow without end.
      if (this.windows.size >= capacity) this.windows.clear()
      window = { until: now + minute, count: 0 }
      this.windows.set(key, window)
    }
    return window
  }

  /** Sets the headers; gives the seconds until the window starts anew. */
  setHeaders(c: ApiContext, { until, count }: Window) {
    const reset = Math.max(1, Math.ceil((until - Date.now()) / 1000))
    setRateHeaders(c, [this.max, this.max - count, reset].map(String))
    return reset
  }

  /** Refuses when nothing is left. */
  check(c: ApiContext, window: Window) {
    if (window.count < this.max) return
    throw new Refusal('rate_limited', { retryAfter: this.setHeaders(c, window) })
  }
}

const refusals = new RateWindows(env.refusalRate)
const misses = new RateWindows(60)

/** Counts a call of an account or address. */
const limitTo = (max: number): Check => {
  const windows = new RateWindows(max)
  return (c) => {
    if (env.readRate === 0) return
    const window = windows.of(c)
    windows.check(c, window)
    window.count++
    // What a cache keeps says nothing of one caller.
    if (!c.get('cache')) windows.setHeaders(c, window)
  }
}

/** READ_RATE a minute; 0 is no limit. */
export const limitReads = limitTo(env.readRate)

/** Half as many, apart from other reads. */
export const limitCounts = limitTo(Math.ceil(env.readRate / 2))

/** Whoever had REFUSAL_RATE writes refused within a minute waits for its end; 0 is no limit. */
export const limitRefusedWrites: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (env.refusalRate === 0) return await next()
  const window = refusals.of(c)
  refusals.check(c, window)
  await next()
  if (c.res.status >= 400 && c.res.status < 500) window.count++
}

/** Looks for something by a number that can be guessed: 60 times a minute an address may be wrong. */
export async function limitMisses<T>(c: ApiContext, look: () => Promise<T>): Promise<T> {
  const window = misses.of(c, c.get('address'))
  misses.check(c, window)
  try {
    return await look()
  } catch (error) {
    if (classifyError(error as Error, c.get('caller')).code.endsWith('_not_found')) window.count++
    throw error
  }
}
