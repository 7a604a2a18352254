// Caches the latest state of each conversation, both in the gateway and in apps.
import type { ConversationUpdated } from './protocol.ts'

// Higher than the number of conversations that can change while a query runs.
const mostCached = 1000

/** The state without the names of Realtime channels, which clients of the gateway do not need. */
export const stateOf = (
  { conversationId, identityId, lastMessage, unread, muted, archived, peerReadSeq, changedAt }:
    ConversationUpdated,
): ConversationUpdated => ({
  conversationId,
  ...(identityId && { identityId }),
  lastMessage,
  unread,
  muted,
  archived,
  peerReadSeq,
  changedAt,
})

export class ConversationStates {
  private readonly states = new Map<string, ConversationUpdated>()

  /**
   * Stores the state and returns true if it is newer. A state read from the database may arrive again as an
   * event.
   */
  update(state: ConversationUpdated): boolean {
    const { conversationId } = state
    const last = this.states.get(conversationId)
    if (last && !isNewer(state, last)) return false
    this.states.delete(conversationId)
    this.states.set(conversationId, state)
    if (this.states.size > mostCached) this.states.delete(this.states.keys().next().value!)
    return true
  }

  of(conversationId: string): ConversationUpdated | undefined {
    return this.states.get(conversationId)
  }

  hasChange(changedAt: string): boolean {
    return [...this.states.values()].some((state) => state.changedAt === changedAt)
  }

  lastSeq(conversationId: string): number {
    return lastSeqOf(this.states.get(conversationId))
  }
}

export const lastSeqOf = (state: ConversationUpdated | undefined): number =>
  state?.lastMessage?.seq ?? 0

/**
 * The number of unread messages that a conversation adds to the total. Archived conversations do not count.
 */
export const countedUnread = (
  state: Pick<ConversationUpdated, 'unread' | 'archived'> | undefined,
): number => state && !state.archived ? state.unread : 0

/** Message numbers only increase. Until the next message, the times of changes only increase. */
function isNewer(one: ConversationUpdated, other: ConversationUpdated): boolean {
  const [seq, before] = [lastSeqOf(one), lastSeqOf(other)]
  return seq > before || seq === before && one.changedAt > other.changedAt
}
