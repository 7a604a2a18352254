/** Limits: averages per second, the number of connections and channels, and the size of a message. */
export type Limits = {
  eventsPerSecond: number
  joinsPerSecond: number
  presencePerSecond: number
  connections: number
  channelsPerConnection: number
  payloadBytes: number
}

export type Plan = 'free' | 'pro' | 'large'

const limits = (
  connections: number,
  perSecond: number,
  presencePerSecond: number,
  payloadKilobytes: number,
): Limits => ({
  eventsPerSecond: perSecond,
  joinsPerSecond: perSecond,
  presencePerSecond,
  connections,
  channelsPerConnection: 100,
  // Leaves room for the message around the payload.
  payloadBytes: payloadKilobytes * 1000 + 500,
})

/** The plans of Supabase. `large` stands for Pro without a spend cap and for Team. */
const plans: Record<Plan, Limits> = {
  free: limits(200, 100, 20, 256),
  pro: limits(500, 500, 50, 3000),
  large: limits(10_000, 2500, 1000, 3000),
}

/** Returns a plan's limits. Without `rates`, only the limits of a single connection or message apply. */
export const limitsOf = (plan: Plan, rates: boolean): Limits => ({
  ...plans[plan],
  ...(!rates && {
    eventsPerSecond: Infinity,
    joinsPerSecond: Infinity,
    presencePerSecond: Infinity,
    connections: Infinity,
  }),
})

const maxIntervals = 12

/**
 * Counts events in intervals (5 s on the platform) and averages the last twelve at most. The current interval
 * is not yet part of the average. After a quiet period there are few intervals, so a burst exceeds the limit
 * at a sixth of a full minute's allowance.
 */
export class Rate {
  private readonly limit: number
  private readonly interval: number
  private intervals = [0]
  private count = 0
  private endsAt: number
  private isExceeded = false

  constructor(limit: number, interval: number) {
    this.limit = limit
    this.interval = interval
    this.endsAt = Date.now() + interval
  }

  add(count = 1): void {
    this.advance()
    this.count += count
  }

  get average(): number {
    this.advance()
    return this.mean()
  }

  get triggered(): boolean {
    this.advance()
    return this.isExceeded
  }

  private mean() {
    return this.intervals.reduce((sum, each) => sum + each) / this.intervals.length /
      (this.interval / 1000)
  }

  private advance() {
    const now = Date.now()
    for (; now >= this.endsAt; this.endsAt += this.interval) {
      this.intervals = [this.count, ...this.intervals].slice(0, maxIntervals)
      this.count = 0
      this.isExceeded = this.mean() >= this.limit
    }
    // An unused counter is reset. The platform does this after a few minutes.
    if (this.intervals.every((each) => each === 0)) this.intervals = [0]
  }
}
