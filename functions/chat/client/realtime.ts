/**
 * The link through Supabase Realtime: the channel of the account for all that comes, a live channel
 * for each joined conversation, where presence and typing are, and REST for what goes.
 */
import { type Api, ChatFailure, pauseAfter, wait } from './api.ts'
import { type Channel, Followed, type Heard, type Supabase } from './channel.ts'
import type { Link, Told } from './client.ts'
import { ConversationStates } from '../conversation-states.ts'
import type { ConversationUpdated, Message, NewMessage } from '../protocol.ts'

const lookEvery = 25_000
const pageSize = 20
const mostPages = 5
/** Realtime may take longer to hear the database: then what is sent meanwhile comes by a look. */
const joinTime = 5000
const typingEvery = 2000

/** A conversation as lists have it. */
type Seen = Pick<ConversationUpdated, 'lastMessage' | 'unread'> & { id: string; liveTopic: string }
type Page = {
  items: (Seen & { updatedAt: string })[]
  nextCursor: string | null
  unreadTotal: number
  realtimeTopic: string
}

type Choice = {
  /** Unless this is false the other side sees who has the conversation open. */
  shown?: boolean
  /**
   * Whether somebody looks at the app: what Realtime did not deliver is looked for only then. In
   * React Native `() => AppState.currentState === 'active'`; browsers know it themselves.
   */
  visible?: () => boolean
}

/** A joined conversation. */
type Room = { live: Followed; typed: number }

/**
 * Joins through the project's Realtime. The client must know its person: be signed in, or made with
 * `createClient(url, key, { accessToken: async () => token })`.
 */
export const realtime = (supabase: Supabase, choice: Choice = {}): Link =>
  new RealtimeLink(supabase, choice)

const pageIsVisible = () =>
  (globalThis as { document?: { visibilityState: string } }).document?.visibilityState !== 'hidden'

class RealtimeLink implements Link {
  private readonly supabase: Supabase
  private readonly shown: boolean
  private readonly visible: () => boolean
  private readonly account: Followed
  private readonly rooms = new Map<string, Room>()
  /** Conversations that are joined, or are to be. */
  private readonly wanted = new Set<string>()
  private readonly states = new ConversationStates()
  private api!: Api
  private told!: Told
  /** Resolved when the account's channel was joined for the first time. */
  private readonly joined: Promise<void>
  private resolve!: () => void
  private token = ''
  private tokenShown = Promise.resolve()
  private clock: ReturnType<typeof setInterval> | undefined
  private soon: ReturnType<typeof setTimeout> | undefined
  private failures = 0
  private looking = false
  private lookAgain = false
  private lookedAt = 0
  /** What the last look had: when the newest was written, and what would be unread by now. */
  private newestAt = ''
  private unread = 0
  private closed = false

  constructor(supabase: Supabase, { shown = true, visible = pageIsVisible }: Choice) {
    this.supabase = supabase
    this.shown = shown
    this.visible = visible
    this.joined = new Promise((resolve) => (this.resolve = resolve))
    this.account = new Followed(supabase, {
      fromDatabase: true,
      bind: (channel) =>
        channel.on('broadcast', { event: '*' }, (heard: Heard) => this.heard(heard)),
      joined: () => {
        this.failures = 0
        this.resolve()
        // What was sent before.
        void this.look()
      },
      broken: () => this.lookSoon(),
    })
  }

  start(api: Api, told: Told): void {
    this.api = api
    this.told = told
    void this.look()
    this.clock = setInterval(() => this.turn(), 1000)
  }

  async join(conversationId: string): Promise<void> {
    this.wanted.add(conversationId)
    for (let failures = 0;; failures++) {
      try {
        const [seen, { activeIdentity }] = await Promise.all([
          this.api.get<Seen>(`/conversations/${conversationId}`),
          this.api.get<{ activeIdentity: { id: string } }>('/auth/me'),
          Promise.race([this.joined, wait(joinTime)]),
        ])
        if (this.closed || !this.wanted.has(conversationId)) return
        this.rooms.get(conversationId)?.live.stop()
        const live = this.liveChannel(conversationId, activeIdentity.id)
        this.rooms.set(conversationId, { live, typed: 0 })
        this.saw(seen, this.states.has(conversationId))
        return
      } catch (error) {
        const { passes } = error as ChatFailure
        if (this.closed || !passes || !this.wanted.has(conversationId)) throw error
        await wait(pauseAfter(failures))
      }
    }
  }

  leave(conversationId: string): void {
    this.rooms.get(conversationId)?.live.stop()
    this.rooms.delete(conversationId)
    this.wanted.delete(conversationId)
  }

  send({ conversationId, ...message }: NewMessage): Promise<Message> {
    return this.api.post<Message>(`/conversations/${conversationId}/messages`, message)
  }

  typing(conversationId: string): void {
    const room = this.rooms.get(conversationId)
    if (!room?.live.channel || Date.now() - room.typed < typingEvery) return
    room.typed = Date.now()
    void room.live.channel.send({ type: 'broadcast', event: 'typing', payload: {} })
  }

