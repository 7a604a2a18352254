/** The link through Supabase Realtime: private channels for what comes, REST for what goes. */
import { type Api, ChatFailure, pauseAfter, wait } from './client-api.ts'
import type { Link, Told } from './client.ts'
import type { ConversationUpdated, Message, NewMessage } from './protocol.ts'

const lookEvery = 25_000

type Heard = { event: string; payload: Record<string, unknown> }

type Channel = {
  on(
    type: 'broadcast',
    filter: { event: string },
    listen: (heard: Heard) => void,
  ): Channel
  subscribe(listen: (status: string, error?: Error) => void): Channel
}

/** A client of supabase-js, or what of it is needed. */
export type Supabase = {
  channel(topic: string, options: { config: { private: true } }): unknown
  removeChannel(channel: never): Promise<unknown>
  realtime: { setAuth(): Promise<void> | void }
}

/**
 * Joins through the project's Realtime. The client must know its person: be signed in, or made with
 * `createClient(url, key, { accessToken: async () => token })`.
 */
export const realtime = (supabase: Supabase): Link => new RealtimeLink(supabase)

/** One topic that is followed under whatever name it has now. */
class Followed {
  topic = ''
  channel: Channel | undefined
  /** Resolved at the first join. */
  readonly joined: Promise<void>
  resolve!: () => void
  reject!: (error: unknown) => void
  once = false
  stopped = false
  looking = false
  readonly find: () => Promise<string>
  readonly heard: (heard: Heard) => void

  constructor(find: () => Promise<string>, heard: (heard: Heard) => void) {
    this.find = find
    this.heard = heard
    this.joined = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    // Whoever does not wait for it is told otherwise.
    this.joined.catch(() => {})
  }
}

class RealtimeLink implements Link {
  private readonly supabase: Supabase
  private readonly conversations = new Map<string, Followed>()
  private api!: Api
  private told!: Told
  private account: Followed | undefined
  private token = ''
  private shown = Promise.resolve()
  private clock: ReturnType<typeof setInterval> | undefined

  constructor(supabase: Supabase) {
    this.supabase = supabase
  }

  start(api: Api, told: Told): void {
    this.api = api
    this.told = told
    this.account = new Followed(
      async () => (await api.get<{ realtimeTopic: string }>('/auth/me')).realtimeTopic,
      ({ event, payload }) => {
        if (event === 'conversation_updated') told.updated(payload as ConversationUpdated)
      },
    )
    this.account.joined.catch(({ code, message }) => told.error({ code, message }))
    void this.look(this.account, (error) => told.error(error))
    this.clock = setInterval(() => void this.showToken().catch(() => {}), lookEvery)
  }

  join(conversationId: string): Promise<void> {
    const followed = new Followed(
      () => this.topicOf(conversationId),
      ({ event, payload }) => {
        const { message } = payload as { message?: Message }
        if (event === 'new_message' && message) this.told.message(message)
      },
    )
    this.conversations.set(conversationId, followed)
    void this.look(followed, (error) => {
      if (!followed.once) return
      this.conversations.delete(conversationId)
      this.told.lost(conversationId, error)
    }, () => this.told.back(conversationId))
    return followed.joined
  }

  leave(conversationId: string): void {
    const followed = this.conversations.get(conversationId)
    this.conversations.delete(conversationId)
    if (followed) this.stop(followed)
  }

  send({ conversationId, ...message }: NewMessage): Promise<Message> {
    return this.api.post<Message>(`/conversations/${conversationId}/messages`, message)
  }

  close(): void {
    clearInterval(this.clock)
    this.conversations.forEach((followed) => this.stop(followed))
    this.conversations.clear()
    if (this.account) this.stop(this.account)
  }

  /** Asks for the name that the topic has now and joins it; again while that may help. */
  private async look(
    followed: Followed,
    lost: (error: { code: string; message: string }) => void,
    back: () => void = () => {},
  ): Promise<void> {
    if (followed.looking) return
    followed.looking = true
    for (let failures = 0; !followed.stopped; failures++) {
      try {
        const topic = await followed.find()
        await this.showToken()
        if (followed.stopped) break
        if (topic !== followed.topic || !followed.channel) this.follow(followed, topic, lost, back)
        break
      } catch (error) {
        const { code, message, passes } = error as ChatFailure
        if (passes) {
          await wait(pauseAfter(failures))
          continue
        }
        this.stop(followed)
        followed.reject(error)
        lost({ code, message })
      }
    }
    followed.looking = false
  }

  private follow(
    followed: Followed,
    topic: string,
    lost: Parameters<RealtimeLink['look']>[1],
    back: () => void,
  ) {
    this.drop(followed)
    followed.topic = topic
    const channel = this.supabase.channel(topic, { config: { private: true } }) as Channel
    followed.channel = channel
    const again = () => {
      if (followed.channel === channel) void this.look(followed, lost, back)
    }
    channel.on('broadcast', { event: '*' }, (heard) => {
      if (followed.channel !== channel) return
      if (heard.event === 'topic_changed') again()
      else followed.heard(heard)
    }).subscribe((status) => {
      if (followed.channel !== channel || followed.stopped) return
      if (status === 'SUBSCRIBED') {
        if (followed.once) back()
        followed.once = true
        return followed.resolve()
      }
      // A channel that was closed does not come back by itself; one that failed may, if its name
      // still holds.
      if (status === 'CLOSED') this.drop(followed)
      void wait(pauseAfter(0)).then(() => {
        if (!followed.stopped && (followed.channel === channel || !followed.channel)) {
          void this.look(followed, lost, back)
        }
      })
    })
  }

  private stop(followed: Followed) {
    followed.stopped = true
    this.drop(followed)
  }

  private drop(followed: Followed) {
    const { channel } = followed
    followed.channel = undefined
    if (channel) void this.supabase.removeChannel(channel as never).catch(() => {})
  }

  private async showToken() {
    const token = await this.api.accessToken()
    if (token !== this.token) {
      this.token = token
      this.shown = Promise.resolve(this.supabase.realtime.setAuth())
    }
    // Also for who comes while another shows it: a channel must not be joined without.
    await this.shown
  }

  /** The name is in the list of conversations, newest first. */
  private async topicOf(conversationId: string): Promise<string> {
    type Page = { items: { id: string; realtimeTopic: string }[]; nextCursor: string | null }
    let cursor = ''
    do {
      const query = cursor && `&cursor=${encodeURIComponent(cursor)}`
      const page = await this.api.get<Page>(`/conversations?limit=50${query}`)
      const found = page.items.find(({ id }) => id === conversationId)
      if (found) return found.realtimeTopic
      cursor = page.nextCursor ?? ''
    } while (cursor)
    throw new ChatFailure({ code: 'conversation_not_found' })
  }
}
