import { crc32, deflateSync } from 'node:zlib'

type Size = { width: number; height: number }

const bytes = (...values: number[]) => Buffer.from(values)
const big = (value: number, length: number) => {
  const buffer = Buffer.alloc(length)
  buffer.writeUIntBE(value, 0, length)
  return buffer
}
const little = (value: number, length: number) => {
  const buffer = Buffer.alloc(length)
  buffer.writeUIntLE(value, 0, length)
  return buffer
}

// EXIF --------------------------------------------------------------------------------------------

/** A TIFF structure with an orientation, a GPS position, a camera and text that must not be served. */
export function tiff(orientation: number, secret = 'PLANTED-GPS-2920'): Buffer {
  const text = Buffer.from(`${secret}\0`)
  const entry = (tag: number, type: number, count: number, value: Buffer) =>
    Buffer.concat([big(tag, 2), big(type, 2), big(count, 4), value])
  const afterFirst = 8 + 2 + 3 * 12 + 4
  return Buffer.concat([
    Buffer.from('MM\0*'),
    big(8, 4),
    big(3, 2),
    entry(0x0112, 3, 1, Buffer.concat([big(orientation, 2), big(0, 2)])),
    entry(0x010f, 2, text.length, big(afterFirst, 4)), // the camera's maker
    entry(0x8825, 4, 1, big(afterFirst + text.length, 4)), // the offset of the GPS directory
    big(0, 4),
    text,
    big(1, 2),
    entry(0x0002, 5, 3, big(afterFirst, 4)), // latitude
    big(0, 4),
  ])
}

// JPEG --------------------------------------------------------------------------------------------

export const segment = (marker: number, content: Buffer) =>
  Buffer.concat([bytes(0xff, marker), big(content.length + 2, 2), content])

export const exifSegment = (orientation: number, secret?: string) =>
  segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff(orientation, secret)]))

type Jpeg = Size & {
  shade?: number
  /** Segments between the start of the file and the pixels. */
  before?: Buffer[]
  after?: Buffer
  jfif?: boolean
}

/** Makes a grey picture of one shade, in which every block but the first takes three bits. */
export function jpeg({ width, height, shade = 0, before = [], after, jfif = true }: Jpeg): Buffer {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8)
  return Buffer.concat([
    bytes(0xff, 0xd8),
    ...(jfif ? [segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0'))] : []),
    ...before,
    segment(0xdb, Buffer.concat([bytes(0), Buffer.alloc(64, 1)])),
    segment(0xc0, Buffer.concat([bytes(8), big(height, 2), big(width, 2), bytes(1, 1, 0x11, 0)])),
    // Huffman tables: DC has the categories 0 and 10, in two bits each; AC has only end-of-block, in one bit.
    segment(0xc4, bytes(0x00, 0, 2, ...Array(14).fill(0), 0, 10)),
    segment(0xc4, bytes(0x10, 1, ...Array(15).fill(0), 0)),
    segment(0xda, bytes(1, 1, 0, 0, 63, 0)),
    blockCodes(blocks, shade),
    bytes(0xff, 0xd9),
    ...(after ? [after] : []),
  ])
}

/** The trailer that Samsung phones append to a picture: a note, then the directory of notes. */
export function samsungTrailer(content: Buffer): Buffer {
  const type = bytes(0, 0, 1, 0x0a)
  const name = 'Image_UTC_Data'
  const note = Buffer.concat([type, little(name.length, 4), Buffer.from(name), content])
  const length = little(note.length, 4)
  const directory = Buffer.concat(
    [Buffer.from('SEFH'), little(107, 4), little(1, 4), type, length, length],
  )
  return Buffer.concat([note, directory, little(directory.length, 4), Buffer.from('SEFT')])
}

function blockCodes(blocks: number, shade: number): Buffer {
  // The first block sets the shade, and the others have a difference of zero.
  const value = 512 + (Math.abs(Math.trunc(shade)) % 511)
  let bits = `01${value.toString(2).padStart(10, '0')}0${'000'.repeat(blocks - 1)}`
  bits = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1')
  const packed = bits.match(/.{8}/g)!.map((byte) => parseInt(byte, 2))
  return Buffer.from(packed.flatMap((byte) => byte === 0xff ? [0xff, 0] : [byte]))
}

// PNG ---------------------------------------------------------------------------------------------

export const pngSignature = bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)

export function chunk(type: string, content: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  return Buffer.concat([big(content.length, 4), named, big(crc32(named), 4)])
}

type Png = Size & {
  pixels?: Buffer
  before?: Buffer[]
  between?: Buffer[]
  after?: Buffer
  level?: number
}

/** Makes an RGB picture, black if no pixels are given. */
export function png(
  { width, height, pixels, before = [], between = [], after, level }: Png,
): Buffer {
  const row = 1 + width * 3
  const raw = Buffer.alloc(row * height)
  for (let y = 0; pixels && y < height; y++) {
    pixels.copy(raw, y * row + 1, y * width * 3, (y + 1) * width * 3)
  }
  return Buffer.concat([
    pngSignature,
    header(width, height),
    ...before,
    chunk('IDAT', deflateSync(raw, { level })),
    ...between,
    chunk('IEND'),
    ...(after ? [after] : []),
  ])
}

