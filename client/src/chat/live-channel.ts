/** The live channel of a conversation, where its two sides see one another and who is typing. */
import { type Channel, FollowedChannel, type Supabase } from './channel.ts'
import type { LinkListener } from './link.ts'

type Options = {
  conversationId: string
  /** One's own, under which one is present there. */
  identityId: string
  sharePresence: boolean
  listener: LinkListener
}

export function liveChannel(supabase: Supabase, options: Options): FollowedChannel {
  const { conversationId, identityId, sharePresence, listener } = options
  const others = (channel: Channel) =>
    Object.keys(channel.presenceState()).filter((id) => id !== identityId)
  return new FollowedChannel(supabase, {
    config: { presence: { key: identityId } },
    listen: (channel) => {
      // Nothing else there counts: participants send it themselves.
      channel.on('broadcast', { event: 'typing' }, () => listener.typing(conversationId))
      channel.on('presence', { event: 'sync' }, () => {
        listener.presence(conversationId, others(channel).length > 0)
      })
    },
    joined: (channel) => {
      if (sharePresence) void channel.track({})
    },
    interrupted: () => listener.presence(conversationId, false),
  })
}
