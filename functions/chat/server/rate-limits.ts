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

  /** Takes a token and returns 0. If none is left, returns the seconds until one is available. */
  take(): number {
    const now = performance.now()
    this.level = Math.min(this.size, this.level + (now - this.filledAt) / 1000 * this.perSecond)
    this.filledAt = now
    if (this.level < 1) return Math.max(1, Math.ceil((1 - this.level) / this.perSecond))
    this.level--
    return 0
  }
}

// If this many frames are refused within one second, the socket is closed.
const mostRefusedInSecond = 1000
const minute = 60_000

/**
 * The rate limits of one socket. Refusals within the same second count as one offence, because the client may
 * have sent several frames before it received the first refusal.
 */
export class SocketRates {
  private readonly frames = new TokenBucket(limits.framesPerSecond, limits.frameBurst)
  private readonly messages: TokenBucket | undefined
  private offences: number[] = []
  private refusedInSecond = 0
  private blockedUntil = 0

  /** If `messagesPerSecond` is 0, there are no limits. */
  constructor(messagesPerSecond: number) {
    if (messagesPerSecond > 0) {
      this.messages = new TokenBucket(messagesPerSecond, limits.messageBurst)
    }
  }

  frame(): number {
    return this.messages ? this.frames.take() : 0
  }

  /**
   * Returns how many seconds a message has to wait; 0 means that it may be sent. Its frame has already been
   * counted.
   */
  message(): number {
    if (!this.messages) return 0
    const blocked = Math.ceil((this.blockedUntil - performance.now()) / 1000)
    return blocked > 0 ? blocked : this.messages.take()
  }

  /** After the database refused a message, refuses further ones here for the number of seconds it gave. */
  blockMessages(seconds: number): void {
    this.blockedUntil = performance.now() + seconds * 1000
  }

  /** Records that a frame was refused. Returns true if the socket must now be closed. */
  offended(): boolean {
    const now = performance.now()
    const last = this.offences.at(-1) ?? -minute
    if (now - last < times.offence) return ++this.refusedInSecond >= mostRefusedInSecond
    this.refusedInSecond = 0
    this.offences = [...this.offences.filter((at) => now - at < minute), now]
    return this.offences.length >= limits.offences
  }
}
