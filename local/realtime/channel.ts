// A topic that a socket has joined. It delivers messages, and caches for each token what the client may do.
import { randomUUID } from 'node:crypto'
import type { Caller, Extension } from './authorization.ts'
import { type Frame, type Json, Message, type UserBroadcast } from './frames.ts'
import type { Join, JoinedChannel, OpenConnection, Realtime } from './interfaces.ts'
import { expiredSince, identify, type Identity, tokenProblem } from './tokens.ts'
import type { Listener, Topic } from './topics.ts'

export const unreadable = (name: string) =>
  `You do not have permissions to read from this Channel topic: ${name}`
const noDatabase = 'Realtime was unable to connect to the project database'
const presenceKeys = 10
const presenceCalls = { count: 5, within: 30_000 }
const maxTimer = 300_000
const readyInterval = 500

export class Channel implements Listener, JoinedChannel {
  readonly name: string
  readonly joinRef: string | null
  readonly presenceKey: string
  readonly private: boolean
  readonly reads: Set<Extension>
  private replay: Message[] = []
  private readonly replayed = new Set<string>()
  private readonly realtime: Realtime
  private readonly connection: OpenConnection
  private readonly join: Join
  private identity: Identity
  private readonly topic: Topic
  /** Caches whether the token permits sending each kind of message. */
  private writes = new Map<Extension, boolean>()
  private timer: NodeJS.Timeout | undefined
  private readyTimer: NodeJS.Timeout | undefined
  private presenceCalls = { count: 0, until: 0 }
  private tracked: string | undefined
  private work = Promise.resolve()
  private ended = false

  constructor(
    realtime: Realtime,
    connection: OpenConnection,
    join: Join,
    { identity, reads }: { identity: Identity; reads: Extension[] },
  ) {
    this.realtime = realtime
    this.connection = connection
    this.join = join
    this.identity = identity
    this.reads = new Set(reads)
    this.name = join.name
    this.joinRef = join.joinRef
    this.private = join.private
    this.presenceKey = join.presenceKey || randomUUID()
    this.topic = realtime.topics.join(this.name, this.private, this)
    this.watchToken()
  }

  get caller(): Caller {
    return { ...this.identity, headers: this.connection.headers }
  }

  get receivesPresence(): boolean {
    return !this.private || this.reads.has('presence')
  }

  /** Keeps earlier messages, to deliver them after the join and to skip duplicates from the stream. */
  holdReplay(messages: Message[]): void {
    this.replay = messages
    for (const { meta } of messages) this.replayed.add(meta!.id)
  }

  open(): void {
    for (const message of this.replay) this.connection.send(message.as(this.connection.version))
    this.replay = []
    const { replicationReady, presence, postgresChanges } = this.join
    if (replicationReady) this.announceReady(Date.now() + this.realtime.readyTimeout)
    if (presence) this.pushPresenceState()
    if (postgresChanges.length > 0) {
      const message = 'The embedded stack has no postgres_changes: use broadcast'
      this.pushSystem('postgres_changes', 'error', message)
    }
  }

  /** Reports once that the stream is connected. If the stream is lost later, this is not reported. */
  private announceReady(deadline: number) {
    if (this.ended) return
    if (this.realtime.tenant.streaming) {
      return this.pushSystem('system', 'ok', 'Replication connection established')
    }
    if (Date.now() >= deadline) {
      return this.shutDown('Replication connection was not established in time')
    }
    this.readyTimer = setTimeout(() => this.announceReady(deadline), readyInterval)
  }

  private pushSystem(extension: string, status: 'ok' | 'error', message: string) {
    const content = { extension, status, message, channel: this.name }
    this.connection.push(this, 'system', content)
  }

  deliver(message: Message): void {
    if (this.ended) return
    const { realtime, connection } = this
    if (message.event === 'presence_diff') {
      realtime.presence.add()
      return connection.send(message.as(connection.version))
    }
    if (message.meta && this.replayed.has(message.meta.id)) return
    if (this.private && !this.reads.has('broadcast')) return
    realtime.events.add()
    connection.send(message.as(connection.version))
    if (realtime.events.triggered) this.shutDown('Too many messages per second')
  }

  /** Handles frames one after another, without blocking other channels. */
  receive(frame: Frame): void {
    this.work = this.work.then(() => this.ended ? undefined : this.handle(frame)).catch((error) => {
      console.error(`channel crashed: ${(error as Error).stack}`)
      this.connection.crash(this)
    })
  }

  private async handle(frame: Frame): Promise<void> {
    const { event } = frame
    if (event === 'phx_leave') {
      this.connection.reply(frame, 'ok')
      this.connection.closeChannel(this)
    } else if (event === 'broadcast') await this.broadcast(frame)
    else if (event === 'presence') await this.presence(frame)
    else if (event === 'access_token') await this.setToken(frame.payload.access_token)
    else this.realtime.events.add()
  }

