// Follows a private channel of Supabase Realtime through changes of its name.
import { saysHearing } from '../../../functions/chat/hearing.ts'

/** A client of supabase-js, reduced to the parts used here. */
export type Supabase = {
  channel(topic: string, options: { config: { private: true } }): unknown
  removeChannel(channel: never): Promise<unknown>
  realtime: { setAuth(): Promise<void> | void }
}

export type Broadcast = { event: string; payload: Record<string, unknown> }

export type Channel = {
  on(
    type: 'broadcast' | 'presence' | 'system',
    filter: { event?: string },
    listen: (event: never) => void,
  ): Channel
  subscribe(listen: (status: string, error?: Error) => void): Channel
  send(message: { type: 'broadcast'; event: string; payload: unknown }): Promise<unknown>
  track(state: unknown): Promise<unknown>
  presenceState(): Record<string, unknown>
}

type Options = {
  /**
   * True for a channel on which the database sends. Such a channel counts as joined only once Realtime
   * receives the database's events.
   */
  fromDatabase?: true
  /** Channel options beside `private`. */
  config?: Record<string, unknown>
  listen(channel: Channel): void
  joined(channel: Channel): void
  /** The channel does not receive events, or has stopped receiving them. */
  interrupted(): void
}

const deniedReason = /^Unauthorized|permission/i

export class FollowedChannel {
  private readonly supabase: Supabase
  private readonly options: Options
  private topic = ''
  private refused = false
  private rejoining = false
  private stopped = false
  channel: Channel | undefined

  constructor(supabase: Supabase, options: Options) {
    this.supabase = supabase
    this.options = options
  }

  follow(topic: string): void {
    const follows = this.channel || this.refused || this.rejoining
    if (this.stopped || topic === this.topic && follows) return
    void this.leave()
    this.topic = topic
    this.refused = false
    this.join(topic)
  }

  private join(topic: string) {
    const { fromDatabase } = this.options
    const config = {
      ...this.options.config,
      ...(fromDatabase && { broadcast: { replication_ready: true } }),
      private: true as const,
    }
    const channel = this.supabase.channel(topic, { config }) as Channel
    this.channel = channel
    this.options.listen(channel)
    const joined = () => this.channel === channel && this.options.joined(channel)
    channel.on('system', {}, (said: Record<string, unknown>) => {
      if (fromDatabase && saysHearing(said)) joined()
    })
    channel.subscribe((status, error) => {
      if (this.channel !== channel) return
      if (status === 'SUBSCRIBED') return fromDatabase || joined()
      // A closed channel does not reopen by itself. A refused one would retry for ever, and each refusal
      // silences the whole connection for 5 s.
      this.refused = deniedReason.test(error?.message ?? '')
      if (this.refused || status === 'CLOSED') void this.leave()
      this.options.interrupted()
    })
  }

  /** Joins the same topic again, which makes Realtime reconnect if it has lost the database. */
  async rejoin(): Promise<void> {
    const { channel, topic } = this
    if (!channel || this.rejoining) return
    this.rejoining = true
    // Until the old channel has been left, supabase-js would return it again.
    await this.leave()
    this.rejoining = false
    if (!this.stopped && this.topic === topic) this.join(topic)
  }

  /** Lets the next `follow` try a refused topic again. */
  retryRefused(): void {
    this.refused = false
  }

  stop(): void {
    this.stopped = true
    void this.leave()
  }

  private async leave(): Promise<void> {
    const { channel } = this
    this.channel = undefined
    if (channel) await this.supabase.removeChannel(channel as never).catch(() => {})
  }
}
