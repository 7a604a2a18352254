import { log } from '../../_shared/errors/log.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'
import { env } from '../../_shared/settings/env.ts'
import {
  closeCodes,
  type Incoming,
  limits,
  type Message,
  type Outgoing,
  type Ref,
} from '../protocol.ts'
import type { Account } from './account.ts'
import { Conversation, findConversation } from './conversation.ts'
import { callerWith, Credentials } from './credentials.ts'
import { callFor, sendFor } from './database.ts'
import { EventSender } from './event-sender.ts'
import { closings, frames } from './figures.ts'
import { BadFrame, type Frame, readFrame } from './frames.ts'
import type { ConversationOwner, Opened, OpenSession } from './interfaces.ts'
import { SocketRates } from './rate-limits.ts'
import { asNotParticipant, closeCodeOf, endsSession, isTemporary } from './refusals.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { ClientSocket, SocketHandler } from './socket.ts'
import { times } from './times.ts'

type Options = {
  token?: string
  english: boolean
  endsAt: number
}

export class Session implements SocketHandler, OpenSession, ConversationOwner {
  readonly credentials = new Credentials(() => this.end(new Refusal('token_expired')))
  account: Account | undefined
  readonly conversations = new Map<string, Conversation>()
  private readonly left = new Set<string>()
  private readonly socket: ClientSocket
  private readonly registry: SessionRegistry<Session>
  private readonly events: EventSender
  private readonly rates = new SocketRates(env.gatewayMessages)
  private readonly entering: Promise<unknown> | undefined
  private readonly openedAt = Date.now()
  private authTimer: ReturnType<typeof setTimeout> | undefined
  private ageTimer: ReturnType<typeof setTimeout> | undefined
  private isClosed = false
  /** True once further frames are ignored. Accepted frames are still answered before the socket closes. */
  private ending = false
  private handling: Promise<void> = Promise.resolve()

  constructor(
    socket: ClientSocket,
    registry: SessionRegistry<Session>,
    { token, english, endsAt }: Options,
  ) {
    this.socket = socket
    this.registry = registry
    // A client that does not read must not slow down others.
    const onOverflow = () => this.close(closeCodes.refused, 'does not read')
    this.events = new EventSender(socket, { english, onOverflow })
    if (endsAt < Infinity) {
      this.ageTimer = setTimeout(
        () => void this.finish(() => this.close(closeCodes.tooOld, 'connect again')),
        Math.max(0, endsAt - this.openedAt),
      )
    }
    if (token !== undefined) {
      this.entering = this.enter(token).catch((error) => this.turnAway(error))
    } else {
      this.authTimer = setTimeout(
        () => this.turnAway(new Refusal('token_missing')),
        limits.authSeconds * 1000,
      )
    }
  }

  message(text: string): Promise<void> {
    return this.handling = this.take(text)
  }

  closed(): void {
    if (!this.isClosed) this.release(0, 'gone')
  }

  /** Resolves when the current frame has been handled. */
  settled(): Promise<void> {
    return this.handling.catch(() => {})
  }

  private async take(text: string) {
    await this.entering
    if (this.isClosed || this.ending) return
    const wait = this.rates.frame()
    if (wait) return this.tooFast(wait)
    let frame: Frame
    try {
      frame = readFrame(text)
    } catch (error) {
      if (error instanceof BadFrame) return this.events.error(error, error.ref)
      return this.close(closeCodes.notText, 'not JSON')
    }
    const began = performance.now()
    try {
      await this.handle(frame)
    } catch (error) {
      this.refuse(frame, error as Refusal)
    }
    frames.observe({ event: frame.event }, (performance.now() - began) / 1000)
  }

  private refuse({ event, ref }: Frame, refusal: Refusal) {
    if (this.isClosed) return
    const { code, detail } = refusal
    if (!this.ending && code === 'rate_limited' && event === 'send_message') {
      const seconds = detail.retryAfter ?? 1
      this.rates.blockMessages(seconds)
      return this.tooFast(seconds, ref)
    }
    this.events.error(asNotParticipant(refusal), ref)
    if (this.ending) return
    if (event === 'auth') {
      // If renewing the token fails, the socket keeps its old token.
      if (!this.credentials.caller) this.turnAway(refusal, { announced: true })
    } else if (this.credentials.caller && endsSession(code)) {
      this.end(refusal, { announced: true })
    }
  }

  private async handle({ event, data, ref }: Frame): Promise<void> {
    const { credentials } = this
    if (event === 'auth') {
      if (credentials.caller) {
        await credentials.renew(data.accessToken)
        this.account?.tokenRenewed()
      } else await this.enter(data.accessToken)
      return this.events.ack(ref, { expiresAt: credentials.expiresAt })
    }
    if (!credentials.caller) throw new Refusal('token_missing')
    // The expiry timer may fire late.
    if (credentials.expires <= Date.now()) throw new Refusal('token_expired')
    if (event === 'heartbeat') return this.events.ack(ref, {})
    if (event === 'leave_conversation') return this.leave(data.conversationId, ref)
    if (event === 'join_conversation') return await this.join(data, ref)
    if (event === 'send_typing') return this.typing(data.conversationId, ref)
    const wait = this.rates.message()
    if (wait) throw new Refusal('rate_limited', { retryAfter: wait })
    const { message } = await sendFor(credentials.caller, data)
    this.events.ack(ref, { message })
    // The event for this message comes later and serves the account's other sockets.
    this.messageStored(message)
  }

