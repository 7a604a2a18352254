/**
 * Looks by itself whether what the sockets were allowed still holds, and whether they were told what
 * there is to tell. Realtime tells of most changes at once but promises nothing, and may be deaf
 * without a word: these are the promises of 5 and of 30 seconds. One question for all of them.
 */
import type { Account } from './account.ts'
import { backend, log } from './asking.ts'
import type { ConversationUpdated } from '../protocol.ts'
import type { Session } from './session.ts'

const rightsEvery = 3000
const newsEvery = 25_000
// What was stored may come to light a while after its time.
const newsOf = newsEvery / 1000 + 60
const perCall = 500

/** Sockets and conversations of which the database knows something else than the gateway. */
type Differing = { sessionId: string; conversationId: string | null }[]

export function keepStanding(sessions: Set<Session>) {
  const timers = [
    repeat(rightsEvery, () => inParts([...sessions].filter(({ account }) => account), compare)),
    repeat(newsEvery, () => {
      const accounts = new Set([...sessions].flatMap(({ account }) => account ?? []))
      return inParts([...accounts], (part) => lookForNews(part, newsOf))
    }),
  ]
  return { stop: () => timers.forEach(clearInterval) }
}

/** While the database does not answer there is one question on its way and not many. */
function repeat(every: number, look: () => Promise<void>) {
  let looking = false
  return setInterval(() => {
    if (looking) return
    looking = true
    void look().finally(() => (looking = false))
  }, every)
}

async function inParts<T>(all: T[], look: (part: T[]) => Promise<void>) {
  for (let at = 0; at < all.length; at += perCall) await look(all.slice(at, at + perCall))
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
  const differing = await asked<Differing>('changed_sockets', { sockets })
  for (const { sessionId, conversationId } of differing) {
    for (const session of sessions) {
      if (session.sessionId !== sessionId) continue
      if (conversationId === null) void session.account?.look()
      else void session.conversations.get(conversationId)?.look()
    }
  }
}

/** Tells these of what changed in so many seconds, as far as they do not know it. */
export async function lookForNews(accounts: Account[], seconds: number): Promise<void> {
  type News = (ConversationUpdated & { accountId: string })[]
  const byId = new Map(accounts.map((account) => {
    const question = account.questions(seconds)
    return [question.accountId, { account, question }]
  }))
  const questions = [...byId.values()].map(({ question }) => question)
  for (const { accountId, ...update } of await asked<News>('missed_updates', { questions })) {
    byId.get(accountId)?.account.pass(update)
  }
}

/** Asks; what is not answered is asked again at the next look. */
async function asked<Rows extends unknown[]>(
  name: 'changed_sockets' | 'missed_updates',
  args: Record<string, unknown>,
): Promise<Rows> {
  try {
    return await backend<Rows>(name, args)
  } catch (error) {
    log({ call: name, cause: String((error as Error).message) })
    return [] as unknown as Rows
  }
}
