// Delivers a conversation's messages in order, each once. Events may be late, duplicated or missing. The
// history has all messages, so a gap in `seq` that lasts longer than `patience` is filled from there.
import type { Message } from './protocol.ts'

export type Page = { items: Message[]; hasMore: boolean }

type Options = {
  /** The `seq` of the last known message. */
  after: number
  history: (afterSeq: number) => Promise<Page>
  deliver: (message: Message) => void
  ready?: () => Promise<void>
  failed: (error: unknown) => void
}

// The event of a message may arrive this many milliseconds after the event of a later message.
const patience = 80
// At most this many early messages are kept; others are read from the history.
const mostEarly = 100

export class MessageFeed {
  private readonly options: Options
  /** Messages that arrived before an earlier one. */
  private readonly early = new Map<number, Message>()
  /** The highest `seq` known to exist. */
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
    // While the history is being read, its messages are delivered first.
    if (!this.filling) this.deliverEarly()
    this.reaches(message.seq)
  }

  /** Notes that messages exist up to `seq`; missing ones are read after `patience`. */
  reaches(seq: number): void {
    this.newest = Math.max(this.newest, seq)
    if (this.stopped || this.filling || this.newest <= this.last) return
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      if (this.newest > this.last) void this.fill()
    }, patience)
  }

  /** Delivers the missing messages from the history; reads run one at a time. */
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
      // A message that the history lacks does not exist, unless it was announced during the read.
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

  /** Returns true if there are more pages. */
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