  private async enter(token: string) {
    const caller = await callerWith(token)
    const opened = await callFor<Opened, 'open_socket'>(caller, 'open_socket', {})
    if (this.isClosed) return
    clearTimeout(this.authTimer)
    this.credentials.accept(caller, token)
    this.account = this.registry.follow(this, opened)
    log('info', { socket: 'opened', account: caller.sub })
  }

  private async join(
    { conversationId: requestedId, afterSeq, sharePresence = true }: Incoming['join_conversation'],
    ref?: Ref,
  ) {
    const joinable = await findConversation(this, requestedId)
    const { conversationId, lastSeq } = joinable
    if (this.isClosed) return
    const before = this.conversations.get(conversationId)
    if (!before && this.conversations.size >= limits.conversations) {
      throw new Refusal('validation_failed', {
        fields: [{ path: 'data.conversationId', code: 'too_big' }],
      })
    }
    this.left.delete(conversationId)
    this.events.ack(ref, { conversationId, lastSeq })
    // Joining again changes nothing, unless the client sends `afterSeq`.
    if (this.ending || before && afterSeq === undefined) return
    before?.stop()
    const after = Math.min(afterSeq ?? lastSeq, lastSeq)
    const conversation = new Conversation(this, joinable, { after, sharePresence })
    this.conversations.set(conversationId, conversation)
    // If messages arrived during this call, the client has received only their conversation updates.
    conversation.catchUp(Math.max(lastSeq, this.account?.states.lastSeq(conversationId) ?? 0))
  }

  private typing(conversationId: string, ref?: Ref) {
    const conversation = this.conversations.get(conversationId)
    if (!conversation) throw new Refusal('conversation_not_found')
    conversation.say()
    this.events.ack(ref, { conversationId })
  }

  /** Nothing more is sent about the conversation, so the ack is the last frame about it. */
  private leave(conversationId: string, ref?: Ref) {
    const conversation = this.conversations.get(conversationId)
    if (conversation) {
      conversation.stop()
      this.conversations.delete(conversationId)
      this.left.add(conversationId)
    }
    this.events.ack(ref, { conversationId })
  }

  send<Event extends keyof Outgoing>(event: Event, data: Outgoing[Event]): void {
    this.events.send(event, data)
  }

  drained(): Promise<void> {
    return this.events.drained()
  }

  messageStored(message: Message): void {
    this.conversations.get(message.conversationId)?.messageStored(message)
  }

  conversationUpdated(update: Outgoing['conversation_updated']): void {
    if (this.ending || this.left.has(update.conversationId)) return
    const joined = this.conversations.get(update.conversationId)
    if (joined) joined.updated(update)
    else this.send('conversation_updated', update)
  }

  messageRead(read: Outgoing['message_read']): void {
    if (!this.ending && !this.left.has(read.conversationId)) this.send('message_read', read)
  }

  notified(notified: Outgoing['notification']): void {
    if (!this.ending) this.send('notification', notified)
  }

  notificationsChanged(changed: Outgoing['notifications_changed']): void {
    if (!this.ending) this.send('notifications_changed', changed)
  }

  messageHidden(hidden: Outgoing['message_hidden']): void {
    if (this.ending || this.left.has(hidden.conversationId)) return
    this.send('message_hidden', hidden)
  }

  removeFrom(conversationId: string, refusal: Refusal): void {
    if (endsSession(refusal.code)) return this.end(refusal)
    this.conversations.get(conversationId)?.stop()
    this.conversations.delete(conversationId)
    const { code, detail } = asNotParticipant(refusal)
    this.events.error(new Refusal(code, { ...detail, conversationId }))
  }

  private tooFast(retryAfter: number, ref?: Ref) {
    this.events.error(new Refusal('rate_limited', { retryAfter }), ref)
    if (this.rates.offended()) this.close(closeCodes.refused, 'too fast')
  }

  async checkToken(): Promise<void> {
    const code = await this.credentials.refusal()
    if (code) this.end(new Refusal(code))
  }

  end(refusal: Refusal, { announced = false } = {}): void {
    void this.finish(() => {
      if (!announced) this.events.error(refusal)
      this.close(closeCodeOf(refusal.code), refusal.code)
    })
  }

  /** Responds to accepted frames first: without an ack, the client would assume that its message was lost. */
  private async finish(end: () => void) {
    if (this.isClosed || this.ending) return
    // Without a valid token, no frame was accepted.
    if (!this.credentials.caller) return end()
    this.ending = true
    this.unfollow()
    let late: ReturnType<typeof setTimeout>
    await Promise.race([
      this.settled(),
      new Promise((resolve) => late = setTimeout(resolve, times.answerTime)),
    ]).finally(() => clearTimeout(late))
    end()
  }

  private turnAway(refusal: Refusal, { announced = false } = {}) {
    if (this.isClosed) return
    if (!isTemporary(refusal.code)) return this.end(refusal, { announced })
    if (!announced) this.events.error(refusal)
    this.close(closeCodes.unavailable, refusal.code)
  }

  close(code: number, reason: string): void {
    if (this.isClosed) return
    this.socket.close(code, reason)
    this.release(code, reason)
  }

  private unfollow() {
    if (this.account) this.registry.unfollow(this, this.account)
    this.conversations.forEach((conversation) => conversation.stop())
    this.conversations.clear()
  }

  private release(code: number, reason: string) {
    this.isClosed = true
    this.events.stop()
    this.credentials.release()
    clearTimeout(this.authTimer)
    clearTimeout(this.ageTimer)
    this.unfollow()
    this.registry.remove(this)
    closings.add({ code: String(code) })
    log('info', {
      socket: 'closed',
      account: this.credentials.caller?.sub,
      code,
      reason,
      seconds: Math.round((Date.now() - this.openedAt) / 1000),
    })
  }
}
