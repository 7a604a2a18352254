/** A conversation that a socket has joined: its messages in order, each once, nothing left out. */
import type { Refusal } from '../api/problem.ts'
import { ask } from './asking.ts'
import { Feed, type Page } from './feed.ts'
import { Follower, passing } from './follower.ts'
import type { Message } from './protocol.ts'
import type { Session } from './session.ts'

export type Joinable = { conversationId: string; realtimeTopic: string; lastSeq: number }

/** The conversation as its participant finds it now; 404 for everybody else. */
export const lookUp = (session: Session, conversationId: string) =>
  ask<Joinable, 'join_conversation'>(session.caller!, 'join_conversation', { conversationId })

export class Conversation extends Follower {
  readonly id: string
  readonly feed: Feed
  private readonly session: Session
  private retry: ReturnType<typeof setTimeout> | undefined

  constructor(session: Session, { conversationId, realtimeTopic }: Joinable, after: number) {
    super(realtimeTopic)
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
      deliver: (message) => session.send('new_message', { message }),
      ready: () => session.ready(),
      failed: (error) => this.unread(error as Refusal),
    })
  }

  override stop(): void {
    super.stop()
    this.feed.stop()
    clearTimeout(this.retry)
  }

  protected token() {
    return this.session.caller!.token!
  }

  protected async topicNow() {
    const { realtimeTopic, lastSeq } = await lookUp(this.session, this.id)
    this.feed.heardOf(lastSeq)
    return realtimeTopic
  }

  protected lost(refusal: Refusal) {
    this.session.expel(this.id, refusal)
  }

  protected back() {
    void this.feed.fill()
  }

  protected told(event: string, payload: unknown) {
    const { message } = payload as { message?: Message }
    if (event === 'new_message' && message) this.feed.take(message)
  }

  /** The history could not be read: later, unless there is no right to it any more. */
  private unread({ code }: Refusal) {
    if (!passing.includes(code)) return void this.look()
    clearTimeout(this.retry)
    this.retry = setTimeout(() => void this.feed.fill(), 1000)
  }
}
