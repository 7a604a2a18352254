// Manages the connection to the project's database. The first join opens it, but waits neither for the
// partitions nor for the stream. A lost stream is restarted after some seconds, and a lost connection is
// reopened at the next join or check. Clients are not notified.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Authorization } from './authorization.ts'
import { openStream, type Row, type Stream } from './stream.ts'

/** Each delay is random: from the previous one (at first `min`) to three times as long, but at most `max`. */
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
    get streaming(): boolean {
      return stream !== undefined
    },
    /** Connects if necessary. Returns false if the database does not respond. */
    async connect(): Promise<boolean> {
      if (session) return true
      if (!await authorization.answers()) return false
      if (session) return true
      const ensure = () => void partitionsHeld.then(authorization.ensurePartitions)
      setTimeout(ensure, partitionDelay).unref()
      void listen(session = new AbortController())
      return true
    },
    /** Ends the connection until the next join. The real server may do this even while sockets are open. */
    disconnect(): void {
      session?.abort()
      session = undefined
      stream?.close()
      stream = undefined
    },
    breakStream(): void {
      stream?.close()
    },
    /** For tests: starts no stream until the returned function is called. */
    holdStream(): () => void {
      let release!: () => void
      held = new Promise((resolve) => (release = resolve))
      return release
    },
    /** For tests: creates no partitions until the returned function is called. */
    holdPartitions(): () => void {
      let release!: () => void
      partitionsHeld = new Promise((resolve) => (release = resolve))
      return release
    },
  }
}
