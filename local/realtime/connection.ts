// One WebSocket with its channels. Joins are handled one after another, as a Phoenix socket does,
// and while one takes its time nothing else is read or delivered on the connection; what goes to a
// channel is then the channel's own business.
import type { RawData, WebSocket } from 'ws'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Channel } from './channel.ts'
import { type Frame, type Json, readFrame, type Version, writeFrame } from './frames.ts'
import { join, JoinError, readJoin } from './join.ts'
import type { Realtime } from './server.ts'
import type { Identity } from './tokens.ts'

/** Who does not read what it is sent is cut off here; nobody waits for it. */
const maxUnreadBytes = 16 * 1024 * 1024
const maxQueuedFrames = 200

export class Connection {
  readonly version: Version
  /** Whom channels without a token of their own act for: the key's role. */
  readonly identity: Identity
  readonly headers: Json
  readonly channels = new Map<string, Channel>()
  /** From its first join on it counts as a connected user. */
  counted = false
  lastHeard = Date.now()
  private readonly realtime: Realtime
  private readonly socket: WebSocket
  private readonly queue: Frame[] = []
  private busy = false
  /** What is to be delivered after the answer to the join that is under way. */
  private held: (string | Buffer)[] | undefined

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
    socket.on('message', (data, binary) => this.receiveFrame(data, binary))
    socket.on('error', () => {})
    socket.on('close', () => this.onClose())
  }

  get open(): boolean {
    return this.socket.readyState === this.socket.OPEN
  }

  private receiveFrame(data: RawData, binary: boolean) {
    this.lastHeard = Date.now()
    try {
      this.queue.push(readFrame(this.version, data as Buffer, binary))
    } catch (error) {
      // What is no frame is not answered.
      return console.error(`MalformedWebSocketMessage: ${(error as Error).message}`)
    }
    if (this.queue.length === maxQueuedFrames) this.socket.pause()
    if (!this.busy) void this.work()
  }

  private async work() {
    this.busy = true
    for (let frame = this.queue.shift(); frame && this.open; frame = this.queue.shift()) {
      if (this.queue.length === maxQueuedFrames - 1) this.socket.resume()
      if (frame.event === 'phx_join') await this.join(frame)
      else this.handle(frame)
    }
    this.busy = false
  }

  private handle(frame: Frame) {
    const { topic, event, joinRef } = frame
    if (topic === 'phoenix') return this.reply(frame, 'ok')
    const channel = this.channels.get(topic)
    if (!channel) {
      if (event === 'phx_leave') return this.reply(frame, 'ok')
      return this.reply({ ...frame, joinRef: null }, 'error', { reason: 'unmatched topic' })
    }
    // What was meant for a channel that another has taken the place of is not answered.
    const { joinRef: own } = channel
    if (joinRef === null || own === null || joinRef === own) channel.receive(frame)
  }

  private async join(frame: Frame) {
    const held: (string | Buffer)[] = this.held = []
    const before = this.channels.get(frame.topic)
    // Its goodbye is delivered after the answer to the new join.
    if (before) this.closeChannel(before)
    const answer = await this.tryToJoin(frame)
    this.held = undefined
    this.reply(frame, ...answer)
    held.forEach((data) => this.send(data))
    if (answer[0] === 'ok') this.channels.get(frame.topic)?.open()
  }

  private async tryToJoin(frame: Frame): Promise<['ok' | 'error', Json]> {
    if (!frame.topic.startsWith('realtime:')) return ['error', { reason: 'unmatched topic' }]
    try {
      const asked = readJoin(frame)
      const channel = await join(this.realtime, this, asked)
      if (this.open) this.channels.set(frame.topic, channel)
      else channel.end()
      const changes = asked.postgresChanges.map((change, index) => ({ ...change, id: index + 1 }))
      return ['ok', { postgres_changes: changes }]
    } catch (error) {
      const refusal = JoinError.of(error as Error)
      // It is the connection that sleeps: all of its channels hear nothing meanwhile.
      await sleep(this.realtime.failedJoinDelay)
      if (refusal.fatal) setImmediate(() => this.close(1001))
      return ['error', { reason: refusal.message }]
    }
  }

  /** A channel failed at a frame. */
  crash(channel: Channel): void {
    this.end(channel, 'phx_error', { reason: 'channel_crash' })
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
    this.end(channel, 'phx_close', {})
  }

  private end(channel: Channel, event: string, payload: Json) {
    channel.end()
    const { joinRef } = channel
    const topic = `realtime:${channel.name}`
    if (this.channels.get(topic) !== channel) return
    this.channels.delete(topic)
    this.write({ joinRef, ref: joinRef, topic, event, payload })
  }

  private write(frame: Omit<Frame, 'user'>) {
    this.send(writeFrame(this.version, frame))
  }

  /** Sends what is already in this client's form; null is nothing. */
  send(data: string | Buffer | null): void {
    if (data === null || !this.open) return
    if (this.held) return void this.held.push(data)
    this.socket.send(data)
    if (this.socket.bufferedAmount > maxUnreadBytes) this.socket.terminate()
  }

  close(code: number): void {
    this.socket.close(code)
    // Whoever does not answer the goodbye is gone anyway.
    setTimeout(() => this.socket.terminate(), 1000).unref()
  }

  private onClose() {
    for (const channel of this.channels.values()) channel.end()
    this.channels.clear()
    this.queue.length = 0
    this.realtime.connections.delete(this)
  }
}
