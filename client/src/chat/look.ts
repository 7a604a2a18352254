/** What a look at the lists of conversations shows that no event has told. */
import { ConversationStates, countedUnread } from '../../../functions/chat/conversation-states.ts'
import type { ConversationUpdated } from '../../../functions/chat/protocol.ts'
import type { Client } from '../client.ts'
import type { Schemas } from '../operations.ts'
import { changesSince } from './changes.ts'
import { once } from './link.ts'

/**
 * Milliseconds between two looks while the link tells of everything, and while it does not; and for how
 * much an event may come later than what it tells of can be read.
 */
export const lookTimes = { whole: 25_000, broken: 3000, eventLate: 2000 }

/** A conversation as lists have it. */
export type ConversationState = Omit<ConversationUpdated, 'conversationId'> & {
  id: string
  liveTopic: string
}

type Page = Schemas['ConversationPage']

/** Whether somebody looks at the app, where a browser says so. */
export const pageIsVisible = () =>
  (globalThis as { document?: { visibilityState: string } }).document?.visibilityState !== 'hidden'

export class Look {
  private readonly client: Client
  /** Notes a state, here too; true if it is newer than what was known. */
  private readonly noteState: (state: ConversationState, passOn?: boolean) => boolean
  private readonly states = new ConversationStates()
  /** What the last look found: when anything last changed, and what would be unread by now. */
  private changedAt: string | null | undefined
  private unread = 0

  constructor(
    client: Client,
    noteState: (state: ConversationState, passOn?: boolean) => boolean,
  ) {
    this.client = client
    this.noteState = noteState
  }

  /** True when the state is newer than what was known. */
  note(update: ConversationUpdated): boolean {
    const before = countedUnread(this.states.of(update.conversationId))
    const isNew = this.states.update(update)
    if (isNew) this.unread += countedUnread(update) - before
    return isNew
  }

  knows(conversationId: string): boolean {
    return this.states.of(conversationId) !== undefined
  }

  newest(): Promise<Page> {
    return this.client.get('/conversations', { ...once, query: { limit: 1 } })
  }

  /** Reads on when a change is not known, or not as much is unread as was heard of; true if it had to. */
  async compareWith({ items: [newest], unreadTotal, changedAt }: Page): Promise<boolean> {
    const before = this.changedAt
    // The first is what there was before.
    const first = before === undefined
    let missed = newest !== undefined && this.noteState(newest, !first)
    const isKnown = changedAt === null || changedAt === before || this.states.hasChange(changedAt)
    if (!first && (missed || !isKnown || unreadTotal !== this.unread)) {
      const since = before ?? ''
      for (const state of await changesSince(this.client, since, changedAt)) {
        if (this.noteState(state) && state.changedAt > since) missed = true
      }
    }
    this.changedAt = changedAt
    this.unread = unreadTotal
    return missed
  }
}
