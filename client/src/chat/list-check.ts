// Reads the lists of conversations to find changes of which no event has arrived.
import { ConversationStates, countedUnread } from '../../../functions/chat/conversation-states.ts'
import type { ConversationUpdated } from '../../../functions/chat/protocol.ts'
import type { Client } from '../client.ts'
import type { Schemas } from '../operations.ts'
import { changesSince } from './changes.ts'
import { once } from './link.ts'

/**
 * In milliseconds: the time between checks with a working and a broken link, and how late an event may be.
 */
export const checkTimes = { whole: 25_000, broken: 3000, eventLate: 2000 }

/** A conversation as the lists return it. */
export type ConversationState = Omit<ConversationUpdated, 'conversationId'> & {
  id: string
  liveTopic: string
}

type Page = Schemas['ConversationPage']

/** Returns whether the page is visible; always true outside browsers. */
export const pageIsVisible = () =>
  (globalThis as { document?: { visibilityState: string } }).document?.visibilityState !== 'hidden'

/** Where a state comes from: an event, a check, or (`before`) the first check, which is not passed on. */
export type Source = 'event' | 'check' | 'before'

export class ListCheck {
  private readonly client: Client
  /** Hands a state to the transport. Returns true if the app should receive it. */
  private readonly noteState: (state: ConversationState, source: Source) => boolean
  private readonly states = new ConversationStates()
  private readonly passedOn = new ConversationStates()
  /**
   * The time of the last change that is known, and the number of unread messages that the lists should have.
   */
  private changedAt: string | null | undefined
  private unread = 0

  constructor(
    client: Client,
    noteState: (state: ConversationState, source: Source) => boolean,
  ) {
    this.client = client
    this.noteState = noteState
  }

  /** Records a state. Returns true if the app should receive it: only once, and only if none is newer. */
  note(update: ConversationUpdated, source: Source): boolean {
    const before = this.states.of(update.conversationId)
    const isNew = this.states.update(update)
    if (isNew) this.unread += countedUnread(update) - countedUnread(before)
    // The list may already have contained this state before its event arrived.
    const isLate = source === 'event' && before?.changedAt === update.changedAt
    return source !== 'before' && (isNew || isLate) && this.passedOn.update(update)
  }

  knows(conversationId: string): boolean {
    return this.states.of(conversationId) !== undefined
  }

  newest(): Promise<Page> {
    return this.client.get('/conversations', { ...once, query: { limit: 1 } })
  }

  /** Reads more if the change is unknown or the unread total differs. Returns true if events were missed. */
  async compareWith({ items: [newest], unreadTotal, changedAt }: Page): Promise<boolean> {
    const before = this.changedAt
    const first = before === undefined
    let missed = newest !== undefined && this.noteState(newest, first ? 'before' : 'check')
    const isKnown = changedAt === null || changedAt === before || this.states.hasChange(changedAt)
    if (!first && (missed || !isKnown || unreadTotal !== this.unread)) {
      const since = before ?? ''
      for (const state of await changesSince(this.client, since, changedAt)) {
        if (this.noteState(state, 'check') && state.changedAt > since) missed = true
      }
    }
    this.changedAt = changedAt
    this.unread = unreadTotal
    return missed
  }
}
