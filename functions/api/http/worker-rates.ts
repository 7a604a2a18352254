/**
 * Limits that each worker keeps in its memory, best effort: of reads, so that a read stays one
 * read-only message to the database, and of writes that were refused, which count nowhere else.
 * Everything that must be counted exactly is counted in the database.
 */
import type { Context, MiddlewareHandler } from 'hono'
import { rateHeaders } from '../../_shared/db.ts'
import { env } from '../../_shared/env.ts'
import type { Check, Env } from './route.ts'
import { Refusal } from '../../_shared/problem.ts'

const minute = 60_000
const capacity = 50_000

type Window = { until: number; count: number }

/** What each account or address did in its minute. */
class Windows {
  private readonly windows = new Map<string, Window>()
  private readonly max: number

  constructor(max: number) {
    this.max = max
  }

  /** The caller's minute, with room or not. */
  of(c: Context<Env>) {
    const key = c.get('caller').sub ?? c.get('address')
    const now = Date.now()
    let window = this.windows.get(key)
    if (!window || window.until <= now) {
      // Full of others: better to forget what they did than to grow without end.
      if (this.windows.size >= capacity) this.windows.clear()
      window = { until: now + minute, count: 0 }
      this.windows.set(key, window)
    }
    return window
  }

  /** Tells in the headers what is left; gives the seconds until there is all of it again. */
  tell(c: Context<Env>, { until, count }: Window) {
    const reset = Math.max(1, Math.ceil((until - Date.now()) / 1000))
    rateHeaders(c, [this.max, this.max - count, reset].join(','))
    return reset
  }

  /** Refuses when nothing is left. */
  hold(c: Context<Env>, window: Window) {
    if (window.count < this.max) return
    throw new Refusal('rate_limited', { retryAfter: this.tell(c, window) })
  }
}

const reads = new Windows(env.readRate)
const refusals = new Windows(env.refusalRate)

/** Counts one read of an account or address; READ_RATE a minute, 0 is no limit. */
export const limitedRead: Check = (c) => {
  if (env.readRate === 0) return
  const window = reads.of(c)
  reads.hold(c, window)
  window.count++
  reads.tell(c, window)
}

/** Writes of whoever had REFUSAL_RATE of them refused within the minute wait; 0 is no limit. */
export const limitedRefusals: MiddlewareHandler<Env> = async (c, next) => {
  if (env.refusalRate === 0) return await next()
  const window = refusals.of(c)
  refusals.hold(c, window)
  await next()
  if (c.res.status >= 400 && c.res.status < 500) window.count++
}
