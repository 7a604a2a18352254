// Stays on a private channel of Supabase Realtime even if the channel is renamed.
import { saysHearing } from '../../../functions/chat/hearing.ts'

/** The parts of a supabase-js client that are used here. */
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
   * True for a channel on which the database sends. It counts as joined only once Realtime receives events
   * from the database.
   */
  fromDatabase?: true
  /** Further channel options, besides `private`. */
  config?: Record<string, unknown>
  listen(channel: Channel): void
  joined(channel: Channel): void
  /** Called when the channel could not be joined or has stopped receiving events. */
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
      // supabase-js does not reopen a closed channel. It retries a refused one for ever, and Realtime blocks
      // the whole connection for 5 s after each refusal.
      this.refused = deniedReason.test(error?.message ?? '')
      if (this.refused || status === 'CLOSED') void this.leave()
      this.options.interrupted()
    })
  }

  /** Leaves and rejoins the topic. If Realtime has lost the database, this makes it reconnect. */
  async rejoin(): Promise<void> {
    const { channel, topic } = this
    if (!channel || this.rejoining) return
    this.rejoining = true
    // supabase-js returns the old channel until it has been left.
    await this.leave()
    this.rejoining = false
    if (!this.stopped && this.topic === topic) this.join(topic)
  }

  /** Allows the next `follow` to retry a topic that was refused. */
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
