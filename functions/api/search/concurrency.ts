/**
 * Searches and the like come in crowds. They take at most half of the database connections, so that
 * signing in, paying and writing messages go on whatever happens to them; who would wait for long
 * is told to come back.
 */
import { env } from '../../_shared/env.ts'
import { Refusal } from '../../_shared/problem.ts'

const places = Math.max(1, Math.floor(env.databasePool / 2))
const patience = 800

let taken = 0
const waiting: (() => void)[] = []

/** Does the work when there is a place for it. 503 service_unavailable after 0.8 s of waiting. */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (taken < places) taken++
  else await place()
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else taken--
  }
}

function place(): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(enter), 1)
      reject(new Refusal('service_unavailable', { retryAfter: 2 }))
    }, patience)
    waiting.push(enter)
  })
}
