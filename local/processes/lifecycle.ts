import type { Server as HttpServer } from 'node:http'
import type { Server } from 'node:net'

/** The line on stderr that tells the supervisor that a child is ready. */
export const readyLine = '@ready'

/** How long a stop may take, in milliseconds. A stop without progress is cut off sooner (launch.ts). */
export const longestStop = 20_000

/** Ends this process when its stdin closes, which happens however the supervisor ends. */
export function endWithSupervisor(stop: () => Promise<unknown>): void {
  let stopping = false
  const end = () => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(0), longestStop).unref()
    stop().then(() => process.exit(0), () => process.exit(1))
  }
  process.stdin.on('end', end).on('error', end).resume()
  process.on('SIGTERM', end)
  // Ctrl-C in a terminal reaches every process, but the supervisor decides when to stop.
  process.on('SIGINT', () => {})
}

export function listen(server: Server, port: number, host = '127.0.0.1'): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, 4096, () => resolve())
  })
}

/** Closes the server after its current requests, without waiting for idle connections. */
export function close(server: HttpServer): Promise<void> {
  const clock = setInterval(() => server.closeIdleConnections(), 50)
  return new Promise((resolve) => {
    server.close(() => {
      clearInterval(clock)
      resolve()
    })
    server.closeIdleConnections()
  })
}
