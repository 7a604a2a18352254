/**
 * PNG: kept are the chunks without which nothing can be drawn, each with a checksum that is right.
 * An animated one becomes the still picture that it shows where nothing moves.
 */
import { Broken, type Bytes, orientationOf, Reader, startsWith, tiffOf } from './bytes.ts'
import { checkSize, NoPicture, type Picture } from './picture.ts'

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const utf8 = new TextEncoder()

// Bit depths that each colour type may have.
const depths: Record<number, number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}

type Found = {
  width: number
  height: number
  colour: number
  orientation?: number
  palette?: Bytes
  transparency?: Bytes
  header?: Bytes
  pixels: Bytes[]
  ended: boolean
}

export function readPng(bytes: Bytes): Picture {
  const reader = new Reader(bytes, signature.length)
  const found: Found = { width: 0, height: 0, colour: 0, pixels: [], ended: false }
  try {
    while (!found.ended) chunk(reader, found)
  } catch (error) {
    throw error instanceof Broken ? new NoPicture(error.message) : error
  }
  const { width, height, orientation = 1, header, palette, transparency, pixels } = found
  if (!pixels.length) throw new NoPicture('no pixels')
  if (found.colour === 3 && !palette) throw new NoPicture('no palette')
  return {
    type: 'image/png',
    ending: 'png',
    width,
    height,
    orientation,
    pieces: [
      new Uint8Array(signature),
      header!,
      ...(orientation > 1 ? [chunkOf('eXIf', tiffOf(orientation))] : []),
      ...(palette ? [palette] : []),
      ...(transparency ? [transparency] : []),
      ...pixels,
      chunkOf('IEND', new Uint8Array()),
    ],
  }
}

readPng.begins = (bytes: Uint8Array) => startsWith(bytes, signature)

function chunk(reader: Reader, found: Found) {
  const start = reader.at
  const length = reader.u32()
  const type = reader.text(4)
  const content = reader.take(length)
  const sum = reader.u32()
  const whole = () => {
    if (crc(reader.bytes.subarray(start + 4, start + 8 + length)) !== sum) throw new Broken('CRC')
    return reader.bytes.subarray(start, reader.at)
  }
  if (!found.header && type !== 'IHDR') throw new Broken('no header')
  // Pixels stand together: anything between them makes two pictures of one.
  const late = found.pixels.length > 0
  if (type === 'IDAT') found.pixels.push(whole())
  else if (type === 'IHDR') header(content, whole(), found)
  else if (type === 'PLTE' && !late && !found.palette) {
    if (length % 3 || length < 3 || length > 768) throw new Broken('palette')
    found.palette = whole()
  } else if (type === 'tRNS' && !late && !found.transparency) {
    if (length < 1 || length > 256) throw new Broken('transparency')
    found.transparency = whole()
  } else if (type === 'eXIf') found.orientation ??= orientationOf(content)
  else if (type === 'IEND') found.ended = true
  // A capital first letter: nothing can be drawn without it, and we do not know it.
  else if (/^[A-Z]/.test(type) || !/^[a-zA-Z]{4}$/.test(type)) throw new Broken('unknown chunk')
}

function header(content: Bytes, whole: Bytes, found: Found) {
  if (found.header || content.length !== 13) throw new Broken('header')
  const reader = new Reader(content)
  found.width = reader.u32()
  found.height = reader.u32()
  checkSize(found.width, found.height)
  const depth = reader.u8()
  found.colour = reader.u8()
  const fits = depths[found.colour]?.includes(depth)
  if (!fits || reader.u8() !== 0 || reader.u8() !== 0 || reader.u8() > 1) throw new Broken('header')
  found.header = whole
}

/** A chunk of ours. */
function chunkOf(type: string, content: Bytes): Bytes {
  const bytes = new Uint8Array(12 + content.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, content.length)
  bytes.set(utf8.encode(type), 4)
  bytes.set(content, 8)
  view.setUint32(8 + content.length, crc(bytes.subarray(4, 8 + content.length)))
  return bytes
}

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

/** CRC-32 as PNG has it. */
export function crc(bytes: Uint8Array): number {
  let value = -1
  for (let index = 0; index < bytes.length; index++) {
    value = table[(value ^ bytes[index]) & 255] ^ (value >>> 8)
  }
  return (value ^ -1) >>> 0
}
