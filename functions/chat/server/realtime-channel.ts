/** A topic of Realtime, joined for one person. It joins again by itself whenever it is lost. */
import { decodeJwt } from 'jose'
import { env } from '../../_shared/env.ts'
import { saysHearing } from '../hearing.ts'
import { retryPause } from './backoff.ts'
import { JoinLimiter } from './join-limiter.ts'

export type ChannelListener = {
  /** Everything sent from now on will be heard; what was sent before may have been missed. */
  joined(): void
  /** What is sent from now on is not heard, until it has joined again. */
  interrupted(): void
  event(name: string, payload: unknown): void
  /** Who is there, where a presence key was given: all, then who came and went. */
  presenceState?(state: Record<string, never>): void
  presenceDiff?(joins: Record<string, never>, leaves: Record<string, never>): void
  /** Realtime will not have this channel (any more): topic or token are not good. */
  refused(): void
}

export type ReplyHandler = (status: string, reason: string) => void

/** What a channel needs of the connection that carries it. */
export interface ChannelCarrier {
  /** It is open, and what no longer holds was sorted out. */
  readonly ready: boolean
  /** Takes the channel on, and has it join as soon as it can. */
  add(channel: RealtimeChannel): void
  remove(channel: RealtimeChannel): void
  /** Gives the ref under which it is answered; nothing when there is no connection. */
  push(topic: string, event: string, payload: unknown, more?: PushOptions): string | undefined
}

/** The join that it is for, unless it is one itself: Phoenix drops, unanswered, a leave without it. */
export type PushOptions = { joinRef?: string; onReply?: ReplyHandler }

export type ChannelOptions = {
  /**
   * Whom one is among those who are there. Clients alone speak on such a channel: it is heard once it is
   * joined, whether or not Realtime hears the database.
   */
  presenceKey?: string
}

// Realtime itself gives up after a minute.
const readyTime = 65_000
const lastingReasons =
  /^(Unauthorized|InvalidJWTToken|MalformedJWT|Jwt|PrivateOnly)|permission|expired/i

const joinLimiter = new JoinLimiter(env.gatewayJoins)

export class RealtimeChannel {
  readonly topic: string
  private readonly listener: ChannelListener
  private readonly carrier: ChannelCarrier
  private readonly presenceKey: string | undefined
  private token: string
  /** Who was accepted hears what clients send; who has joined, what the database sends. */
  private state: 'waiting' | 'joining' | 'accepted' | 'joined' | 'gone' = 'waiting'
  /** Of the join that counts: what comes under another is of a channel that there is no more. */
  private joinRef: string | undefined
  private attempts = 0
  private failures = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  /** What Realtime said last when something was wrong. */
  private trouble = ''

  constructor(
    carrier: ChannelCarrier,
    topic: string,
    token: string,
    listener: ChannelListener,
    { presenceKey }: ChannelOptions,
  ) {
    this.carrier = carrier
    this.presenceKey = presenceKey
    this.topic = topic
    this.token = token
    this.listener = listener
  }

  /** Whose channel it is. */
  get accountId(): string {
    return decodeJwt(this.token).sub!
  }

  /** Shows Realtime a newer token than it joined with. */
  renew(token: string): void {
    this.token = token
    if (this.state === 'accepted' || this.state === 'joined') {
      this.push('access_token', { access_token: token })
    }
  }

  leave(): void {
    if (this.state === 'gone') return
    this.close()
    if (this.joinRef) this.push('phx_leave', {})
  }

  /** False where it is not joined, or not any more. */
  send(event: string, payload: unknown): boolean {
    if (this.state === 'joined') this.push(event, payload)
    return this.state === 'joined'
  }

  private push(event: string, payload: unknown) {
    this.carrier.push(this.topic, event, payload, { joinRef: this.joinRef })
  }

  /** The connection is there: asks to join when it is this channel's turn. */
  join(): void {
    if (this.state !== 'waiting') return
    this.state = 'joining'
    this.trouble = ''
    const attempt = ++this.attempts
    const isCurrent = () => this.state === 'joining' && attempt === this.attempts
    joinLimiter.whenFree(() => {
      if (!isCurrent()) return
      const { token, presenceKey: key } = this
      this.joinRef = this.carrier.push(this.topic, 'phx_join', {
        config: {
          broadcast: { ack: false, self: false, replication_ready: !key },
          presence: { enabled: key !== undefined, key },
          private: true,
        },
        access_token: token,
      }, {
        onReply: (status, reason) => {
          if (isCurrent()) this.answered(status, reason)
          if (this.token !== token) this.renew(this.token)
        },
      })
      if (!this.joinRef) this.state = 'waiting'
    })
  }

  private answered(status: string, reason: string) {
    if (status !== 'ok') return this.ended(reason)
    this.state = 'accepted'
    if (this.presenceKey) this.hearing()
    else this.timer = setTimeout(() => this.joinAgain(), readyTime)
  }

  private hearing() {
    if (this.state !== 'accepted') return
    clearTimeout(this.timer)
    this.state = 'joined'
    this.failures = 0
    this.listener.joined()
  }

  /** Realtime ended it or did not let it in, for a reason that lasts or for another. */
  private ended(reason: string) {
    if (lastingReasons.test(reason)) this.refused()
    else this.joinAgain()
  }

  /** Lost without a word about rights: a crash, a time-out, a limit. */
  private joinAgain() {
    if (this.state === 'gone') return
    this.lost()
    this.timer = setTimeout(() => this.carrier.ready && this.join(), retryPause(this.failures++))
  }

  /** The connection broke; the next one joins anew. */
  lost(): void {
    if (this.state === 'gone') return
    clearTimeout(this.timer)
    if (this.state === 'joined') this.listener.interrupted()
    this.state = 'waiting'
  }

  refused(): void {
    if (this.state === 'gone') return
    this.close()
    this.listener.refused()
  }

  private close() {
    this.state = 'gone'
    clearTimeout(this.timer)
    this.carrier.remove(this)
  }

  received(event: string, payload: Record<string, unknown>, ref: unknown): void {
    if (this.state === 'gone' || typeof ref === 'string' && ref !== this.joinRef) return
    if (event === 'broadcast') this.listener.event(String(payload.event), payload.payload)
    else if (event === 'presence_state') this.listener.presenceState?.(payload as never)
    else if (event === 'presence_diff') {
      this.listener.presenceDiff?.(payload.joins as never, payload.leaves as never)
    } else if (event === 'phx_close') this.ended(this.trouble)
    else if (event === 'phx_error') this.joinAgain()
    else if (event === 'system' && payload.extension === 'system') {
      if (saysHearing(payload)) this.hearing()
      else this.trouble = String(payload.message)
    }
  }
}
