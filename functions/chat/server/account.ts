/**
 * What the sockets of one account hear in this process, over one channel for all of them: changes
 * of its conversations, their messages, and the end of its rights.
 */
import { ask } from './asking.ts'
import { Follower, passing } from './follower.ts'
import { Newest } from '../newest.ts'
import type { ConversationUpdated, Message } from '../protocol.ts'
import type { Session } from './session.ts'
import { compare, lookForNews } from './standing.ts'
import type { Refusal } from '../../_shared/refusal.ts'

/** Events of Realtime, as the database sends them. */
type NewMessage = {
  identityId: string
  message: Message
  conversation: { id: string } & Pick<ConversationUpdated, 'lastMessage' | 'unread'>
}

export class Account extends Follower {
  /** In the order in which they came. */
  readonly sessions = new Set<Session>()
  /** What of its conversations its sockets were told. */
  readonly newest = new Newest()
  private readonly began = performance.now()
  private shown = ''

  /** A socket was let in, when the account's channel had this name. */
  enter(session: Session, topic: string): void {
    this.sessions.add(session)
    if (this.sessions.size === 1) return this.begin()
    this.renewed()
    if (topic !== this.topic) void this.look()
  }

  /** The channel goes on as long as the longest of the tokens. */
  renewed(): void {
    if (this.token() !== this.shown) this.renew(this.shown = this.token())
  }

  /** True when it was the last: the account is not followed any more. */
  leave(session: Session): boolean {
    if (!this.sessions.delete(session) || this.sessions.size > 0) return false
    this.stop()
    return true
  }

  override begin(): void {
    this.shown = this.token()
    super.begin()
  }

  protected token() {
    const [longest] = [...this.sessions].sort((one, other) => other.expires - one.expires)
    return longest?.caller?.token ?? ''
  }

  /** Asks for each session: what has ended hears nothing under the name that holds now. */
  protected async topicNow() {
    const sessions = new Map([...this.sessions].map((session) => [session.sessionId, session]))
    let topic: string | undefined
    let failure: Refusal | undefined
    await Promise.all([...sessions.values()].map(async ({ sessionId, caller }) => {
      try {
        const asked = ask<{ realtimeTopic: string }, 'open_socket'>(caller!, 'open_socket', {})
        topic = (await asked).realtimeTopic
      } catch (error) {
        const refusal = error as Refusal
        if (passing.includes(refusal.code) || !failure) failure = refusal
        if (!passing.includes(refusal.code)) this.end(sessionId, refusal)
      }
    }))
    if (failure && (!topic || passing.includes(failure.code))) throw failure
    return topic!
  }

  private end(sessionId: string, refusal: Refusal) {
    for (const session of [...this.sessions]) {
      if (session.sessionId === sessionId) session.end(refusal)
    }
  }

  /** Every one of its sessions has ended, and was told so. */
  protected lost() {}

  /** What was missed: messages of joined conversations, and news of the others. */
  protected back(seconds: number) {
    compare([...this.sessions])
    lookForNews([this], seconds)
  }

  /** What is to be looked up: news of so many seconds, and what was unread when it was told. */
  questions(seconds: number) {
    const [session] = this.sessions
    return {
      accountId: session?.caller?.sub,
      seconds: Math.min(seconds, (performance.now() - this.began) / 1000),
      unread: this.newest.unread(),
    }
  }

  protected told(event: string, payload: unknown) {
    if (event === 'new_message') {
      const { identityId, message, conversation } = payload as NewMessage
      const { id: conversationId, lastMessage, unread } = conversation
      this.heard({ conversationId, identityId, lastMessage, unread }, message)
    } else if (event === 'conversation_updated') {
      const { conversationId, identityId, lastMessage, unread } = payload as ConversationUpdated
      this.heard({ conversationId, identityId, lastMessage, unread })
    }
  }

  private heard(update: ConversationUpdated, message?: Message) {
    if (message) this.sessions.forEach((session) => session.heard(message))
    this.pass(update, message?.senderIdentityId === update.identityId)
  }

  /** Passes on what is news. Of what one has written oneself the other party is told. */
  pass(update: ConversationUpdated, own = false) {
    if (this.newest.take(update) && !own) {
      this.sessions.forEach((session) => session.updated(update))
    }
  }
}
