import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Connection, type Exchange } from './upstream.ts'

/** The headers that describe a body. A GET or HEAD is forwarded without a body. */
const ofBody = new Set(['content-length', 'transfer-encoding'])
const takesBody = ({ method }: IncomingMessage) => method !== 'GET' && method !== 'HEAD'

// These headers belong to one connection, not to the message, and are not forwarded.
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'expect',
  'upgrade',
  'x-forwarded-for',
])

export type Target = {
  port: number
  path: string
  peer: string
  unavailable: () => void
  /** Called before data is written to the upgraded client. */
  hold?: (socket: Socket) => void
  answered?: () => void
}

/** Builds the head of the forwarded request from the received headers, including duplicates. */
function headOf(
  request: IncomingMessage,
  { path, peer }: Target,
  replaced: Record<string, string> | undefined,
): string {
  const raw = request.rawHeaders
  let head = `${request.method} ${path} HTTP/1.1\r\n`
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!
    const lower = name.toLowerCase()
    if (hopByHop.has(lower) || (replaced && lower in replaced)) continue
    if (ofBody.has(lower) && !takesBody(request)) continue
    head += `${name}: ${raw[index + 1]}\r\n`
  }
  for (const name in replaced) head += `${name}: ${replaced[name]}\r\n`
  return `${head}X-Forwarded-For: ${peer}\r\n\r\n`
}

export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  replaced?: Record<string, string>,
): void {
  const connection = Connection.to(target.port)
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const hasBody = takesBody(request) &&
    (encoding !== undefined || (length !== undefined && length !== '0'))
  const exchange: Exchange = {
    head: request.method === 'HEAD',
    onHead: (status, reason, headers) => response.writeHead(status, reason, headers),
    onBody: (chunk, last) => {
      if (last) {
        if (chunk.length > 0) response.end(chunk)
        else response.end()
        return true
      }
      if (response.write(chunk)) return true
      response.once('drain', () => connection.socket.resume())
      return false
    },
    onFailure: () => {
      // Once the headers are sent, only a broken connection shows the client that the response is incomplete.
      if (response.headersSent || response.destroyed) response.destroy()
      else target.unavailable()
    },
  }
  connection.begin(exchange, headOf(request, target, replaced), !hasBody)
  response.once('close', () => {
    if (!response.writableFinished) connection.abandon(exchange)
  })
  if (hasBody) sendBody(request, connection, encoding !== undefined)
}

function sendBody(request: IncomingMessage, connection: Connection, chunked: boolean) {
  const { socket } = connection
  const resume = () => request.resume()
  socket.on('drain', resume)
  // If the server responds early, the rest of the body is read and dropped; otherwise the client would hang.
  socket.once('close', resume)
  request.on('data', (chunk: Buffer) => {
    if (socket.destroyed) return
    if (chunked) socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
    const more = socket.write(chunk)
    if (chunked) socket.write('\r\n')
    if (!more) request.pause()
  })
  request.once('end', () => {
    if (chunked) socket.write('0\r\n\r\n')
    connection.complete()
  })
  request.once('close', () => socket.off('drain', resume).off('close', resume))
}

/** How long a client may take to read the last bytes after the server has closed its side, in ms. */
const closeDelay = 5000

export function forwardUpgrade(
  request: IncomingMessage,
  socket: Socket,
  first: Buffer,
  { port, path, peer, unavailable, hold, answered }: Target,
  replaced: Record<string, string> = {},
): void {
  const raw = request.rawHeaders
  let head = `${request.method} ${path} HTTP/1.1\r\n`
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!.toLowerCase()
    if (name === 'x-forwarded-for' || name in replaced) continue
    head += `${raw[index]}: ${raw[index + 1]}\r\n`
  }
  for (const name in replaced) head += `${name}: ${replaced[name]}\r\n`
  let open = false
  // Small frames must not wait for each other (noDelay), and a vanished client must be noticed (keep-alive).
  const options = { port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true }
  const upstream = connect(options, () => {
    open = true
    upstream.write(`${head}X-Forwarded-For: ${peer}\r\n\r\n`, 'latin1')
    if (first.length > 0) upstream.write(first)
    socket.setTimeout(0).setNoDelay(true).setKeepAlive(true, 30_000)
    if (answered) upstream.once('data', answered)
    if (hold) upstream.on('data', () => hold(socket))
    // If one side closes its end, this is passed on to the other. A slow reader slows down only its own peer.
    socket.pipe(upstream).pipe(socket)
  })
  upstream.on('error', () => open ? socket.destroy() : unavailable())
  upstream.on('close', () => {
    if (!open || socket.destroyed) return
    socket.end()
    setTimeout(() => socket.destroy(), closeDelay).unref()
  })
  socket.on('error', () => upstream.destroy())
  socket.on('close', () => upstream.destroy())
}
