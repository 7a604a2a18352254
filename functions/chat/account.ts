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
  /** What was heard of while news are looked up. */
  private live: Set<string> | undefined

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

  /**
   * News of the time in which nothing was heard: of a conversation that is heard of live before they
   * are there, everything since comes live.
   */
  protected back(seconds: number) {
    const { caller } = this.session
    const live = this.live = new Set()
    ask<ConversationUpdated[], 'recent_news'>(caller!, 'recent_news', { seconds })
      .then((news) =>
        news.filter((update) => !live.has(keyOf(update))).forEach((update) => this.pass(update))
      )
      .catch(() => {
        // Only a hint is lost: the messages themselves are not.
      })
      .finally(() => this.live === live && (this.live = undefined))
  }

  protected told(event: string, payload: unknown) {
    if (event !== 'conversation_updated') return
    const update = payload as ConversationUpdated
    this.live?.add(keyOf(update))
    this.pass(update)
  }

  /** Passes on what is newer than the last: what was looked up may come live a moment later. */
  private pass(update: ConversationUpdated) {
    const key = keyOf(update)
    const last = this.newest.get(key)
    if (last && !isNewer(update, last)) return
    this.newest.delete(key)
    this.newest.set(key, update)
    if (this.newest.size > kept) this.newest.delete(this.newest.keys().next().value!)
    this.session.updated(update)
  }
}

const keyOf = ({ conversationId, identityId }: ConversationUpdated) =>
  `${conversationId} ${identityId}`

/** Numbers only grow, and at one number less and less is unread. */
function isNewer(one: ConversationUpdated, other: ConversationUpdated): boolean {
  const [seq, before] = [one, other].map(({ lastMessage }) => lastMessage?.seq ?? 0)
  return seq! > before! || seq === before && one.unread < other.unread
}