  close(): void {
    this.closed = true
    clearInterval(this.clock)
    clearTimeout(this.soon)
    this.rooms.forEach(({ live }) => live.stop())
    this.rooms.clear()
    this.account.stop()
  }

  // What is heard ---------------------------------------------------------------------------------

  private heard({ event, payload }: Heard) {
    if (event === 'topic_changed') return void this.look()
    if (event === 'new_message') {
      const { message, conversation } = payload as { message: Message; conversation: Seen }
      this.told.message(message)
      // Whoever was not heard by one another is again.
      this.rooms.get(conversation.id)?.live.forgive()
      this.saw({ ...payload, ...conversation })
    } else if (event === 'conversation_updated') {
      const { conversationId, ...seen } = payload as ConversationUpdated & Seen
      this.saw({ ...seen, id: conversationId })
    }
  }

  /** Tells of a state if it is news, and goes to the name that the live channel has by it. */
  private saw(seen: Seen & { identityId?: string }, news = true): boolean {
    const { id, lastMessage, unread, liveTopic, ...of } = seen
    const { identityId } = of
    const update = { conversationId: id, ...(identityId && { identityId }), lastMessage, unread }
    const before = this.states.unreadOf(id)
    const isNew = this.states.update(update)
    if (isNew) this.unread += unread - before
    if (isNew && news) this.told.updated(update)
    this.rooms.get(id)?.live.go(liveTopic)
    return isNew
  }

  private liveChannel(conversationId: string, identityId: string): Followed {
    const others = (channel: Channel) =>
      Object.keys(channel.presenceState()).filter((id) => id !== identityId)
    return new Followed(this.supabase, {
      config: { presence: { key: identityId } },
      bind: (channel) => {
        // Anything else that is said there is nothing of ours: participants send it themselves.
        channel.on('broadcast', { event: 'typing' }, () => this.told.typing(conversationId))
        channel.on('presence', { event: 'sync' }, () => {
          this.told.present(conversationId, others(channel).length > 0)
        })
      },
      joined: (channel) => {
        if (this.shown) void channel.track({})
      },
      broken: () => this.told.present(conversationId, false),
    })
  }

  // What may have been missed ---------------------------------------------------------------------

  /** Looks when it is time and somebody is there: who comes back is told within a second. */
  private turn() {
    if (Date.now() - this.lookedAt >= lookEvery && this.visible()) void this.look()
  }

  /**
   * Realtime delivers at most once and may fall silent, and nobody is told when a live channel gets
   * another name: so it looks by itself. One question at a time, and one is enough while nothing
   * was missed.
   */
  private async look(): Promise<void> {
    this.lookAgain = this.looking
    if (this.looking || this.closed) return
    this.looking = true
    this.lookedAt = Date.now()
    clearTimeout(this.soon)
    try {
      const page = await this.api.get<Page>('/conversations?limit=1')
      await this.showToken()
      if (this.closed) return
      this.account.go(page.realtimeTopic)
      await this.compare(page)
      const others = [...this.rooms.keys()].filter((id) => id !== page.items[0]?.id)
      await Promise.all(others.map((id) => this.lookAt(id)))
    } catch (error) {
      const { code, message, passes } = error as ChatFailure
      // What does not pass is tried at the next look: the app may have a better token by then.
      if (passes) this.lookSoon()
      else this.told.error({ code, message })
    } finally {
      this.looking = false
    }
    if (this.lookAgain) await this.look()
  }

  /** Reads on when the newest is not known, or not as much is unread as was heard of. */
  private async compare({ items: [newest], unreadTotal }: Page) {
    const since = this.newestAt
    // The first is what there was before.
    const first = since === ''
    const missed = newest && this.saw(newest, !first)
    if (!first && (missed || unreadTotal !== this.unread)) await this.readOn(since)
    this.newestAt = newest?.updatedAt ?? 'none'
    this.unread = unreadTotal
  }

  /** Tells of the conversations that changed since then, and of those of the first page at least. */
  private async readOn(since: string) {
    let cursor = ''
    for (let pages = 0; pages < mostPages; pages++) {
      const page = await this.api.get<Page>(`/conversations?limit=${pageSize}${cursor}`)
      for (const seen of [...page.items].reverse()) this.saw(seen)
      const oldest = page.items.at(-1)
      if (!page.nextCursor || !oldest || oldest.updatedAt <= since) return
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
    }
  }

  private lookSoon() {
    clearTimeout(this.soon)
    if (!this.closed) this.soon = setTimeout(() => void this.look(), pauseAfter(this.failures++))
  }

  private async lookAt(conversationId: string) {
    try {
      this.saw(await this.api.get<Seen>(`/conversations/${conversationId}`))
    } catch (error) {
      const { code, message, passes } = error as ChatFailure
      if (passes) throw error
      if (!this.rooms.has(conversationId)) return
      this.leave(conversationId)
      this.told.lost(conversationId, { code, message })
    }
  }

  private async showToken() {
    const token = await this.api.accessToken()
    if (token !== this.token) {
      this.token = token
      this.tokenShown = Promise.resolve(this.supabase.realtime.setAuth())
    }
    // Also for who comes while another shows it: a channel must not be joined without.
    await this.tokenShown
  }
}
