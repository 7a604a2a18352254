/** Load on an HTTP server from plain sockets, so that the generator costs as little as it can. */
import { connect } from 'node:net'

export type Measured = { perSecond: number; p50: number; p99: number; failed: number }

const lengthOf = (head: string) => Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? NaN)

/** One keep-alive connection that sends the next request when the answer to the last is whole. */
function connection(url: URL, next: () => Buffer, done: (ms: number, ok: boolean) => void) {
  const socket = connect(Number(url.port), url.hostname)
  socket.setNoDelay(true)
  let started = 0
  let waiting = Buffer.alloc(0)
  const send = () => {
    started = performance.now()
    socket.write(next())
  }
  socket.on('connect', send)
  socket.on('data', (data) => {
    waiting = waiting.length ? Buffer.concat([waiting, data]) : data
    const end = waiting.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = waiting.toString('latin1', 0, end)
    const whole = end + 4 + lengthOf(head)
    // Without a length the answer is chunked: whole when its last chunk is.
    const complete = Number.isNaN(whole)
      ? waiting.includes('\r\n0\r\n\r\n')
      : waiting.length >= whole
    if (!complete) return
    waiting = Buffer.alloc(0)
    done(performance.now() - started, head.startsWith('HTTP/1.1 2'))
    send()
  })
  return socket
}

export const percentile = (sorted: number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN

/** Requests for `seconds` over `connections`; what came in the first half second does not count. */
export async function loadHttp(
  url: string,
  requests: Buffer[],
  { connections = 16, seconds = 4 } = {},
): Promise<Measured> {
  const times: number[] = []
  let failed = 0
  let counting = false
  let turn = 0
  const sockets = Array.from(
    { length: connections },
    () =>
      connection(new URL(url), () => requests[turn++ % requests.length], (ms, ok) => {
        if (!ok) failed++
        if (counting) times.push(ms)
      }),
  )
  await new Promise((resolve) => setTimeout(resolve, 500))
  counting = true
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  counting = false
  for (const socket of sockets) socket.destroy()
  return { ...summary(times, seconds), failed }
}

/** The same for anything that gives a promise. */
export async function loadCalls(
  call: () => Promise<unknown>,
  { connections = 16, seconds = 4 } = {},
): Promise<Measured> {
  const times: number[] = []
  let counting = false
  let running = true
  const worker = async () => {
    while (running) {
      const started = performance.now()
      await call()
      if (counting) times.push(performance.now() - started)
    }
  }
  const workers = Array.from({ length: connections }, worker)
  await new Promise((resolve) => setTimeout(resolve, 500))
  counting = true
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  counting = running = false
  await Promise.all(workers)
  return { ...summary(times, seconds), failed: 0 }
}

function summary(times: number[], seconds: number) {
  const sorted = times.toSorted((a, b) => a - b)
  return {
    perSecond: Math.round(times.length / seconds),
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  }
}

/** A GET as bytes. */
export function get(url: string, path: string, token?: string): Buffer {
  const { host } = new URL(url)
  const authorization = token ? `authorization: Bearer ${token}\r\n` : ''
  return Buffer.from(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${authorization}\r\n`)
}
