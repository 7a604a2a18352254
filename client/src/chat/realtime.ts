// The transport over Supabase Realtime. Events arrive on the account's channel; presence and typing on the
// live channel of each joined conversation. Messages are sent through REST.
import { stateOf } from '../../../functions/chat/conversation-states.ts'
import type {
  ConversationUpdated,
  Message,
  MessageHidden,
  MessageRead,
  NewMessage,
  NotificationsChanged,
  Notified,
} from '../../../functions/chat/protocol.ts'
import type { Client } from '../client.ts'
import type { ApiError } from '../errors.ts'
import { retryPause, wait } from '../wait.ts'
import { type Broadcast, FollowedChannel, type Supabase } from './channel.ts'
import { asChatError, type Link, type LinkListener, once, tokenOf } from './link.ts'
import { liveChannel } from './live-channel.ts'
import {
  checkTimes,
  type ConversationState,
  ListCheck,
  pageIsVisible,
  type Source,
} from './list-check.ts'

/** How long `join` waits for Realtime, in milliseconds. After that, checks find the missed events. */
const joinTime = 5000
const typingEvery = 2000

type Options = {
  /** Unless this is false, the other side sees which conversation is open. */
  sharePresence?: boolean
  /**
   * Returns whether the app is visible: missed events are fetched only then. Browsers need no function; in
   * React Native, pass `() => AppState.currentState === 'active'`.
   */
  visible?: () => boolean
}

type JoinedConversation = { live: FollowedChannel; identityId: string; typedAt: number }

/**
 * Connects with a supabase-js client. Create that client so that it takes its tokens from ours:
 * `createClient(url, key, { accessToken: async () => await client.auth.accessToken() ?? null })`.
 */
export const realtime = (supabase: Supabase, options: Options = {}): Link =>
  new RealtimeLink(supabase, options)

class RealtimeLink implements Link {
  private readonly supabase: Supabase
  private readonly sharePresence: boolean
  private readonly visible: () => boolean
  private readonly account: FollowedChannel
  private readonly joined = new Map<string, JoinedConversation>()
  /** Conversations that are joined or are being joined. */
  private readonly followed = new Set<string>()
  private listCheck!: ListCheck
  private client!: Client
  private listener!: LinkListener
  /** Resolves when the account's channel is joined for the first time. */
  private readonly accountJoined: Promise<void>
  private resolveJoined!: () => void
  private token = ''
  private tokenRenewed = Promise.resolve()
  private clock: ReturnType<typeof setInterval> | undefined
  private nextCheck: ReturnType<typeof setTimeout> | undefined
  private failures = 0
  private checking = false
  private checkAgain = false
  private checkedAt = 0
  /** When the last successful check began. */
  private foundAt = 0
  /** When the account's channel was joined; 0 while it receives no events. */
  private joinedAt = 0
  /** The number of events received on the account's channel. */
  private heard = 0
  /** A topic of the account that, according to an event, has been replaced by another. */
  private endedTopic = ''
  private checkFailed = false
  private closed = false

  constructor(supabase: Supabase, { sharePresence = true, visible = pageIsVisible }: Options) {
    this.supabase = supabase
    this.sharePresence = sharePresence
    this.visible = visible
    this.accountJoined = new Promise((resolve) => (this.resolveJoined = resolve))
    this.account = new FollowedChannel(supabase, {
      fromDatabase: true,
      listen: (channel) =>
        channel.on('broadcast', { event: '*' }, (event: Broadcast) => this.received(event)),
      joined: () => {
        this.failures = 0
        this.joinedAt = Date.now()
        this.resolveJoined()
        // Fetches events that were sent before the channel was joined.
        void this.check()
      },
      interrupted: () => {
        this.joinedAt = 0
        this.checkSoon()
      },
    })
  }

  start(client: Client, listener: LinkListener): void {
    this.client = client
    this.listener = listener
    this.listCheck = new ListCheck(client, (state, source) => this.noteState(state, source))
    void this.check()
    this.clock = setInterval(() => this.checkIfDue(), 1000)
  }

  async join(conversationId: string): Promise<void> {
    this.followed.add(conversationId)
    for (let failures = 0;; failures++) {
      try {
        const [state, { activeIdentity }] = await Promise.all([
          this.read(conversationId),
          this.client.get('/auth/me', once),
          Promise.race([this.accountJoined, wait(joinTime)]),
        ])
        if (this.closed || !this.followed.has(conversationId)) return
        this.joined.get(conversationId)?.live.stop()
        const identityId = activeIdentity?.id ?? ''
        const live = liveChannel(this.supabase, {
          conversationId,
          identityId,
          peerId: state.peer.identityId,
          sharePresence: this.sharePresence,
          listener: this.listener,
        })
        this.joined.set(conversationId, { live, identityId, typedAt: 0 })
        this.noteState(state, this.listCheck.knows(conversationId) ? 'check' : 'before')
        return
      } catch (error) {
        const { temporary } = error as ApiError
        if (this.closed || !temporary || !this.followed.has(conversationId)) throw error
        await wait(retryPause(failures))
      }
    }
  }

  leave(conversationId: string): void {
    this.joined.get(conversationId)?.live.stop()
    this.joined.delete(conversationId)
    this.followed.delete(conversationId)
  }

  send({ conversationId, ...message }: NewMessage): Promise<Message> {
    return this.client.post('/conversations/{id}/messages', {
      ...once,
      path: { id: conversationId },
      body: message,
    })
  }

