// Presence and typing in a conversation. All sockets of an account share one channel, in which the account
// appears under its identity. Clients receive only the presence and typing of the other side.
import type { ChannelListener, RealtimeChannel } from './realtime-channel.ts'
import { subscribe } from './realtime-connection.ts'
import type { Live, LiveConversation, LiveListener } from './interfaces.ts'

const typingEvery = 2000

/** Who is present, by presence key. Each device of a participant has its own ref. */
type Presences = Record<string, { metas: { phx_ref: string }[] } | undefined>

export class LiveChannel implements ChannelListener, Live {
  private readonly conversation: LiveConversation
  /** The sockets. The value tells whether a socket shares its presence. */
  private readonly listeners = new Map<LiveListener, boolean>()
  private channel: RealtimeChannel | undefined
  topic = ''
  private tracked = false
  private typedAt = -typingEvery
  private readonly devices = new Set<string>()
  private here: boolean | undefined

  constructor(conversation: LiveConversation) {
    this.conversation = conversation
  }

  add(listener: LiveListener, share: boolean): void {
    this.listeners.set(listener, share)
    this.trackIfShared()
    if (this.here !== undefined) listener.presence(this.conversation.peerId, this.here)
  }

  /** Removes a listener. If it was the last, leaves the channel and returns true. */
  remove(listener: LiveListener): boolean {
    this.listeners.delete(listener)
    if (this.listeners.size === 0) this.channel?.leave()
    else this.trackIfShared()
    return this.listeners.size === 0
  }

  follow(topic: string, token: string): void {
    if (topic === this.topic) return
    this.channel?.leave()
    this.interrupted()
    this.topic = topic
    const { identityId } = this.conversation
    this.channel = subscribe(topic, token, this, { presenceKey: identityId })
  }

  renewToken(token: string): void {
    this.channel?.renew(token)
  }

  typing(): void {
    const now = performance.now()
    if (now - this.typedAt < typingEvery) return
    this.typedAt = now
    const { identityId } = this.conversation
    this.channel?.send('broadcast', { type: 'broadcast', event: 'typing', payload: { identityId } })
  }

  joined(): void {
    this.tracked = false
    this.trackIfShared()
  }

  interrupted(): void {
    this.tracked = false
    this.devices.clear()
    if (this.here) this.noteHere()
  }

  /** The token has expired or the channel has a new name. The next access check will find out which. */
  refused(): void {
    this.channel = undefined
    this.topic = ''
    this.interrupted()
  }

  event(event: string, payload: unknown): void {
    const { peerId } = this.conversation
    if (event !== 'typing') return
    // Clients write to this channel directly, so the payload may be anything.
    const { identityId } = Object(payload)
    if (typeof identityId !== 'string' || identityId.toLowerCase() !== peerId) return
    this.listeners.forEach((_, listener) => listener.typing(peerId))
  }

  presenceState(state: Presences): void {
    this.devices.clear()
    this.presenceDiff(state, {})
  }

  presenceDiff(joins: Presences, leaves: Presences): void {
    for (const { phx_ref } of this.devicesIn(joins)) this.devices.add(phx_ref)
    for (const { phx_ref } of this.devicesIn(leaves)) this.devices.delete(phx_ref)
    this.noteHere()
  }

  /** The devices of the other side. The key is its identity id, in the letter case that its app uses. */
  private devicesIn(presences: Presences) {
    return Object.entries(presences)
      .filter(([key]) => key.toLowerCase() === this.conversation.peerId)
      .flatMap(([, presence]) => presence?.metas ?? [])
  }

  private noteHere() {
    const here = this.devices.size > 0
    if (here === this.here) return
    this.here = here
    this.listeners.forEach((_, listener) => listener.presence(this.conversation.peerId, here))
  }

  private trackIfShared() {
    const shared = [...this.listeners.values()].includes(true)
    if (shared === this.tracked) return
    const event = shared ? 'track' : 'untrack'
    if (this.channel?.send('presence', { type: 'presence', event, payload: {} })) {
      this.tracked = shared
    }
  }
}
