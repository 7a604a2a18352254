// The queue for searches. Searches use at most half of the database connections, so that sign-ins, payments
// and messages still get one. A search that would have to wait too long is refused. If there are replicas,
// anonymous users have a separate queue.
import type { ApiContext } from '../../_shared/caller/context.ts'
import { replicaSlots } from '../../_shared/database/replicas.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'
import { withTimeout } from '../../_shared/errors/timeout.ts'
import { env } from '../../_shared/settings/env.ts'

const maxWait = 800 * env.patience

type Queue = { slots: () => number; taken: number; waiting: (() => void)[] }

const queue = (slots: Queue['slots']): Queue => ({ slots, taken: 0, waiting: [] })
const atPrimary = queue(() => Math.max(1, Math.floor(env.databasePool / 2)))
const atReplicas = queue(replicaSlots)

/** Running searches of anonymous users, by language, path and query. */
const inFlight = new Map<string, Promise<string>>()

/**
 * Runs a search as soon as a slot is free. Throws 503 if that takes more than about a second. Concurrent
 * identical searches of anonymous users share one result.
 */
export async function inSearchQueue(
  c: ApiContext,
  work: () => Promise<string>,
): Promise<string> {
  const { url, method } = c.req
  if (c.get('caller').role !== 'anon' || method === 'POST') return await withSlot(c, work)
  const question = (c.get('english') ? 'en ' : '') + url.slice(url.indexOf('/', 8))
  let answer = inFlight.get(question)
  if (!answer) {
    answer = withSlot(c, work).finally(() => inFlight.delete(question))
    inFlight.set(question, answer)
  }
  return await answer
}

async function withSlot<T>(c: ApiContext, work: () => Promise<T>): Promise<T> {
  const isGuest = c.get('caller').role === 'anon'
  const queue = isGuest && replicaSlots() ? atReplicas : atPrimary
  if (queue.taken < queue.slots()) queue.taken++
  else await freeSlot(queue)
  try {
    return await work()
  } finally {
    const next = queue.waiting.shift()
    if (next) next()
    else queue.taken--
  }
}

async function freeSlot({ waiting }: Queue): Promise<void> {
  let enter!: () => void
  const entered = new Promise<void>((resolve) => waiting.push(enter = resolve))
  try {
    await withTimeout(maxWait, entered, 'service_unavailable')
  } catch {
    const index = waiting.indexOf(enter)
    // `enter` was called just before the timeout, so this search already has the slot.
    if (index < 0) return
    waiting.splice(index, 1)
    throw new Refusal('service_unavailable', { retryAfter: 2 })
  }
}
