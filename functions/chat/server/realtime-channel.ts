// A Realtime topic, joined with one person's token. It rejoins by itself after a loss.
import { decodeJwt } from 'jose'
import { env } from '../../_shared/settings/env.ts'
import { saysHearing } from '../hearing.ts'
import { retryPause } from './backoff.ts'
import { JoinLimiter } from './join-limiter.ts'

export type ChannelListener = {
  /** The channel receives every event from now on; earlier ones may have been missed. */
  joined(): void
  /** The channel receives nothing until it has joined again. */
  interrupted(): void
  event(name: string, payload: unknown): void
  /** Called only with a presence key: first all present participants, then those who join and leave. */
  presenceState?(state: Record<string, never>): void
  presenceDiff?(joins: Record<string, never>, leaves: Record<string, never>): void
  /** Realtime refuses this channel, because the topic or the token is not, or no longer, valid. */
  refused(): void
}

export type ReplyHandler = (status: string, reason: string) => void

export interface ChannelCarrier {
  /** Whether the connection is open and channels without rights have been dropped. */
  readonly ready: boolean
  add(channel: RealtimeChannel): void
  remove(channel: RealtimeChannel): void
  /** Returns the ref of the reply, or undefined if there is no connection. */
  push(topic: string, event: string, payload: unknown, more?: PushOptions): string | undefined
}

/** `joinRef` is the join that a push belongs to; Phoenix drops a leave without it and does not reply. */
export type PushOptions = { joinRef?: string; onReply?: ReplyHandler }

export type ChannelOptions = {
  /** Only clients send on a channel with a key, so it need not receive the database's events. */
  presenceKey?: string
}

// Realtime itself gives up after a minute; this is a little longer.
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
  /** An accepted channel receives clients' events; a joined channel also receives the database's events. */
  private state: 'waiting' | 'joining' | 'accepted' | 'joined' | 'gone' = 'waiting'
  /** The current join; events under another ref belong to a former one. */
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

  /** Called when the connection is ready; joins when it is this channel's turn. */
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

  /** Called when the channel was lost for a reason other than rights: a crash, a timeout or a limit. */
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
