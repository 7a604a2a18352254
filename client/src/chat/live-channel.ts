// A conversation's live channel, which carries presence and typing.
import { type Broadcast, FollowedChannel, type Supabase } from './channel.ts'
import type { LinkListener } from './link.ts'

type Options = {
  conversationId: string
  /** The identity of this user, used as presence key on the channel. */
  identityId: string
  /** The identity of the other side. Everybody else on the channel is another device of this user. */
  peerId: string
  sharePresence: boolean
  listener: LinkListener
}

export function liveChannel(supabase: Supabase, options: Options): FollowedChannel {
  const { conversationId, identityId, peerId, sharePresence, listener } = options
  return new FollowedChannel(supabase, {
    config: { presence: { key: identityId } },
    listen: (channel) => {
      // All other events on this channel are ignored: participants may send on it, so they could forge any
      // event.
      channel.on('broadcast', { event: 'typing' }, ({ payload }: Broadcast) => {
        const by: unknown = payload?.identityId
        if (typeof by === 'string' && by.toLowerCase() === peerId) listener.typing(conversationId)
      })
      channel.on('presence', { event: 'sync' }, () => {
        const present = Object.keys(channel.presenceState()).map((key) => key.toLowerCase())
        listener.presence(conversationId, present.includes(peerId))
      })
    },
    joined: (channel) => {
      if (sharePresence) void channel.track({})
    },
    interrupted: () => listener.presence(conversationId, false),
  })
}
