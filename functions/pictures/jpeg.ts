/**
 * JPEG: kept are frame, tables and scans, and as bytes of ours the two marks that say how colours
 * are meant. Every other segment goes, wherever it stands, and all that follows the end.
 */
import { Broken, type Bytes, orientationOf, Reader, startsWith, tiffOf } from './bytes.ts'
import { checkSize, NoPicture, type Picture } from './picture.ts'

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const DQT = 0xdb
const DRI = 0xdd
const DHT = 0xc4
const APP0 = 0xe0
const APP1 = 0xe1
const APP14 = 0xee
// Baseline, extended and progressive: what browsers draw.
const frames = [0xc0, 0xc1, 0xc2]

const exif = [0x45, 0x78, 0x69, 0x66, 0, 0]
const jfif = [0x4a, 0x46, 0x49, 0x46, 0]
const adobe = [0x41, 0x64, 0x6f, 0x62, 0x65]

type Found = {
  width: number
  height: number
  components: number
  orientation?: number
  jfif: boolean
  transform?: number
  kept: Bytes[]
  scans: number
}

export function readJpeg(bytes: Bytes): Picture {
  const reader = new Reader(bytes, 2)
  const found: Found = { width: 0, height: 0, components: 0, jfif: false, kept: [], scans: 0 }
  try {
    while (segment(reader, found)) { /* one after another, each further on */ }
  } catch (error) {
    throw error instanceof Broken ? new NoPicture(error.message) : error
  }
  if (found.scans === 0) throw new NoPicture('no pixels')
  const { width, height, orientation = 1 } = found
  return {
    type: 'image/jpeg',
    ending: 'jpg',
    width,
    height,
    orientation,
    pieces: [head(found), ...found.kept, new Uint8Array([0xff, EOI])],
  }
}

readJpeg.begins = (bytes: Uint8Array) => startsWith(bytes, [0xff, SOI, 0xff])

/** Takes the next segment; false at the end of the picture. */
function segment(reader: Reader, found: Found): boolean {
  const marker = nextMarker(reader)
  if (marker === EOI) return false
  const start = reader.at - 2
  const length = reader.u16()
  if (length < 2) throw new Broken('a length that cannot be')
  const content = reader.take(length - 2)
  const whole = reader.bytes.subarray(start, reader.at)
  if (frames.includes(marker)) frame(content, found)
  else if (marker === DQT) checkTables(content, (head) => 1 + 64 * ((head >> 4) + 1))
  else if (marker === DHT) checkHuffman(content)
  else if (marker === SOS) return scan(reader, start, content, found)
  else if (marker === DRI) {
    if (content.length !== 2) throw new Broken('DRI')
  } else if ((marker & 0xf0) === 0xe0 || marker === 0xfe) return metadata(marker, content, found)
  else throw new Broken('a segment that no browser knows')
  found.kept.push(whole)
  return true
}

// Fill bytes may stand before a marker; what is kept begins after them.
function nextMarker(reader: Reader): number {
  if (reader.u8() !== 0xff) throw new Broken('no marker')
  let marker = reader.u8()
  while (marker === 0xff) marker = reader.u8()
  if (marker < 0xc0) throw new Broken('no marker')
  return marker
}

function frame(content: Bytes, found: Found) {
  if (found.components) throw new Broken('two frames')
  const reader = new Reader(content)
  const precision = reader.u8()
  found.height = reader.u16()
  found.width = reader.u16()
  found.components = reader.u8()
  checkSize(found.width, found.height)
  if ((precision !== 8 && precision !== 12) || ![1, 3, 4].includes(found.components)) {
    throw new Broken('frame')
  }
  reader.take(3 * found.components)
  if (reader.left) throw new Broken('frame')
}

function checkTables(content: Bytes, sizeOf: (head: number) => number) {
  const reader = new Reader(content)
  do reader.take(sizeOf(reader.bytes[reader.at] ?? 0))
  while (reader.left)
}

function checkHuffman(content: Bytes) {
  const reader = new Reader(content)
  do {
    const counts = reader.take(17).subarray(1)
    reader.take(counts.reduce((sum, count) => sum + count, 0))
  } while (reader.left)
}

/** The coded pixels: they end at the next marker that is neither padding nor a restart. */
function scan(reader: Reader, start: number, content: Bytes, found: Found): boolean {
  const count = content[0]
  if (!found.components || count < 1 || count > found.components) throw new Broken('scan')
  if (content.length !== 4 + 2 * count) throw new Broken('scan')
  const { bytes } = reader
  const begin = reader.at
  for (let at = begin;;) {
    at = bytes.indexOf(0xff, at)
    if (at < 0 || at + 1 >= bytes.length) throw new Broken('cut short')
    const next = bytes[at + 1]
    if (next === 0 || (next >= 0xd0 && next <= 0xd7)) at += 2
    else if (next === 0xff) at += 1
    else {
      if (at === begin) throw new Broken('empty scan')
      reader.at = at
      found.scans++
      // Later scans of a picture are few; a file of nothing but scans is made to keep us busy.
      if (found.scans > 200) throw new Broken('too many scans')
      found.kept.push(bytes.subarray(start, at))
      return true
    }
  }
}

function metadata(marker: number, content: Bytes, found: Found): boolean {
  if (marker === APP0 && startsWith(content, jfif)) found.jfif = true
  if (marker === APP1 && startsWith(content, exif)) {
    found.orientation ??= orientationOf(content.subarray(6))
  }
  if (marker === APP14 && startsWith(content, adobe) && content.length >= 12) {
    found.transform = content[11]
  }
  return true
}

/** The beginning of the file, all of it ours. */
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
  // JFIF: colours are YCbCr; version 1.1, pixels are square, no thumbnail.
  if (isJfif) put(APP0, [...jfif, 1, 1, 0, 0, 1, 0, 1, 0, 0])
  if (orientation > 1) put(APP1, [...exif, ...tiffOf(orientation)])
  if (transform !== undefined && transform <= 2) {
    put(APP14, [...adobe, 0, 100, 0, 0, 0, 0, transform])
  }
  return new Uint8Array(parts)
}
