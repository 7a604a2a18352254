/**
 * The messages of one conversation in their order, each once. Events come at most once and may be
 * late, doubled or missing; the history has all of them. A gap in `seq` is filled from there.
 */
import type { Message } from './protocol.ts'

export type Page = { items: Message[]; hasMore: boolean }

type Choice = {
  /** The last message that is known already. */
  after: number
  history: (afterSeq: number) => Promise<Page>
  deliver: (message: Message) => void
  /** Waits until the receiver can take more. */
  ready?: () => Promise<void>
  failed: (error: unknown) => void
}

export class Feed {
  private readonly choice: Choice
  private filling = false
  private again = false
  private stopped = false
  /** The highest `seq` that was delivered. */
  last: number

  constructor(choice: Choice) {
    this.choice = choice
    this.last = choice.after
  }

  /** Takes a message from an event. */
  take(message: Message): void {
    if (this.stopped || message.seq <= this.last) return
    // While the history is being read this message is in it, or the next look finds it.
    if (message.seq === this.last + 1 && !this.filling) this.deliver(message)
    else void this.fill()
  }

  /** Told of a message without being given it. */
  heardOf(seq: number): void {
    if (seq > this.last) void this.fill()
  }

  /** Delivers what is in the history and was not delivered yet. One look at a time. */
  async fill(): Promise<void> {
    if (this.stopped) return
    this.again = true
    if (this.filling) return
    this.filling = true
    try {
      while (this.again && !this.stopped) {
        this.again = false
        if (await this.page()) this.again = true
      }
    } catch (error) {
      if (!this.stopped) this.choice.failed(error)
    } finally {
      this.filling = false
    }
  }

  /** Nothing is delivered any more, whatever is on its way. */
  stop(): void {
    this.stopped = true
  }

  private async page(): Promise<boolean> {
    await this.choice.ready?.()
    if (this.stopped) return false
    const { items, hasMore } = await this.choice.history(this.last)
    for (const message of items) {
      if (!this.stopped && message.seq > this.last) this.deliver(message)
    }
    return hasMore && items.length > 0
  }

  private deliver(message: Message) {
    this.last = message.seq
    this.choice.deliver(message)
  }
}
