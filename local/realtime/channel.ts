// One topic joined by one socket: its rights, which are looked up once per token and then kept, what
// it sends and what it hears.
import { randomUUID } from 'node:crypto'
import type { Caller, Extension } from './authorization.ts'
import type { Connection } from './connection.ts'
import { type Frame, type Json, Message, type UserBroadcast } from './frames.ts'
import type { Join } from './join.ts'
import type { Realtime } from './server.ts'
import { expiredSince, identify, type Identity, problemOf } from './tokens.ts'
import type { Listener, Topic } from './topics.ts'

const noDatabase = 'Realtime was unable to connect to the project database'
const presenceKeys = 10
const presenceCalls = { count: 5, within: 30_000 }
const longestTimer = 300_000

export class Channel implements Listener {
  readonly name: string
  readonly joinRef: string | null
  readonly presenceKey: string
  readonly private: boolean
  /** The kinds that its token lets it hear. */
  readonly reads: Set<Extension>
  /** What the database sent before, to be shown once after the join. */
  replay: Message[] = []
  private readonly replayed = new Set<string>()
  private readonly realtime: Realtime
  private readonly connection: Connection
  private readonly join: Join
  private identity: Identity
  private readonly topic: Topic
  /** What its token lets it send, as far as it was asked. */
  private writes = new Map<Extension, boolean>()
  /** What came before the join was answered. */
  private held: Message[] | undefined = []
  private timer: NodeJS.Timeout | undefined
  private presenceCalls: number[] = []
  private tracked: string | undefined
  private ended = false

  constructor(
    realtime: Realtime,
    connection: Connection,
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

  get hearsPresence(): boolean {
    return !this.private || this.reads.has('presence')
  }

  /** Lets what was held back follow the answer to the join. */
  open(): void {
    for (const message of this.replay) {
      this.replayed.add(message.meta!.id)
      this.connection.send(message.as(this.connection.version))
    }
    this.replay = []
    const held = this.held ?? []
    this.held = undefined
    for (const message of held) this.deliver(message)
    if (this.join.presence) this.showPresence()
  }

  deliver(message: Message): void {
    if (this.ended) return
    if (this.held) return void this.held.push(message)
    if (message.meta && this.replayed.has(message.meta.id)) return
    if (message.event === 'broadcast' && this.private && !this.reads.has('broadcast')) return
    this.realtime.events.add()
    this.connection.send(message.as(this.connection.version))
    if (this.realtime.crowded()) this.shutDown('Too many messages per second')
  }

  async handle(frame: Frame): Promise<void> {
    if (frame.event === 'broadcast') await this.broadcast(frame)
    else if (frame.event === 'presence') await this.presence(frame)
    else if (frame.event === 'access_token') await this.renew(frame.payload.access_token)
  }

  private async broadcast(frame: Frame) {
    // Who may not send learns nothing, not even that.
    if (this.private && !await this.mayWrite('broadcast')) return
    const { realtime, join } = this
    realtime.events.add()
    const content: Json | UserBroadcast = frame.user ?? frame.payload
    const size = frame.user?.bytes.length ?? Buffer.byteLength(JSON.stringify(content))
    if (size > realtime.limits.payloadBytes) {
      if (join.ack) this.connection.reply(frame, 'error', { reason: 'payload_size_exceeded' })
      return
    }
    const message = new Message(this.topic.wire, 'broadcast', content)
    this.topic.publish(message, join.self ? undefined : this)
    if (join.ack) this.connection.reply(frame, 'ok')
    if (realtime.crowded()) this.shutDown('Too many messages per second')
  }

  /** Asked once for each token; an error of the database is not remembered. */
  private async mayWrite(extension: Extension): Promise<boolean> {
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
    if (!this.countPresence()) return this.shutDown('Client presence rate limit exceeded')
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
    if (this.private && !await this.mayWrite('presence')) {
      return this.connection.reply(frame, 'error')
    }
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
      const reason = 'Presence track payload must be a map'
      return this.connection.reply(frame, 'error', { reason })
    }
    const text = JSON.stringify(payload)
    const { limits, presence } = this.realtime
    const large = Buffer.byteLength(text) > limits.payloadBytes
    if (large || Object.keys(payload).length > presenceKeys) {
      return this.shutDown('Track message size exceeded')
    }
    if (presence.average > limits.presencePerSecond) {
      return this.shutDown('Too many presence messages per second')
    }
    presence.add()
    const first = !this.join.presence && this.tracked === undefined
    if (first && this.private) await this.lookAt(['presence'])
    if (text !== this.tracked) this.topic.track(this, payload as Json)
    this.tracked = text
    this.connection.reply(frame, 'ok')
    if (first) this.showPresence()
  }

  private countPresence(): boolean {
    const now = Date.now()
    this.presenceCalls = this.presenceCalls.filter((at) => now - at < presenceCalls.within)
    return this.presenceCalls.push(now) <= presenceCalls.count
  }

  private showPresence() {
    if (!this.hearsPresence) return
    this.realtime.presence.add()
    this.connection.push(this, 'presence_state', this.topic.state())
  }

  /** Asks which of these kinds may be heard. */
  private async lookAt(extensions: Extension[]) {
    const seen = await this.realtime.authorization.readable(this.name, this.caller, extensions)
    for (const extension of extensions) {
      if (seen.includes(extension)) this.reads.add(extension)
      else this.reads.delete(extension)
    }
  }

  /** Takes a new token; only a changed one has the rights looked up again. */
  private async renew(token: unknown) {
    if (typeof token !== 'string' || token.startsWith('sb_') || token === this.identity.token) {
      return
    }
    try {
      this.identity = await identify(this.realtime.keys, token)
    } catch (error) {
      return this.shutDown(problemOf(error).text)
    }
    this.writes.clear()
    this.watchToken()
    if (!this.private) return
    const before = [...this.reads]
    try {
      const asksPresence = this.join.presence || this.tracked !== undefined
      await this.lookAt(asksPresence ? ['broadcast', 'presence'] : ['broadcast'])
    } catch (error) {
      console.error(`UnableToSetPolicies: ${(error as Error).message}`)
      return this.shutDown(noDatabase)
    }
    if (before.some((extension) => !this.reads.has(extension))) {
      const { name } = this
      this.shutDown(`You no longer have permission to read from this Channel topic: ${name}`)
    }
  }

  /** Looks at the token again when it ends, and now and then before. */
  private watchToken() {
    clearTimeout(this.timer)
    const { exp } = this.identity
    if (exp === undefined) return
    const left = Math.max(0, exp * 1000 - Date.now())
    this.timer = setTimeout(() => void this.checkToken(), Math.min(left, longestTimer))
  }

  private async checkToken() {
    const { token, exp } = this.identity
    if (exp! * 1000 <= Date.now()) return this.shutDown(expiredSince(exp!))
    try {
      await identify(this.realtime.keys, token!)
      this.watchToken()
    } catch (error) {
      this.shutDown(problemOf(error).text)
    }
  }

  /** Ends the channel from this side and says why. */
  shutDown(message: string): void {
    if (this.ended) return
    const content = { extension: 'system', status: 'error', message, channel: this.name }
    this.connection.push(this, 'system', content)
    this.connection.closeChannel(this)
  }

  /** Hears and says nothing more. */
  end(): void {
    this.ended = true
    clearTimeout(this.timer)
    this.realtime.topics.leave(this.name, this.private, this)
  }
}
