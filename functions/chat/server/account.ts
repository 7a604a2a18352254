// Serves all sockets of an account in this process from a single Realtime channel: messages, conversation
// changes, notifications and the loss of rights.
import type { Refusal } from '../../_shared/errors/refusal.ts'
import { ConversationStates, stateOf } from '../conversation-states.ts'
import type {
  ConversationUpdated,
  Message,
  MessageHidden,
  MessageRead,
  NotificationsChanged,
  Notified,
} from '../protocol.ts'
import { checkAccess, sendMissedUpdates } from './access-check.ts'
import { callFor } from './database.ts'
import type {
  FollowedAccount,
  Live,
  LiveConversation,
  LiveListener,
  MissedUpdatesQuery,
  Opened,
  OpenSession,
} from './interfaces.ts'
import { LiveChannel } from './live-channel.ts'
import { isTemporary } from './refusals.ts'
import { TopicSubscription } from './topic-subscription.ts'

type NewMessage = {
  identityId: string
  message: Message
  conversation: { id: string } & Omit<ConversationUpdated, 'conversationId' | 'identityId'>
}

/** True if an update only reports a message sent by the account itself. Such updates are not forwarded. */
const isOwnMessage = (
  { lastMessage, unread, changedAt }: ConversationUpdated,
  known: ConversationUpdated | undefined,
) =>
  lastMessage?.mine && lastMessage.createdAt === changedAt &&
  (!known || known.unread === unread && !known.archived)

export class Account extends TopicSubscription implements FollowedAccount {
  /** In the order in which they connected. */
  readonly sessions = new Set<OpenSession>()
  readonly states = new ConversationStates()
  private readonly live = new Map<string, LiveChannel>()
  /** Only changes after this time are sent, because clients have already read the earlier ones. */
  private readonly openedAt: string
  private shownToken = ''

  constructor({ realtimeTopic, openedAt }: Opened) {
    super(realtimeTopic)
    this.openedAt = openedAt
  }

  /** Adds an admitted socket. `topic` is the account's channel at the time it was admitted. */
  add(session: OpenSession, topic: string): void {
    this.sessions.add(session)
    if (this.sessions.size === 1) return this.start()
    this.tokenRenewed()
    if (topic !== this.topic) void this.checkTopic()
  }

  /** Removes a socket. If it was the last, stops following the account and returns true. */
  remove(session: OpenSession): boolean {
    if (!this.sessions.delete(session) || this.sessions.size > 0) return false
    this.stop()
    return true
  }

  /** Gives the channels the token that expires last. */
  tokenRenewed(): void {
    if (this.token() === this.shownToken) return
    this.renewToken(this.shownToken = this.token())
    this.live.forEach((channel) => channel.renewToken(this.shownToken))
  }

  listen(
    listener: LiveListener,
    conversation: LiveConversation,
    { token, share }: { token: string; share: boolean },
  ): Live {
    const { conversationId, liveTopic } = conversation
    const channel = this.live.get(conversationId) ?? new LiveChannel(conversation)
    this.live.set(conversationId, channel)
    channel.follow(liveTopic, token)
    channel.add(listener, share)
    return channel
  }

  leave(listener: LiveListener, conversationId: string): void {
    if (this.live.get(conversationId)?.remove(listener)) this.live.delete(conversationId)
  }

  override start(): void {
    this.shownToken = this.token()
    super.start()
  }

  protected token() {
    const all = [...this.sessions].map(({ credentials }) => credentials)
    const [longest] = all.sort((one, other) => other.expires - one.expires)
    return longest?.caller?.token ?? ''
  }

  /**
   * Queries the topic separately for each session, because a session that has ended must not receive events
   * of the new channel.
   */
  protected async currentTopic() {
    const sessions = new Map(
      [...this.sessions].map(({ credentials }) => [credentials.sessionId, credentials]),
    )
    let topic: string | undefined
    let failure: Refusal | undefined
    await Promise.all([...sessions.values()].map(async ({ sessionId, caller }) => {
      try {
        const opened = callFor<Opened, 'open_socket'>(caller!, 'open_socket', {})
        topic = (await opened).realtimeTopic
      } catch (error) {
        const refusal = error as Refusal
        if (isTemporary(refusal.code) || !failure) failure = refusal
        if (!isTemporary(refusal.code)) this.endSession(sessionId, refusal)
      }
    }))
    if (failure && (!topic || isTemporary(failure.code))) throw failure
    return topic!
  }

  private endSession(sessionId: string, refusal: Refusal) {
    for (const session of [...this.sessions]) {
      if (session.credentials.sessionId === sessionId) session.end(refusal)
    }
  }

  protected resumed(seconds: number) {
    void checkAccess([...this.sessions])
    void sendMissedUpdates([this], seconds)
  }

  missedUpdatesQuery(seconds: number): MissedUpdatesQuery {
    const [session] = this.sessions
    return {
      accountId: session?.credentials.caller?.sub,
      seconds,
      openedAt: this.openedAt,
    }
  }

  protected received(event: string, payload: unknown) {
    if (event === 'new_message') {
      const { identityId, message, conversation } = payload as NewMessage
      this.sessions.forEach((session) => session.messageStored(message))
      const { id: conversationId, ...state } = conversation
      this.conversationUpdated({ ...state, conversationId, identityId })
    } else if (event === 'conversation_updated') {
      this.conversationUpdated(payload as ConversationUpdated)
    } else if (event === 'message_read') {
      const { conversationId, identityId, upToSeq } = payload as MessageRead
      const read = { conversationId, identityId, upToSeq }
      this.sessions.forEach((session) => session.messageRead(read))
      this.conversationUpdated(payload as ConversationUpdated)
    } else if (event === 'notification') {
      const { identityId, notification, unread } = payload as Notified
      const notified = { identityId, notification, unread }
      this.sessions.forEach((session) => session.notified(notified))
    } else if (event === 'notifications_changed') {
      const { unread } = payload as NotificationsChanged
      this.sessions.forEach((session) => session.notificationsChanged({ unread }))
    } else if (event === 'message_hidden') {
      const { conversationId, id, seq } = payload as MessageHidden
      this.sessions.forEach((session) => session.messageHidden({ conversationId, id, seq }))
    }
  }

  conversationUpdated(heard: ConversationUpdated): boolean {
    const { conversationId, liveTopic } = heard
    if (liveTopic) this.live.get(conversationId)?.follow(liveTopic, this.token())
    const update = stateOf(heard)
    const known = this.states.of(update.conversationId)
    const isNews = this.states.update(update)
    if (isNews && !isOwnMessage(update, known)) {
      this.sessions.forEach((session) => session.conversationUpdated(update))
    }
    return isNews
  }
}
