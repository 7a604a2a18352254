// The project's database as Realtime hears it: through a stream that the first join begins, in its
// own time, and that is begun again some seconds after it is lost. Nobody is told of a loss.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Authorization } from './authorization.ts'
import { openStream, type Row, type Stream } from './stream.ts'

/** After a loss it waits between these and up to three times as long as the last time. */
export type Pauses = { least: number; most: number }

export type Tenant = ReturnType<typeof openTenant>

export function openTenant(
  databaseUrl: string,
  authorization: Authorization,
  { pauses, onRow }: { pauses: Pauses; onRow: (row: Row) => void },
) {
  let awake: AbortController | undefined
  let stream: Stream | undefined
  let hold = Promise.resolve()

  async function listen(life: AbortController) {
    let last = pauses.least
    while (!life.signal.aborted) {
      try {
        await hold
        const opened = await openStream(databaseUrl, onRow)
        if (life.signal.aborted) return opened.close()
        stream = opened
        last = pauses.least
        await opened.ended
        console.error('ReplicationConnectionDown: it is begun again after a pause')
      } catch (error) {
        console.error(`StartReplicationFailed: ${(error as Error).message}`)
      }
      stream = undefined
      last = last + Math.random() * (Math.min(pauses.most, 3 * last) - last)
      await sleep(last, undefined, { signal: life.signal }).catch(() => {})
    }
  }

  return {
    /** Whether what the database sends now arrives. */
    get hears(): boolean {
      return stream !== undefined
    },
    /** Connects unless it is connected; false when the database does not answer. */
    async wake(): Promise<boolean> {
      if (awake) return true
      if (!await authorization.answers()) return false
      authorization.ensurePartitions()
      if (!awake) void listen(awake = new AbortController())
      return true
    },
    /** Ends the stream until somebody joins again. */
    rest(): void {
      awake?.abort()
      awake = undefined
      stream?.close()
      stream = undefined
    },
    /** For tests: the stream breaks. */
    lose(): void {
      stream?.close()
    },
    /** For tests: until it is let go, no stream begins. */
    hold(): () => void {
      let release!: () => void
      hold = new Promise((resolve) => (release = resolve))
      return release
    },
  }
}
