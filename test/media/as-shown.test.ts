// A picture looks the same in Chromium before and after it is stored, whatever device or program made it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { effortOfRequest, readPicture } from '../../functions/pictures/read.ts'
import { hasBrowser } from '../client/browser.ts'
import { bulk } from '../support/nightly.ts'
import { chunk, inChunks, partsIn, samsungTrailer } from '../support/pictures.ts'
import { openViewer } from './viewer.ts'

type Viewer = Awaited<ReturnType<typeof openViewer>>
let viewer: Viewer
/** Pictures as Chromium encodes them, with a profile for sRGB. */
let plain: Record<'jpeg' | 'png' | 'webp' | 'lossless', Buffer>

const stored = (picture: Buffer) =>
  Buffer.concat(readPicture(new Uint8Array(picture), effortOfRequest()).pieces)

const joined = (...parts: (Buffer | string)[]) =>
  Buffer.concat(parts.map((part) => typeof part === 'string' ? Buffer.from(part, 'hex') : part))

/** Returns the picture with bytes inserted at an offset. */
const put = (picture: Buffer, at: number, ...parts: (Buffer | string)[]) =>
  joined(picture.subarray(0, at), ...parts, picture.subarray(at))

/** Returns pseudo-random bytes that are the same in every run. */
function junk(seed: number, length = 20 + (seed * 37) % 400): Buffer {
  let state = seed + 1
  return Buffer.from(Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state >>> 16 & 255
  }))
}

const withoutMarkers = (bytes: Buffer) => Buffer.from(bytes.map((byte) => byte === 0xff ? 0 : byte))

/** Returns the offsets of the boundaries between the segments of a JPEG that precede its first scan. */
function between(picture: Buffer): number[] {
  const offsets: number[] = []
  for (let at = 2; picture[at + 1] !== 0xda; at += 2 + picture.readUInt16BE(at + 2)) {
    offsets.push(at)
  }
  return offsets.slice(1)
}

type Fault = (picture: Buffer, seed: number) => Buffer

const faults: Record<'jpeg' | 'png' | 'webp', Record<string, Fault>> = {
  jpeg: {
    'without an end': (picture) => picture.subarray(0, -2),
    "without an end, before Samsung's notes": (picture, seed) =>
      joined(picture.subarray(0, -2), samsungTrailer(junk(seed))),
    "with an end, before Samsung's notes": (picture, seed) =>
      joined(picture, samsungTrailer(junk(seed))),
    'without an end, before anything': (picture, seed) =>
      joined(picture.subarray(0, -2), junk(seed)),
    'with bytes before its end': (picture, seed) =>
      put(picture, picture.length - 2, withoutMarkers(junk(seed))),
    'with bytes and marks before its end': (picture, seed) =>
      put(picture, picture.length - 2, `ff${(0x3c + seed).toString(16)}`, junk(seed)),
    'with bytes between its segments': (picture, seed) => {
      const offsets = between(picture)
      return put(picture, offsets[seed % offsets.length], withoutMarkers(junk(seed)))
    },
    'with fill bytes between its segments': (picture, seed) => {
      const offsets = between(picture)
      return put(picture, offsets[seed % offsets.length], Buffer.alloc(1 + seed * 400, 0xff))
    },
    'with restart marks between its segments': (picture, seed) => {
      const offsets = between(picture)
      return put(picture, offsets[seed % offsets.length], `ffd${seed % 8}ff01`)
    },
    'with a comment that says it has no length': (picture, seed) => {
      const offsets = between(picture)
      return put(picture, offsets[seed % offsets.length], `fffe000${seed % 2}`)
    },
    'with a trailer': (picture, seed) => joined(picture, junk(seed)),
  },
  png: {
    'without an end': (picture) => picture.subarray(0, -12),
    'cut in its end or its last checksums': (picture, seed) => picture.subarray(0, -1 - seed % 20),
    'in chunks, without an end': (picture, seed) =>
      inChunks(picture, 300 + seed * 50).subarray(0, -12),
    'with bytes for its end': (picture, seed) => joined(picture.subarray(0, -12), junk(seed)),
    'with bytes before its end': (picture, seed) => put(picture, picture.length - 12, junk(seed)),
    'with a trailer': (picture, seed) => joined(picture, junk(seed)),
    'with a wrong checksum of its pixels': (picture, seed) => {
      const changed = Buffer.from(picture)
      changed[picture.length - 13 - seed % 4] ^= 1 + seed
      return changed
    },
    'with a wrong checksum of what need not be': (picture, seed) => {
      const text = chunk(['tEXt', 'gAMA', 'tRNS', 'eXIf'][seed % 4], junk(seed, 6))
      text[text.length - 1] ^= 1 + seed
      return put(picture, 33, text)
    },
  },
  webp: {
    'longer than its file': (picture, seed) =>
      joined(picture.subarray(0, 4), Buffer.from([1, seed, 1, 0]), picture.subarray(8)),
    'with a trailer': (picture, seed) => joined(picture, junk(seed)),
    'with chunks of its own': (picture, seed) => {
      const more = joined(Buffer.from('more'), Buffer.from([40, 0, 0, 0]), junk(seed, 40))
      const changed = joined(picture, more)
      changed.writeUInt32LE(changed.length - 8, 4)
      return changed
    },
  },
}

const partsOf = {
  jpeg: ['e0', 'e2', 'ee', 'db', 'c0', 'c4', 'dd', 'da', 'd9'],
  png: ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'],
  webp: ['VP8X', 'ICCP', 'ALPH', 'VP8 ', 'VP8L'],
}

describe.runIf(hasBrowser)('Chromium shows the same', () => {
  beforeAll(async () => {
    viewer = await openViewer()
    plain = {
      jpeg: await viewer.draw('image/jpeg'),
      png: await viewer.draw('image/png'),
      webp: await viewer.draw('image/webp'),
      lossless: await viewer.draw('image/webp', 96, 64, 1),
    }
  })
  afterAll(() => viewer?.close())

  describe.each(Object.entries(faults))('MED-06 of a %s', (type, kinds) => {
    test.each(Object.entries(kinds))('%s', async (_, fault) => {
      const pictures = type === 'webp'
        ? [plain.webp, plain.lossless]
        : [plain[type as 'jpeg' | 'png']]
      for (const picture of pictures) {
        for (let seed = 0; seed < bulk(20, 4); seed++) {
          const sent = fault(picture, seed)
          const after = stored(sent)
          expect([seed, await viewer.compare(picture, after)]).toEqual([seed, 0])
          for (const part of partsIn(after)) expect(partsOf[type as 'png']).toContain(part)
        }
      }
    })
  })
})
