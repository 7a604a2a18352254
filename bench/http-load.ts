/** Generates HTTP load over plain sockets, so that the generator itself needs little CPU. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Measured = {
  perSecond: number
  p50: number
  p99: number
  failed: number
  /** CPU time of the watched process per request, in milliseconds. */
  processorMs?: number
}

const lengthOf = (head: string) => Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? NaN)

type HttpConnection = {
  /** Sends a request and resolves to whether it succeeded. Only one request at a time. */
  ask: (request: Buffer) => Promise<boolean>
  close: () => void
}

/** Opens a keep-alive connection. If the server closes it, the request fails and the next one reconnects. */
export function openConnection(url: URL): HttpConnection {
  let waiting: Buffer = Buffer.alloc(0)
  let answered: (ok: boolean) => void = () => {}
  const open = () => {
    const opened = connect(Number(url.port), url.hostname).setNoDelay(true)
    opened.on('error', () => {})
    opened.on('close', () => opened === socket && answered(false))
    opened.on('data', read)
    return opened
  }
  const read = (data: Buffer) => {
    waiting = waiting.length ? Buffer.concat([waiting, data]) : data
    const end = waiting.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = waiting.toString('latin1', 0, end)
    const whole = end + 4 + lengthOf(head)
    // Without a Content-Length, the response is chunked and ends with an empty chunk.
    const complete = Number.isNaN(whole)
      ? waiting.includes('\r\n0\r\n\r\n')
      : waiting.length >= whole
    if (!complete) return
    waiting = Buffer.alloc(0)
    answered(head.startsWith('HTTP/1.1 2'))
  }
  let socket = open()
  return {
    ask: (request) =>
      new Promise((resolve) => {
        answered = resolve
        if (!socket.writable) {
          waiting = Buffer.alloc(0)
          socket = open()
        }
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}

/** Returns the measurement with the median number of requests per second. */
export const median = (measured: Measured[]) =>
  measured.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(measured.length / 2)]!

export const percentile = (sorted: number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN

type Load = {
  connections?: number
  seconds?: number
  /** Returns the CPU time so far in milliseconds, or undefined if it is unknown. */
  processorTime?: () => number | undefined
}

/** Sends `requests` in rotation over `connections` for `seconds`. */
export async function loadHttp(
  url: string,
  requests: Buffer[],
  load: Load = {},
): Promise<Measured> {
  let turn = 0
  const connections: HttpConnection[] = []
  const measured = await measure(() => {
    const connection = openConnection(new URL(url))
    connections.push(connection)
    return () => connection.ask(requests[turn++ % requests.length]!)
  }, load)
  for (const connection of connections) connection.close()
  return measured
}

export const loadCalls = (call: () => Promise<unknown>, load: Load = {}): Promise<Measured> =>
  measure(() => () => call().then(() => true), load)

/** Measures after a warm-up of half a second. */
async function measure(
  open: () => () => Promise<boolean>,
  { connections = 16, seconds = 4, processorTime = () => undefined }: Load,
): Promise<Measured> {
  const times: number[] = []
  let failed = 0
  let counting = false
  let running = true
  const worker = async () => {
    const ask = open()
    while (running) {
      const started = performance.now()
      if (!await ask()) failed++
      if (counting) times.push(performance.now() - started)
    }
  }
  const workers = Array.from({ length: connections }, worker)
  await sleep(500)
  counting = true
  const before = processorTime()
  await sleep(seconds * 1000)
  const after = processorTime()
  counting = running = false
  await Promise.all(workers)
  const sorted = times.toSorted((a, b) => a - b)
  return {
    perSecond: Math.round(times.length / seconds),
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    failed,
    ...(after !== undefined && { processorMs: (after - before!) / times.length }),
  }
}

export function get(url: string, path: string, token?: string): Buffer {
  const { host } = new URL(url)
  const authorization = token ? `authorization: Bearer ${token}\r\n` : ''
  return Buffer.from(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${authorization}\r\n`)
}

export function post(url: string, path: string, token: string, body: unknown): Buffer {
  const { host } = new URL(url)
  const text = JSON.stringify(body)
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
}
