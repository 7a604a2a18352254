/**
 * Reads are limited per worker in its memory, best effort, so that a read stays one read-only
 * message to the database. Everything that must be counted exactly is counted there.
 */
import { rateHeaders } from './db.ts'
import { env } from './env.ts'
import type { Check } from './http.ts'
import { Refusal } from './problem.ts'

const minute = 60_000
const capacity = 50_000
const windows = new Map<string, { until: number; count: number }>()

/** Counts one read of an account or address; READ_RATE a minute, 0 is no limit. */
export const limitedRead: Check = (c) => {
  if (env.readRate === 0) return
  const key = c.get('caller').sub ?? c.get('address')
  const now = Date.now()
  let window = windows.get(key)
  if (!window || window.until <= now) {
    // Full of others: better to forget what they did than to grow without end.
    if (windows.size >= capacity) windows.clear()
    window = { until: now + minute, count: 0 }
    windows.set(key, window)
  }
  window.count++
  const reset = Math.ceil((window.until - now) / 1000)
  rateHeaders(c, [env.readRate, Math.max(0, env.readRate - window.count), reset].join(','))
  if (window.count > env.readRate) throw new Refusal('rate_limited', { retryAfter: reset })
}
