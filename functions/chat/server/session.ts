/** One client's socket: who it is, what it has joined, what it may do. */
import { decodeJwt } from 'jose'
import { env } from '../../_shared/env.ts'
import type { ErrorCode } from '../../_shared/errors.ts'
import { type Caller, callerOf } from '../../_shared/tokens.ts'
import type { Account } from './account.ts'
import { ask, Failure, log } from './asking.ts'
import { Conversation, lookUp } from './conversation.ts'
import { passing } from './follower.ts'
import { BadFrame, type Frame, readFrame } from './frames.ts'
import { Pace } from './limits.ts'
import { closes, limits, type Message, type Outgoing, type Ref } from '../protocol.ts'
import { Refusal } from '../../_shared/refusal.ts'
import { errorBody } from '../../_shared/error-body.ts'
import type { ClientSocket, SocketHandler } from './socket.ts'

/** What the sockets of a process share. */
export type House = {
  /** It was let in, when its account's channel had this name. */
  entered(session: Session, topic: string): Account
  /** It hears nothing more. */
  deaf(session: Session): void
  /** It is closed. */
  left(session: Session): unknown
  /** When a socket that opens now must be closed with 1012; Infinity is never. */
  endOf(opened: number): number
}

export type Opening = { token?: string; english: boolean }

// Longer than the database works on anything.
const patience = 6000

export class Session implements SocketHandler {
  /** Set once the token was good. */
  caller: Caller | undefined
  sessionId = ''
  account: Account | undefined
  readonly conversations = new Map<string, Conversation>()
  private readonly left = new Set<string>()
  private readonly socket: ClientSocket
  private readonly house: House
  private readonly english: boolean
  private readonly pace = new Pace(env.gatewayMessages)
  private readonly entering: Promise<unknown> | undefined
  private readonly opened = Date.now()
  private authTimer: ReturnType<typeof setTimeout> | undefined
  private ageTimer: ReturnType<typeof setTimeout> | undefined
  private expiryTimer: ReturnType<typeof setTimeout> | undefined
  private over = false
  /** Nothing more is taken and heard: what was accepted is answered, then it ends. */
  private ending = false
  private busy: Promise<void> = Promise.resolve()

  constructor(socket: ClientSocket, house: House, { token, english }: Opening) {
    this.socket = socket
    this.house = house
    this.english = english
    const end = house.endOf(this.opened)
    if (end < Infinity) {
      this.ageTimer = setTimeout(
        () => void this.finished(() => this.close(closes.tooOld, 'connect again')),
        Math.max(0, end - this.opened),
      )
    }
    if (token !== undefined) {
      this.entering = this.enter(token).catch((error) => this.turnAway(error))
    } else {
      this.authTimer = setTimeout(
        () => this.turnAway(new Refusal('token_missing')),
        limits.auth * 1000,
      )
    }
  }

  // What comes in ---------------------------------------------------------------------------------

  message(text: string): Promise<void> {
    return this.busy = this.take(text)
  }

  closed(): void {
    if (this.over) return
    this.finish(0, 'gone')
  }

  /** When what it is doing is done: for a process that stops. */
  settled(): Promise<void> {
    return this.busy.catch(() => {})
  }

  private async take(text: string) {
    await this.entering
    if (this.over || this.ending) return
    const wait = this.pace.wait(false)
    if (wait) return this.tooFast(wait)
    let frame: Frame
    try {
      frame = readFrame(text)
    } catch (error) {
      if (error instanceof BadFrame) return this.tell(error, error.ref)
      return this.close(closes.notText, 'not JSON')
    }
    try {
      await this.handle(frame)
    } catch (error) {
      this.failed(frame, error as Refusal)
    }
  }

  private failed({ event, ref }: Frame, refusal: Refusal) {
    if (this.over) return
    const { code, detail } = refusal
    if (this.ending) return this.tell(alike(refusal), ref)
    if (code === 'rate_limited' && event === 'send_message') {
      const seconds = detail.retryAfter ?? 1
      this.pace.blockFor(seconds)
      return this.tooFast(seconds, ref)
    }
    this.tell(alike(refusal), ref)
    if (event === 'auth') {
      // A token that failed to renew leaves the socket as it was.
      if (!this.caller) this.turnAway(refusal, true)
    } else if (this.caller && endsSession(code)) this.end(refusal, true)
  }

