/**
 * A topic that is followed for somebody while the database lets them. Topics change and channels
 * are lost; each time the database is asked anew, so that one place decides about rights.
 */
import { type Channel, type Listener, subscribe } from './upstream.ts'
import { Refusal } from '../../_shared/refusal.ts'

// A connection may have been dead for so long before that is noticed.
const unnoticed = 60
const pauses = [0, 500, 1000, 2000, 5000]

export abstract class Follower implements Listener {
  private channel: Channel | undefined
  private failures = 0
  private looking = false
  private lookAgain = false
  private timer: ReturnType<typeof setTimeout> | undefined
  private stopped = false
  private deafSince: number | undefined = performance.now()
  private everJoined = false
  /** The topic that is followed. */
  topic: string

  constructor(topic: string) {
    this.topic = topic
  }

  protected abstract token(): string
  /** The topic as the database names it now; refuses who has no right to it. */
  protected abstract topicNow(): Promise<string>
  /** The database refused: there is nothing to follow any more. */
  protected abstract lost(refusal: Refusal): void
  /** It hears again; what was sent in so many seconds before now may have been missed. */
  protected abstract back(seconds: number): void
  protected abstract told(event: string, payload: unknown): void

  begin(): void {
    if (!this.stopped) this.channel = subscribe(this.topic, this.token(), this)
  }

  renew(token: string): void {
    this.channel?.renew(token)
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.timer)
    this.channel?.leave()
  }

  joined(): void {
    this.failures = 0
    const seconds = (performance.now() - (this.deafSince ?? 0)) / 1000
    this.back(this.everJoined ? seconds + unnoticed : seconds)
    this.everJoined = true
    this.deafSince = undefined
  }

  broken(): void {
    this.deafSince ??= performance.now()
  }

  event(event: string, payload: unknown): void {
    if (this.stopped) return
    if (event === 'topic_changed') void this.look()
    else this.told(event, payload)
  }

  refused(): void {
    this.channel = undefined
    this.broken()
    this.lookLater()
  }

  /** Asks the database where to listen now, and whether. One question at a time. */
  async look(): Promise<void> {
    if (this.stopped) return
    this.lookAgain = this.looking
    if (this.looking) return
    this.looking = true
    try {
      const topic = await this.topicNow()
      if (this.stopped) return
      if (topic !== this.topic || !this.channel) {
        this.channel?.leave()
        this.broken()
        this.topic = topic
        this.begin()
      }
    } catch (error) {
      if (this.stopped) return
      const { code } = error as Refusal
      if (passing.includes(code)) this.lookLater()
      else this.lost(error as Refusal)
    } finally {
      this.looking = false
    }
    if (this.lookAgain) await this.look()
  }

  private lookLater() {
    if (this.stopped) return
    clearTimeout(this.timer)
    const pause = pauses[Math.min(this.failures++, pauses.length - 1)]
    this.timer = setTimeout(() => void this.look(), pause)
  }
}

/** Refusals that say nothing about rights. */
export const passing: string[] = ['service_unavailable', 'timeout', 'internal', 'rate_limited']
