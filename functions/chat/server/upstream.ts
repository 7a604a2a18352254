/**
 * The gateway's way to Realtime. Channels of many people share a few connections, each joined with
 * its own person's token, so that the policies of the database decide who hears what.
 */
import { decodeJwt } from 'jose'
import { env } from '../../_shared/env.ts'
import { backend, log } from './asking.ts'

export type Listener = {
  /** Everything sent from now on will be told; what was sent before may have been missed. */
  joined(): void
  /** What is sent from now on is not heard, until it has joined again. */
  broken(): void
  event(name: string, payload: unknown): void
  /** Realtime will not have this channel (any more): topic or token are not good. */
  refused(): void
}

// Realtime takes the joins of a connection one after another, and nothing else is said on it
// meanwhile; one that is refused takes 5 s. So few channels share a connection, and a join may take
// its time for itself and for each before it: it is waited for, or given up with the connection.
const perLine = 11
const perJoin = 6000
// Realtime itself gives up after a minute.
const readyTime = 65_000
const heartbeatEvery = 20_000
const silence = 30_000
const pauses = [250, 500, 1000, 2000, 5000]
const final = /^(Unauthorized|InvalidJWTToken|MalformedJWT|Jwt|PrivateOnly)|permission|expired/i

const pauseAfter = (failures: number) =>
  pauses[Math.min(failures, pauses.length - 1)] * (0.75 + Math.random() / 2)

/** Lets so many through in a second, in the order in which they came. */
class Turnstile {
  private readonly waiting: (() => void)[] = []
  private timer: ReturnType<typeof setInterval> | undefined
  private left: number
  private readonly perSecond: number

  constructor(perSecond: number) {
    this.perSecond = perSecond
    this.left = perSecond / 2
  }

  pass(through: () => void): void {
    this.waiting.push(through)
    this.timer ??= setInterval(() => this.turn(), 20)
    this.let()
  }

  private turn() {
    this.left = Math.min(this.perSecond / 2, this.left + this.perSecond / 50)
    this.let()
    if (this.waiting.length > 0 || this.left < this.perSecond / 2) return
    clearInterval(this.timer)
    this.timer = undefined
  }

  private let() {
    while (this.left >= 1 && this.waiting.length > 0) {
      this.left--
      this.waiting.shift()!()
    }
  }
}

const turnstile = new Turnstile(env.gatewayJoins)
const lines = new Set<Line>()

/** Joins a topic as the owner of the token. */
export function subscribe(topic: string, token: string, listener: Listener): Channel {
  const free = [...lines].find((line) => line.hasRoomFor(topic))
  const channel = new Channel(free ?? new Line(), topic, token, listener)
  channel.begin()
  return channel
}

/** Ends all connections to Realtime. */
export function hangUp(): void {
  lines.forEach((line) => line.end())
}

/** How many channels and connections there are, for the log. */
export const upstreamSize = () => ({
  lines: lines.size,
  channels: [...lines].reduce((count, line) => count + line.channels.size, 0),
})

/** One topic for one person. It joins again by itself whenever it is lost. */
export class Channel {
  readonly topic: string
  readonly listener: Listener
  private readonly line: Line
  private token: string
  /** Who has entered hears what Realtime hears; who has joined, the database. */
  private state: 'waiting' | 'joining' | 'entered' | 'joined' | 'gone' = 'waiting'
  /** Of the join that counts: what is said of another is about a channel that there is no more. */
  private ref: string | undefined
  private attempts = 0
  private failures = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  /** What Realtime said last when something was wrong. */
  private trouble = ''

  constructor(line: Line, topic: string, token: string, listener: Listener) {
    this.line = line
    this.topic = topic
    this.token = token
    this.listener = listener
  }

  /** Whose channel it is. */
  get accountId(): string {
    return decodeJwt(this.token).sub!
  }

  begin(): void {
    this.line.channels.set(this.topic, this)
    this.line.wanted(this)
  }

  /** Takes the place of the token that it joined with. */
  renew(token: string): void {
    this.token = token
    if (this.state === 'entered' || this.state === 'joined') {
      this.line.push(this.topic, 'access_token', { access_token: token })
    }
  }

  leave(): void {
    if (this.state === 'gone') return
    const known = this.state !== 'waiting'
    this.state = 'gone'
    clearTimeout(this.timer)
    if (known) this.line.dismiss(this)
    else this.line.forget(this)
  }

  /** The connection is there: asks to join when it is this channel's turn. */
  join(): void {
    if (this.state !== 'waiting') return
    this.state = 'joining'
    this.trouble = ''
    const attempt = ++this.attempts
    const current = () => this.state === 'joining' && attempt === this.attempts
    turnstile.pass(() => {
      if (!current()) return
      const { token } = this
      this.ref = this.line.push(this.topic, 'phx_join', {
        config: {
          broadcast: { ack: false, self: false, replication_ready: true },
          presence: { enabled: false },
          private: true,
        },
        access_token: token,
      }, (status, reason) => {
        if (current()) this.answered(status, reason)
        if (this.token !== token) this.renew(this.token)
      })
      if (!this.ref) this.state = 'waiting'
    })
  }

  private answered(status: string, reason: string) {
    if (status !== 'ok') return this.ended(reason)
    this.state = 'entered'
    this.timer = setTimeout(() => this.again(), readyTime)
  }

  private ready() {
    if (this.state !== 'entered') return
    clearTimeout(this.timer)
    this.state = 'joined'
    this.failures = 0
    this.listener.joined()
  }

  /** Realtime ended it or did not let it in, for reasons that last or for others. */
  private ended(reason: string) {
    if (final.test(reason)) this.refused()
    else this.again()
  }

