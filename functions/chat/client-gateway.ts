/** The link through the chat gateway: one socket, frames as in protocol.ts. */
import { type Api, ChatFailure, pauseAfter, wait } from './client-api.ts'
import type { Link, Told } from './client.ts'
import { type Acked, type ChatError, closes, type Incoming, type Message } from './protocol.ts'

const answerTime = 10_000
const heartbeatEvery = 25_000

/** After these nothing is gained by trying again with what there is. */
const final: number[] = [closes.forbidden, closes.tooMany, closes.tokenInQuery]

type Socket = {
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  onerror: ((event: never) => void) | null
  send(text: string): void
  close(code?: number): void
}

type Choice = { url: string; WebSocket: new (url: string, protocols?: string[]) => unknown }

type Waiting = { resolve: (data: never) => void; reject: (error: ChatFailure) => void }

/** Joins through `<project>/functions/v1/chat`. `WebSocket` is the platform's own. */
export const gateway = (choice: Choice): Link => new GatewayLink(choice)

class GatewayLink implements Link {
  private readonly choice: Choice
  private readonly joined = new Set<string>()
  private readonly waiting = new Map<number, Waiting>()
  private api!: Api
  private told!: Told
  private socket: Socket | undefined
  private ready: Promise<void> | undefined
  private token = ''
  private refs = 0
  private failures = 0
  private clock: ReturnType<typeof setInterval> | undefined
  private ended: ChatFailure | undefined

  constructor(choice: Choice) {
    this.choice = choice
  }

  start(api: Api, told: Told): void {
    this.api = api
    this.told = told
    void this.connected().catch(() => {})
  }

  async join(conversationId: string): Promise<void> {
    this.joined.add(conversationId)
    for (;;) {
      try {
        await this.ask('join_conversation', { conversationId })
        return
      } catch (error) {
        if (!(error as ChatFailure).passes || !this.joined.has(conversationId)) {
          this.joined.delete(conversationId)
          throw error
        }
        await wait(pauseAfter(0))
      }
    }
  }

  leave(conversationId: string): void {
    if (!this.joined.delete(conversationId) || !this.socket) return
    void this.ask('leave_conversation', { conversationId }).catch(() => {})
  }

  async send(message: Incoming['send_message']): Promise<Message> {
    return (await this.ask('send_message', message)).message
  }

  close(): void {
    this.ended = new ChatFailure({ code: 'connection', message: 'closed' })
    this.socket?.close(1000)
    this.dropped(this.socket)
  }

  // The socket ------------------------------------------------------------------------------------

  /** Settled when there is a socket that has shown its token. */
  private connected(): Promise<void> {
    if (this.ended) return Promise.reject(this.ended)
    return this.ready ??= this.connect()
  }

  private async connect(): Promise<void> {
    if (this.failures > 0) await wait(pauseAfter(this.failures - 1))
    if (this.ended) throw this.ended
    this.failures++
    try {
      await this.open()
      const accessToken = this.token = await this.api.accessToken()
      await this.push('auth', { accessToken })
    } catch (error) {
      const { code, message, passes } = error as ChatFailure
      // It is tried again: the app may have a better token by then.
      if (!passes) this.told.error({ code, message })
      this.dropped(this.socket)
      throw error
    }
    this.failures = 0
    this.clock = setInterval(() => void this.beat(), heartbeatEvery)
    for (const conversationId of this.joined) void this.rejoin(conversationId)
  }

  private open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = new this.choice.WebSocket(this.choice.url, ['chat']) as Socket
      this.socket = socket
      const fail = () => reject(new ChatFailure({ code: 'connection' }))
      const late = setTimeout(() => {
        fail()
        socket.close()
      }, answerTime)
      socket.onopen = () => {
        clearTimeout(late)
        resolve()
      }
      socket.onmessage = ({ data }) => this.heard(String(data))
      socket.onerror = () => {}
      socket.onclose = ({ code, reason }) => {
        clearTimeout(late)
        fail()
        if (final.includes(code)) {
          this.ended = new ChatFailure({ code: reason || 'connection', message: reason })
          this.told.error({ code: this.ended.code, message: reason })
        }
        this.dropped(socket)
      }
    })
  }

  /** Nobody hears this socket any more; the next one comes by itself. */
  private dropped(socket: Socket | undefined) {
    if (this.socket !== socket) return
    this.socket = undefined
    this.ready = undefined
    clearInterval(this.clock)
    if (socket) {
      socket.onclose = socket.onmessage = null
      try {
        socket.close()
      } catch {
        // It was never open.
      }
    }
    for (const { reject } of this.waiting.values()) reject(new ChatFailure({ code: 'connection' }))
    this.waiting.clear()
    if (!this.ended) void this.connected().catch(() => {})
  }

  private async rejoin(conversationId: string) {
    try {
      await this.push('join_conversation', { conversationId })
      this.told.back(conversationId)
    } catch (error) {
      const failure = error as ChatFailure
      if (!this.joined.has(conversationId) || failure.code === 'connection') return
      if (failure.passes) return void wait(2000).then(() => this.rejoin(conversationId))
      this.joined.delete(conversationId)
      this.told.lost(conversationId, { code: failure.code, message: failure.message })
    }
  }

  /** Sees whether the other side is there, and shows a token that is new. */
  private async beat() {
    const { socket } = this
    try {
      const token = await this.api.accessToken()
      if (token !== this.token) {
        await this.push('auth', { accessToken: token })
        this.token = token
      } else await this.push('heartbeat', {})
    } catch (error) {
      if ((error as ChatFailure).code === 'connection') this.dropped(socket)
    }
  }

  // Frames ----------------------------------------------------------------------------------------

  private async ask<Event extends keyof Incoming>(event: Event, data: Incoming[Event]) {
    await this.connected()
    return await this.push(event, data)
  }

  private push<Event extends keyof Incoming>(
    event: Event,
    data: Incoming[Event],
  ): Promise<Acked[Event]> {
    const { socket } = this
    const ref = ++this.refs
    return new Promise((resolve, reject) => {
      if (!socket) return reject(new ChatFailure({ code: 'connection' }))
      const late = setTimeout(() => {
        this.waiting.delete(ref)
        reject(new ChatFailure({ code: 'connection', message: 'no answer' }))
      }, answerTime)
      const settle = <T>(done: (value: T) => void) => (value: T) => {
        clearTimeout(late)
        done(value)
      }
      this.waiting.set(ref, { resolve: settle(resolve), reject: settle(reject) })
      socket.send(JSON.stringify({ event, data, ref }))
    })
  }

  private heard(text: string) {
    const { event, data, ref } = JSON.parse(text)
    const waiting = this.waiting.get(ref)
    this.waiting.delete(ref)
    if (event === 'ack') waiting?.resolve(data as never)
    else if (event === 'new_message') this.told.message(data.message)
    else if (event === 'conversation_updated') this.told.updated(data)
    else if (event === 'error') this.failed(data, waiting)
  }

  private failed(error: ChatError, waiting: Waiting | undefined) {
    if (waiting) return waiting.reject(new ChatFailure(error))
    const { conversationId } = error
    if (error.code !== 'not_participant' || !conversationId) return this.told.error(error)
    this.joined.delete(conversationId)
    this.told.lost(conversationId, error)
  }
}
