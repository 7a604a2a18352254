import { Agent, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'

const agent = new Agent({ keepAlive: true, maxFreeSockets: 256, scheduling: 'lifo' })

// Belong to one connection, not to the message; Node writes its own.
const perHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'expect', 'upgrade'])

/** The headers as they came, less those in without (lower case). */
function headersWithout(raw: string[], without: Set<string>): string[] {
  const kept: string[] = []
  for (let index = 0; index < raw.length; index += 2) {
    if (!without.has(raw[index]!.toLowerCase())) kept.push(raw[index]!, raw[index + 1]!)
  }
  return kept
}

const forwarded = new Set([...perHop, 'x-forwarded-for'])

export type Target = { port: number; path: string; peer: string; unavailable: () => void }

/** Streams a request to a local port and the answer back, as they come. */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { port, path, peer, unavailable }: Target,
  replaced: Record<string, string> = {},
): void {
  const names = Object.keys(replaced)
  const without = names.length === 0 ? forwarded : new Set([...forwarded, ...names])
  const headers = headersWithout(request.rawHeaders, without)
  headers.push('X-Forwarded-For', peer)
  for (const name of names) headers.push(name, replaced[name]!)
  const upstream = send({
    agent,
    host: '127.0.0.1',
    port,
    method: request.method,
    path,
    // Every pair as it came, doubles included: this is how both sides read the same message.
    headers: headers as never,
    setHost: false,
  })
  upstream.on('response', (answer) => {
    response.writeHead(
      answer.statusCode!,
      answer.statusMessage,
      headersWithout(answer.rawHeaders, perHop),
    )
    answer.pipe(response)
    // An answer cut short must look cut short.
    answer.on('error', () => response.destroy())
  })
  upstream.on('error', () => {
    if (response.headersSent || response.destroyed) response.destroy()
    else unavailable()
  })
  response.on('close', () => {
    if (!response.writableFinished) upstream.destroy()
  })
  if (hasBody(request)) request.pipe(upstream)
  else upstream.end()
}

function hasBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

/** Joins an upgraded connection (WebSocket) with one to a local port. */
export function forwardUpgrade(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  { port, path, peer, unavailable }: Target,
): void {
  const headers = headersWithout(request.rawHeaders, new Set(['x-forwarded-for']))
  headers.push('X-Forwarded-For', peer)
  let text = `${request.method} ${path} HTTP/1.1\r\n`
  for (let index = 0; index < headers.length; index += 2) {
    text += `${headers[index]}: ${headers[index + 1]}\r\n`
  }
  const upstream = connect(port, '127.0.0.1', () => {
    upstream.write(`${text}\r\n`, 'latin1')
    if (head.length > 0) upstream.write(head)
    socket.pipe(upstream).pipe(socket)
  })
  let open = false
  upstream.on('connect', () => (open = true))
  upstream.on('error', () => open ? socket.destroy() : unavailable())
  upstream.on('close', () => socket.destroy())
  socket.on('error', () => upstream.destroy())
  socket.on('close', () => upstream.destroy())
}
