// Delivers the messages of a conversation in order and without duplicates. Events may be late, duplicated or
// lost, but the history is complete: a gap in `seq` that lasts longer than `patience` is filled from the
// history.
import type { Message } from './protocol.ts'

export type Page = { items: Message[]; hasMore: boolean }

type Options = {
  /** The `seq` of the last message that the client already has. */
  after: number
  history: (afterSeq: number) => Promise<Page>
  deliver: (message: Message) => void
  ready?: () => Promise<void>
  failed: (error: unknown) => void
}

// In milliseconds: how long to wait for the missing event when a later message arrives first.
const patience = 80
// Keep at most this many early messages. Any others are read from the history.
const mostEarly = 100

export class MessageFeed {
  private readonly options: Options
  /** Messages that arrived before an earlier message, by `seq`. */
  private readonly early = new Map<number, Message>()
  /** The highest `seq` that is known to exist. */
  private newest: number
  private filling = false
  private fillAgain = false
  private stopped = false
  private timer: ReturnType<typeof setTimeout> | undefined
  last: number

  constructor(options: Options) {
    this.options = options
    this.last = this.newest = options.after
  }

  take(message: Message): void {
    if (this.stopped || message.seq <= this.last) return
    if (this.early.size < mostEarly) this.early.set(message.seq, message)
    // While the history is being read, its messages must be delivered first.
    if (!this.filling) this.deliverEarly()
    this.reaches(message.seq)
  }

  /**
   * Records that messages exist up to `seq`. If some have not arrived after `patience`, they are read from
   * the history.
   */
  reaches(seq: number): void {
    this.newest = Math.max(this.newest, seq)
    if (this.stopped || this.filling || this.newest <= this.last) return
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      if (this.newest > this.last) void this.fill()
    }, patience)
  }

  /** Delivers missing messages from the history. Only one read runs at a time. */
  async fill(): Promise<void> {
    if (this.stopped) return
    this.fillAgain = true
    if (this.filling) return
    this.filling = true
    try {
      let newest = this.newest
      while (this.fillAgain && !this.stopped) {
        this.fillAgain = false
        newest = this.newest
        if (await this.readPage()) this.fillAgain = true
      }
      this.filling = false
      this.deliverEarly()
      // A message missing from the history does not exist, unless it was announced while the history was
      // being read.
      if (this.newest === newest) this.newest = this.last
      this.reaches(this.newest)
    } catch (error) {
      if (!this.stopped) this.options.failed(error)
    } finally {
      this.filling = false
    }
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.timer)
  }

  /** Delivers one page of the history. Returns true if there are more. */
  private async readPage(): Promise<boolean> {
    await this.options.ready?.()
    if (this.stopped) return false
    const { items, hasMore } = await this.options.history(this.last)
    for (const message of items) {
      if (!this.stopped && message.seq > this.last) this.deliver(message)
    }
    return hasMore && items.length > 0
  }

  private deliverEarly() {
    for (let next; (next = this.early.get(this.last + 1)) && !this.stopped;) this.deliver(next)
  }

  private deliver(message: Message) {
    this.last = message.seq
    this.early.delete(message.seq)
    this.options.deliver(message)
  }
}
