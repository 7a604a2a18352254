// JPEG: copies the frame, the scans and the tables they use. Rewrites the JFIF and Adobe markers, the profile
// and the orientation. Drops all other segments, bytes between segments, and any data after the pixels that
// is unreadable or not needed. Adds a missing end marker.
import type { Bytes } from '../_shared/input/bytes.ts'
import { type ProfileParts, profileSegments, withPart } from './jpeg-profile.ts'
import { checkSize, NotAPicture, type Picture } from './picture.ts'
import { BrokenFile, joined, orientationOf, Reader, startsWith, tiffOf } from './reader.ts'

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const DQT = 0xdb
const DRI = 0xdd
const DHT = 0xc4
const TEM = 0x01
const DNL = 0xdc
const APP0 = 0xe0
const APP1 = 0xe1
const APP2 = 0xe2
const APP14 = 0xee
const COM = 0xfe
// Browsers support baseline, extended and progressive frames.
const frames = [0xc0, 0xc1, 0xc2]

const exif = [0x45, 0x78, 0x69, 0x66, 0, 0]
const jfif = [0x4a, 0x46, 0x49, 0x46, 0]
const adobe = [0x41, 0x64, 0x6f, 0x62, 0x65]
const sefh = [0x53, 0x45, 0x46, 0x48]
const seft = [0x53, 0x45, 0x46, 0x54]

// Far above what encoders write. A file that exceeds one of these limits was made to waste our CPU time.
const maxSegments = 2000
const maxScans = 200

/** A segment of tables. `inUse` counts its tables that no later segment has replaced. */
type Tables = { whole: Bytes; inUse: number }

type Found = {
  width: number
  height: number
  components: number
  orientation?: number
  exif: boolean
  jfif: boolean
  transform?: number
  profile?: ProfileParts
  /** Whether the pixels contain restart markers, which let a decoder resume after an error. */
  restarts: boolean
  segments: Bytes[]
  scans: number
  /** Segments that no scan has used yet, in order. `tables` maps each table to its segment. */
  waiting: Tables[]
  tables: Map<number, Tables>
}

export function readJpeg(bytes: Bytes): Picture {
  const reader = new Reader(bytes, 2, endBeforeTrailer(bytes))
  const found: Found = {
    width: 0,
    height: 0,
    components: 0,
    exif: false,
    jfif: false,
    restarts: false,
    segments: [],
    scans: 0,
    waiting: [],
    tables: new Map(),
  }
  try {
    for (let count = 0; segmentOrEnd(reader, found); count++) {
      if (count === maxSegments || found.scans > maxScans) throw new BrokenFile('too many segments')
    }
  } catch (error) {
    throw error instanceof BrokenFile ? new NotAPicture(error.message) : error
  }
  if (found.scans === 0) throw new NotAPicture('no pixels')
  const { width, height, orientation = 1 } = found
  return {
    type: 'image/jpeg',
    ending: 'jpg',
    width,
    height,
    orientation,
    pieces: [
      head(found),
      ...profileSegments(found.profile),
      ...joined(found.segments),
      new Uint8Array([0xff, EOI]),
    ],
  }
}

readJpeg.begins = (bytes: Uint8Array) => startsWith(bytes, [0xff, SOI, 0xff])

/**
 * After the pixels, unreadable data counts as the end of the picture: Samsung's panoramas have no end marker,
 * and some other files have stray bytes before it.
 */
function segmentOrEnd(reader: Reader, found: Found): boolean {
  try {
    return segment(reader, found)
  } catch (error) {
    if (error instanceof BrokenFile && found.scans > 0) return false
    throw error
  }
}

function segment(reader: Reader, found: Found): boolean {
  const marker = nextMarker(reader)
  if (marker === EOI) return false
  if (marker === TEM || isRestart(marker)) return true
  const start = reader.at - 2
  const isMetadata = (marker & 0xf0) === 0xe0 || marker === COM
  const length = reader.u16()
  if (length < 2 && !isMetadata) throw new BrokenFile('a length that cannot be')
  const content = reader.take(Math.max(length - 2, 0))
  const whole = reader.bytes.subarray(start, reader.at)
  if (marker === DQT) tables(marker, whole, quantisation(content), found)
  else if (marker === DHT) tables(marker, whole, huffman(content), found)
  else if (marker === DRI) {
    if (content.length !== 2) throw new BrokenFile('DRI')
    found.restarts = content[0] + content[1] > 0
    tables(marker, whole, [0], found)
  } else if (frames.includes(marker)) {
    frame(content, found)
    found.waiting.push({ whole, inUse: 1 })
  } else if (marker === SOS) scan(reader, start, content, found)
  else if (isMetadata) metadata(marker, content, found)
  else if (marker !== DNL) throw new BrokenFile('a segment that no browser knows')
  return true
}

const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7

/** Skips fill bytes and the bytes that some devices leave between segments, up to the next marker. */
function nextMarker(reader: Reader): number {
  const { bytes, end } = reader
  for (let at = reader.at; at + 1 < end; at++) {
    const marker = bytes[at + 1]
    if (bytes[at] !== 0xff || marker === 0xff || marker === 0) continue
    reader.at = at + 2
    return marker
  }
  throw new BrokenFile('cut short')
}

