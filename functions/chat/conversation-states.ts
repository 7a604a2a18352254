// The newest known state of each conversation, in the gateway and in apps.
import type { ConversationUpdated } from './protocol.ts'

// Exceeds the number of conversations that can change during a query.
const mostCached = 1000

/** The state for clients, without the channel names, which clients of the gateway do not use. */
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

  /** Stores a newer state and returns true. A state that was just read may arrive again as an event. */
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

/** The unread messages that a conversation adds to the total; an archived conversation adds none. */
export const countedUnread = (
  state: Pick<ConversationUpdated, 'unread' | 'archived'> | undefined,
): number => state && !state.archived ? state.unread : 0

/** Message numbers only grow, and between two messages the times of changes only grow. */
function isNewer(one: ConversationUpdated, other: ConversationUpdated): boolean {
  const [seq, before] = [lastSeqOf(one), lastSeqOf(other)]
  return seq > before || seq === before && one.changedAt > other.changedAt
}
