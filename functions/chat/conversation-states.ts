/** The newest state of each conversation that was heard of, in the gateway and in apps. */
import type { ConversationUpdated } from './protocol.ts'

// More conversations than change while one is looked up.
const kept = 1000

/** What clients are told of a state; those of the gateway have no use for the names of channels. */
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

  /** The newest that is known. */
  of(conversationId: string): ConversationUpdated | undefined {
    return this.states.get(conversationId)
  }

  /** Whether the change of this time is known. */
  hasChange(changedAt: string): boolean {
    return [...this.states.values()].some((state) => state.changedAt === changedAt)
  }

  lastSeq(conversationId: string): number {
    return lastSeqOf(this.states.get(conversationId))
  }
}

/** Number of the newest message in a state. */
export const lastSeqOf = (state: ConversationUpdated | undefined): number =>
  state?.lastMessage?.seq ?? 0

/** How much of it is among what is unread in all: nothing of what is archived. */
export const countedUnread = (
  state: Pick<ConversationUpdated, 'unread' | 'archived'> | undefined,
): number => state && !state.archived ? state.unread : 0

/** Numbers of messages only grow, and so do the times of changes between two messages. */
function isNewer(one: ConversationUpdated, other: ConversationUpdated): boolean {
  const [seq, before] = [lastSeqOf(one), lastSeqOf(other)]
  return seq > before || seq === before && one.changedAt > other.changedAt
}
