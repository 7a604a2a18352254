/**
 * Jobs at moments that nobody expects, besides those of the stack's own clock: a test that holds only while
 * none runs is found.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { drawsOf } from '../../local/processes/random.ts'

type Project = { url: string; secretKey: string }

/** Calls them every few seconds, as the seed draws, until it is stopped. */
export function jobsAtRandom({ url, secretKey }: Project, seed: number): () => void {
  const draw = drawsOf(seed)
  const stopped = new AbortController()
  const { signal } = stopped
  const run = async () => {
    while (!signal.aborted) {
      await sleep(500 + 9500 * draw(), undefined, { signal })
      // What answers while a test has stopped the stack's parts is that test's business.
      await fetch(`${url}/functions/v1/jobs`, {
        method: 'POST',
        headers: { apikey: secretKey },
        signal,
      }).then((answer) => answer.body?.cancel(), () => {})
    }
  }
  run().catch(() => {})
  return () => stopped.abort()
}
