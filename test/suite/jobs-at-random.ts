// Runs the jobs at random moments, in addition to the stack's own scheduler, to find tests that pass only
// while no job runs.
import { setTimeout as sleep } from 'node:timers/promises'
import { drawsOf } from '../../local/processes/random.ts'

type Project = { url: string; secretKey: string }

export function jobsAtRandom({ url, secretKey }: Project, seed: number): () => void {
  const draw = drawsOf(seed)
  const stopped = new AbortController()
  const { signal } = stopped
  const run = async () => {
    while (!signal.aborted) {
      await sleep(500 + 9500 * draw(), undefined, { signal })
      // A job may fail while a test has stopped parts of the stack; that test handles it.
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
