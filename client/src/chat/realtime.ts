/**
 * The link through Supabase Realtime: the channel of the account for all that comes, a live channel
 * for each joined conversation, where presence and typing are, and REST for what goes.
 */
import { stateOf } from '../../../functions/chat/conversation-states.ts'
import type {
  ConversationUpdated,
  Message,
  MessageHidden,
  MessageRead,
  NewMessage,
  Notified,
} from '../../../functions/chat/protocol.ts'
import type { Client } from '../client.ts'
import type { ApiError } from '../errors.ts'
import { retryPause, wait } from '../wait.ts'
import { type Broadcast, FollowedChannel, type Supabase } from './channel.ts'
import { asChatError, type Link, type LinkListener, once, tokenOf } from './link.ts'
import { liveChannel } from './live-channel.ts'
import { type ConversationState, Look, lookTimes, pageIsVisible } from './look.ts'

/** Realtime may take longer to hear the database: then a check finds what is sent meanwhile. */
const joinTime = 5000
const typingEvery = 2000

type Options = {
  /** Unless this is false the other side sees who has the conversation open. */
  sharePresence?: boolean
  /**
   * Whether somebody looks at the app: what Realtime did not deliver is fetched only then. In
   * React Native `() => AppState.currentState === 'active'`; browsers know it themselves.
   */
  visible?: () => boolean
}

/** A joined conversation. */
type JoinedConversation = { live: FollowedChannel; identityId: string; typedAt: number }

/**
 * Connects to the project's Realtime by a client of supabase-js, which takes its tokens from this
 * one: `createClient(url, key, { accessToken: async () => await client.auth.accessToken() ?? null })`.
 */
export const realtime = (supabase: Supabase, options: Options = {}): Link =>
  new RealtimeLink(supabase, options)

class RealtimeLink implements Link {
  private readonly supabase: Supabase
  private readonly sharePresence: boolean
  private readonly visible: () => boolean
  private readonly account: FollowedChannel
  private readonly joined = new Map<string, JoinedConversation>()
  /** Conversations that are joined, or are to be. */
  private readonly followed = new Set<string>()
  private look!: Look
  private client!: Client
  private listener!: LinkListener
  /** Resolved when the account's channel was joined for the first time. */
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
  /** When the last check began that went well. */
  private foundAt = 0
  /** When the account's channel was joined; 0 while it is not heard. */
  private joinedAt = 0
  /** How many events it has brought. */
  private heard = 0
  /** The name of the account's channel of which an event has said that it is no more. */
  private endedTopic = ''
  /** The last check did not go well. */
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
        // What was sent before.
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
    this.look = new Look(client, (state, passOn) => this.noteState(state, passOn))
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
        this.noteState(state, this.look.knows(conversationId))
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

  // What is heard ---------------------------------------------------------------------------------

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
      // Whoever were kept from one another are not any more.
      this.joined.get(conversation.id)?.live.retryRefused()
      this.noteState({ ...conversation, identityId })
    } else if (event === 'conversation_updated') {
      const { conversationId, ...state } = payload as ConversationUpdated & ConversationState
      this.noteState({ ...state, id: conversationId })
    } else if (event === 'message_read') {
      const { upToSeq, conversationId, ...state } = payload as
        & MessageRead
        & ConversationUpdated
        & ConversationState
      this.listener.read({ conversationId, identityId: state.identityId, upToSeq })
      this.noteState({ ...state, id: conversationId })
    } else if (event === 'notification') {
      const { identityId, notification, unread } = payload as Notified
      this.listener.notified({ identityId, notification, unread })
    } else if (event === 'message_hidden') {
      const { conversationId, id, seq } = payload as MessageHidden
      this.listener.hidden({ conversationId, id, seq })
    }
  }

  /** Passes a state on if it is newer, and follows the live channel to its name of now. */
  private noteState({ id, liveTopic, ...state }: ConversationState, passOn = true): boolean {
    const update = stateOf({ ...state, conversationId: id })
    const isNew = this.look.note(update)
    if (isNew && passOn) this.listener.updated(update)
    this.joined.get(id)?.live.follow(liveTopic)
    return isNew
  }

  // What may have been missed ---------------------------------------------------------------------

  /** Checks when it is time and somebody is there: for who comes back, within a second. */
  private checkIfDue() {
    const every = lookTimes[this.joinedAt || this.checkFailed ? 'whole' : 'broken']
    if (Date.now() - this.checkedAt >= every && this.visible()) void this.check()
  }

  /**
   * Realtime delivers at most once and may fall silent, and no event says that a live channel has
   * another name: so it asks by itself. One request at a time, and one is enough while nothing was
   * missed.
   */
  private async check(): Promise<void> {
    this.checkAgain = this.checking
    if (this.checking || this.closed) return
    this.checking = true
    const began = this.checkedAt = Date.now()
    clearTimeout(this.nextCheck)
    try {
      const page = await this.look.newest()
      await this.renewToken()
      if (this.closed) return
      this.account.follow(page.realtimeTopic)
      // The event may be here a moment before the change can be read.
      if (page.realtimeTopic === this.endedTopic) this.checkSoon()
      const others = [...this.joined.keys()].filter((id) => id !== page.items[0]?.id)
      const missed = [
        await this.look.compareWith(page),
        ...await Promise.all(others.map((id) => this.checkConversation(id))),
      ]
      // Between two checks since it was joined the channel should have brought it.
      if (missed.includes(true) && this.joinedAt && this.foundAt >= this.joinedAt) this.doubt()
      this.foundAt = began
      this.checkFailed = false
    } catch (error) {
      if (this.closed) return
      this.checkFailed = true
      // The rest is tried at the next check: the app may have a better token by then.
      if ((error as ApiError).temporary) this.checkSoon()
      else this.listener.error(asChatError(error))
    } finally {
      this.checking = false
    }
    if (this.checkAgain) await this.check()
  }

  /**
   * Realtime's connection to the database can end while its sockets stay, and nobody is told. A join
   * opens another, so the channel is joined anew if what a check has found does not come in a moment.
   */
  private doubt() {
    const { heard, joinedAt } = this
    setTimeout(() => {
      if (!this.closed && this.heard === heard && this.joinedAt === joinedAt) {
        void this.account.rejoin()
      }
    }, lookTimes.eventLate)
  }

  private checkSoon() {
    clearTimeout(this.nextCheck)
    if (this.closed) return
    this.nextCheck = setTimeout(() => void this.check(), retryPause(this.failures++))
  }

  /** True if it has changed. */
  private async checkConversation(conversationId: string): Promise<boolean> {
    try {
      return this.noteState(await this.read(conversationId))
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
    // Also for who comes while another shows it: a channel must not be joined without.
    await this.tokenRenewed
  }
}