  private async handle(frame: Frame): Promise<void> {
    const { event, data, ref } = frame
    if (event === 'auth') {
      if (this.caller) await this.renew(data.accessToken)
      else await this.enter(data.accessToken)
      return this.ack(ref, { expiresAt: this.expiresAt })
    }
    if (!this.caller) throw new Refusal('token_missing')
    // The timer may be late.
    if (this.expires <= Date.now()) throw new Refusal('token_expired')
    if (event === 'heartbeat') return this.ack(ref, {})
    if (event === 'leave_conversation') return this.leave(data.conversationId, ref)
    if (event === 'join_conversation') return await this.join(data, ref)
    const wait = this.pace.wait(true)
    if (wait) throw new Refusal('rate_limited', { retryAfter: wait })
    const { message } = await ask<{ message: Message }, 'send_message'>(
      this.caller,
      'send_message',
      data,
    )
    this.ack(ref, { message })
  }

  private async join(
    { conversationId, afterSeq }: { conversationId: string; afterSeq?: number },
    ref?: Ref,
  ) {
    const found = await lookUp(this, conversationId)
    if (this.over) return
    const before = this.conversations.get(found.conversationId)
    if (!before && this.conversations.size >= limits.conversations) {
      throw new Refusal('validation_failed', {
        fields: [{ path: 'data.conversationId', code: 'too_big' }],
      })
    }
    this.left.delete(found.conversationId)
    this.ack(ref, { conversationId: found.conversationId, lastSeq: found.lastSeq })
    // Joined already: nothing changes, unless the client asks from where on.
    if (this.ending || before && afterSeq === undefined) return
    before?.stop()
    const after = Math.min(afterSeq ?? found.lastSeq, found.lastSeq)
    const conversation = new Conversation(this, found, after)
    this.conversations.set(conversation.id, conversation)
    // What came while it was asked for was heard already, as of a conversation that is not joined.
    const heard = this.account?.newest.seq(found.conversationId) ?? 0
    conversation.feed.heardOf(Math.max(found.lastSeq, heard))
  }

  /** From here on nothing of the conversation is sent, so nothing comes after the answer. */
  private leave(conversationId: string, ref?: Ref) {
    const conversation = this.conversations.get(conversationId)
    if (conversation) {
      conversation.stop()
      this.conversations.delete(conversationId)
      this.left.add(conversationId)
    }
    this.ack(ref, { conversationId })
  }

  // Who it is -------------------------------------------------------------------------------------

  /** When the token ends. */
  expires = 0
  private renewing = false

  private get expiresAt() {
    return new Date(this.expires).toISOString()
  }

  private async enter(token: string) {
    const caller = await callerOf(`Bearer ${token}`)
    if (caller.role === 'anon') throw new Refusal(caller.ignored ?? 'token_invalid')
    const { realtimeTopic } = await ask<{ realtimeTopic: string }, 'open_socket'>(
      caller,
      'open_socket',
      {},
    )
    if (this.over) return
    clearTimeout(this.authTimer)
    this.holds(caller, token)
    this.account = this.house.entered(this, realtimeTopic)
    log({ socket: 'opened', account: caller.sub })
  }

  /** Another token of the same account and session takes the place of the first. */
  private async renew(token: string) {
    this.renewing = true
    try {
      await this.replace(token)
    } finally {
      this.renewing = false
      // The first one ended meanwhile.
      if (this.expires <= Date.now()) this.end(new Refusal('token_expired'))
    }
  }

  private async replace(token: string) {
    const caller = await callerOf(`Bearer ${token}`)
    if (caller.role === 'anon') throw new Refusal(caller.ignored ?? 'token_invalid')
    if (caller.claims !== this.caller!.claims) throw new Refusal('token_invalid')
    this.holds(caller, token)
    this.account?.renewed()
  }

  private holds(caller: Caller, token: string) {
    const { exp, session_id } = decodeJwt(token)
    this.caller = caller
    this.sessionId = String(session_id)
    this.expires = exp! * 1000
    clearTimeout(this.expiryTimer)
    this.expiryTimer = setTimeout(
      () => !this.renewing && this.end(new Refusal('token_expired')),
      Math.max(0, this.expires - Date.now()),
    )
  }

  // What goes out ---------------------------------------------------------------------------------