  /** Lost without a word about rights: a crash, a time-out, a limit. */
  again(): void {
    if (this.state === 'gone') return
    this.lost()
    this.timer = setTimeout(() => this.line.ready && this.join(), pauseAfter(this.failures++))
  }

  /** The connection broke; the next one joins anew. */
  lost(): void {
    if (this.state === 'gone') return
    clearTimeout(this.timer)
    if (this.state === 'joined') this.listener.broken()
    this.state = 'waiting'
  }

  refused(): void {
    if (this.state === 'gone') return
    this.state = 'gone'
    clearTimeout(this.timer)
    this.line.forget(this)
    this.listener.refused()
  }

  heard(event: string, payload: Record<string, unknown>, ref: unknown): void {
    if (this.state === 'gone' || typeof ref === 'string' && ref !== this.ref) return
    if (event === 'broadcast') this.listener.event(String(payload.event), payload.payload)
    else if (event === 'phx_close') this.ended(this.trouble)
    else if (event === 'phx_error') this.again()
    else if (event === 'system' && payload.extension === 'system') {
      if (payload.status === 'ok') this.ready()
      else this.trouble = String(payload.message)
    }
  }
}

type Answer = (status: string, reason: string) => void

/** One connection to Realtime. It is opened when a channel wants it and again when it breaks. */
class Line {
  readonly channels = new Map<string, Channel>()
  /** It is open, and what no longer holds was sorted out. */
  ready = false
  private socket: WebSocket | undefined
  private readonly answers = new Map<string, Answer>()
  /** Refs of joins that were not answered yet. */
  private readonly joins = new Set<string>()
  private refs = 0
  private failures = 0
  private clock: ReturnType<typeof setInterval> | undefined
  private heardAt = 0
  private broken = false
  private ended = false

  constructor() {
    lines.add(this)
  }

  private get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN
  }

  hasRoomFor(topic: string): boolean {
    return this.channels.size < perLine && !this.channels.has(topic)
  }

  wanted(channel: Channel): void {
    if (this.ready) channel.join()
    else if (!this.socket) this.connect()
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
      this.clock = setInterval(() => this.beat(), heartbeatEvery)
      void this.begin(socket)
    }
    socket.onmessage = ({ data }) => {
      this.heardAt = performance.now()
      if (typeof data === 'string') this.heard(data)
    }
    socket.onclose = () => this.broke(socket)
    // A close follows every error.
    socket.onerror = () => {}
  }

  /** Has its channels join. After a break only those that still hold: no other would be let in. */
  private async begin(socket: WebSocket) {
    for (let failures = 0; this.broken && this.channels.size > 0; failures++) {
      try {
        const channels = [...this.channels.values()]
          .map(({ accountId, topic }) => ({ accountId, topic }))
        const standing = new Set(await backend<string[]>('current_topics', { channels }))
        if (this.socket !== socket || !this.isOpen) return
        for (const { topic } of channels) {
          if (!standing.has(topic)) this.channels.get(topic)?.refused()
        }
        break
      } catch (error) {
        log({ call: 'current_topics', cause: String((error as Error).message) })
        await new Promise((resolve) => setTimeout(resolve, pauseAfter(failures)))
        if (this.socket !== socket || !this.isOpen) return
      }
    }
    this.ready = true
    this.channels.forEach((channel) => channel.join())
  }

  private broke(socket: WebSocket) {
    if (this.socket !== socket) return
    clearInterval(this.clock)
    this.ready = false
    this.broken = true
    this.answers.clear()
    this.joins.clear()
    this.channels.forEach((channel) => channel.lost())
    if (this.ended) return
    if (this.channels.size === 0) return this.end()
    setTimeout(() => !this.ended && this.connect(), pauseAfter(this.failures++))
  }

  private beat() {
    const silent = performance.now() - this.heardAt
    if (silent > silence + perJoin * this.joins.size) return this.cut()
    this.push('phoenix', 'heartbeat', {})
    if (this.channels.size === 0) this.end()
  }

  /** Gives a silent connection up, without waiting for its goodbye. */
  private cut() {
    const { socket } = this
    if (!socket) return
    socket.onclose = null
    socket.onmessage = null
    socket.close()
    this.broke(socket)
  }

  /** Gives the ref under which it is answered; nothing when there is no connection. */
  push(topic: string, event: string, payload: unknown, answer?: Answer): string | undefined {
    if (!this.isOpen) return undefined
    const ref = String(++this.refs)
    if (answer) this.answers.set(ref, answer)
    if (event === 'phx_join') this.joins.add(ref)
    const name = topic === 'phoenix' ? topic : `realtime:${topic}`
    this.socket!.send(JSON.stringify({
      topic: name,
      event,
      payload,
      ref,
      ...(event === 'phx_join' && { join_ref: ref }),
    }))
    return ref
  }

  dismiss(channel: Channel): void {
    this.forget(channel)
    this.push(channel.topic, 'phx_leave', {})
  }

  forget(channel: Channel): void {
    if (this.channels.get(channel.topic) === channel) this.channels.delete(channel.topic)
  }

  end(): void {
    this.ended = true
    lines.delete(this)
    clearInterval(this.clock)
    this.socket?.close()
  }

  private heard(text: string) {
    const { topic, event, payload, ref } = JSON.parse(text)
    if (event === 'phx_reply') {
      const answer = this.answers.get(ref)
      this.answers.delete(ref)
      this.joins.delete(ref)
      return answer?.(payload.status, String(payload.response?.reason ?? ''))
    }
    this.channels.get(String(topic).replace(/^realtime:/, ''))?.heard(event, payload, ref)
  }
}
