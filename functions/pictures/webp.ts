// WebP (lossy, lossless and extended): copies the picture, its alpha channel and its profile into a new file.
// Reduces an animation to its first frame, without the profile, because browsers ignore profiles of
// animations.
import type { Bytes } from '../_shared/input/bytes.ts'
import { checkSize, NotAPicture, type Picture } from './picture.ts'
import { cleanProfile } from './profile.ts'
import { BrokenFile, joined, orientationOf, Reader, startsWith, tiffOf } from './reader.ts'

const riff = [0x52, 0x49, 0x46, 0x46]
const webp = [0x57, 0x45, 0x42, 0x50]
const utf8 = new TextEncoder()

// An animation of the permitted size has a few hundred frames.
const maxChunks = 5000

const profileFlag = 0x20
const animationFlag = 0x02

type Found = {
  /** The size that VP8X or the frame declares. */
  canvas?: { width: number; height: number }
  size?: { width: number; height: number }
  image?: { type: 'VP8 ' | 'VP8L'; content: Bytes }
  alpha?: Bytes
  /** The flags of VP8X, which list the features of the file. */
  flags: number
  profile?: Bytes
  orientation?: number
  exif?: boolean
}

export function readWebp(bytes: Bytes): Picture {
  const found: Found = { flags: 0 }
  try {
    const length = new Reader(bytes, 4).u32(true)
    // Ignores data beyond the declared length. If the file is shorter than declared, reads it to its end.
    const end = Math.min(length + 8, bytes.length)
    chunks(new Reader(bytes, 12, end), (type, content) => chunk(type, content, found))
  } catch (error) {
    throw error instanceof BrokenFile ? new NotAPicture(error.message) : error
  }
  const { size, canvas, orientation = 1 } = found
  if (!size) throw new NotAPicture('no pixels')
  if (canvas && (canvas.width !== size.width || canvas.height !== size.height)) {
    throw new NotAPicture('two sizes')
  }
  return {
    type: 'image/webp',
    ending: 'webp',
    ...size,
    orientation,
    pieces: piecesOf(found, size, orientation),
  }
}

readWebp.begins = (bytes: Uint8Array) => startsWith(bytes, riff) && startsWith(bytes, webp, 8)

function chunks(reader: Reader, take: (type: string, content: Bytes) => void) {
  for (let count = 0; reader.left > 0; count++) {
    if (count === maxChunks) throw new BrokenFile('too many chunks')
    const type = reader.text(4)
    const length = reader.u32(true)
    const content = reader.take(length)
    if (length % 2 && reader.left) reader.take(1)
    take(type, content)
  }
}

function pixels(type: string, content: Bytes, found: Found) {
  if (type === 'VP8 ' || type === 'VP8L') {
    // Browsers render only the first image.
    if (found.image) return
    found.size = type === 'VP8 ' ? lossySize(content) : losslessSize(content)
    checkSize(found.size.width, found.size.height)
    found.image = { type, content }
  } else if (type === 'ALPH' && !found.image && !found.alpha) found.alpha = content
}

function chunk(type: string, content: Bytes, found: Found) {
  if (type === 'VP8X') {
    if (found.canvas || found.image || content.length !== 10) throw new BrokenFile('VP8X')
    const reader = new Reader(content)
    found.flags = reader.u8()
    reader.take(3)
    found.canvas = { width: reader.u24() + 1, height: reader.u24() + 1 }
    checkSize(found.canvas.width, found.canvas.height)
  } else if (type === 'ANMF') {
    if (!found.image) frame(content, found)
  } else if (type === 'ICCP') found.profile ??= content
  else if (type === 'EXIF') {
    if (found.exif) return
    found.exif = true
    const named = startsWith(content, [0x45, 0x78, 0x69, 0x66, 0, 0])
    found.orientation = orientationOf(named ? content.subarray(6) : content)
  } else pixels(type, content, found)
}

function frame(content: Bytes, found: Found) {
  const reader = new Reader(content, 6)
  found.canvas = { width: reader.u24() + 1, height: reader.u24() + 1 }
  reader.take(4)
  const inner: Found = { flags: 0 }
  // A frame contains one picture. Frames cannot be nested.
  chunks(new Reader(content, reader.at), (type, content) => pixels(type, content, inner))
  if (!inner.image) throw new BrokenFile('frame')
  Object.assign(found, { image: inner.image, size: inner.size, alpha: inner.alpha })
}

function lossySize(content: Bytes) {
  const reader = new Reader(content)
  const tag = reader.u24()
  const first = tag >> 5
  if (tag & 1 || ((tag >> 1) & 7) > 3) throw new BrokenFile('not a key frame')
  if (!startsWith(reader.take(3), [0x9d, 0x01, 0x2a])) throw new BrokenFile('no start code')
  const [width, height] = [reader.u16(true) & 0x3fff, reader.u16(true) & 0x3fff]
  if (first < 1 || first > reader.left) throw new BrokenFile('cut short')
  return { width, height }
}

function losslessSize(content: Bytes) {
  const reader = new Reader(content)
  if (reader.u8() !== 0x2f) throw new BrokenFile('no signature')
  const bits = reader.u32(true)
  if (bits >>> 29 || !reader.left) throw new BrokenFile('version')
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

function piecesOf(found: Found, size: { width: number; height: number }, turn: number) {
  const { image, alpha, flags } = found
  const { type, content } = image!
  const hasProfile = (flags & (profileFlag | animationFlag)) === profileFlag && found.profile
  const profile = hasProfile ? cleanProfile(hasProfile) : undefined
  const chunks: Bytes[] = []
  const put = (type: string, content: Bytes) => {
    chunks.push(headOf(type, content.length), content)
    if (content.length % 2) chunks.push(new Uint8Array(1))
  }
  if (type === 'VP8 ' && alpha || turn > 1 || profile) {
    const alphaFlag = type === 'VP8L' ? (content[4] >> 4) & 1 : alpha ? 1 : 0
    const flags = (profile ? profileFlag : 0) | alphaFlag << 4 | (turn > 1 ? 8 : 0)
    put('VP8X', extendedHead(size, flags))
  }
  if (profile) put('ICCP', profile)
  if (type === 'VP8 ' && alpha) put('ALPH', alpha)
  put(type, content)
  if (turn > 1) put('EXIF', tiffOf(turn))
  const length = chunks.reduce((sum, piece) => sum + piece.length, 0)
  const head = new Uint8Array(12)
  head.set(headOf('RIFF', length + 4))
  head.set(webp, 8)
  return joined([head, ...chunks])
}

function headOf(type: string, length: number): Bytes {
  const head = new Uint8Array(8)
  head.set(utf8.encode(type))
  new DataView(head.buffer).setUint32(4, length, true)
  return head
}

function extendedHead({ width, height }: { width: number; height: number }, flags: number) {
  const head = new Uint8Array(10)
  head[0] = flags
  const view = new DataView(head.buffer)
  view.setUint16(4, (width - 1) & 0xffff, true)
  head[6] = (width - 1) >> 16
  view.setUint16(7, (height - 1) & 0xffff, true)
  head[9] = (height - 1) >> 16
  return head
}
