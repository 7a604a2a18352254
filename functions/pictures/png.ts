// PNG: copies the chunks needed to render the picture and those that define colours; the profile is cleaned.
// Merges the pixels into one chunk that ends where their stream ends; unreadable data after them counts as
// the end of the file. Reduces an animation to its still picture. As in browsers, a wrong checksum in the
// header or the palette is an error, and an optional chunk with a wrong checksum is dropped.
import type { Bytes } from '../_shared/input/bytes.ts'
import { crc } from './crc.ts'
import { asStream, type Effort, endOfStream, unpacked } from './deflate.ts'
import { checkSize, NotAPicture, type Picture } from './picture.ts'
import { cleanProfile, maxProfile } from './profile.ts'
import { BrokenFile, concatenated, orientationOf, Reader, startsWith, tiffOf } from './reader.ts'

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const utf8 = new TextEncoder()

// Encoders write pixels in chunks of 8 KiB or more, so a file of the permitted size has about 1,300 chunks.
const maxChunks = 10_000
const maxLength = 0x7fffffff

// The permitted bit depths of each colour type, and the number of samples per pixel.
const depths: Record<number, number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}
const samples: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

// The chunks that define colours, with their required lengths.
const colours: Record<string, number> = {
  gAMA: 4,
  cHRM: 32,
  sRGB: 1,
  cICP: 4,
  mDCV: 24,
  cLLI: 8,
}

type Found = {
  width: number
  height: number
  colour: number
  bitsPerPixel: number
  interlaced: boolean
  orientation?: number
  /** The header and the other chunks to keep before the pixels, in file order. */
  chunks: Map<string, Bytes>
  /** The number of pixel chunks, and the byte range of their content once it is joined. */
  pixels?: { count: number; from: number; to: number; damaged?: boolean }
  exif: boolean
  profile: boolean
  ended: boolean
}

/** Rewrites the bytes in place: the contents of several pixel chunks are moved next to each other. */
export function readPng(bytes: Bytes, effort: Effort): Picture {
  const reader = new Reader(bytes, signature.length)
  const found: Found = {
    width: 0,
    height: 0,
    colour: 0,
    bitsPerPixel: 0,
    interlaced: false,
    chunks: new Map(),
    exif: false,
    profile: false,
    ended: false,
  }
  try {
    for (let count = 0; !found.ended; count++) {
      if (count === maxChunks) throw new BrokenFile('too many chunks')
      chunkOrEnd(reader, found)
    }
    const { width, height, orientation = 1, chunks } = found
    if (found.colour === 3 && !chunks.has('PLTE')) throw new BrokenFile('no palette')
    return {
      type: 'image/png',
      ending: 'png',
      width,
      height,
      orientation,
      pieces: [
        new Uint8Array(signature),
        ...chunks.values(),
        ...(orientation > 1 ? [chunkOf('eXIf', tiffOf(orientation))] : []),
        ...pixels(bytes, found, effort),
        chunkOf('IEND'),
      ],
    }
  } catch (error) {
    throw error instanceof BrokenFile ? new NotAPicture(error.message) : error
  }
}

readPng.begins = (bytes: Uint8Array) => startsWith(bytes, signature)

/**
 * After the pixels, unreadable data counts as the end of the file. Their stream shows whether any are
 * missing.
 */
function chunkOrEnd(reader: Reader, found: Found) {
  try {
    chunk(reader, found)
  } catch (error) {
    if (!(error instanceof BrokenFile) || !found.pixels) throw error
    found.ended = true
  }
}

function chunk(reader: Reader, found: Found) {
  const start = reader.at
  const length = reader.u32()
  const type = reader.text(4)
  if (length > maxLength) throw new BrokenFile('a length that cannot be')
  if (found.chunks.size && type === 'IDAT' && length + 4 > reader.left) {
    join(reader.bytes, reader.at, Math.min(length, reader.left), found, false)
    found.ended = true
    return
  }
  const content = reader.take(length)
  const sum = reader.u32()
  const isIntact = () => crc(reader.bytes.subarray(start + 4, start + 8 + length)) === sum
  const whole = () => {
    if (!isIntact()) throw new BrokenFile('CRC')
    return reader.bytes.subarray(start, reader.at)
  }
  if (!found.chunks.size && type !== 'IHDR') throw new BrokenFile('no header')
  const isNew = !found.pixels && !found.chunks.has(type)
  if (type === 'IDAT') {
    join(reader.bytes, start + 8, length, found, isIntact())
  } else if (type === 'IHDR') header(content, whole(), found)
  else if (type === 'PLTE' && isNew) {
    if (length % 3 || length < 3 || length > 768) throw new BrokenFile('palette')
    found.chunks.set(type, whole())
  } else if (type === 'tRNS' && isNew) {
    if (length > 0 && length <= 256 && isIntact()) found.chunks.set(type, whole())
  } else if (Object.hasOwn(colours, type) && isNew) {
    if (length === colours[type] && isIntact()) found.chunks.set(type, whole())
  } else if (type === 'iCCP' && !found.pixels && !found.profile && isIntact()) {
    found.profile = true
    const profile = profileIn(content)
    if (profile) found.chunks.set(type, profile)
  } else if (type === 'eXIf' && !found.exif && isIntact()) {
    found.exif = true
    found.orientation = orientationOf(content)
  } else if (type === 'IEND') found.ended = true
  // A capital first letter marks a critical chunk; a decoder that does not know it must not render the
  // picture.
  else if (!/^[a-z][a-zA-Z]{3}$/.test(type)) throw new BrokenFile('unknown chunk')
}

