/** The link through the chat gateway: one socket, frames as in protocol.ts. */
import { type Api, ChatFailure, pauseAfter, wait } from './api.ts'
import type { Link, Told } from './client.ts'
import {
  type Acked,
  type ChatError,
  closeCodes,
  type Incoming,
  type Message,
  subprotocol,
} from '../protocol.ts'

const answerTime = 10_000
const heartbeatEvery = 25_000

/** After these nothing is gained by trying again with what there is. */
const final: number[] = [closeCodes.forbidden, closeCodes.tooMany, closeCodes.tokenInQuery]

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

/** Settled from outside, and no trouble when nobody waits for it. */
function deferred() {
  let resolve!: () => void
  let reject!: (failure: ChatFailure) => void
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

class GatewayLink implements Link {
  private readonly choice: Choice
  private readonly joined = new Set<string>()
  private readonly waiting = new Map<number, Waiting>()
  private api!: Api
  private told!: Told
  /** The open socket. */
  private socket: Socket | undefined
  /** Resolved while there is a socket that has shown its token. */
  private ready = deferred()
  private live = false
  private token = ''
  private refs = 0
  private ended: ChatFailure | undefined

  constructor(choice: Choice) {
    this.choice = choice
  }

  start(api: Api, told: Told): void {
    this.api = api
    this.told = told
    void this.run()
  }

  async join(conversationId: string): Promise<void> {
    this.joined.add(conversationId)
    for (;;) {
      try {
        await this.ask('join_conversation', { conversationId })
        return
      } catch (error) {
        if (this.ended || !(error as ChatFailure).passes || !this.joined.has(conversationId)) {
          this.joined.delete(conversationId)
          throw error
        }
        await wait(pauseAfter(0))
      }
    }
  }

  leave(conversationId: string): void {
    if (!this.joined.delete(conversationId) || !this.socket) return
    void this.push('leave_conversation', { conversationId }).catch(() => {})
  }

  async send(message: Incoming['send_message']): Promise<Message> {
    return (await this.ask('send_message', message)).message
  }

  /** The gateway has no event for this. */
  typing(): void {}

  close(): void {
    this.end(new ChatFailure({ code: 'connection', message: 'closed' }))
  }

  // The socket ------------------------------------------------------------------------------------

  /** Keeps one socket, and gets another when it is lost: later each time that fails. */
  private async run(): Promise<void> {
    let failures = 0
    while (!this.ended) {
      try {
        const { lost } = await this.open()
        this.token = await this.api.accessToken()
        await this.push('auth', { accessToken: this.token })
        failures = 0
        this.live = true
        this.ready.resolve()
        for (const conversationId of this.joined) void this.rejoin(conversationId)
        const clock = setInterval(() => void this.beat(), heartbeatEvery)
        await lost
        clearInterval(clock)
      } catch (error) {
        const { code, message, passes } = error as ChatFailure
        // It is tried again: the app may have a better token by then.
        if (!passes && !this.ended) this.told.error({ code, message })
      }
      this.drop()
      if (!this.ended) await wait(pauseAfter(failures++))
    }
  }

  /** Opens a socket; gives what is settled when it is lost. */
  private open(): Promise<{ lost: Promise<void> }> {
    return new Promise((resolve, reject) => {
      const socket = new this.choice.WebSocket(this.choice.url, [subprotocol]) as Socket
      const fail = () => reject(new ChatFailure({ code: 'connection' }))
      const late = setTimeout(() => {
        fail()
        socket.close()
      }, answerTime)
      const lost = deferred()
      socket.onopen = () => {
        clearTimeout(late)
        this.socket = socket
        resolve({ lost: lost.promise })
      }
      socket.onmessage = ({ data }) => {
        if (this.socket === socket) this.heard(String(data))
      }
      socket.onerror = () => {}
      socket.onclose = ({ code, reason }) => {
        clearTimeout(late)
        fail()
        lost.resolve()
        if (this.socket !== socket) return
        if (final.includes(code)) {
          const failure = new ChatFailure({ code: reason || 'connection', message: reason })
          this.told.error({ code: failure.code, message: reason })
          this.end(failure)
        } else this.drop()
      }
    })
  }

  /** Gives the socket up; whoever waits for an answer is told. */
  private drop() {
    const { socket } = this
    this.socket = undefined
    socket?.close()
    for (const { reject } of this.waiting.values()) reject(new ChatFailure({ code: 'connection' }))
    this.waiting.clear()
    // Whoever waits for the next socket goes on waiting.
    if (this.live) this.ready = deferred()
    this.live = false
    if (this.ended) this.ready.reject(this.ended)
  }

  /** There will be no other socket. */
  private end(failure: ChatFailure) {
    this.ended = failure
    this.ready.reject(failure)
    this.drop()
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
      if ((error as ChatFailure).code === 'connection' && this.socket === socket) socket?.close()
    }
  }

  // Frames ----------------------------------------------------------------------------------------

  private async ask<Event extends keyof Incoming>(event: Event, data: Incoming[Event]) {
    await this.ready.promise
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
