// The gateway's connections to Realtime. A few connections carry the channels of many accounts. Each channel
// is joined with its account's token, so that the database policies decide who receives which events.
import { backend } from '../../_shared/database/db.ts'
import { callFailed } from '../../_shared/errors/alarms.ts'
import { log, logFailure } from '../../_shared/errors/log.ts'
import { causeOf } from '../../_shared/errors/refusal.ts'
import { env } from '../../_shared/settings/env.ts'
import { retryPause } from './backoff.ts'
import { realtimeBreaks } from './figures.ts'
import {
  type ChannelCarrier,
  type ChannelListener,
  type ChannelOptions,
  type PushOptions,
  RealtimeChannel,
  type ReplyHandler,
} from './realtime-channel.ts'
import { times } from './times.ts'

// Realtime handles the joins of a connection one after another and sends nothing else in the meantime; a
// refused join takes 5 s. So only a few channels share a connection, and a connection with pending joins may
// be silent for `perJoin` ms longer per join. Live channels have separate connections, so that their joins do
// not delay messages.
const mostChannels = { account: 11, live: 90 }
const perJoin = 6000

const connections = new Set<RealtimeConnection>()

export function subscribe(
  topic: string,
  token: string,
  listener: ChannelListener,
  options: ChannelOptions = {},
): RealtimeChannel {
  const kind = options.presenceKey ? 'live' : 'account'
  const free = [...connections].find((connection) => connection.hasRoomFor(topic, kind))
  const connection = free ?? new RealtimeConnection(kind)
  const channel = new RealtimeChannel(connection, topic, token, listener, options)
  connection.add(channel)
  return channel
}

export const realtimeFigures = () => ({
  connections: connections.size,
  ready: [...connections].filter(({ ready }) => ready).length,
  channels: [...connections].reduce((sum, { channelCount }) => sum + channelCount, 0),
})

export function closeAll(): void {
  connections.forEach((connection) => connection.close())
}

/** Connects when its first channel is added, and reconnects after a loss. */
class RealtimeConnection implements ChannelCarrier {
  ready = false
  private readonly kind: keyof typeof mostChannels
  private readonly channels = new Map<string, RealtimeChannel>()
  private socket: WebSocket | undefined
  private readonly replyHandlers = new Map<string, ReplyHandler>()
  /** The refs of joins that Realtime has not replied to. */
  private readonly joins = new Set<string>()
  private refs = 0
  private failures = 0
  private heartbeat: ReturnType<typeof setInterval> | undefined
  private heardAt = 0
  private everBroke = false
  private closed = false

  constructor(kind: keyof typeof mostChannels) {
    this.kind = kind
    connections.add(this)
  }

  get channelCount(): number {
    return this.channels.size
  }

