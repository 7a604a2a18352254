/** How fast a socket may go. Kept in memory: what must be exact is counted in the database. */
import { limits } from '../protocol.ts'

/** Refills steadily up to its size. */
class Bucket {
  private level: number
  private at = performance.now()
  private readonly rate: number
  private readonly size: number

  constructor(rate: number, size: number) {
    this.rate = rate
    this.size = size
    this.level = size
  }

  /** Takes one; 0, or the seconds until there is one. */
  take(): number {
    const now = performance.now()
    this.level = Math.min(this.size, this.level + (now - this.at) / 1000 * this.rate)
    this.at = now
    if (this.level < 1) return Math.max(1, Math.ceil((1 - this.level) / this.rate))
    this.level--
    return 0
  }
}

// Refused frames in one second after which nobody is being told anything any more.
const hopeless = 1000
const minute = 60_000

/**
 * What one socket may do. A refusal for haste is an offence; those within one second are one, so
 * that what was on its way already does not count against a client that listens.
 */
export class Pace {
  private readonly frames = new Bucket(limits.frames, limits.framesBurst)
  private readonly messages: Bucket | undefined
  private offences: number[] = []
  private inSecond = 0
  private blockedUntil = 0

  constructor(messagesPerSecond: number) {
    if (messagesPerSecond > 0) this.messages = new Bucket(messagesPerSecond, limits.burst)
  }

  /** Seconds to wait before a frame of this kind; 0 is go on. Without a limit there is none. */
  wait(isMessage: boolean): number {
    if (!this.messages) return 0
    const frames = this.frames.take()
    if (frames || !isMessage) return frames
    const blocked = Math.ceil((this.blockedUntil - performance.now()) / 1000)
    return blocked > 0 ? blocked : this.messages.take()
  }

  /** The database said how long to wait: it need not be asked before. */
  blockFor(seconds: number): void {
    this.blockedUntil = performance.now() + seconds * 1000
  }

  /** Notes a refusal for haste; true when it was one too many. */
  offended(): boolean {
    const now = performance.now()
    const last = this.offences.at(-1) ?? -minute
    if (now - last < 1000) return ++this.inSecond >= hopeless
    this.inSecond = 0
    this.offences = [...this.offences.filter((at) => now - at < minute), now]
    return this.offences.length >= limits.offences
  }
}
