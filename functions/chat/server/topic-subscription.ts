/**
 * A topic that is followed for somebody while the database lets them. Topics change and channels
 * are lost; each time the database is asked anew, so that one place decides about rights.
 */
import type { Refusal } from '../../_shared/refusal.ts'
import type { ChannelListener, RealtimeChannel } from './realtime-channel.ts'
import { subscribe } from './realtime-connection.ts'
import { isTemporary } from './refusals.ts'

// A connection may have been dead for so many seconds before that is noticed, and a question takes its time.
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
  /** The topic that is followed. */
  topic: string

  constructor(topic: string) {
    this.topic = topic
  }

  protected abstract token(): string
  /** The topic as the database names it now; refuses who has no right to it. */
  protected abstract currentTopic(): Promise<string>
  /** It hears again; what was sent in so many seconds before now may have been missed. */
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

  /** Asks the database where to listen now, and whether. One question at a time. */
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