  private get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN
  }

  hasRoomFor(topic: string, kind: keyof typeof mostChannels): boolean {
    return kind === this.kind && this.channels.size < mostChannels[kind] &&
      !this.channels.has(topic)
  }

  add(channel: RealtimeChannel): void {
    this.channels.set(channel.topic, channel)
    if (this.ready) channel.join()
    else if (!this.socket) this.connect()
  }

  remove(channel: RealtimeChannel): void {
    if (this.channels.get(channel.topic) === channel) this.channels.delete(channel.topic)
  }

  push(
    topic: string,
    event: string,
    payload: unknown,
    { joinRef, onReply }: PushOptions = {},
  ): string | undefined {
    if (!this.isOpen) return undefined
    const ref = String(++this.refs)
    if (onReply) this.replyHandlers.set(ref, onReply)
    if (event === 'phx_join') this.joins.add(ref)
    this.socket!.send(JSON.stringify({
      topic: topic === 'phoenix' ? topic : `realtime:${topic}`,
      event,
      payload,
      ref,
      join_ref: event === 'phx_join' ? ref : joinRef,
    }))
    return ref
  }

  close(): void {
    this.closed = true
    connections.delete(this)
    clearInterval(this.heartbeat)
    this.socket?.close()
  }

  private connect() {
    const url = `${env.supabaseUrl.replace(/^http/, 'ws')}/realtime/v1/websocket`
    const socket = new WebSocket(
      `${url}?apikey=${encodeURIComponent(env.publishableKey)}&vsn=1.0.0`,
    )
    this.socket = socket
    socket.onopen = () => {
      this.failures = 0
      this.heardAt = performance.now()
      this.heartbeat = setInterval(() => this.beat(), times.heartbeatEvery)
      void this.joinChannels(socket)
    }
    socket.onmessage = ({ data }) => {
      this.heardAt = performance.now()
      try {
        if (typeof data === 'string') this.received(data)
      } catch (error) {
        // An error must not end the process and thereby all sockets.
        logFailure('a message of Realtime', error)
      }
    }
    socket.onclose = () => this.broke(socket)
    // Every error is followed by a close event.
    socket.onerror = () => {}
  }

  /**
   * Joins the channels. After a reconnect of an account connection, first drops the channels that their
   * accounts may no longer read, because each refused join would delay the others.
   */
  private async joinChannels(socket: WebSocket) {
    const mayHaveEnded = this.everBroke && this.kind === 'account'
    if (mayHaveEnded && !await this.dropEndedChannels(socket)) return
    this.ready = true
    this.channels.forEach((channel) => channel.join())
  }

  /** Returns false if the connection was lost in the meantime. */
  private async dropEndedChannels(socket: WebSocket): Promise<boolean> {
    for (let failures = 0; this.channels.size > 0; failures++) {
      try {
        const channels = [...this.channels.values()]
          .map(({ accountId, topic }) => ({ accountId, topic }))
        const valid = new Set(await backend<string[]>('current_topics', { channels }))
        if (!this.isCurrent(socket)) return false
        for (const { topic } of channels) {
          if (!valid.has(topic)) this.channels.get(topic)?.refused()
        }
        return true
      } catch (error) {
        callFailed('current_topics', error as Error)
        log('warn', { call: 'current_topics', cause: causeOf(error as Error) })
        await new Promise((resolve) => setTimeout(resolve, retryPause(failures)))
        if (!this.isCurrent(socket)) return false
      }
    }
    return true
  }

  private isCurrent(socket: WebSocket) {
    return this.socket === socket && this.isOpen
  }

  private broke(socket: WebSocket) {
    if (this.socket !== socket) return
    clearInterval(this.heartbeat)
    this.ready = false
    this.everBroke = true
    realtimeBreaks.add()
    this.replyHandlers.clear()
    this.joins.clear()
    this.channels.forEach((channel) => channel.lost())
    if (this.closed) return
    if (this.channels.size === 0) return this.close()
    setTimeout(() => !this.closed && this.connect(), retryPause(this.failures++))
  }

  private beat() {
    const silence = performance.now() - this.heardAt
    if (silence > times.silenceLimit + perJoin * this.joins.size) return this.abandon()
    this.push('phoenix', 'heartbeat', {})
    if (this.channels.size === 0) this.close()
  }

  /** Drops an unresponsive or full connection without waiting until it has closed. */
  private abandon() {
    const { socket } = this
    if (!socket) return
    socket.onclose = null
    socket.onmessage = null
    socket.close()
    this.broke(socket)
  }

  private received(text: string) {
    const { topic, event, payload, ref } = JSON.parse(text)
    if (event === 'phx_reply') {
      const onReply = this.replyHandlers.get(ref)
      this.replyHandlers.delete(ref)
      this.joins.delete(ref)
      const reason = String(payload.response?.reason ?? '')
      // Realtime counts channels on this connection that we no longer know. Every further join would block it
      // for 5 s.
      if (reason.startsWith('ChannelRateLimitReached')) return this.abandon()
      return onReply?.(payload.status, reason)
    }
    this.channels.get(String(topic).replace(/^realtime:/, ''))?.received(event, payload, ref)
  }
}
