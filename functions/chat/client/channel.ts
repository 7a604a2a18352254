/** A private channel of Supabase Realtime that is followed under whatever name it has now. */

/** A client of supabase-js, or what of it is needed. */
export type Supabase = {
  channel(topic: string, options: { config: { private: true } }): unknown
  removeChannel(channel: never): Promise<unknown>
  realtime: { setAuth(): Promise<void> | void }
}

export type Heard = { event: string; payload: Record<string, unknown> }

export type Channel = {
  on(
    type: 'broadcast' | 'presence' | 'system',
    filter: { event?: string },
    listen: (heard: never) => void,
  ): Channel
  subscribe(listen: (status: string, error?: Error) => void): Channel
  send(message: { type: 'broadcast'; event: string; payload: unknown }): Promise<unknown>
  track(state: unknown): Promise<unknown>
  presenceState(): Record<string, unknown>
}

type System = { extension: string; status: string }

type Listener = {
  /** What comes is sent by the database: it is joined when Realtime says that it hears that. */
  fromDatabase?: true
  /** Beside `private`. */
  config?: Record<string, unknown>
  /** Adds what is listened for, before it is joined. */
  bind(channel: Channel): void
  joined(channel: Channel): void
  /** It is not heard, or not any more. */
  broken(): void
}

const denied = /^Unauthorized|permission/i

export class Followed {
  private readonly supabase: Supabase
  private readonly listener: Listener
  private topic = ''
  private refused = false
  private stopped = false
  channel: Channel | undefined

  constructor(supabase: Supabase, listener: Listener) {
    this.supabase = supabase
    this.listener = listener
  }

  /** Follows it under this name from now on. */
  go(topic: string): void {
    if (this.stopped || topic === this.topic && (this.channel || this.refused)) return
    this.drop()
    this.topic = topic
    this.refused = false
    const { fromDatabase } = this.listener
    const config = {
      ...this.listener.config,
      ...(fromDatabase && { broadcast: { replication_ready: true } }),
      private: true as const,
    }
    const channel = this.supabase.channel(topic, { config }) as Channel
    this.channel = channel
    this.listener.bind(channel)
    const joined = () => this.channel === channel && this.listener.joined(channel)
    channel.on('system', {}, ({ extension, status }: System) => {
      if (fromDatabase && extension === 'system' && status === 'ok') joined()
    })
    channel.subscribe((status, error) => {
      if (this.channel !== channel) return
      if (status === 'SUBSCRIBED') return fromDatabase || joined()
      // One that was closed does not come back by itself. One that was refused would try for ever,
      // and after each refusal Realtime says nothing on the whole connection for 5 s.
      this.refused = denied.test(error?.message ?? '')
      if (this.refused || status === 'CLOSED') this.drop()
      this.listener.broken()
    })
  }

  /** The next go tries a name again that was refused. */
  forgive(): void {
    this.refused = false
  }

  stop(): void {
    this.stopped = true
    this.drop()
  }

  private drop() {
    const { channel } = this
    this.channel = undefined
    if (channel) void this.supabase.removeChannel(channel as never).catch(() => {})
  }
}
