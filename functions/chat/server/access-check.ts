// Checks regularly in the database whether each socket still has its rights and has received everything,
// because Realtime does not guarantee delivery and can go silent. A lost right takes effect within 5 s, and a
// missed change is sent within 30 s. Tokens are verified again whenever their keys are fetched again.
import { backend } from '../../_shared/database/db.ts'
import { callFailed } from '../../_shared/errors/alarms.ts'
import { log } from '../../_shared/errors/log.ts'
import { causeOf } from '../../_shared/errors/refusal.ts'
import { env } from '../../_shared/settings/env.ts'
import type { ConversationUpdated } from '../protocol.ts'
import { lateUpdates } from './figures.ts'
import type { FollowedAccount, OpenSession } from './interfaces.ts'
import { times } from './times.ts'

// In seconds. A transaction may commit this long after the timestamps that it writes.
const lateBy = 60
const perCall = 50

/** Sockets and conversations whose state in the database differs from what the gateway knows. */
type Differing = { sessionId: string; conversationId: string | null; lastSeq: number | null }[]

type MissedUpdates = (ConversationUpdated & { accountId: string })[]

export function startAccessChecks(sessions: ReadonlySet<OpenSession>) {
  const accounts = () => [...new Set([...sessions].flatMap(({ account }) => account ?? []))]
  const { accessEvery, updatesEvery } = times
  const updatesOf = updatesEvery / 1000 + lateBy
  const timers = [
    repeat(
      accessEvery,
      () => inBatches([...sessions].filter(({ account }) => account), checkAccess),
    ),
    repeat(
      updatesEvery,
      () => inBatches(accounts(), (batch) => sendMissedUpdates(batch, updatesOf)),
    ),
    repeat(Math.max(env.jwksMaxAge, accessEvery), async () => {
      for (const session of sessions) await session.checkToken()
    }),
  ]
  return { stop: () => timers.forEach(clearInterval) }
}

/** Runs a check at an interval, but skips a run while the previous one is still waiting for the database. */
function repeat(every: number, check: () => Promise<void>) {
  let checking = false
  return setInterval(() => {
    if (checking) return
    checking = true
    void check().finally(() => (checking = false))
  }, every)
}

async function inBatches<T>(all: T[], check: (batch: T[]) => Promise<void>) {
  for (let at = 0; at < all.length; at += perCall) await check(all.slice(at, at + perCall))
}

export async function checkAccess(sessions: OpenSession[]): Promise<void> {
  const sockets = sessions.map(({ credentials, account, conversations }) => ({
    accountId: credentials.caller!.sub,
    sessionId: credentials.sessionId,
    topic: account!.topic,
    conversations: [...conversations.values()]
      .map(({ id, lastSeq, liveTopic }) => ({ id, seq: lastSeq, liveTopic })),
  }))
  const differing = await rowsOf<Differing>('changed_sockets', { sockets })
  for (const { sessionId, conversationId, lastSeq } of differing) {
    for (const session of sessions) {
      if (session.credentials.sessionId !== sessionId) continue
      if (conversationId === null) void session.account?.checkTopic()
      else if (lastSeq === null) void session.conversations.get(conversationId)?.check()
      // The message is usually about to arrive, so the feed waits briefly before it reads the history.
      else session.conversations.get(conversationId)?.reaches(lastSeq)
    }
  }
}

export async function sendMissedUpdates(
  accounts: FollowedAccount[],
  seconds: number,
): Promise<void> {
  const byId = new Map(accounts.map((account) => {
    const query = account.missedUpdatesQuery(seconds)
    return [query.accountId, { account, query }]
  }))
  const questions = [...byId.values()].map(({ query }) => query)
  for (const missed of await rowsOf<MissedUpdates>('missed_updates', { questions })) {
    if (byId.get(missed.accountId)?.account.conversationUpdated(missed)) lateUpdates.add()
  }
}

/** If the call fails, returns no rows. The next check tries again. */
async function rowsOf<Rows extends unknown[]>(
  name: 'changed_sockets' | 'missed_updates',
  args: Record<string, unknown>,
): Promise<Rows> {
  try {
    return await backend<Rows>(name, args)
  } catch (error) {
    callFailed(name, error as Error)
    log('warn', { call: name, cause: causeOf(error as Error) })
    return [] as unknown as Rows
  }
}
