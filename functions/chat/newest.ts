/** The newest state of each conversation that was heard of, in the gateway and in apps. */
import type { ConversationUpdated } from './protocol.ts'

// More conversations than change while one is looked up.
const kept = 1000
const mostUnread = 100

export class Newest {
  private readonly states = new Map<string, ConversationUpdated>()

  /** Takes what is newer than the last: what was looked up may come live a moment later. */
  take(update: ConversationUpdated): boolean {
    const { conversationId } = update
    const last = this.states.get(conversationId)
    if (last && !isNewer(update, last)) return false
    this.states.delete(conversationId)
    this.states.set(conversationId, update)
    if (this.states.size > kept) this.states.delete(this.states.keys().next().value!)
    return true
  }

  knows(conversationId: string): boolean {
    return this.states.has(conversationId)
  }

  unreadOf(conversationId: string): number {
    return this.states.get(conversationId)?.unread ?? 0
  }

  /** The conversations that had something unread, newest first. */
  unread(): Record<string, number> {
    const states = [...this.states.values()].reverse().filter(({ unread }) => unread > 0)
    return Object.fromEntries(
      states.slice(0, mostUnread).map(({ conversationId, unread }) => [conversationId, unread]),
    )
  }

  /** Number of the newest message of a conversation. */
  seq(conversationId: string): number {
    return seqOf(this.states.get(conversationId))
  }
}

export const seqOf = (update: ConversationUpdated | undefined): number =>
  update?.lastMessage?.seq ?? 0

/** Numbers only grow, and at one number less and less is unread. */
function isNewer(one: ConversationUpdated, other: ConversationUpdated): boolean {
  const [seq, before] = [seqOf(one), seqOf(other)]
  return seq > before || seq === before && one.unread < other.unread
}
