/**
 * What the sockets of one account hear in this process, over one channel for all of them: changes
 * of its conversations, their messages, and the end of its rights.
 */
import type { Refusal } from '../api/problem.ts'
import { ask, log } from './asking.ts'
import { Follower, passing } from './follower.ts'
import { Newest } from './newest.ts'
import type { ConversationUpdated, Message } from './protocol.ts'
import type { Session } from './session.ts'
import { compare } from './standing.ts'

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
  /** What was heard of while news are looked up. */
  private live: Set<string> | undefined
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

  /**
   * What was missed: of messages, by what the database knows of joined conversations; of the others,
   * news of the time in which nothing was heard. Of a conversation that is heard of live before
   * these are there, everything since comes live.
   */
  protected back(seconds: number) {
    const [session] = this.sessions
    if (!session) return
    compare([...this.sessions])
      .catch((error) => log({ call: 'socket_standing', cause: String(error.message) }))
    const live = this.live = new Set()
    ask<ConversationUpdated[], 'recent_news'>(session.caller!, 'recent_news', { seconds })
      .then((news) =>
        news.filter(({ conversationId }) => !live.has(conversationId))
          .forEach((update) => this.pass(update))
      )
      .catch(() => {
        // Only a hint is lost: the messages themselves are not.
      })
      .finally(() => this.live === live && (this.live = undefined))
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
    this.live?.add(update.conversationId)
    if (message) this.sessions.forEach((session) => session.heard(message))
    this.pass(update, message?.senderIdentityId === update.identityId)
  }

  /** Of what one has written oneself the other party is told. */
  private pass(update: ConversationUpdated, own = false) {
    if (this.newest.take(update) && !own) {
      this.sessions.forEach((session) => session.updated(update))
    }
  }
}
