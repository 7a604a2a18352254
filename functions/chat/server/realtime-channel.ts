// A Realtime topic that is joined with one account's token. It rejoins automatically after an interruption.
import { decodeJwt } from 'jose'
import { env } from '../../_shared/settings/env.ts'
import { saysHearing } from '../hearing.ts'
import { retryPause } from './backoff.ts'
import { JoinLimiter } from './join-limiter.ts'

export type ChannelListener = {
  /** From now on the channel receives every event. Earlier events may have been missed. */
  joined(): void
  /** The channel receives no events until it has joined again. */
  interrupted(): void
  event(name: string, payload: unknown): void
  /**
   * Presence events, only with a presence key: first everyone who is present, then who joins and who leaves.
   */
  presenceState?(state: Record<string, never>): void
  presenceDiff?(joins: Record<string, never>, leaves: Record<string, never>): void
  /** Realtime refused the channel, because its topic or token is no longer valid or never was. */
  refused(): void
}

export type ReplyHandler = (status: string, reason: string) => void

export interface ChannelCarrier {
  /** Whether the connection is open and channels that their accounts may no longer read have been dropped. */
  readonly ready: boolean
  add(channel: RealtimeChannel): void
  remove(channel: RealtimeChannel): void
  /** Returns the ref that the reply will have, or undefined if there is no connection. */
  push(topic: string, event: string, payload: unknown, more?: PushOptions): string | undefined
}

/** `joinRef` is the ref of the join that the push belongs to. Phoenix silently drops a leave without it. */
export type PushOptions = { joinRef?: string; onReply?: ReplyHandler }

export type ChannelOptions = {
  /** Channels with a presence key carry only messages between clients, so they need no database events. */
  presenceKey?: string
}

// In milliseconds. Slightly longer than the minute after which Realtime itself gives up.
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
  /** `accepted`: receives events sent by clients. `joined`: also receives database events. */
  private state: 'waiting' | 'joining' | 'accepted' | 'joined' | 'gone' = 'waiting'
  /** The ref of the current join. Events with another ref belong to an earlier join. */
  private joinRef: string | undefined
  private attempts = 0
  private failures = 0
  private timer: ReturnType<typeof setTimeout> | undefined
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

  get accountId(): string {
    return decodeJwt(this.token).sub!
  }

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

  /** Returns false if the channel is not joined. */
  send(event: string, payload: unknown): boolean {
    if (this.state === 'joined') this.push(event, payload)
    return this.state === 'joined'
  }

  private push(event: string, payload: unknown) {
    this.carrier.push(this.topic, event, payload, { joinRef: this.joinRef })
  }

  /** Called when the connection is ready. Joins as soon as the join limiter allows it. */
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

  private ended(reason: string) {
    if (lastingReasons.test(reason)) this.refused()
    else this.joinAgain()
  }

  /** Rejoins after a loss that was not about rights: a crash, a timeout or a limit. */
  private joinAgain() {
    if (this.state === 'gone') return
    this.lost()
    this.timer = setTimeout(() => this.carrier.ready && this.join(), retryPause(this.failures++))
  }

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
    if (event === 'broadcast') {
      if (typeof payload.event === 'string') this.listener.event(payload.event, payload.payload)
    } else if (event === 'presence_state') this.listener.presenceState?.(payload as never)
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
