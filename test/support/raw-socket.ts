import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { waitUntil } from './wait.ts'

type FrameOptions = {
  opcode?: number
  last?: boolean
  masked?: boolean
  reserved?: number
  /** The length stated in the frame header, which may be wrong. */
  length?: number
}

export function frame(data: string | Buffer, options: FrameOptions = {}): Buffer {
  const { opcode = 1, last = true, masked = true, reserved = 0 } = options
  const payload = Buffer.from(data)
  const length = options.length ?? payload.length
  const first = (last ? 0x80 : 0) | (reserved << 4) | opcode
  const mask = masked ? 0x80 : 0
  const head = length < 126
    ? Buffer.from([first, mask | length])
    : length < 65_536
    ? Buffer.from([first, mask | 126, length >> 8, length & 255])
    : Buffer.concat([Buffer.from([first, mask | 127]), bigEndian(length)])
  if (!masked) return Buffer.concat([head, payload])
  const key = randomBytes(4)
  return Buffer.concat([head, key, payload.map((byte, i) => byte ^ key[i % 4]!)])
}

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

export const upgradeHead = (path: string, headers: Record<string, string> = {}) =>
  [
    `GET ${path} HTTP/1.1`,
    'Host: chat',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n')

export class RawSocket {
  readonly socket: Socket
  private bytes = Buffer.alloc(0)
  status = 0
  ended = false

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect(Number(port), hostname)
    this.socket.on('data', (part) => (this.bytes = Buffer.concat([this.bytes, part])))
    this.socket.on('end', () => (this.ended = true))
    this.socket.on('close', () => (this.ended = true))
    this.socket.on('error', () => (this.ended = true))
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<RawSocket> {
    const raw = new RawSocket(url)
    await once(raw.socket, 'connect')
    raw.socket.write(upgradeHead(new URL(url).pathname, headers))
    await waitUntil('the upgrade is answered', () => raw.ended || raw.bytes.includes('\r\n\r\n'))
    const end = raw.bytes.indexOf('\r\n\r\n')
    raw.status = Number(raw.bytes.toString('latin1', 9, 12))
    raw.bytes = raw.bytes.subarray(end + 4)
    return raw
  }

  write(bytes: Buffer): void {
    if (!this.socket.destroyed) this.socket.write(bytes)
  }

  /** Returns the received bytes as text, for a connection that was not upgraded to a WebSocket. */
  text = () => this.bytes.toString('latin1')

  /** Returns the frames received, as opcode and payload. */
  frames(): { opcode: number; payload: Buffer }[] {
    const found = []
    for (let at = 0; at + 2 <= this.bytes.length;) {
      const opcode = this.bytes[at]! & 15
      let length = this.bytes[at + 1]! & 127
      let start = at + 2
      if (length === 126) {
        length = this.bytes.readUInt16BE(start)
        start += 2
      } else if (length === 127) {
        length = Number(this.bytes.readBigUInt64BE(start))
        start += 8
      }
      found.push({ opcode, payload: this.bytes.subarray(start, start + length) })
      at = start + length
    }
    return found
  }

  texts = () =>
    this.frames().filter(({ opcode }) => opcode === 1)
      .map(({ payload }) => JSON.parse(payload.toString()))

  /** Returns the code of the close frame, or 0 if the connection ended without one. */
  async closeCode(limit?: number): Promise<number> {
    const close = () => this.frames().find(({ opcode }) => opcode === 8)
    await waitUntil('the socket is closed', () => close() !== undefined || this.ended, limit)
    return close()?.payload.readUInt16BE(0) ?? 0
  }

  destroy(): void {
    this.socket.destroy()
  }
}
