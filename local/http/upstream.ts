// A small HTTP/1.1 client for the servers behind the proxy. Node's client costs four times as much per
// request, and every benchmark goes through the proxy. This client trusts the servers, keeps connections
// alive, and reads bodies that have a content length, are chunked, or last until the connection closes.
import { connect, type Socket } from 'node:net'

export type Exchange = {
  /** Responses to HEAD have no body, whatever their headers say. */
  head: boolean
  onHead: (status: number, reason: string, headers: string[]) => void
  /** Returns false to pause the connection until its socket is resumed. */
  onBody: (chunk: Buffer, last: boolean) => boolean
  /** Called if the connection fails before or during the response. */
  onFailure: () => void
}

const lineEnd = Buffer.from('\r\n')
const headEnd = Buffer.from('\r\n\r\n')
const none = Buffer.alloc(0)
const maxIdlePerPort = 256
/** A busy connection is closed after this many milliseconds without data, as on hosted projects. */
const idleTimeout = 150_000

type State = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer' | 'close'

const idle = new Map<number, Connection[]>()
const busy = new Set<Connection>()

setInterval(() => {
  for (const connection of busy) {
    if (Date.now() - connection.lastActivity > idleTimeout) connection.socket.destroy()
  }
}, 5000).unref()

export class Connection {
  readonly port: number
  readonly socket: Socket
  lastActivity = 0
  private exchange: Exchange | undefined
  private state: State = 'head'
  private buffer: Buffer = none
  private left = 0
  private keep = true
  private sent = false

  constructor(port: number) {
    this.port = port
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.on('data', (chunk: Buffer) => this.read(chunk))
    this.socket.on('error', () => {})
    this.socket.on('close', () => this.closed())
  }

  static to(port: number): Connection {
    return idle.get(port)?.pop() ?? new Connection(port)
  }

  /** Sends the head of a request; its body, if any, is then written to the socket. */
  begin(exchange: Exchange, head: string, complete: boolean): void {
    this.exchange = exchange
    this.state = 'head'
    this.sent = complete
    this.keep = true
    this.lastActivity = Date.now()
    busy.add(this)
    this.socket.write(head, 'latin1')
  }

  /** Records that the whole request has been sent, so the connection can be reused after the response. */
  complete(): void {
    this.sent = true
  }

  /** Stops waiting for a response, unless the connection already serves another exchange. */
  abandon(exchange: Exchange): void {
    if (this.exchange !== exchange) return
    this.exchange = undefined
    this.socket.destroy()
  }

  private read(chunk: Buffer) {
    this.lastActivity = Date.now()
    if (!this.exchange) return this.socket.destroy()
    this.buffer = this.buffer.length === 0 ? chunk : Buffer.concat([this.buffer, chunk])
    while (this.exchange && this.step()) { /* step() reads one part of the answer */ }
  }

  /** Reads the next part of the answer from the buffer; returns false if more must arrive first. */
  private step(): boolean {
    switch (this.state) {
      case 'head':
        return this.readHead()
      case 'length':
      case 'chunk':
        return this.readBody()
      case 'chunk-size':
        return this.readLine((line) => {
          this.left = parseInt(line, 16)
          if (Number.isNaN(this.left)) this.socket.destroy()
          this.state = this.left === 0 ? 'trailer' : 'chunk'
        })
      case 'chunk-end':
        return this.readLine(() => (this.state = 'chunk-size'))
      case 'trailer':
        return this.readLine((line) => line === '' && this.finish(none))
      case 'close':
        if (this.buffer.length > 0) this.give(this.take(this.buffer.length))
        return false
    }
  }

  private readHead(): boolean {
    const end = this.buffer.indexOf(headEnd)
    if (end < 0) return false
    const lines = this.buffer.toString('latin1', 0, end).split('\r\n')
    this.buffer = this.buffer.subarray(end + 4)
    const status = Number(lines[0]!.slice(9, 12))
    // Interim responses such as 100 Continue are skipped.
    if (status < 200) return true
    const headers = this.readHeaders(lines)
    if (this.exchange!.head || status === 204 || status === 304) {
      this.state = 'length'
      this.left = 0
    }
    this.exchange!.onHead(status, lines[0]!.slice(13), headers)
    if (this.state === 'length' && this.left === 0) this.finish(none)
    return true
  }

  private readHeaders(lines: string[]): string[] {
    const headers: string[] = []
    let length: number | undefined
    let chunked = false
    for (let index = 1; index < lines.length; index++) {
      const line = lines[index]!
      const colon = line.indexOf(':')
      const name = line.slice(0, colon)
      const value = line.slice(colon + 1).trim()
      const lower = name.toLowerCase()
      if (lower === 'content-length') length = Number(value)
      else if (lower === 'transfer-encoding') chunked = /chunked/i.test(value)
      else if (lower === 'connection' || lower === 'keep-alive') {
        if (/close/i.test(value)) this.keep = false
        continue
      }
      headers.push(name, value)
    }
    this.state = chunked ? 'chunk-size' : length === undefined ? 'close' : 'length'
    this.left = length ?? 0
    return headers
  }

  private readBody(): boolean {
    const available = Math.min(this.left, this.buffer.length)
    if (available === 0) return false
    this.left -= available
    const bytes = this.take(available)
    if (this.left > 0) this.give(bytes)
    else if (this.state === 'length') this.finish(bytes)
    else {
      this.state = 'chunk-end'
      this.give(bytes)
    }
    return true
  }

  private readLine(use: (line: string) => void): boolean {
    const end = this.buffer.indexOf(lineEnd)
    if (end < 0) return false
    const line = this.buffer.toString('latin1', 0, end)
    this.buffer = this.buffer.subarray(end + 2)
    use(line)
    return true
  }

  private take(count: number): Buffer {
    const bytes = this.buffer.subarray(0, count)
    this.buffer = this.buffer.subarray(count)
    return bytes
  }

  private give(bytes: Buffer) {
    if (!this.exchange!.onBody(bytes, false)) this.socket.pause()
  }

  /** Ends the exchange. The connection becomes idle if it can be reused, and is closed otherwise. */
  private finish(bytes: Buffer) {
    const exchange = this.exchange!
    this.exchange = undefined
    busy.delete(this)
    const idleConnections = idle.get(this.port) ?? []
    const clean = this.keep && this.sent && this.buffer.length === 0
    // If this response was paused, the next one must not be.
    this.socket.resume()
    if (clean && idleConnections.length < maxIdlePerPort) {
      idle.set(this.port, idleConnections)
      idleConnections.push(this)
    } else this.socket.destroy()
    exchange.onBody(bytes, true)
  }

  private closed() {
    busy.delete(this)
    const idleConnections = idle.get(this.port)
    const index = idleConnections?.indexOf(this) ?? -1
    if (index >= 0) idleConnections!.splice(index, 1)
    if (this.exchange && this.state === 'close' && !this.socket.errored) this.finish(none)
    else this.exchange?.onFailure()
    this.exchange = undefined
  }
}
