// Approximate rate limits in the memory of each worker. They count reads, so that a read needs no write to
// the database, and refused writes, which are counted nowhere else. Exact limits are in the database.
import type { MiddlewareHandler } from 'hono'
import type { ApiContext, ApiEnv } from '../../_shared/caller/context.ts'
import { setRateHeaders } from '../../_shared/database/db.ts'
import { classifyError, Refusal } from '../../_shared/errors/refusal.ts'
import { env } from '../../_shared/settings/env.ts'
import type { Check } from './checks.ts'

const minute = 60_000
const capacity = 50_000

type Window = { until: number; count: number }

class RateWindows {
  private readonly windows = new Map<string, Window>()
  private readonly max: number

  constructor(max: number) {
    this.max = max
  }

  /** Returns the caller's time window, even if its limit has been reached. */
  of(c: ApiContext, key = c.get('caller').sub ?? c.get('address')) {
    const now = Date.now()
    let window = this.windows.get(key)
    if (!window || window.until <= now) {
      // Forgetting all counts is better than running out of memory.
      if (this.windows.size >= capacity) this.windows.clear()
      window = { until: now + minute, count: 0 }
      this.windows.set(key, window)
    }
    return window
  }

  setHeaders(c: ApiContext, { until, count }: Window) {
    const reset = Math.max(1, Math.ceil((until - Date.now()) / 1000))
    setRateHeaders(c, [this.max, this.max - count, reset].map(String))
    return reset
  }

  check(c: ApiContext, window: Window) {
    if (window.count < this.max) return
    throw new Refusal('rate_limited', { retryAfter: this.setHeaders(c, window) })
  }
}

const refusals = new RateWindows(env.refusalRate)
const misses = new RateWindows(60)

const limitTo = (max: number, keyOf?: (c: ApiContext) => string): Check => {
  const windows = new RateWindows(max)
  return (c) => {
    if (env.readRate === 0) return
    const window = windows.of(c, keyOf?.(c))
    windows.check(c, window)
    window.count++
    // A cached response must not contain the rate of a single caller.
    if (!c.get('cache')) windows.setHeaders(c, window)
  }
}

/** READ_RATE reads per minute; 0 means no limit. */
export const limitReads = limitTo(env.readRate)

/** READ_RATE / 2 counts of search results per minute, counted separately from other reads. */
export const limitCounts = limitTo(Math.ceil(env.readRate / 2))

/** READ_RATE * 5 suggestions per minute and address, because typing each letter requests suggestions. */
export const limitSuggestions = limitTo(env.readRate * 5, (c) => c.get('address'))

/**
 * After REFUSAL_RATE refused writes within a minute, refuses all writes for the rest of it. 0 means no limit.
 */
export const limitRefusedWrites: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (env.refusalRate === 0) return await next()
  const window = refusals.of(c)
  refusals.check(c, window)
  await next()
  if (c.res.status >= 400 && c.res.status < 500) window.count++
}

/** Prevents guessing of listing numbers: each address may request 60 nonexistent listings per minute. */
export async function limitMisses<T>(c: ApiContext, find: () => Promise<T>): Promise<T> {
  const window = misses.of(c, c.get('address'))
  misses.check(c, window)
  try {
    return await find()
  } catch (error) {
    if (classifyError(error as Error, c.get('caller')).code.endsWith('_not_found')) window.count++
    throw error
  }
}
