/** A conversation that a socket has joined: its messages in order, each once, nothing left out. */
import { ask } from './asking.ts'
import { Feed, type Page } from '../feed.ts'
import { passing } from './follower.ts'
import { seqOf } from '../newest.ts'
import type { ConversationUpdated } from '../protocol.ts'
import type { Session } from './session.ts'
import type { Refusal } from '../../_shared/refusal.ts'

export type Joinable = { conversationId: string; lastSeq: number }

/** The conversation as its participant finds it now; 404 for everybody else. */
export const lookUp = (session: Session, conversationId: string) =>
  ask<Joinable, 'join_conversation'>(session.caller!, 'join_conversation', { conversationId })

// Of a client that is that far behind, the newest state says all.
const mostHeld = 100

export class Conversation {
  readonly id: string
  readonly feed: Feed
  private readonly session: Session
  private retry: ReturnType<typeof setTimeout> | undefined
  private looking = false
  private stopped = false
  /** States whose message has not been sent yet. */
  private held: ConversationUpdated[] = []

  constructor(session: Session, { conversationId }: Joinable, after: number) {
    this.id = conversationId
    this.session = session
    this.feed = new Feed({
      after,
      history: (afterSeq) =>
        ask<Page, 'list_messages'>(session.caller!, 'list_messages', {
          conversationId,
          afterSeq,
          pageSize: 50,
        }),
      deliver: (message) => {
        session.send('new_message', { message })
        this.release()
      },
      ready: () => session.ready(),
      failed: (error) => this.unread(error as Refusal),
    })
  }

  /** Tells of a state of the conversation, after the message that it is about. */
  updated(update: ConversationUpdated): void {
    this.held.push(update)
    if (this.held.length > mostHeld) this.held.shift()
    this.release()
    this.feed.heardOf(seqOf(update))
  }

  /** Asks whether it may still be heard, and what is newest. */
  async look(): Promise<void> {
    if (this.stopped || this.looking) return
    this.looking = true
    try {
      this.feed.heardOf((await lookUp(this.session, this.id)).lastSeq)
    } catch (error) {
      // Whoever does not know asks again in a moment (standing.ts).
      const refusal = error as Refusal
      if (!this.stopped && !passing.includes(refusal.code)) this.session.expel(this.id, refusal)
    } finally {
      this.looking = false
    }
  }

  stop(): void {
    this.stopped = true
    this.feed.stop()
    clearTimeout(this.retry)
  }

  private release() {
    while (this.held.length > 0 && seqOf(this.held[0]) <= this.feed.last) {
      this.session.send('conversation_updated', this.held.shift()!)
    }
  }

  /** The history could not be read: later, unless there is no right to it any more. */
  private unread({ code }: Refusal) {
    if (!passing.includes(code)) return void this.look()
    clearTimeout(this.retry)
    this.retry = setTimeout(() => void this.feed.fill(), 1000)
  }
}
