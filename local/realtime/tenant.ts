// The connection to the project's database: opened by the first join, which waits neither for the
// partitions of realtime.messages nor for the stream. A stream that is lost is restarted some seconds
// later; a connection that has ended, while sockets stay, by the next join. Clients do not learn of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Authorization } from './authorization.ts'
import { openStream, type Row, type Stream } from './stream.ts'

/** Between these, and at most three times as long as the delay before. */
export type ReconnectDelays = { min: number; max: number }

export type Tenant = ReturnType<typeof openTenant>

export function openTenant(
  databaseUrl: string,
  authorization: Authorization,
  { delays, partitionDelay, onRow }: {
    delays: ReconnectDelays
    partitionDelay: number
    onRow: (row: Row) => void
  },
) {
  let session: AbortController | undefined
  let stream: Stream | undefined
  let held = Promise.resolve()
  let partitionsHeld = Promise.resolve()

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
    /** Whether messages from the database arrive now. */
    get streaming(): boolean {
      return stream !== undefined
    },
    /** Connects if necessary; returns false if the database does not answer. */
    async connect(): Promise<boolean> {
      if (session) return true
      if (!await authorization.answers()) return false
      if (session) return true
      const ensure = () => void partitionsHeld.then(authorization.ensurePartitions)
      setTimeout(ensure, partitionDelay).unref()
      void listen(session = new AbortController())
      return true
    },
    /** Closes it until the next join: unused, or for tests, since the real one can end with sockets. */
    disconnect(): void {
      session?.abort()
      session = undefined
      stream?.close()
      stream = undefined
    },
    /** For tests: breaks the stream. */
    breakStream(): void {
      stream?.close()
    },
    /** For tests: starts no stream until the returned function is called. */
    holdStream(): () => void {
      let release!: () => void
      held = new Promise((resolve) => (release = resolve))
      return release
    },
    /** For tests: makes no partitions until the returned function is called. */
    holdPartitions(): () => void {
      let release!: () => void
      partitionsHeld = new Promise((resolve) => (release = resolve))
      return release
    },
  }
}
