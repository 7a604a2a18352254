// Follows a topic for an account as long as the database allows it. After every change or interruption it
// queries the database again, which alone decides about rights.
import type { Refusal } from '../../_shared/errors/refusal.ts'
import type { ChannelListener, RealtimeChannel } from './realtime-channel.ts'
import { subscribe } from './realtime-connection.ts'
import { isTemporary } from './refusals.ts'

// In seconds: how long a dead connection may remain unnoticed, including the time of the query.
const unnoticed = 60
const pauses = [0, 500, 1000, 2000, 5000]

export abstract class TopicSubscription implements ChannelListener {
  private channel: RealtimeChannel | undefined
  private failures = 0
  private checking = false
  private checkAgain = false
  private timer: ReturnType<typeof setTimeout> | undefined
  private stopped = false
  private deafSince: number | undefined = performance.now()
  topic: string

  constructor(topic: string) {
    this.topic = topic
  }

  protected abstract token(): string
  /** Returns the current topic from the database. Throws if the account may no longer read it. */
  protected abstract currentTopic(): Promise<string>
  /** Called when the channel receives events again. Events from the last `seconds` may have been missed. */
  protected abstract resumed(seconds: number): void
  protected abstract received(event: string, payload: unknown): void

  start(): void {
    if (!this.stopped) this.channel = subscribe(this.topic, this.token(), this)
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.timer)
    this.channel?.leave()
  }

  protected renewToken(token: string): void {
    this.channel?.renew(token)
  }

  joined(): void {
    this.failures = 0
    this.resumed((performance.now() - (this.deafSince ?? 0)) / 1000 + unnoticed)
    this.deafSince = undefined
  }

  interrupted(): void {
    this.deafSince ??= performance.now()
  }

  event(event: string, payload: unknown): void {
    if (this.stopped) return
    if (event === 'topic_changed') void this.checkTopic()
    else this.received(event, payload)
  }

  refused(): void {
    this.channel = undefined
    this.interrupted()
    this.checkLater()
  }

  /** Fetches the current topic from the database. Only one query runs at a time. */
  async checkTopic(): Promise<void> {
    if (this.stopped) return
    this.checkAgain = this.checking
    if (this.checking) return
    this.checking = true
    try {
      const topic = await this.currentTopic()
      if (!this.stopped && (topic !== this.topic || !this.channel)) this.moveTo(topic)
    } catch (error) {
      if (isTemporary((error as Refusal).code)) this.checkLater()
    } finally {
      this.checking = false
    }
    if (this.checkAgain) await this.checkTopic()
  }

  private moveTo(topic: string) {
    this.channel?.leave()
    this.interrupted()
    this.topic = topic
    this.start()
  }

  private checkLater() {
    if (this.stopped) return
    clearTimeout(this.timer)
    const pause = pauses[Math.min(this.failures++, pauses.length - 1)]
    this.timer = setTimeout(() => void this.checkTopic(), pause)
  }
}
