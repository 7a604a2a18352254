// The project's database as Realtime hears it: through a stream that the first join begins, in its
// own time, and that is begun again some seconds after it is lost. Nobody is told of a loss.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Authorization } from './authorization.ts'
import { openStream, type Row, type Stream } from './stream.ts'

/** After a loss it waits between these and up to three times as long as the last time. */
export type ReconnectDelays = { min: number; max: number }

export type Tenant = ReturnType<typeof openTenant>

export function openTenant(
  databaseUrl: string,
  authorization: Authorization,
  { delays, onRow }: { delays: ReconnectDelays; onRow: (row: Row) => void },
) {
  let session: AbortController | undefined
  let stream: Stream | undefined
  let held = Promise.resolve()

  async function listen(session: AbortController) {
    let last = delays.min
    while (!session.signal.aborted) {
      try {
        await held
        const opened = await openStream(databaseUrl, onRow)
        if (session.signal.aborted) return opened.close()
        stream = opened
        last = delays.min
        await opened.ended
        console.error('ReplicationConnectionDown: it is begun again after a pause')
      } catch (error) {
        console.error(`StartReplicationFailed: ${(error as Error).message}`)
      }
      stream = undefined
      last = last + Math.random() * (Math.min(delays.max, 3 * last) - last)
      await sleep(last, undefined, { signal: session.signal }).catch(() => {})
    }
  }

  return {
    /** Whether what the database sends now arrives. */
    get streaming(): boolean {
      return stream !== undefined
    },
    /** Connects unless it is connected; false when the database does not answer. */
    async connect(): Promise<boolean> {
      if (session) return true
      if (!await authorization.answers()) return false
      authorization.ensurePartitions()
      if (!session) void listen(session = new AbortController())
      return true
    },
    /** Ends the stream until somebody joins again. */
    disconnect(): void {
      session?.abort()
      session = undefined
      stream?.close()
      stream = undefined
    },
    /** For tests: the stream breaks. */
    breakStream(): void {
      stream?.close()
    },
    /** For tests: until it is let go, no stream begins. */
    holdStream(): () => void {
      let release!: () => void
      held = new Promise((resolve) => (release = resolve))
      return release
    },
  }
}
