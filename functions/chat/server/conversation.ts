import type { Refusal } from '../../_shared/errors/refusal.ts'
import { lastSeqOf } from '../conversation-states.ts'
import { MessageFeed, type Page } from '../message-feed.ts'
import type { ConversationUpdated, Message } from '../protocol.ts'
import { callFor } from './database.ts'
import type {
  ConversationOwner,
  JoinedConversation,
  Live,
  LiveConversation,
  LiveListener,
} from './interfaces.ts'
import { isTemporary } from './refusals.ts'

type Joinable = LiveConversation & { lastSeq: number }

type JoinOptions = {
  after: number
  /** Whether the other side sees that this socket is present. */
  sharePresence: boolean
}

/** Returns the current state of the conversation. Throws 404 unless the caller takes part in it. */
export const findConversation = ({ credentials }: ConversationOwner, conversationId: string) =>
  callFor<Joinable, 'join_conversation'>(credentials.caller!, 'join_conversation', {
    conversationId,
  })

// A client that is further behind needs only the latest states.
const mostHeld = 100

export class Conversation implements JoinedConversation, LiveListener {
  readonly id: string
  private readonly feed: MessageFeed
  private readonly owner: ConversationOwner
  private readonly live: Live
  private retry: ReturnType<typeof setTimeout> | undefined
  private checking = false
  private stopped = false
  /** States held back until the messages that they refer to have been sent. */
  private held: ConversationUpdated[] = []

  constructor(
    owner: ConversationOwner,
    joinable: Joinable,
    { after, sharePresence }: JoinOptions,
  ) {
    const { conversationId } = joinable
    this.id = conversationId
    this.owner = owner
    this.live = owner.account!.listen(this, joinable, { token: this.token, share: sharePresence })
    this.feed = new MessageFeed({
      after,
      history: (afterSeq) =>
        callFor<Page, 'list_messages'>(owner.credentials.caller!, 'list_messages', {
          conversationId,
          afterSeq,
          pageSize: 50,
        }),
      deliver: (message) => {
        owner.send('new_message', { message })
        this.release()
      },
      ready: () => owner.drained(),
      failed: (error) => this.historyFailed(error as Refusal),
    })
  }

  get lastSeq(): number {
    return this.feed.last
  }

  private get token(): string {
    return this.owner.credentials.caller?.token ?? ''
  }

  get liveTopic(): string {
    return this.live.topic
  }

  say(): void {
    this.live.typing()
  }

  typing(identityId: string): void {
    this.owner.send('typing', { conversationId: this.id, identityId })
  }

  presence(identityId: string, here: boolean): void {
    this.owner.send('presence', { conversationId: this.id, identityId, here })
  }

  messageStored(message: Message): void {
    this.feed.take(message)
  }

  catchUp(seq: number): void {
    if (seq > this.feed.last) void this.feed.fill()
  }

  reaches(seq: number): void {
    // After a failed read of the history, `retry` will read it again.
    if (!this.retry) this.feed.reaches(seq)
  }

  /** Sends a state, but only after the message that it refers to. */
  updated(update: ConversationUpdated): void {
    this.held.push(update)
    if (this.held.length > mostHeld) this.held.shift()
    this.release()
    this.feed.reaches(lastSeqOf(update))
  }

  async check(): Promise<void> {
    if (this.stopped || this.checking) return
    this.checking = true
    try {
      const { lastSeq, liveTopic } = await findConversation(this.owner, this.id)
      if (this.stopped) return
      this.live.follow(liveTopic, this.token)
      this.reaches(lastSeq)
    } catch (error) {
      // After a temporary failure, access-check.ts will check again soon.
      const refusal = error as Refusal
      if (!this.stopped && !isTemporary(refusal.code)) this.owner.removeFrom(this.id, refusal)
    } finally {
      this.checking = false
    }
  }

  stop(): void {
    this.stopped = true
    this.owner.account?.leave(this, this.id)
    this.feed.stop()
    clearTimeout(this.retry)
  }

  private release() {
    while (this.held.length > 0 && lastSeqOf(this.held[0]) <= this.feed.last) {
      this.owner.send('conversation_updated', this.held.shift()!)
    }
  }

  private historyFailed({ code }: Refusal) {
    clearTimeout(this.retry)
    this.retry = setTimeout(() => {
      this.retry = undefined
      void this.feed.fill()
    }, 1000)
    if (!isTemporary(code)) void this.check()
  }
}
