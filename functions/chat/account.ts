/** What a socket hears as its account: changes of its conversations, and the end of its rights. */
import type { Refusal } from '../api/problem.ts'
import { ask } from './asking.ts'
import { Follower } from './follower.ts'
import type { ConversationUpdated } from './protocol.ts'
import type { Session } from './session.ts'

// Conversations whose newest state is kept; more than change while one is looked up.
const kept = 1000

export class Account extends Follower {
  private readonly session: Session
  private readonly newest = new Map<string, ConversationUpdated>()

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

  /** News of the time in which nothing was heard. */
  protected back(seconds: number) {
    const { caller } = this.session
    ask<ConversationUpdated[], 'recent_news'>(caller!, 'recent_news', { seconds })
      .then((news) => news.forEach((update) => this.update(update)))
      .catch(() => {
        // Only a hint is lost: the messages themselves are not.
      })
  }

  protected told(event: string, payload: unknown) {
    if (event === 'conversation_updated') this.update(payload as ConversationUpdated)
  }

  /** Passes on what is newer than the last: looked up and live, news may come twice and late. */
  private update(update: ConversationUpdated) {
    const key = `${update.conversationId} ${update.identityId}`
    const last = this.newest.get(key)
    if (last && !isNewer(update, last)) return
    this.newest.delete(key)
    this.newest.set(key, update)
    if (this.newest.size > kept) this.newest.delete(this.newest.keys().next().value!)
    this.session.updated(update)
  }
}

/** Numbers only grow, and at one number less and less is unread. */
function isNewer(one: ConversationUpdated, other: ConversationUpdated): boolean {
  const [seq, before] = [one, other].map(({ lastMessage }) => lastMessage?.seq ?? 0)
  return seq! > before! || seq === before && one.unread < other.unread
}