/** Keeps a segment of tables until a scan uses it, or drops it once later segments replace all its tables. */
function tables(marker: number, whole: Bytes, ids: number[], found: Found) {
  const added = { whole, inUse: ids.length }
  for (const id of ids) {
    const key = marker << 8 | id
    const before = found.tables.get(key)
    if (before && --before.inUse === 0) found.waiting.splice(found.waiting.indexOf(before), 1)
    found.tables.set(key, added)
  }
  found.waiting.push(added)
}

function frame(content: Bytes, found: Found) {
  if (found.components) throw new BrokenFile('two frames')
  const reader = new Reader(content)
  const precision = reader.u8()
  found.height = reader.u16()
  found.width = reader.u16()
  found.components = reader.u8()
  checkSize(found.width, found.height)
  if ((precision !== 8 && precision !== 12) || ![1, 3, 4].includes(found.components)) {
    throw new BrokenFile('frame')
  }
  reader.take(3 * found.components)
  if (reader.left) throw new BrokenFile('frame')
}

function* idsIn(content: Bytes, most: number, skip: (head: number, reader: Reader) => void) {
  const reader = new Reader(content)
  const seen = new Set<number>()
  do {
    const head = reader.u8()
    if (head >> 4 > 1 || (head & 15) > 3 || seen.has(head & most)) throw new BrokenFile('tables')
    seen.add(head & most)
    skip(head, reader)
    yield head & most
  } while (reader.left)
}

// The number of a Huffman table includes its class; the number of a quantisation table excludes its
// precision.
const quantisation = (content: Bytes) => [
  ...idsIn(content, 0x0f, (head, reader) => reader.take(64 * ((head >> 4) + 1))),
]

const huffman = (content: Bytes) => [
  ...idsIn(content, 0x1f, (_, reader) => {
    const symbols = reader.take(16).reduce((sum, count) => sum + count, 0)
    if (symbols > 256) throw new BrokenFile('tables')
    reader.take(symbols)
  }),
]

/** The coded pixels end at the next marker that is neither padding nor a restart marker. */
function scan(reader: Reader, start: number, content: Bytes, found: Found) {
  const count = content[0]
  if (!found.components || count < 1 || count > found.components) throw new BrokenFile('scan')
  if (content.length !== 4 + 2 * count) throw new BrokenFile('scan')
  const { bytes, at: begin } = reader
  const end = endOfScan(bytes, begin, reader.end, found.restarts)
  if (end === begin) throw new BrokenFile('empty scan')
  reader.at = end
  found.scans++
  found.segments.push(...found.waiting.splice(0).map(({ whole }) => whole))
  found.segments.push(bytes.subarray(start, end))
  found.tables.clear()
}

// A loop over the bytes, because indexOf(0xff) is slower in a file full of such bytes.
function endOfScan(bytes: Bytes, begin: number, end: number, restarts: boolean): number {
  const last = end - 1
  for (let at = begin; at < last; at++) {
    if (bytes[at] !== 0xff) continue
    const next = bytes[at + 1]
    if (next === 0xff) continue
    if (next !== 0 && !isRestart(next) && !(restarts && next < 0xc0)) return at
    at++
  }
  while (end > begin && bytes[end - 1] === 0xff) end--
  return end
}

/**
 * Samsung appends notes and videos to pictures; in panoramas there is no end marker before them. A directory
 * at the end tells how far before it each of them begins.
 */
function endBeforeTrailer(bytes: Bytes): number {
  const { length } = bytes
  if (!startsWith(bytes, seft, length - 4)) return length
  try {
    const directory = length - 8 - new Reader(bytes, length - 8).u32(true)
    const reader = new Reader(bytes, directory, length - 8)
    if (directory < 0 || !startsWith(reader.take(4), sefh)) return length
    reader.take(4)
    let most = 0
    for (let left = reader.u32(true); left > 0 && reader.left; left--) {
      reader.take(4)
      most = Math.max(most, reader.u32(true))
      reader.take(4)
    }
    return most < directory ? directory - most : length
  } catch (error) {
    if (error instanceof BrokenFile) return length
    throw error
  }
}

function metadata(marker: number, content: Bytes, found: Found) {
  if (marker === APP0 && startsWith(content, jfif) && content.length >= 14) found.jfif = true
  if (marker === APP1 && startsWith(content, exif) && !found.exif) {
    found.exif = true
    found.orientation = orientationOf(content.subarray(6))
  }
  if (marker === APP14 && startsWith(content, adobe) && content.length >= 12) {
    found.transform = content[11]
  }
  if (marker === APP2 && !found.scans) found.profile = withPart(content, found.profile)
}

function head({ jfif: isJfif, transform, orientation = 1 }: Found): Bytes {
  const parts = [0xff, SOI]
  const put = (marker: number, content: ArrayLike<number>) =>
    parts.push(
      0xff,
      marker,
      (content.length + 2) >> 8,
      (content.length + 2) & 255,
      ...Array.from(content),
    )
  // JFIF means that the colours are YCbCr. Writes version 1.1 with square pixels and no thumbnail.
  if (isJfif) put(APP0, [...jfif, 1, 1, 0, 0, 1, 0, 1, 0, 0])
  if (orientation > 1) put(APP1, [...exif, ...tiffOf(orientation)])
  if (transform !== undefined && transform <= 2) {
    put(APP14, [...adobe, 0, 100, 0, 0, 0, 0, transform])
  }
  return new Uint8Array(parts)
}
