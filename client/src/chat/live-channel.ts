/** The live channel of a conversation, where its two sides see one another and who is typing. */
import { type Broadcast, FollowedChannel, type Supabase } from './channel.ts'
import type { LinkListener } from './link.ts'

type Options = {
  conversationId: string
  /** One's own, under which one is present there. */
  identityId: string
  /** Of the other side: whoever else is there or writing is another device of one's own. */
  peerId: string
  sharePresence: boolean
  listener: LinkListener
}

export function liveChannel(supabase: Supabase, options: Options): FollowedChannel {
  const { conversationId, identityId, peerId, sharePresence, listener } = options
  return new FollowedChannel(supabase, {
    config: { presence: { key: identityId } },
    listen: (channel) => {
      // Nothing else there counts: participants send it themselves.
      channel.on('broadcast', { event: 'typing' }, ({ payload }: Broadcast) => {
        if (payload?.identityId === peerId) listener.typing(conversationId)
      })
      channel.on('presence', { event: 'sync' }, () => {
        listener.presence(conversationId, peerId in channel.presenceState())
      })
    },
    joined: (channel) => {
      if (sharePresence) void channel.track({})
    },
    interrupted: () => listener.presence(conversationId, false),
  })
}
