/**
 * The messages of one conversation in their order, each once. Events come at most once and may be
 * late, doubled or missing; the history has all of them. A gap in `seq` is filled from there, when
 * the event that is missing has not come in a moment either.
 */
import type { Message } from './protocol.ts'

export type Page = { items: Message[]; hasMore: boolean }

type Options = {
  /** The last message that is known already. */
  after: number
  history: (afterSeq: number) => Promise<Page>
  deliver: (message: Message) => void
  /** Waits until the receiver can take more. */
  ready?: () => Promise<void>
  failed: (error: unknown) => void
}

// Milliseconds that an event may be later than what came after it.
const patience = 80
// More of them are left to the history.
const mostEarly = 100

export class MessageFeed {
  private readonly options: Options
  /** Messages that came before one of those before them. */
  private readonly early = new Map<number, Message>()
  /** There are messages up to this one. */
  private newest: number
  private filling = false
  private fillAgain = false
  private stopped = false
  private timer: ReturnType<typeof setTimeout> | undefined
  /** The highest `seq` that was delivered. */
  last: number

  constructor(options: Options) {
    this.options = options
    this.last = this.newest = options.after
  }

  /** Takes a message from an event. */
  take(message: Message): void {
    if (this.stopped || message.seq <= this.last) return
    if (this.early.size < mostEarly) this.early.set(message.seq, message)
    // What is read from the history comes first.
    if (!this.filling) this.deliverEarly()
    this.reaches(message.seq)
  }

  /** There are messages up to this one: those that do not come are read in a moment. */
  reaches(seq: number): void {
    this.newest = Math.max(this.newest, seq)
    if (this.stopped || this.filling || this.newest <= this.last) return
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      if (this.newest > this.last) void this.fill()
    }, patience)
  }

  /** Delivers what is in the history and was not delivered yet; reads it once at a time. */
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
      // What the history does not have there is not; what was announced meanwhile may still come.
      if (this.newest === newest) this.newest = this.last
      this.reaches(this.newest)
    } catch (error) {
      if (!this.stopped) this.options.failed(error)
    } finally {
      this.filling = false
    }
  }

  /** Nothing is delivered any more, whatever is on its way. */
  stop(): void {
    this.stopped = true
    clearTimeout(this.timer)
  }

  /** True when there is more. */
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
