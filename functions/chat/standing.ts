/**
 * Looks every few seconds whether what the sockets were allowed still holds. Realtime tells of most
 * changes at once but promises nothing; this is the promise of five seconds.
 */
import { backend, log } from './asking.ts'
import type { Session } from './session.ts'

const every = 3000
const perCall = 500

/** Sockets and conversations of which the database knows something else than the gateway. */
type Differing = { sessionId: string; conversationId: string | null }[]

export function keepStanding(sessions: Set<Session>) {
  let looking = false
  const timer = setInterval(() => {
    // While the database does not answer there is one question on its way and not many.
    if (looking) return
    looking = true
    look([...sessions].filter(({ account }) => account))
      .catch((error) => log({ call: 'socket_standing', cause: String(error.message) }))
      .finally(() => (looking = false))
  }, every)
  return { stop: () => clearInterval(timer) }
}

async function look(all: Session[]) {
  for (let at = 0; at < all.length; at += perCall) await compare(all.slice(at, at + perCall))
}

/** Looks for what these know otherwise than the database, and has it asked anew. */
export async function compare(sessions: Session[]): Promise<void> {
  const sockets = sessions.map((session) => ({
    accountId: session.caller!.sub,
    sessionId: session.sessionId,
    topic: session.account!.topic,
    conversations: [...session.conversations.values()].map(({ id, feed }) => ({
      id,
      seq: feed.last,
    })),
  }))
  const differing = await backend<Differing>('socket_standing', { sockets })
  for (const { sessionId, conversationId } of differing) {
    for (const session of sessions) {
      if (session.sessionId !== sessionId) continue
      if (conversationId === null) void session.account?.look()
      else void session.conversations.get(conversationId)?.look()
    }
  }
}
