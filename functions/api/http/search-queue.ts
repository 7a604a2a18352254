/**
 * The queue of searches. They take at most half of the database connections, so that signing in, paying
 * and writing messages go on however many search at once. Whoever would wait for long is refused. Guests
 * whom replicas answer have a queue of their own.
 */
import type { ApiContext } from '../../_shared/context.ts'
import { env } from '../../_shared/env.ts'
import { Refusal } from '../../_shared/refusal.ts'
import { replicaSlots } from '../../_shared/replicas.ts'
import { withTimeout } from '../../_shared/timeout.ts'

const maxWait = 800 * env.patience

type Queue = { slots: () => number; taken: number; waiting: (() => void)[] }

const queue = (slots: Queue['slots']): Queue => ({ slots, taken: 0, waiting: [] })
const atPrimary = queue(() => Math.max(1, Math.floor(env.databasePool / 2)))
const atReplicas = queue(replicaSlots)

/** What guests are asking at the moment, by language, path and query. */
const inFlight = new Map<string, Promise<string>>()

/**
 * Runs a search when a slot is free. 503 service_unavailable after a second of waiting. Guests who ask
 * the same at once share one answer, of which nothing is kept.
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
    // Called in at this very moment: the slot is its own.
    if (index < 0) return
    waiting.splice(index, 1)
    throw new Refusal('service_unavailable', { retryAfter: 2 })
  }
}
