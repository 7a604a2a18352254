// The transport over the chat gateway: one socket with the frames of protocol.ts. While there is no
// connection, it polls.
import { stateOf } from '../../../functions/chat/conversation-states.ts'
import type { Client } from '../client.ts'
import { ApiError, connectionError } from '../errors.ts'
import { retryPause, wait } from '../wait.ts'
import { asApiError, type Link, type LinkListener, tokenOf } from './link.ts'
import { checkTimes, ListCheck, pageIsVisible } from './list-check.ts'
import {
  type Acked,
  type ChatError,
  closeCodes,
  type Incoming,
  type Message,
  type Presence,
  subprotocol,
} from '../../../functions/chat/protocol.ts'

const answerTime = 10_000
const heartbeatEvery = 25_000
const typingEvery = 2000

/** Close codes after which the gateway would refuse any retry. */
const finalCodes: number[] = [closeCodes.forbidden, closeCodes.tooMany, closeCodes.tokenInQuery]

/** Returns the error for a close without retry. Its code is never a temporary one. */
function finalFailure(code: number, reason: string): ApiError {
  const isRight = code === closeCodes.forbidden && reason !== ''
  return asApiError({ code: isRight ? reason : 'chat_ended', message: reason || 'closed' })
}

type Socket = {
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  onerror: ((event: never) => void) | null
  send(text: string): void
  close(code?: number): void
}

type Options = {
  /** The address of the gateway; `<project>/functions/v1/chat` by default. */
  url?: string
  /** Replaces the global WebSocket. Node before version 22 has none; there, the package `ws` works. */
  WebSocket?: SocketClass
  /** Returns whether the app is visible; see `realtime`. */
  visible?: () => boolean
  /** Unless this is false, the other side sees which conversation is open. */
  sharePresence?: boolean
}

type SocketClass = new (url: string, protocols?: string[]) => unknown

type PendingAnswer = { resolve: (data: never) => void; reject: (error: ApiError) => void }

export function gateway(options: Options = {}): Link {
  const Socket = options.WebSocket ?? (globalThis as { WebSocket?: SocketClass }).WebSocket
  if (!Socket) {
    throw new Error(
      'There is no WebSocket here (Node has one from 22 on): install the package ws and give its ' +
        'class, createChat(client, { link: gateway({ WebSocket }) }).',
    )
  }
  return new GatewayLink(Socket, options)
}

