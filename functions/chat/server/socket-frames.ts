/** Frames of RFC 6455 as they lie on the wire: read with every bound checked before it is used. */
import type { Bytes } from '../../_shared/bytes.ts'
import { closes } from '../protocol.ts'

/** A client that does not keep to the protocol, and the code that it is closed with. */
export class Violation extends Error {
  readonly code: number
  constructor(code: number, reason: string) {
    super(reason)
    this.code = code
  }
}

export const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 }

export type Frame = { opcode: number; last: boolean; payload: Bytes }

type Source = { read(into: Uint8Array): Promise<number | null> }

const usual = 2048
const emptyLine = [13, 10, 13, 10]

/** Bytes from a connection, as many as are asked for. */
export class Input {
  private readonly source: Source
  private bytes = new Uint8Array(usual)
  private start = 0
  private end = 0

  constructor(source: Source) {
    this.source = source
  }

  /** The next bytes, or undefined when the other side ended. They are good until the next call. */
  async take(count: number): Promise<Bytes | undefined> {
    if (!await this.have(count)) return undefined
    this.start += count
    return this.bytes.subarray(this.start - count, this.start)
  }

  /** Everything up to an empty line, at most so many bytes. */
  async takeHead(limit: number): Promise<string | undefined> {
    for (let seen = 0;;) {
      for (; seen + 4 <= this.end - this.start; seen++) {
        if (emptyLine.every((byte, i) => this.bytes[this.start + seen + i] === byte)) {
          return new TextDecoder('latin1').decode((await this.take(seen + 4))!)
        }
      }
      if (seen >= limit || !await this.have(this.end - this.start + 1)) return undefined
    }
  }

  private async have(count: number): Promise<boolean> {
    if (this.start === this.end) this.rest(count)
    while (this.end - this.start < count) {
      if (this.start + count > this.bytes.length || this.end === this.bytes.length) {
        this.grow(count)
      }
      const got = await this.source.read(this.bytes.subarray(this.end))
      if (got === null) return false
      this.end += got
    }
    return true
  }

  /** With nothing left a buffer that grew is given back. */
  private rest(count: number) {
    this.start = this.end = 0
    if (this.bytes.length > usual && count <= usual) this.bytes = new Uint8Array(usual)
  }

  private grow(count: number) {
    const size = this.end - this.start
    const bytes = count > this.bytes.length ? new Uint8Array(Math.max(count, 2 * size)) : this.bytes
    bytes.set(this.bytes.subarray(this.start, this.end))
    this.bytes = bytes
    this.start = 0
    this.end = size
  }
}

/** The next frame of a client, unmasked; undefined when it ended without a word. */
export async function readFrame(input: Input, room: number): Promise<Frame | undefined> {
  const head = await input.take(2)
  if (!head) return undefined
  const [first, second] = head
  if (first & 0x70) throw new Violation(closes.refused, 'no extension was agreed')
  if (!(second & 0x80)) throw new Violation(closes.refused, 'frames of clients are masked')
  const opcode = first & 0x0f
  const last = (first & 0x80) !== 0
  const size = await readSize(input, second & 0x7f)
  if (size === undefined) return undefined
  if (opcode >= opcodes.close && (size > 125 || !last)) {
    throw new Violation(closes.refused, 'control frames are short and whole')
  }
  // Before any of it is read: nobody makes us keep what we will not take.
  if (size > (opcode >= opcodes.close ? 125 : room)) {
    throw new Violation(closes.tooBig, 'frame too big')
  }
  const rest = await input.take(4 + size)
  if (!rest) return undefined
  const payload = rest.slice(4)
  for (let i = 0; i < size; i++) payload[i] ^= rest[i & 3]
  return { opcode, last, payload }
}

async function readSize(input: Input, short: number): Promise<number | undefined> {
  if (short < 126) return short
  const bytes = await input.take(short === 126 ? 2 : 8)
  if (!bytes) return undefined
  return bytes.reduce((size, byte) => size * 256 + byte, 0)
}

/** A frame of the server: whole, not masked. */
export function writeFrame(opcode: number, payload: Uint8Array): Bytes {
  const size = payload.length
  const head = size < 126 ? 2 : size < 65_536 ? 4 : 10
  const bytes = new Uint8Array(head + size)
  const view = new DataView(bytes.buffer)
  bytes[0] = 0x80 | opcode
  if (size < 126) bytes[1] = size
  else if (size < 65_536) {
    bytes[1] = 126
    view.setUint16(2, size)
  } else {
    bytes[1] = 127
    view.setBigUint64(2, BigInt(size))
  }
  bytes.set(payload, head)
  return bytes
}

export function closeFrame(code: number, reason: string): Bytes {
  const text = new TextEncoder().encode(reason).subarray(0, 120)
  const payload = new Uint8Array(2 + text.length)
  new DataView(payload.buffer).setUint16(0, code)
  payload.set(text, 2)
  return writeFrame(opcodes.close, payload)
}
