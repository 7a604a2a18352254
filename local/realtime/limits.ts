// How much the stand-in takes: the defaults of a self-hosted Realtime.

/** What may happen in a second, as the average of the last minute; and what is counted at once. */
export type Limits = {
  eventsPerSecond: number
  joinsPerSecond: number
  presencePerSecond: number
  connections: number
  channelsPerConnection: number
  payloadBytes: number
}

/** Without limits on rates and connections only those of a single client stay. */
export const limitsOf = (rates: boolean): Limits => ({
  eventsPerSecond: rates ? 100 : Infinity,
  joinsPerSecond: rates ? 100 : Infinity,
  presencePerSecond: rates ? 1000 : Infinity,
  connections: rates ? 200 : Infinity,
  channelsPerConnection: 100,
  payloadBytes: 3_000_000,
})

const window = 60

/** Counts what happens, second by second, over a minute. */
export class Rate {
  private readonly counts = new Array<number>(window).fill(0)
  private second = Math.floor(Date.now() / 1000)
  private sum = 0

  add(count = 1): void {
    this.turn()
    this.counts[this.second % window]! += count
    this.sum += count
  }

  /** How many a second. */
  get average(): number {
    this.turn()
    return this.sum / window
  }

  private turn() {
    const now = Math.floor(Date.now() / 1000)
    if (now - this.second >= window) {
      this.counts.fill(0)
      this.sum = 0
      this.second = now
    }
    while (this.second < now) {
      const place = ++this.second % window
      this.sum -= this.counts[place]!
      this.counts[place] = 0
    }
  }
}
