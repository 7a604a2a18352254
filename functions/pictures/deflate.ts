// Reads zlib streams (RFC 1950, 1951). Finds where a stream ends and how large its content is without storing
// the content, so that a decompression bomb costs no more than its packed size. Can also unpack a stream up
// to a limit.
import type { Bytes } from '../_shared/input/bytes.ts'
import { BrokenFile, Reader } from './reader.ts'

/** How many codes may still be read. This bounds the CPU time of a request. */
export type Effort = { left: number }

/** Building a block's Huffman tables takes about as long as reading this many codes. */
const costOfTables = 1500

const lengthExtra = [
  ...[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
  ...[3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0],
]
const lengthBase = lengthExtra.map((_, code) =>
  code === 28 ? 258 : 3 + lengthExtra.slice(0, code).reduce((sum, extra) => sum + 2 ** extra, 0)
)
const orderOfLengths = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

/**
 * A Huffman code. Codes of up to `direct` bits are looked up in a table, as symbol × 16 + length; longer
 * codes are read bit by bit.
 */
class Code {
  readonly table: Uint16Array
  readonly symbols: Uint16Array
  readonly counts = new Uint16Array(16)
  private readonly direct: number

  constructor(size: number, direct: number) {
    this.direct = direct
    this.table = new Uint16Array(1 << direct)
    this.symbols = new Uint16Array(size)
  }

  /**
   * Builds the Huffman code from its code lengths. Returns the unused part of the code space; 0 means that
   * the code is complete.
   */
  read(lengths: Uint8Array): number {
    const { table, counts, symbols, direct } = this
    counts.fill(0)
    for (const length of lengths) counts[length]++
    counts[0] = 0
    const next = new Uint16Array(17)
    const offsets = new Uint16Array(17)
    let unused = 1
    for (let length = 1; length < 16; length++) {
      unused = unused * 2 - counts[length]
      if (unused < 0) throw new BrokenFile('code')
      next[length + 1] = (next[length] + counts[length]) << 1
      offsets[length + 1] = offsets[length] + counts[length]
    }
    table.fill(0)
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      const length = lengths[symbol]
      if (length === 0) continue
      symbols[offsets[length]++] = symbol
      if (length > direct) continue
      const first = reversed(next[length]++, length)
      const entry = symbol << 4 | length
      for (let at = first; at < table.length; at += 1 << length) table[at] = entry
    }
    return unused
  }
}

/** Codes are stored with their highest bit first, but bits are read starting with the lowest. */
function reversed(code: number, length: number): number {
  let bits = 0
  for (let bit = 0; bit < length; bit++) bits |= ((code >> bit) & 1) << (length - 1 - bit)
  return bits
}

class Stream {
  private readonly bytes: Bytes
  private readonly output?: Bytes
  private at = 0
  private held = 0
  private count = 0
  private readonly literals = new Code(288, 10)
  private readonly distances = new Code(32, 9)
  private readonly lengths = new Code(19, 7)

  constructor(bytes: Bytes, output?: Bytes) {
    this.bytes = bytes
    this.output = output
  }

  private take(count: number): number {
    this.fill(count)
    if (count > this.count) throw new BrokenFile('cut short')
    const value = this.held & ((1 << count) - 1)
    this.held >>>= count
    this.count -= count
    return value
  }

  private fill(count: number) {
    while (this.count < count && this.at < this.bytes.length) {
      this.held |= this.bytes[this.at++] << this.count
      this.count += 8
    }
  }

  private symbol(code: Code): number {
    this.fill(15)
    const entry = code.table[this.held & (code.table.length - 1)]
    const length = entry & 15
    if (length === 0) return this.longSymbol(code)
    if (length > this.count) throw new BrokenFile('cut short')
    this.held >>>= length
    this.count -= length
    return entry >> 4
  }

  private longSymbol({ counts, symbols }: Code): number {
    let [code, first, index] = [0, 0, 0]
    for (let length = 1; length < 16; length++) {
      code |= this.take(1)
      if (code - counts[length] < first) return symbols[index + code - first]
      index += counts[length]
      first = (first + counts[length]) << 1
      code <<= 1
    }
    throw new BrokenFile('no code')
  }

  /** Returns where the stream ends and its unpacked size. Undefined if the effort runs out first. */
  read(effort: Effort): { end: number; size: number } | undefined {
    const head = this.take(8) << 8 | this.take(8)
    if (((head >> 8) & 15) !== 8 || head % 31 || head & 32) throw new BrokenFile('no zlib stream')
    let size = 0
    for (let last = 0; !last;) {
      effort.left -= costOfTables
      if (effort.left < 0) return undefined
      last = this.take(1)
      const type = this.take(2)
      if (type === 3) throw new BrokenFile('block')
      if (type === 0) size = this.stored(size)
      else {
        if (type === 1) this.fixedCodes()
        else this.ownCodes()
        const after = this.compressed(effort, size)
        if (after === undefined) return undefined
        size = after
      }
      if (this.output && size > this.output.length) throw new BrokenFile('too long')
    }
    this.toByte()
    // A truncated file may lack the checksum. Browsers do not check it.
    return { end: Math.min(this.at + 4, this.bytes.length), size }
  }

