// One WebSocket with its channels. Its frames are handled one after another, as a Phoenix socket
// does: a join that takes long holds up what the same client asks after it, nobody else.
import type { RawData, WebSocket } from 'ws'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Channel } from './channel.ts'
import { type Frame, type Json, readFrame, type Version, writeFrame } from './frames.ts'
import { join, JoinRefused, readJoin } from './join.ts'
import type { Realtime } from './server.ts'
import type { Identity } from './tokens.ts'

/** Who does not read what it is sent is cut off here; nobody waits for it. */
const mostUnread = 16 * 1024 * 1024
const longestQueue = 200
/** As the real one: whoever tries at random learns slowly. */
export const refusalPause = 5000

export class Connection {
  readonly version: Version
  /** Whom channels without a token of their own act for: the key's role. */
  readonly identity: Identity
  readonly headers: Json
  readonly channels = new Map<string, Channel>()
  lastHeard = Date.now()
  private readonly realtime: Realtime
  private readonly socket: WebSocket
  private readonly queue: Frame[] = []
  private busy = false

  constructor(
    realtime: Realtime,
    socket: WebSocket,
    { version, identity, headers }: { version: Version; identity: Identity; headers: Json },
  ) {
    this.realtime = realtime
    this.socket = socket
    this.version = version
    this.identity = identity
    this.headers = headers
    socket.on('message', (data, binary) => this.receive(data, binary))
    socket.on('error', () => {})
    socket.on('close', () => this.gone())
  }

  get open(): boolean {
    return this.socket.readyState === this.socket.OPEN
  }

  private receive(data: RawData, binary: boolean) {
    this.lastHeard = Date.now()
    try {
      this.queue.push(readFrame(this.version, data as Buffer, binary))
    } catch {
      return this.close(1011)
    }
    if (this.queue.length === longestQueue) this.socket.pause()
    if (!this.busy) void this.work()
  }

  private async work() {
    this.busy = true
    for (let frame = this.queue.shift(); frame && this.open; frame = this.queue.shift()) {
      if (this.queue.length === longestQueue - 1) this.socket.resume()
      try {
        await this.handle(frame)
      } catch (error) {
        console.error(`channel crashed: ${(error as Error).stack}`)
        this.crash(frame)
      }
    }
    this.busy = false
  }

  private async handle(frame: Frame) {
    const { topic, event } = frame
    if (topic === 'phoenix') return this.reply(frame, 'ok')
    if (event === 'phx_join') return await this.join(frame)
    const channel = this.channels.get(topic)
    if (!channel || (frame.joinRef !== null && frame.joinRef !== channel.joinRef)) {
      return this.reply(frame, event === 'phx_leave' ? 'ok' : 'error', {
        ...(event !== 'phx_leave' && { reason: 'unmatched topic' }),
      })
    }
    if (event !== 'phx_leave') return await channel.handle(frame)
    this.reply(frame, 'ok')
    this.closeChannel(channel)
  }

  private async join(frame: Frame) {
    const before = this.channels.get(frame.topic)
    if (before) this.closeChannel(before)
    if (!/^realtime:./s.test(frame.topic)) {
      return this.reply(frame, 'error', { reason: 'unmatched topic' })
    }
    const asked = readJoin(frame)
    try {
      const channel = await join(this.realtime, this, asked)
      if (!this.open) return channel.end()
      this.channels.set(frame.topic, channel)
      const changes = asked.postgresChanges.map((change, index) => ({ ...change, id: index + 1 }))
      this.reply(frame, 'ok', { postgres_changes: changes })
      channel.open()
      this.tellState(channel, asked)
    } catch (error) {
      if (!(error instanceof JoinRefused)) throw error
      await sleep(this.realtime.refusalPause)
      this.reply(frame, 'error', { reason: error.message })
      if (error.fatal) this.close(1000)
    }
  }

  private tellState(
    channel: Channel,
    { replicationReady, postgresChanges }: ReturnType<typeof readJoin>,
  ) {
    const tell = (extension: string, status: string, message: string) =>
      this.push(channel, 'system', { extension, status, message, channel: channel.name })
    if (replicationReady) tell('system', 'ok', 'Replication connection established')
    if (postgresChanges.length > 0) {
      tell('postgres_changes', 'error', 'The embedded stack has no postgres_changes: use broadcast')
    }
  }

  private crash(frame: Frame) {
    const { topic } = frame
    const channel = this.channels.get(topic)
    channel?.end()
    this.channels.delete(topic)
    const joinRef = channel?.joinRef ?? frame.joinRef
    const payload = { reason: 'channel_crash' }
    this.write({ joinRef, ref: joinRef, topic, event: 'phx_error', payload })
  }

  /** Answers a frame. */
  reply(frame: Frame, status: 'ok' | 'error', response: Json = {}): void {
    const { joinRef, ref, topic } = frame
    if (ref === null) return
    this.write({ joinRef, ref, topic, event: 'phx_reply', payload: { status, response } })
  }

  /** Tells something about a channel to this client alone. */
  push({ joinRef, name }: Channel, event: string, payload: Json): void {
    this.write({ joinRef, ref: null, topic: `realtime:${name}`, event, payload })
  }

  /** Ends a channel and says so. */
  closeChannel(channel: Channel): void {
    channel.end()
    const { joinRef } = channel
    const topic = `realtime:${channel.name}`
    if (this.channels.get(topic) === channel) this.channels.delete(topic)
    this.write({ joinRef, ref: joinRef, topic, event: 'phx_close', payload: {} })
  }

  private write(frame: Omit<Frame, 'user'>) {
    this.send(writeFrame(this.version, frame))
  }

  /** Sends what is already in this client's form; null is nothing. */
  send(data: string | Buffer | null): void {
    if (data === null || !this.open) return
    this.socket.send(data)
    if (this.socket.bufferedAmount > mostUnread) this.socket.terminate()
  }

  close(code: number): void {
    this.socket.close(code)
    // Whoever does not answer the goodbye is gone anyway.
    setTimeout(() => this.socket.terminate(), 1000).unref()
  }

  private gone() {
    for (const channel of this.channels.values()) channel.end()
    this.channels.clear()
    this.queue.length = 0
    this.realtime.connections.delete(this)
  }
}
