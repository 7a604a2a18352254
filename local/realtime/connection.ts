// A WebSocket with its channels. As in a Phoenix socket, joins are handled one at a time, and meanwhile
// everything else on the connection waits in a queue. All other frames are handled by the channels.
import type { RawData, WebSocket } from 'ws'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Frame, type Json, readFrame, type Version, writeFrame } from './frames.ts'
import type { JoinedChannel, OpenConnection, Realtime } from './interfaces.ts'
import { join, JoinError, readJoin } from './join.ts'
import type { Identity } from './tokens.ts'

const maxQueued = 200

export class Connection implements OpenConnection {
  readonly version: Version
  readonly identity: Identity
  readonly headers: Json
  readonly channels = new Map<string, JoinedChannel>()
  counted = false
  lastHeard = Date.now()
  private readonly realtime: Realtime
  private readonly socket: WebSocket
  private readonly queue: (Frame | string | Buffer)[] = []
  private busy = false
  private joining = false

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
      // A malformed frame gets no reply.
      return console.error(`MalformedWebSocketMessage: ${(error as Error).message}`)
    }
    if (this.queue.length >= maxQueued) this.socket.pause()
    if (!this.busy) void this.work()
  }

  private async work() {
    this.busy = true
    for (let next = this.queue.shift(); next && this.open; next = this.queue.shift()) {
      if (this.queue.length < maxQueued) this.socket.resume()
      if (typeof next === 'string' || Buffer.isBuffer(next)) this.socket.send(next)
      else if (next.event === 'phx_join') await this.join(next)
      else this.handle(next)
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
    // Phoenix drops a leave without the join's ref. The fork used by the real server accepts any other frame.
    if (event === 'phx_leave' && joinRef !== channel.joinRef) return
    channel.receive({ ...frame, joinRef: channel.joinRef })
  }

  private async join(frame: Frame) {
    this.joining = true
    const before = this.channels.get(frame.topic)
    // The phx_close of the former channel is sent after the reply to the new join.
    if (before) this.closeChannel(before)
    const answer = await this.tryToJoin(frame)
    if (answer[0] === 'ok') this.channels.get(frame.topic)?.open()
    this.joining = false
    this.reply(frame, ...answer)
  }

  private async tryToJoin(frame: Frame): Promise<['ok' | 'error', Json]> {
    if (!frame.topic.startsWith('realtime:')) return ['error', { reason: 'unmatched topic' }]
    try {
      const request = readJoin(frame)
      const channel = await join(this.realtime, this, request)
      if (this.open) this.channels.set(frame.topic, channel)
      else channel.end()
      const changes = request.postgresChanges.map((change, index) => ({ ...change, id: index + 1 }))
      return ['ok', { postgres_changes: changes }]
    } catch (error) {
      const joinError = JoinError.of(error as Error)
      // The whole connection waits; in the meantime, none of its channels receives anything.
      await sleep(this.realtime.failedJoinDelay)
      if (joinError.fatal) setImmediate(() => this.close(1001))
      return ['error', { reason: joinError.message }]
    }
  }

  crash(channel: JoinedChannel): void {
    this.end(channel, 'phx_error', { reason: 'channel_crash' })
  }

  reply(frame: Frame, status: 'ok' | 'error', response: Json | string = {}): void {
    const { joinRef, ref, topic } = frame
    if (ref === null) return
    this.write({ joinRef, ref, topic, event: 'phx_reply', payload: { status, response } })
  }

  push({ joinRef, name }: JoinedChannel, event: string, payload: Json): void {
    this.write({ joinRef, ref: null, topic: `realtime:${name}`, event, payload })
  }

  closeChannel(channel: JoinedChannel): void {
    this.end(channel, 'phx_close', {})
  }

  private end(channel: JoinedChannel, event: string, payload: Json) {
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

  send(data: string | Buffer | null): void {
    if (data === null || !this.open) return
    if (this.joining) this.queue.push(data)
    else this.socket.send(data)
  }

  close(code: number): void {
    this.socket.close(code)
    // If the client does not reply to the close frame, it is disconnected.
    setTimeout(() => this.socket.terminate(), 1000).unref()
  }

  private onClose() {
    for (const channel of this.channels.values()) channel.end()
    this.channels.clear()
    this.queue.length = 0
    this.realtime.connections.delete(this)
  }
}