function join(bytes: Bytes, from: number, length: number, found: Found, intact: boolean) {
  found.pixels ??= { count: 0, from, to: from }
  const { pixels } = found
  if (!intact) pixels.damaged = true
  bytes.copyWithin(pixels.to, from, from + length)
  pixels.count++
  pixels.to += length
}

function header(content: Bytes, whole: Bytes, found: Found) {
  if (found.chunks.size || content.length !== 13) throw new BrokenFile('header')
  const reader = new Reader(content)
  found.width = reader.u32()
  found.height = reader.u32()
  checkSize(found.width, found.height)
  const depth = reader.u8()
  found.colour = reader.u8()
  const fits = depths[found.colour]?.includes(depth)
  if (!fits || reader.u8() !== 0 || reader.u8() !== 0) throw new BrokenFile('header')
  const interlace = reader.u8()
  if (interlace > 1) throw new BrokenFile('header')
  found.bitsPerPixel = depth * samples[found.colour]
  found.interlaced = interlace === 1
  found.chunks.set('IHDR', whole)
}

/** The chunk holds a name, a byte for the compression method (there is only one), and the packed profile. */
function profileIn(content: Bytes): Bytes | undefined {
  const name = content.subarray(0, 80).indexOf(0)
  if (name < 1 || content[name + 1] !== 0) return undefined
  try {
    const profile = cleanProfile(unpacked(content.subarray(name + 2), maxProfile))
    return profile && chunkOf('iCCP', utf8.encode('ICC\0\0'), asStream(profile))
  } catch (error) {
    if (error instanceof BrokenFile) return undefined
    throw error
  }
}

/**
 * Returns the pixels as one chunk, in pieces. If the effort suffices, checks the size of their stream and
 * ends the chunk where the stream ends.
 */
function pixels(bytes: Bytes, found: Found, effort: Effort): Bytes[] {
  if (!found.pixels) throw new BrokenFile('no pixels')
  const { count, from, to, damaged } = found.pixels
  const stream = endOfStream(bytes.subarray(from, to), effort)
  if (stream && stream.size !== sizeOf(found)) throw new BrokenFile('other pixels than it says')
  const end = stream ? from + stream.end : to
  if (count === 1 && end === to && !damaged) return [bytes.subarray(from - 8, to + 4)]
  const sum = new Uint8Array(4)
  new DataView(bytes.buffer, bytes.byteOffset + from - 8).setUint32(0, end - from)
  new DataView(sum.buffer).setUint32(0, crc(bytes.subarray(from - 4, end)))
  return [bytes.subarray(from - 8, end), sum]
}

/** The unpacked size of all rows. Each row begins with a filter byte. */
function sizeOf({ width, height, bitsPerPixel, interlaced }: Found): number {
  const rows = (columns: number, count: number) =>
    columns < 1 ? 0 : count * (1 + Math.ceil((columns * bitsPerPixel) / 8))
  if (!interlaced) return rows(width, height)
  return passes.reduce(
    (sum, [x, y, right, down]) =>
      sum + rows(Math.ceil((width - x) / right), Math.ceil((height - y) / down)),
    0,
  )
}

// The passes of Adam7: first column, first row, column step, row step.
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
]

function chunkOf(type: string, ...content: Bytes[]): Bytes {
  const bytes = concatenated([new Uint8Array(4), utf8.encode(type), ...content, new Uint8Array(4)])
  const view = new DataView(bytes.buffer)
  view.setUint32(0, bytes.length - 12)
  view.setUint32(bytes.length - 4, crc(bytes.subarray(4, -4)))
  return bytes
}
