/** What a socket hears as its account: changes of its conversations, and the end of its rights. */
import type { Refusal } from '../api/problem.ts'
import { ask } from './asking.ts'
import { Follower } from './follower.ts'
import type { ConversationUpdated } from './protocol.ts'
import type { Session } from './session.ts'

export class Account extends Follower {
  private readonly session: Session

  constructor(session: Session, topic: string) {
    super(topic)
    this.session = session
  }

  protected token() {
    return this.session.caller!.token!
  }

  protected async topicNow() {
    const { realtimeTopic } = await ask<{ realtimeTopic: string }, 'open_socket'>(
      this.session.caller!,
      'open_socket',
      {},
    )
    return realtimeTopic
  }

  protected lost(refusal: Refusal) {
    this.session.end(refusal)
  }

  /** News of the time in which nothing was heard; telling some of it twice does no harm. */
  protected back(seconds: number) {
    const { caller } = this.session
    ask<ConversationUpdated[], 'recent_news'>(caller!, 'recent_news', { seconds })
      .then((news) => news.forEach((update) => this.session.updated(update)))
      .catch(() => {
        // Only a hint is lost: the messages themselves are not.
      })
  }

  protected told(event: string, payload: unknown) {
    if (event === 'conversation_updated') this.session.updated(payload as ConversationUpdated)
  }
}