/** Makes a picture of exactly this many bytes, all of which are served. */
export function pngOf(length: number): Buffer {
  const width = 340
  const row = 1 + width * 3
  // Subtracts all bytes other than the rows: the signature, the header chunk, the frame of the pixel chunk,
  // the end chunk, and the zlib stream's header and checksum.
  const left = length - 8 - 25 - 12 - 12 - 6
  let height = Math.floor((left - 10) / row)
  // The rows are stored in blocks, each with a header of five bytes; some blocks are empty.
  const blocks = () => (left - height * row) / 5
  while (!Number.isInteger(blocks()) || blocks() * 65_535 < height * row) height--
  const rows = Buffer.alloc(height * row, 0x5a)
  for (let y = 0; y < height; y++) rows[y * row] = 0
  const parts = Array.from({ length: blocks() }, (_, at) => {
    const part = rows.subarray(at * 65_535, (at + 1) * 65_535)
    const last = at === blocks() - 1 ? 1 : 0
    return [bytes(last), little(part.length, 2), little(0xffff - part.length, 2), part]
  })
  const pixels = Buffer.concat([bytes(0x78, 0x01), ...parts.flat(), big(adler32(rows), 4)])
  return Buffer.concat([pngSignature, header(width, height), chunk('IDAT', pixels), chunk('IEND')])
}

function adler32(content: Buffer): number {
  let [low, high] = [1, 0]
  for (const byte of content) {
    low = (low + byte) % 65_521
    high = (high + low) % 65_521
  }
  return high * 65_536 + low
}

/** Returns the picture with its pixel data in chunks of this many bytes, and `between` after each. */
export function inChunks(
  picture: Buffer,
  length: number,
  between: Buffer = Buffer.alloc(0),
): Buffer {
  const at = picture.indexOf('IDAT') - 4
  const size = picture.readUInt32BE(at)
  const pixels = picture.subarray(at + 8, at + 8 + size)
  const chunks: Buffer[] = []
  for (let from = 0; from < size; from += length) {
    chunks.push(chunk('IDAT', pixels.subarray(from, from + length)), between)
  }
  return Buffer.concat([picture.subarray(0, at), ...chunks, picture.subarray(at + 12 + size)])
}

export const header = (width: number, height: number, rest = bytes(8, 2, 0, 0, 0)) =>
  chunk('IHDR', Buffer.concat([big(width, 4), big(height, 4), rest]))

// WebP --------------------------------------------------------------------------------------------

export const webpChunk = (type: string, content: Buffer) =>
  Buffer.concat([
    Buffer.from(type),
    little(content.length, 4),
    content,
    Buffer.alloc(content.length % 2),
  ])

export const webp = (...chunks: Buffer[]) => {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks])
  return Buffer.concat([Buffer.from('RIFF'), little(body.length, 4), body])
}

/** Makes a lossless picture of one colour: every code has one symbol, so a pixel takes no bits. */
export function lossless({ width, height }: Size, [red, green, blue] = [10, 20, 30]): Buffer {
  const bits: number[] = []
  const put = (value: number, count: number) => {
    for (let bit = 0; bit < count; bit++) bits.push((value >> bit) & 1)
  }
  put(width - 1, 14)
  put(height - 1, 14)
  put(0, 1 + 3) // no alpha, version
  put(0, 3) // no transform, no colour cache, one group of codes
  for (const symbol of [green, red, blue, 255]) {
    put(1, 1) // a simple code
    put(0, 1) // of one symbol
    put(1, 1) // of eight bits
    put(symbol, 8)
  }
  put(1, 1)
  put(0, 3)
  while (bits.length % 8) bits.push(0)
  const packed = Array.from(
    { length: bits.length / 8 },
    (_, at) => bits.slice(at * 8, at * 8 + 8).reduce((sum, bit, index) => sum | (bit << index), 0),
  )
  return webpChunk('VP8L', bytes(0x2f, ...packed, 0))
}

export const lossy = () =>
  webpChunk('VP8 ', Buffer.from('MAEAnQEqAQABAA7A/iWkAANwAAAAAA==', 'base64'))

export const extended = ({ width, height }: Size, flags: number) =>
  webpChunk(
    'VP8X',
    Buffer.concat([bytes(flags, 0, 0, 0), little(width - 1, 3), little(height - 1, 3)]),
  )

// Contents of a file ------------------------------------------------------------------------------

/** Returns the names of a file's parts in order, with 'more' if data follows the end of a JPEG. */
export function partsIn(file: Buffer): string[] {
  if (file[0] === 0xff) return jpegParts(file)
  if (file.subarray(0, 8).equals(pngSignature)) {
    const names: string[] = []
    for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
      names.push(file.toString('latin1', at + 4, at + 8))
    }
    return names
  }
  const names: string[] = []
  for (let at = 12; at < file.length;) {
    names.push(file.toString('latin1', at, at + 4))
    at += 8 + file.readUInt32LE(at + 4)
    at += at % 2
  }
  return names
}

function jpegParts(file: Buffer): string[] {
  const names: string[] = []
  for (let at = 2; at < file.length;) {
    const marker = file[at + 1]
    names.push(marker.toString(16))
    if (marker === 0xd9) return at + 2 === file.length ? names : [...names, 'more']
    at += 2 + file.readUInt16BE(at + 2)
    while (marker === 0xda && (file[at] !== 0xff || file[at + 1] === 0)) at++
  }
  return names
}