  private toByte() {
    this.at -= this.count >> 3
    this.held = this.count = 0
  }

  private stored(before: number): number {
    this.toByte()
    const length = this.take(16)
    if ((length ^ this.take(16)) !== 0xffff) throw new BrokenFile('block')
    this.at += length
    if (this.at > this.bytes.length) throw new BrokenFile('cut short')
    if (this.output && before + length <= this.output.length) {
      this.output.set(this.bytes.subarray(this.at - length, this.at), before)
    }
    return before + length
  }

  private fixedCodes() {
    const lengths = new Uint8Array(288).fill(8).fill(9, 144, 256).fill(7, 256, 280)
    this.literals.read(lengths)
    this.distances.read(new Uint8Array(30).fill(5))
  }

  private ownCodes() {
    const literals = this.take(5) + 257
    const distances = this.take(5) + 1
    const count = this.take(4) + 4
    const first = new Uint8Array(19)
    for (const symbol of orderOfLengths.slice(0, count)) first[symbol] = this.take(3)
    if (this.lengths.read(first) !== 0) throw new BrokenFile('code')
    const lengths = new Uint8Array(literals + distances)
    for (let at = 0; at < lengths.length;) {
      const symbol = this.symbol(this.lengths)
      if (symbol < 16) {
        lengths[at++] = symbol
        continue
      }
      const value = symbol === 16 ? lengths[at - 1] : 0
      const times = symbol === 16
        ? 3 + this.take(2)
        : symbol === 17
        ? 3 + this.take(3)
        : 11 + this.take(7)
      if (value === undefined || at + times > lengths.length) throw new BrokenFile('code')
      lengths.fill(value, at, at += times)
    }
    if (literals > 286 || distances > 30 || lengths[256] === 0) throw new BrokenFile('code')
    this.literals.read(lengths.subarray(0, literals))
    this.distances.read(lengths.subarray(literals))
  }

  private compressed(effort: Effort, before: number): number | undefined {
    const { literals, distances, output } = this
    for (let size = before; effort.left > 0; effort.left--) {
      const symbol = this.symbol(literals)
      if (symbol < 256) {
        if (output) output[size] = symbol
        size++
        continue
      }
      if (symbol === 256) return size
      if (symbol > 285) throw new BrokenFile('no length')
      effort.left -= 2
      const from = size
      size += lengthBase[symbol - 257] + this.take(lengthExtra[symbol - 257])
      const distance = this.symbol(distances)
      if (distance > 29) throw new BrokenFile('no distance')
      const extra = distance > 3 ? this.take((distance >> 1) - 1) : 0
      if (output) repeat(output, from, size, distance, extra)
    }
    return undefined
  }
}

function repeat(output: Bytes, from: number, to: number, code: number, extra: number) {
  const back = code < 4 ? code + 1 : 1 + ((2 + (code & 1)) << ((code >> 1) - 1)) + extra
  if (back > from || to > output.length) throw new BrokenFile('distance')
  for (let at = from; at < to; at++) output[at] = output[at - back]
}

export const endOfStream = (bytes: Bytes, effort: Effort) => new Stream(bytes).read(effort)

/** Unpacks a stream. Throws BrokenFile if the content exceeds `limit` bytes or the stream is damaged. */
export function unpacked(bytes: Bytes, limit: number): Bytes {
  const output = new Uint8Array(limit)
  // A normal stream is at most slightly longer than its content, with at most two codes per byte and few
  // blocks.
  const packed = bytes.subarray(0, limit + 1024)
  const stream = new Stream(packed, output).read({ left: 2 * limit + 100 * costOfTables })
  if (!stream) throw new BrokenFile('too many codes')
  const content = output.subarray(0, stream.size)
  if (new Reader(packed, stream.end - 4).u32() !== adler(content)) throw new BrokenFile('checksum')
  return content
}

const maxBlock = 65_535

/** Wraps the content in a zlib stream of uncompressed blocks. */
export function asStream(content: Bytes): Bytes {
  const blocks = Math.ceil(content.length / maxBlock)
  const stream = new Uint8Array(2 + 5 * blocks + content.length + 4)
  const view = new DataView(stream.buffer)
  stream.set([0x78, 0x01])
  let at = 2
  for (let from = 0; from < content.length; from += maxBlock) {
    const block = content.subarray(from, from + maxBlock)
    view.setUint8(at, from + maxBlock >= content.length ? 1 : 0)
    view.setUint16(at + 1, block.length, true)
    view.setUint16(at + 3, block.length ^ 0xffff, true)
    stream.set(block, at + 5)
    at += 5 + block.length
  }
  view.setUint32(at, adler(content))
  return stream
}

function adler(content: Bytes): number {
  let [low, high] = [1, 0]
  // In chunks this small, the sums stay below 2 ** 31.
  for (let from = 0; from < content.length; from += 2048) {
    for (const byte of content.subarray(from, from + 2048)) {
      low += byte
      high += low
    }
    low %= 65_521
    high %= 65_521
  }
  return high * 65_536 + low
}
