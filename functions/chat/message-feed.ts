/**
 * The messages of one conversation in their order, each once. Events come at most once and may be
 * late, doubled or missing; the history has all of them. A gap in `seq` is filled from there.
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

export class MessageFeed {
  private readonly options: Options
  private filling = false
  private fillAgain = false
  private stopped = false
  /** The highest `seq` that was delivered. */
  last: number

  constructor(options: Options) {
    this.options = options
    this.last = options.after
  }

  /** Takes a message from an event. */
  take(message: Message): void {
    if (this.stopped || message.seq <= this.last) return
    // While the history is being read this message is in it, or the next look finds it.
    if (message.seq === this.last + 1 && !this.filling) this.deliver(message)
    else void this.fill()
  }

  /** There are messages up to this one. */
  reaches(seq: number): void {
    if (seq > this.last) void this.fill()
  }

  /** Delivers what is in the history and was not delivered yet; reads it once at a time. */
  async fill(): Promise<void> {
    if (this.stopped) return
    this.fillAgain = true
    if (this.filling) return
    this.filling = true
    try {
      while (this.fillAgain && !this.stopped) {
        this.fillAgain = false
        if (await this.readPage()) this.fillAgain = true
      }
    } catch (error) {
      if (!this.stopped) this.options.failed(error)
    } finally {
      this.filling = false
    }
  }

  /** Nothing is delivered any more, whatever is on its way. */
  stop(): void {
    this.stopped = true
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

  private deliver(message: Message) {
    this.last = message.seq
    this.options.deliver(message)
  }
}
