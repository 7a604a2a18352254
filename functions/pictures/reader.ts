import type { Bytes } from '../_shared/input/bytes.ts'

export class BrokenFile extends Error {}

export class Reader {
  readonly bytes: Bytes
  at: number
  readonly end: number
  private readonly view: DataView

  constructor(bytes: Bytes, at = 0, end = bytes.length) {
    this.bytes = bytes
    this.at = at
    this.end = end
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  get left() {
    return this.end - this.at
  }

  private skip(count: number): number {
    const start = this.at
    if (count < 0 || count > this.end - start) throw new BrokenFile('cut short')
    this.at += count
    return start
  }

  u8 = () => this.bytes[this.skip(1)]
  u16 = (little = false) => this.view.getUint16(this.skip(2), little)
  u32 = (little = false) => this.view.getUint32(this.skip(4), little)
  u24 = () => this.u16(true) + this.u8() * 65536

  take(count: number): Bytes {
    const start = this.skip(count)
    return this.bytes.subarray(start, start + count)
  }

  text = (count: number) => String.fromCharCode(...this.take(count))
}

export function startsWith(bytes: Uint8Array, expected: number[], at = 0): boolean {
  return expected.every((byte, index) => bytes[at + index] === byte)
}

export function concatenated(parts: Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Merges views of adjacent bytes into one view. */
export function joined(pieces: Bytes[]): Bytes[] {
  const whole: Bytes[] = []
  for (const piece of pieces) {
    const last = whole.at(-1)
    if (piece.length === 0) continue
    if (last?.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset) {
      whole[whole.length - 1] = new Uint8Array(
        piece.buffer,
        last.byteOffset,
        last.length + piece.length,
      )
    } else whole.push(piece)
  }
  return whole
}

// Cameras write about ten entries into the first directory.
const maxEntries = 1000

export function orientationOf(tiff: Bytes): number | undefined {
  try {
    const reader = new Reader(tiff)
    const little = orders[reader.text(2)]
    if (little === undefined || reader.u16(little) !== 42) return undefined
    reader.at = reader.u32(little)
    for (let left = Math.min(reader.u16(little), maxEntries); left > 0; left--) {
      const entry = new Reader(reader.take(12))
      if (entry.u16(little) !== 0x0112) continue
      if (entry.u16(little) !== 3 || entry.u32(little) !== 1) return undefined
      const value = entry.u16(little)
      return value >= 1 && value <= 8 ? value : undefined
    }
    return undefined
  } catch (error) {
    // Broken metadata is no reason to refuse a picture, because the metadata is dropped anyway.
    if (error instanceof BrokenFile) return undefined
    throw error
  }
}

const orders: Record<string, boolean> = { II: true, MM: false }

export const tiffOf = (orientation: number): Bytes =>
  // deno-fmt-ignore
  new Uint8Array([
    0x4d, 0x4d, 0, 42, 0, 0, 0, 8, // big-endian, the first directory at 8
    0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, // one entry: orientation, a short
    0, 0, 0, 0, // no other directory
  ])