  typing(conversationId: string): void {
    const joined = this.joined.get(conversationId)
    if (!joined?.live.channel || Date.now() - joined.typedAt < typingEvery) return
    joined.typedAt = Date.now()
    const { live, identityId } = joined
    void live.channel!.send({ type: 'broadcast', event: 'typing', payload: { identityId } })
  }

  close(): void {
    this.closed = true
    clearInterval(this.clock)
    clearTimeout(this.nextCheck)
    this.joined.forEach(({ live }) => live.stop())
    this.joined.clear()
    this.account.stop()
  }

  private received({ event, payload }: Broadcast) {
    this.heard++
    if (event === 'topic_changed') {
      this.endedTopic = (payload as { old: string }).old
      return void this.check()
    }
    if (event === 'new_message') {
      const { identityId, message, conversation } = payload as {
        identityId: string
        message: Message
        conversation: ConversationState
      }
      this.listener.message(message)
      // If a message arrives, neither side blocks the other any more.
      this.joined.get(conversation.id)?.live.retryRefused()
      this.noteState({ ...conversation, identityId }, 'event')
    } else if (event === 'conversation_updated') {
      const { conversationId, ...state } = payload as ConversationUpdated & ConversationState
      this.noteState({ ...state, id: conversationId }, 'event')
    } else if (event === 'message_read') {
      const { upToSeq, conversationId, ...state } = payload as
        & MessageRead
        & ConversationUpdated
        & ConversationState
      this.listener.read({ conversationId, identityId: state.identityId, upToSeq })
      this.noteState({ ...state, id: conversationId }, 'event')
    } else if (event === 'notification') {
      const { identityId, notification, unread } = payload as Notified
      this.listener.notified({ identityId, notification, unread })
    } else if (event === 'notifications_changed') {
      const { unread } = payload as NotificationsChanged
      this.listener.notificationsChanged({ unread })
    } else if (event === 'message_hidden') {
      const { conversationId, id, seq } = payload as MessageHidden
      this.listener.hidden({ conversationId, id, seq })
    }
  }

  /** Passes on a state if it is newer, and moves the live channel to the current topic. */
  private noteState({ id, liveTopic, ...state }: ConversationState, source: Source): boolean {
    const update = stateOf({ ...state, conversationId: id })
    const passesOn = this.listCheck.note(update, source)
    if (passesOn) this.listener.updated(update)
    this.joined.get(id)?.live.follow(liveTopic)
    return passesOn
  }

  /** Starts a check if one is due and the app is visible. A timer calls this every second. */
  private checkIfDue() {
    const every = checkTimes[this.joinedAt || this.checkFailed ? 'whole' : 'broken']
    if (Date.now() - this.checkedAt >= every && this.visible()) void this.check()
  }

  /**
   * Realtime may lose events or stop sending, and no event reports that a live channel was renamed. Therefore
   * this reads the newest conversation and all joined ones, and more only if events were missed.
   */
  private async check(): Promise<void> {
    this.checkAgain = this.checking
    if (this.checking || this.closed) return
    this.checking = true
    const began = this.checkedAt = Date.now()
    clearTimeout(this.nextCheck)
    try {
      const page = await this.listCheck.newest()
      await this.renewToken()
      if (this.closed) return
      this.account.follow(page.realtimeTopic)
      // The event may arrive shortly before the new topic can be read.
      if (page.realtimeTopic === this.endedTopic) this.checkSoon()
      const others = [...this.joined.keys()].filter((id) => id !== page.items[0]?.id)
      const missed = [
        await this.listCheck.compareWith(page),
        ...await Promise.all(others.map((id) => this.checkConversation(id))),
      ]
      // If both the last check and this one came after the join, the channel should have delivered the
      // change.
      if (missed.includes(true) && this.joinedAt && this.foundAt >= this.joinedAt) this.doubt()
      this.foundAt = began
      this.checkFailed = false
    } catch (error) {
      if (this.closed) return
      this.checkFailed = true
      // After any other error, the next regular check retries, perhaps with a valid token from the app.
      if ((error as ApiError).temporary) this.checkSoon()
      else this.listener.error(asChatError(error))
    } finally {
      this.checking = false
    }
    if (this.checkAgain) await this.check()
  }

  /**
   * Realtime can lose the database without closing its sockets, and reconnects when a channel is joined.
   * Therefore the channel is rejoined if a check found a missed change and no event arrives soon afterwards.
   */
  private doubt() {
    const { heard, joinedAt } = this
    setTimeout(() => {
      if (!this.closed && this.heard === heard && this.joinedAt === joinedAt) {
        void this.account.rejoin()
      }
    }, checkTimes.eventLate)
  }

  private checkSoon() {
    clearTimeout(this.nextCheck)
    if (this.closed) return
    this.nextCheck = setTimeout(() => void this.check(), retryPause(this.failures++))
  }

  /** Returns true if the conversation has changed. */
  private async checkConversation(conversationId: string): Promise<boolean> {
    try {
      return this.noteState(await this.read(conversationId), 'check')
    } catch (error) {
      if ((error as ApiError).temporary) throw error
      if (this.joined.has(conversationId)) {
        this.leave(conversationId)
        this.listener.removed(conversationId, asChatError(error))
      }
      return false
    }
  }

  private read(conversationId: string) {
    return this.client.get('/conversations/{id}', { ...once, path: { id: conversationId } })
  }

  private async renewToken() {
    const token = await tokenOf(this.client)
    if (this.closed) return
    if (token !== this.token) {
      this.token = token
      this.tokenRenewed = Promise.resolve(this.supabase.realtime.setAuth())
    }
    // Also waits if another call of this method is just passing the new token to supabase-js, because a
    // channel must not be joined without a token.
    await this.tokenRenewed
  }
}
