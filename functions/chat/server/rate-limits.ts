import { limits } from '../protocol.ts'
import { times } from './times.ts'

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

  /** Takes one and returns 0, or returns the seconds until one is available. */
  take(): number {
    const now = performance.now()
    this.level = Math.min(this.size, this.level + (now - this.filledAt) / 1000 * this.perSecond)
    this.filledAt = now
    if (this.level < 1) return Math.max(1, Math.ceil((1 - this.level) / this.perSecond))
    this.level--
    return 0
  }
}

// After this many refused frames in one second the client gets no more answers.
const mostRefusedInSecond = 1000
const minute = 60_000

/** Refusals within one second are one offence, so that frames already on their way are not punished. */
export class SocketRates {
  private readonly frames = new TokenBucket(limits.framesPerSecond, limits.frameBurst)
  private readonly messages: TokenBucket | undefined
  private offences: number[] = []
  private refusedInSecond = 0
  private blockedUntil = 0

  /** 0 means no limits. */
  constructor(messagesPerSecond: number) {
    if (messagesPerSecond > 0) {
      this.messages = new TokenBucket(messagesPerSecond, limits.messageBurst)
    }
  }

  frame(): number {
    return this.messages ? this.frames.take() : 0
  }

  /** Seconds to wait before this message, whose frame was counted; 0 if allowed. */
  message(): number {
    if (!this.messages) return 0
    const blocked = Math.ceil((this.blockedUntil - performance.now()) / 1000)
    return blocked > 0 ? blocked : this.messages.take()
  }

  /** The database said how long to wait, so it need not be asked before. */
  blockMessages(seconds: number): void {
    this.blockedUntil = performance.now() + seconds * 1000
  }

  /** Records a rate refusal; returns true if it was one too many. */
  offended(): boolean {
    const now = performance.now()
    const last = this.offences.at(-1) ?? -minute
    if (now - last < times.offence) return ++this.refusedInSecond >= mostRefusedInSecond
    this.refusedInSecond = 0
    this.offences = [...this.offences.filter((at) => now - at < minute), now]
    return this.offences.length >= limits.offences
  }
}