  send<Event extends keyof Outgoing>(event: Event, data: Outgoing[Event], ref?: Ref): void {
    if (this.over) return
    // Nobody else waits for a client that does not read.
    if (this.socket.bufferedBytes() > limits.waiting) {
      return this.close(closes.refused, 'does not read')
    }
    this.socket.send(JSON.stringify({ event, ...(ref !== undefined && { ref }), data }))
  }

  /** Waits until the client has taken most of what it was sent. */
  async ready(): Promise<void> {
    while (!this.over && this.socket.bufferedBytes() > limits.waiting / 4) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** A message to its account: told if its conversation is joined. */
  heard(message: Message): void {
    this.conversations.get(message.conversationId)?.feed.take(message)
  }

  /** Tells of a change in a conversation, unless it was left: then nothing more is heard of it. */
  updated(update: Outgoing['conversation_updated']): void {
    if (this.ending || this.left.has(update.conversationId)) return
    const joined = this.conversations.get(update.conversationId)
    if (joined) joined.updated(update)
    else this.send('conversation_updated', update)
  }

  /** It takes no part in a conversation any more, or in none at all: whoever hears that first. */
  expel(conversationId: string, refusal: Refusal): void {
    if (endsSession(refusal.code)) return this.end(refusal)
    this.conversations.get(conversationId)?.stop()
    this.conversations.delete(conversationId)
    const { code, detail } = alike(refusal)
    this.tell(new Refusal(code, { ...detail, conversationId }))
  }

  private ack(ref: Ref | undefined, data: unknown) {
    this.send('ack', data, ref)
  }

  private tell(refusal: Refusal, ref?: Ref) {
    const requestId = refusal instanceof Failure ? refusal.requestId : crypto.randomUUID()
    const error = errorBody(refusal.code, refusal.detail, { english: this.english, requestId })
    this.send('error', { ...error, ...(ref !== undefined && { ref }) }, ref)
  }

  private tooFast(retryAfter: number, ref?: Ref) {
    this.tell(new Refusal('rate_limited', { retryAfter }), ref)
    if (this.pace.offended()) this.close(closes.refused, 'too fast')
  }

  // How it ends -----------------------------------------------------------------------------------

  /** Its rights ended. */
  end(refusal: Refusal, told = false): void {
    const code = statusOf(refusal.code) === 403 ? closes.forbidden : closes.unauthorized
    void this.finished(() => {
      if (!told) this.tell(refusal)
      this.close(code, refusal.code)
    })
  }

  /** Ends when what was accepted is answered: who misses an ack believes the message lost. */
  private async finished(end: () => void) {
    if (this.over || this.ending) return
    // Without a good token nothing was accepted.
    if (!this.caller) return end()
    this.ending = true
    this.unfollow()
    let late: ReturnType<typeof setTimeout>
    await Promise.race([
      this.settled(),
      new Promise((resolve) => late = setTimeout(resolve, patience)),
    ]).finally(() => clearTimeout(late))
    end()
  }

  /** Not let in. */
  private turnAway(refusal: Refusal, told = false) {
    if (this.over) return
    if (!passing.includes(refusal.code)) return this.end(refusal, told)
    if (!told) this.tell(refusal)
    this.close(closes.unavailable, refusal.code)
  }

  close(code: number, reason: string): void {
    if (this.over) return
    this.socket.close(code, reason)
    this.finish(code, reason)
  }

  private unfollow() {
    this.house.deaf(this)
    this.conversations.forEach((conversation) => conversation.stop())
    this.conversations.clear()
  }

  private finish(code: number, reason: string) {
    this.over = true
    for (const timer of [this.authTimer, this.ageTimer, this.expiryTimer]) clearTimeout(timer)
    this.unfollow()
    this.house.left(this)
    log({
      socket: 'closed',
      account: this.caller?.sub,
      code,
      reason,
      seconds: Math.round((Date.now() - this.opened) / 1000),
    })
  }
}

/** A conversation of others and one that is not there look the same. */
const alike = (refusal: Refusal) =>
  refusal.code === 'conversation_not_found' ? new Refusal('not_participant') : refusal

const statuses: Partial<Record<ErrorCode, number>> = {
  account_suspended: 403,
  account_banned: 403,
  account_awaiting_otp: 403,
}
const statusOf = (code: ErrorCode) => statuses[code] ?? 401

/** Refusals after which the socket has no owner any more. */
export const endsSession = (code: ErrorCode) =>
  code in statuses || ['token_missing', 'token_invalid', 'token_expired'].includes(code)
