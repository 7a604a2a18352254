/**
 * The queue of searches. They take at most half of the database connections, so that signing in, paying
 * and writing messages go on however many search at once. Whoever would wait for long is refused.
 */
import type { ApiContext } from '../../_shared/context.ts'
import { env } from '../../_shared/env.ts'
import { Refusal } from '../../_shared/refusal.ts'
import { withTimeout } from '../../_shared/timeout.ts'

const slots = Math.max(1, Math.floor(env.databasePool / 2))
const maxWait = 800

let taken = 0
const waiting: (() => void)[] = []

/** What guests are asking at the moment, by path and query. */
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
  if (c.get('caller').role !== 'anon' || method === 'POST') return await withSlot(work)
  const question = url.slice(url.indexOf('/', 8))
  let answer = inFlight.get(question)
  if (!answer) {
    answer = withSlot(work).finally(() => inFlight.delete(question))
    inFlight.set(question, answer)
  }
  return await answer
}

async function withSlot<T>(work: () => Promise<T>): Promise<T> {
  if (taken < slots) taken++
  else await freeSlot()
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else taken--
  }
}

async function freeSlot(): Promise<void> {
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
