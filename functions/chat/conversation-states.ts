/** The newest state of each conversation that was heard of, in the gateway and in apps. */
import type { ConversationUpdated } from './protocol.ts'

// More conversations than change while one is looked up.
const kept = 1000
const mostUnread = 100

export class ConversationStates {
  private readonly states = new Map<string, ConversationUpdated>()

  /** True when it is newer than the last: what was looked up may come live a moment later. */
  update(state: ConversationUpdated): boolean {
    const { conversationId } = state
    const last = this.states.get(conversationId)
    if (last && !isNewer(state, last)) return false
    this.states.delete(conversationId)
    this.states.set(conversationId, state)
    if (this.states.size > kept) this.states.delete(this.states.keys().next().value!)
    return true
  }

  has(conversationId: string): boolean {
    return this.states.has(conversationId)
  }

  unreadOf(conversationId: string): number {
    return this.states.get(conversationId)?.unread ?? 0
  }

  /** The conversations that have something unread, newest first. */
  unreadCounts(): Record<string, number> {
    const states = [...this.states.values()].reverse().filter(({ unread }) => unread > 0)
    return Object.fromEntries(
      states.slice(0, mostUnread).map(({ conversationId, unread }) => [conversationId, unread]),
    )
  }

  lastSeq(conversationId: string): number {
    return lastSeqOf(this.states.get(conversationId))
  }
}

/** Number of the newest message in a state. */
export const lastSeqOf = (state: ConversationUpdated | undefined): number =>
  state?.lastMessage?.seq ?? 0

/** Numbers only grow, and at one number less and less is unread. */
function isNewer(one: ConversationUpdated, other: ConversationUpdated): boolean {
  const [seq, before] = [lastSeqOf(one), lastSeqOf(other)]
  return seq > before || seq === before && one.unread < other.unread
}
