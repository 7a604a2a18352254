/** How fast a socket may go. Kept in memory: what must be exact is counted in the database. */
import { limits } from '../protocol.ts'
import { times } from './times.ts'

/** Refills steadily up to its size. */
class TokenBucket {
  private level: number
  private filledAt = performance.now()
  private readonly perSecond: number
  private readonly size: number

  constructor(perSecond: number, size: number) {
    this.perSecond = perSecond
    this.size = size
    this.level = size
  }

  /** Takes one; 0, or the seconds until there is one. */
  take(): number {
    const now = performance.now()
    this.level = Math.min(this.size, this.level + (now - this.filledAt) / 1000 * this.perSecond)
    this.filledAt = now
    if (this.level < 1) return Math.max(1, Math.ceil((1 - this.level) / this.perSecond))
    this.level--
    return 0
  }
}

// Frames refused in one second after which a client is not answered any more.
const mostRefusedInSecond = 1000
const minute = 60_000

/**
 * The limits of one socket. A refusal for haste is an offence; those within one second are one, so
 * that what was on its way already does not count against a client that listens.
 */
export class SocketRates {
  private readonly frames = new TokenBucket(limits.framesPerSecond, limits.frameBurst)
  private readonly messages: TokenBucket | undefined
  private offences: number[] = []
  private refusedInSecond = 0
  private blockedUntil = 0

  /** With 0 there are no limits. */
  constructor(messagesPerSecond: number) {
    if (messagesPerSecond > 0) {
      this.messages = new TokenBucket(messagesPerSecond, limits.messageBurst)
    }
  }

  /** Seconds to wait before this frame; 0 is go on. */
  frame(): number {
    return this.messages ? this.frames.take() : 0
  }

  /** Seconds to wait before this message, whose frame was counted; 0 is go on. */
  message(): number {
    if (!this.messages) return 0
    const blocked = Math.ceil((this.blockedUntil - performance.now()) / 1000)
    return blocked > 0 ? blocked : this.messages.take()
  }

  /** The database said how long to wait: it need not be asked before. */
  blockMessages(seconds: number): void {
    this.blockedUntil = performance.now() + seconds * 1000
  }

  /** Notes a refusal for haste; true when it was one too many. */
  offended(): boolean {
    const now = performance.now()
    const last = this.offences.at(-1) ?? -minute
    if (now - last < times.offence) return ++this.refusedInSecond >= mostRefusedInSecond
    this.refusedInSecond = 0
    this.offences = [...this.offences.filter((at) => now - at < minute), now]
    return this.offences.length >= limits.offences
  }
}
