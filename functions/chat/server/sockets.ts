/**
 * WebSockets straight on TCP, for the gateway as a process of its own. The sockets that the runtime
 * makes take frames without a mask, gather fragments without a bound and cannot be told to wait;
 * these read the next frame when the last one is dealt with, so a flood stays with its sender.
 */
import { sha1 } from '@noble/hashes/legacy.js'
import { closes, limits } from '../protocol.ts'
import {
  closeFrame,
  type Frame,
  Input,
  opcodes,
  readFrame,
  Violation,
  writeFrame,
} from './socket-frames.ts'
import { answerOf, type HttpRefusal, notUpgraded } from './refusals.ts'
import type { Asked, Decision, Peer, Wire } from './wire.ts'

const headTime = 10_000
const headLimit = 16 * 1024
const pingEvery = 25_000
const silence = 60_000
const goodbyeTime = 2000
const mostFragments = 64
const pings = { perSecond: 10, burst: 50 }

const utf8 = new TextEncoder()
const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type Decide = (asked: Asked) => Decision

/** Serves sockets on a port until it is closed. */
export function serveSockets(options: { hostname: string; port: number }, decide: Decide) {
  const listener = Deno.listen({ ...options, transport: 'tcp' })
  const open = new Set<Socket>()
  const clock = setInterval(() => open.forEach((socket) => socket.beat()), pingEvery / 5)
  const accepting = (async () => {
    for (;;) {
      try {
        const conn = await listener.accept()
        void serve(conn, decide, open)
      } catch (error) {
        if (error instanceof Deno.errors.BadResource) return
        // No free file descriptor, or a client that was gone already.
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  })()
  return {
    port: (listener.addr as Deno.NetAddr).port,
    close: async () => {
      clearInterval(clock)
      listener.close()
      await accepting
    },
  }
}

async function serve(conn: Deno.TcpConn, decide: Decide, open: Set<Socket>) {
  // Whoever takes longer for the head of the upgrade is not waited for.
  const late = setTimeout(() => shut(conn), headTime)
  let socket: Socket | undefined
  try {
    conn.setNoDelay(true)
    const input = new Input(conn)
    const head = await input.takeHead(headLimit)
    clearTimeout(late)
    const request = head === undefined ? undefined : read(head)
    if (!request) return await refuse(conn, { refuse: 422, code: 'validation_failed', path: '' })
    const decision = decide(request.asked)
    if ('refuse' in decision) return await refuse(conn, decision)
    if (request.key === undefined) return await refuse(conn, notUpgraded)
    await writeAll(conn, agreement(request.key, decision.protocol))
    socket = new Socket(conn, input)
    open.add(socket)
    await socket.run(decision.open)
  } catch {
    // The connection is gone: there is nobody to tell.
  } finally {
    clearTimeout(late)
    if (socket) open.delete(socket)
    shut(conn)
  }
}

/** Reads the head of a request; `key` is there when it is a handshake as RFC 6455 wants it. */
function read(head: string): { asked: Asked; key?: string } | undefined {
  const [first, ...lines] = head.split('\r\n')
  const [method, target = '', version] = first.split(' ')
  if (version !== 'HTTP/1.1' || !URL.canParse(target, 'http://gateway')) return undefined
  const { pathname, searchParams } = new URL(target, 'http://gateway')
  const headers = new Headers()
  try {
    for (const line of lines.slice(0, lines.indexOf(''))) {
      const [name, value] = line.split(/:(.*)/s)
      headers.append(name, value.trim())
    }
  } catch {
    return undefined
  }
  const key = headers.get('sec-websocket-key') ?? ''
  const agrees = method === 'GET' && headers.get('sec-websocket-version') === '13' &&
    /(^|,)\s*upgrade\s*(,|$)/i.test(headers.get('connection') ?? '') &&
    /^[A-Za-z0-9+/]{22}==$/.test(key)
  const asked = { path: pathname, query: searchParams, headers }
  return agrees ? { asked, key } : { asked }
}

function agreement(key: string, protocol?: string) {
  const digest = sha1(utf8.encode(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`))
  return utf8.encode(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${btoa(String.fromCharCode(...digest))}\r\n` +
      (protocol ? `Sec-WebSocket-Protocol: ${protocol}\r\n\r\n` : '\r\n'),
  )
}

async function refuse(conn: Deno.TcpConn, refusal: HttpRefusal) {
  const { status, headers, body } = answerOf(refusal)
  const bytes = utf8.encode(body)
  const lines = [
    `HTTP/1.1 ${status} Refused`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${bytes.length}`,
    'Connection: close',
  ]
  await writeAll(conn, utf8.encode(`${lines.join('\r\n')}\r\n\r\n`))
  await writeAll(conn, bytes)
  await conn.closeWrite()
}

async function writeAll(conn: Deno.TcpConn, bytes: Uint8Array) {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at))
}

function shut(conn: Deno.TcpConn) {
  try {
    conn.close()
  } catch {
    // It was closed before.
  }
}

/** One open socket. */
class Socket implements Wire {
  private readonly conn: Deno.TcpConn
  private readonly input: Input
  private queue: Uint8Array[] = []
  private queued = 0
  private writing = false
  private closing = false
  private heard = performance.now()
  private pinged = performance.now()
  private pingsLeft = pings.burst

  constructor(conn: Deno.TcpConn, input: Input) {
    this.conn = conn
    this.input = input
  }

  send(text: string): void {
    if (!this.closing) this.push(writeFrame(opcodes.text, utf8.encode(text)))
  }

  waiting(): number {
    return this.queued
  }

  close(code: number, reason: string): void {
    if (this.closing) return
    this.closing = true
    // For who does not read, only what is on its way already comes before the goodbye.
    if (this.queued > limits.waiting) this.queue = []
    this.push(closeFrame(code, reason))
    setTimeout(() => shut(this.conn), goodbyeTime)
  }

  /** Called again and again: asks whether the client is there, and gives up one that is not. */
  beat(): void {
    const now = performance.now()
    this.pingsLeft = Math.min(pings.burst, this.pingsLeft + pings.perSecond * pingEvery / 5000)
    if (now - this.heard > silence) return shut(this.conn)
    if (this.closing || now - this.pinged < pingEvery) return
    this.pinged = now
    this.push(writeFrame(opcodes.ping, new Uint8Array()))
  }

  /** Reads until either side ends. */
  async run(open: (wire: Wire) => Peer): Promise<void> {
    const peer = open(this)
    try {
      while (await this.next(peer)) this.heard = performance.now()
    } catch (error) {
      if (error instanceof Violation) await this.end(error.code, error.message)
    } finally {
      this.closing = true
      peer.closed()
    }
  }

  /** Reads one message or control frame; false at the end. */
  private async next(peer: Peer): Promise<boolean> {
    const parts: Frame[] = []
    for (let size = 0;;) {
      const frame = await readFrame(this.input, limits.frame - size)
      if (!frame) return false
      this.heard = performance.now()
      if (frame.opcode >= opcodes.close) {
        if (!await this.control(frame)) return false
        if (parts.length === 0) return true
        continue
      }
      if (this.closing) return true
      if ((frame.opcode === opcodes.more) === (parts.length === 0)) {
        throw new Violation(closes.refused, 'fragments out of order')
      }
      if (frame.opcode === opcodes.binary) throw new Violation(closes.binary, 'text frames only')
      if (frame.opcode > opcodes.binary) throw new Violation(closes.refused, 'unknown frame')
      parts.push(frame)
      size += frame.payload.length
      if (frame.last) break
      if (parts.length === mostFragments) throw new Violation(closes.tooBig, 'too many fragments')
    }
    await peer.text(textOf(parts))
    return true
  }

  private async control({ opcode, payload }: Frame): Promise<boolean> {
    if (opcode === opcodes.close) {
      const code = payload.length >= 2 ? payload[0] * 256 + payload[1] : 1000
      if (!this.closing) await this.end(code, '')
      return false
    }
    if (--this.pingsLeft < 0) throw new Violation(closes.refused, 'too many pings')
    if (opcode === opcodes.ping && !this.closing) this.push(writeFrame(opcodes.pong, payload))
    return true
  }

  /** Closes and waits until the client took it, for a moment. */
  private async end(code: number, reason: string) {
    this.close(code, reason)
    const drained = async () => {
      while (this.writing) await new Promise((resolve) => setTimeout(resolve, 5))
      await this.conn.closeWrite()
      // What is still coming is read and dropped, or the goodbye would be lost in a reset.
      while (await this.conn.read(new Uint8Array(16_384)) !== null) { /* dropped */ }
    }
    await Promise.race([
      drained().catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, goodbyeTime)),
    ])
  }

  private push(bytes: Uint8Array) {
    this.queue.push(bytes)
    this.queued += bytes.length
    if (!this.writing) void this.write()
  }

  private async write() {
    this.writing = true
    try {
      // What is said in one go leaves in one piece.
      await Promise.resolve()
      while (this.queue.length > 0) {
        const parts = this.queue
        this.queue = []
        const bytes = parts.length === 1 ? parts[0] : joined(parts)
        for (let at = 0; at < bytes.length;) {
          const written = await this.conn.write(bytes.subarray(at))
          at += written
          this.queued -= written
        }
      }
    } catch {
      shut(this.conn)
    } finally {
      this.writing = false
    }
  }
}

function joined(parts: Uint8Array[]) {
  const bytes = new Uint8Array(parts.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function textOf(parts: Frame[]): string {
  try {
    return fatal.decode(parts.length === 1 ? parts[0].payload : joined(parts.map((p) => p.payload)))
  } catch {
    throw new Violation(closes.notText, 'not UTF-8')
  }
}