/** Returns a promise that the caller settles. An unhandled rejection of it causes no warning. */
function deferred() {
  let resolve!: () => void
  let reject!: (failure: ApiError) => void
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

class GatewayLink implements Link {
  private readonly Socket: SocketClass
  private readonly url: string | undefined
  private readonly visible: () => boolean
  private readonly sharePresence: boolean
  private listCheck!: ListCheck
  private clock: ReturnType<typeof setInterval> | undefined
  private checkedAt = 0
  private checking = false
  private checkFailed = false
  private readonly joined = new Set<string>()
  private readonly typedAt = new Map<string, number>()
  /** Conversations that the other side has open. */
  private readonly present = new Set<string>()
  private readonly pending = new Map<number, PendingAnswer>()
  private client!: Client
  private listener!: LinkListener
  private socket: Socket | undefined
  /** Resolved while the gateway has accepted the token of the current socket. */
  private ready = deferred()
  private authenticated = false
  private token = ''
  private refs = 0
  private ended: ApiError | undefined

  constructor(Socket: SocketClass, options: Options) {
    const { url, visible = pageIsVisible, sharePresence = true } = options
    this.Socket = Socket
    this.url = url
    this.visible = visible
    this.sharePresence = sharePresence
  }

  start(client: Client, listener: LinkListener): void {
    this.client = client
    this.listener = listener
    this.listCheck = new ListCheck(client, ({ id, ...state }, source) => {
      const update = stateOf({ ...state, conversationId: id })
      const passesOn = this.listCheck.note(update, source)
      if (passesOn) listener.updated(update)
      return passesOn
    })
    this.checkedAt = Date.now()
    this.clock = setInterval(() => this.checkIfDue(), 1000)
    void this.keepConnected()
  }

  async join(conversationId: string): Promise<void> {
    this.joined.add(conversationId)
    for (;;) {
      try {
        await this.request('join_conversation', this.joinOf(conversationId))
        return
      } catch (error) {
        if (this.ended || !(error as ApiError).temporary || !this.joined.has(conversationId)) {
          this.joined.delete(conversationId)
          throw error
        }
        await wait(retryPause(0))
      }
    }
  }

  private joinOf(conversationId: string): Incoming['join_conversation'] {
    return { conversationId, ...(!this.sharePresence && { sharePresence: false }) }
  }

  leave(conversationId: string): void {
    this.present.delete(conversationId)
    this.typedAt.delete(conversationId)
    if (!this.joined.delete(conversationId) || !this.socket) return
    void this.sendFrame('leave_conversation', { conversationId }).catch(() => {})
  }

  async send(message: Incoming['send_message']): Promise<Message> {
    return (await this.request('send_message', message)).message
  }

  typing(conversationId: string): void {
    const typedAt = this.typedAt.get(conversationId) ?? 0
    if (!this.joined.has(conversationId) || Date.now() - typedAt < typingEvery) return
    this.typedAt.set(conversationId, Date.now())
    void this.sendFrame('send_typing', { conversationId }).catch(() => {})
  }

  close(): void {
    this.end(connectionError('closed'))
  }

  /** Keeps one socket open. Reconnects when it is lost, with a longer pause after each failure. */
  private async keepConnected(): Promise<void> {
    let failures = 0
    while (!this.ended) {
      try {
        const { lost } = await this.open()
        this.token = await tokenOf(this.client)
        // While the token was fetched, the chat may have been closed, for example because of a new session.
        if (this.ended) throw this.ended
        await this.sendFrame('auth', { accessToken: this.token })
        failures = 0
        this.authenticated = true
        this.ready.resolve()
        for (const conversationId of this.joined) void this.rejoin(conversationId)
        // Fetches missed changes or, the first time, the current state.
        void this.check()
        const clock = setInterval(() => void this.heartbeat(), heartbeatEvery)
        await lost
        clearInterval(clock)
      } catch (error) {
        const { code, message, temporary } = error as ApiError
        // Reported, but still retried: the app may supply a valid token next time.
        if (!temporary && !this.ended) this.listener.error({ code, message })
      }
      this.dropSocket()
      if (!this.ended) await wait(retryPause(failures++))
    }
  }

  /** Opens a socket. `lost` resolves when the connection is lost. */
  private open(): Promise<{ lost: Promise<void> }> {
    return new Promise((resolve, reject) => {
      const { url, region } = this.client
      // The region is in the query, because a browser's socket cannot send headers.
      const query = region ? `?forceFunctionRegion=${region}` : ''
      const address = `${url.replace(/^http/, 'ws')}/functions/v1/chat${query}`
      const socket = new this.Socket(this.url ?? address, [subprotocol]) as Socket
      const fail = () => reject(connectionError('The socket is closed.'))
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
        if (this.socket === socket) this.received(String(data))
      }
      socket.onerror = () => {}
      socket.onclose = ({ code, reason }) => {
        clearTimeout(late)
        fail()
        lost.resolve()
        if (this.socket !== socket) return
        if (finalCodes.includes(code)) {
          const failure = finalFailure(code, reason)
          this.end(failure)
          this.listener.ended(failure)
        } else this.dropSocket()
      }
    })
  }

  private dropSocket() {
    const { socket } = this
    this.socket = undefined
    socket?.close()
    for (const { reject } of this.pending.values()) reject(connectionError('The socket is closed.'))
    this.pending.clear()
    for (const conversationId of this.present) this.notePresence({ conversationId, here: false })
    // Otherwise `ready` is still pending, and the calls that wait for it go on waiting.
    if (this.authenticated) this.ready = deferred()
    this.authenticated = false
    if (this.ended) this.ready.reject(this.ended)
  }

  /** Ends the link without a retry. */
  private end(failure: ApiError) {
    this.ended = failure
    clearInterval(this.clock)
    this.ready.reject(failure)
    this.dropSocket()
  }

  private async rejoin(conversationId: string) {
    try {
      await this.sendFrame('join_conversation', this.joinOf(conversationId))
      this.listener.resumed(conversationId)
    } catch (error) {
      const failure = error as ApiError
      if (!this.joined.has(conversationId) || failure.code === 'connection') return
      if (failure.temporary) return void wait(2000).then(() => this.rejoin(conversationId))
      this.joined.delete(conversationId)
      this.listener.removed(conversationId, { code: failure.code, message: failure.message })
    }
  }

  private checkIfDue() {
    const every = checkTimes[this.checkFailed ? 'whole' : 'broken']
    if (this.authenticated || Date.now() - this.checkedAt < every || !this.visible()) return
    void this.check()
  }

  private async check() {
    if (this.checking) return
    this.checking = true
    this.checkedAt = Date.now()
    try {
      await this.listCheck.compareWith(await this.listCheck.newest())
      this.checkFailed = false
      if (!this.authenticated) this.joined.forEach((id) => this.listener.resumed(id))
    } catch {
      this.checkFailed = true
    }
    this.checking = false
  }

  /** Checks the connection, and sends the token to the gateway if it was renewed. */
  private async heartbeat() {
    const { socket } = this
    try {
      const token = await tokenOf(this.client)
      if (token !== this.token) {
        await this.sendFrame('auth', { accessToken: token })
        this.token = token
      } else await this.sendFrame('heartbeat', {})
    } catch (error) {
      if ((error as ApiError).code === 'connection' && this.socket === socket) socket?.close()
    }
  }

  private async request<Event extends keyof Incoming>(event: Event, data: Incoming[Event]) {
    await this.ready.promise
    return await this.sendFrame(event, data)
  }

  private sendFrame<Event extends keyof Incoming>(
    event: Event,
    data: Incoming[Event],
  ): Promise<Acked[Event]> {
    const { socket } = this
    const ref = ++this.refs
    return new Promise((resolve, reject) => {
      if (!socket) return reject(connectionError('The socket is closed.'))
      const late = setTimeout(() => {
        this.pending.delete(ref)
        reject(connectionError('no answer'))
      }, answerTime)
      const settle = <T>(done: (value: T) => void) => (value: T) => {
        clearTimeout(late)
        done(value)
      }
      this.pending.set(ref, { resolve: settle(resolve), reject: settle(reject) })
      socket.send(JSON.stringify({ event, data, ref }))
    })
  }

  private received(text: string) {
    const { event, data, ref } = JSON.parse(text)
    const pending = this.pending.get(ref)
    this.pending.delete(ref)
    if (event === 'ack') pending?.resolve(data as never)
    else if (event === 'new_message') this.listener.message(data.message)
    else if (event === 'conversation_updated') {
      if (this.listCheck.note(data, 'event')) this.listener.updated(data)
    } else if (event === 'message_read') this.listener.read(data)
    else if (event === 'notification') this.listener.notified(data)
    else if (event === 'notifications_changed') this.listener.notificationsChanged(data)
    else if (event === 'message_hidden') this.listener.hidden(data)
    else if (event === 'typing') this.listener.typing(data.conversationId)
    else if (event === 'presence') this.notePresence(data)
    else if (event === 'error') this.failed(data, pending)
  }

  private notePresence({ conversationId, here }: Omit<Presence, 'identityId'>) {
    if (here) this.present.add(conversationId)
    else this.present.delete(conversationId)
    this.listener.presence(conversationId, here)
  }

  private failed(error: ChatError, pending: PendingAnswer | undefined) {
    if (pending) return pending.reject(asApiError(error))
    const { conversationId } = error
    if (error.code !== 'not_participant' || !conversationId) return this.listener.error(error)
    this.joined.delete(conversationId)
    this.listener.removed(conversationId, error)
  }
}