  private async broadcast(frame: Frame) {
    // A client that is not allowed to send gets no reply at all.
    if (this.private && !await this.canWrite('broadcast')) return
    const { realtime, join } = this
    realtime.events.add()
    const content: Json | UserBroadcast = frame.user ?? frame.payload
    const size = frame.user?.bytes.length ?? Buffer.byteLength(JSON.stringify(content))
    if (size > realtime.limits.payloadBytes) {
      if (join.ack) this.connection.reply(frame, 'error', 'payload_size_exceeded')
      return
    }
    const message = new Message(this.topic.wire, 'broadcast', content)
    this.topic.publish(message, join.self ? undefined : this)
    if (join.ack) this.connection.reply(frame, 'ok')
  }

  /** Checks once per token whether the client may send; a database error is not cached. */
  private async canWrite(extension: Extension): Promise<boolean> {
    const known = this.writes.get(extension)
    if (known !== undefined) return known
    const { identity } = this
    try {
      const may = await this.realtime.authorization.writable(this.name, this.caller, extension)
      if (identity === this.identity) this.writes.set(extension, may)
      return may
    } catch (error) {
      console.error(`UnableToSetPolicies: ${(error as Error).message}`)
      return false
    }
  }

  private async presence(frame: Frame) {
    const event = String(frame.payload.event).toLowerCase()
    if (!this.allowPresenceCall()) return this.shutDown('Client presence rate limit exceeded')
    if (event === 'track') return await this.track(frame)
    if (event === 'untrack') {
      this.topic.untrack(this)
      this.tracked = undefined
      return this.connection.reply(frame, 'ok')
    }
    this.connection.reply(frame, 'error')
  }

  private async track(frame: Frame) {
    const { payload = {} } = frame.payload
    if (this.private && !await this.canWrite('presence')) {
      return this.connection.reply(frame, 'error')
    }
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
      const reason = 'Presence track payload must be a map'
      return this.connection.reply(frame, 'error', { reason })
    }
    const text = JSON.stringify(payload)
    const { limits } = this.realtime
    const large = Buffer.byteLength(text) > limits.payloadBytes
    if (large || Object.keys(payload).length > presenceKeys) {
      return this.shutDown('Track message size exceeded')
    }
    if (!this.allowPresenceEvent()) return
    const first = !this.join.presence && this.tracked === undefined
    if (first && this.private) await this.refreshReads(['presence'])
    if (text !== this.tracked) this.topic.track(this, payload as Json)
    this.tracked = text
    this.connection.reply(frame, 'ok')
  }

  /** Limits the number of calls in a time window, which starts with the first call. */
  private allowPresenceCall(): boolean {
    const now = Date.now()
    if (now > this.presenceCalls.until) {
      this.presenceCalls = { count: 0, until: now + presenceCalls.within }
    }
    return ++this.presenceCalls.count <= presenceCalls.count
  }

  private allowPresenceEvent(): boolean {
    const { presence, limits } = this.realtime
    const few = presence.average <= limits.presencePerSecond
    if (few) presence.add()
    else this.shutDown('Too many presence messages per second')
    return few
  }

  private pushPresenceState() {
    if (!this.receivesPresence || !this.allowPresenceEvent()) return
    this.connection.push(this, 'presence_state', this.topic.state())
  }

  private async refreshReads(extensions: Extension[]) {
    const seen = await this.realtime.authorization.readable(this.name, this.caller, extensions)
    for (const extension of extensions) {
      if (seen.includes(extension)) this.reads.add(extension)
      else this.reads.delete(extension)
    }
  }

  /** Replaces the token. The same token is not checked again. */
  private async setToken(token: unknown) {
    if (typeof token !== 'string' || token.startsWith('sb_') || token === this.identity.token) {
      return
    }
    try {
      this.identity = await identify(this.realtime.keys, token)
    } catch (error) {
      return this.shutDown(tokenProblem(error).text)
    }
    this.writes.clear()
    this.watchToken()
    if (!this.private) return
    const before = [...this.reads]
    try {
      const asksPresence = this.join.presence || this.tracked !== undefined
      await this.refreshReads(asksPresence ? ['broadcast', 'presence'] : ['broadcast'])
    } catch (error) {
      console.error(`UnableToSetPolicies: ${(error as Error).message}`)
      return this.shutDown(noDatabase)
    }
    if (this.reads.size === 0) this.shutDown(unreadable(this.name))
    else if (before.some((extension) => !this.reads.has(extension))) {
      this.shutDown(`You no longer have permission to read from this Channel topic: ${this.name}`)
    }
  }

  /** Schedules the next check of the token: when it expires, but after five minutes at the latest. */
  private watchToken() {
    clearTimeout(this.timer)
    const { exp } = this.identity
    if (exp === undefined) return
    const left = Math.max(0, exp * 1000 - Date.now())
    this.timer = setTimeout(() => void this.checkToken(), Math.min(left, maxTimer))
  }

  private async checkToken() {
    const { token, exp } = this.identity
    if (exp! * 1000 <= Date.now()) return this.shutDown(expiredSince(exp!))
    try {
      await identify(this.realtime.keys, token!)
      this.watchToken()
    } catch (error) {
      this.shutDown(tokenProblem(error).text)
    }
  }

  shutDown(message: string): void {
    if (this.ended) return
    this.pushSystem('system', 'error', message)
    this.connection.closeChannel(this)
  }

  end(): void {
    this.ended = true
    clearTimeout(this.timer)
    clearTimeout(this.readyTimer)
    this.realtime.topics.leave(this.name, this.private, this)
  }
}
