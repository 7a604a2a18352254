// Files that are not what they claim to be, or that contain more. Some are refused. The others are real
// pictures with hidden data, which always contains MARK and must not be served.
import { deflateSync, gzipSync } from 'node:zlib'
import {
  chunk,
  exifSegment,
  extended,
  header,
  inChunks,
  jpeg,
  lossless,
  lossy,
  png,
  pngSignature,
  samsungTrailer,
  segment,
  tiff,
  webp,
  webpChunk,
} from '../support/pictures.ts'
import { iccp, iccSegment, matrixTags, ofSrgb, primaries, profile } from '../support/profiles.ts'

export const MARK = 'PLANTED'

export type Hostile = { name: string; bytes: Buffer }

const size = { width: 40, height: 30 }
const text = (value: string) => Buffer.from(value, 'latin1')
const secret = text(`${MARK} 29.3759,47.9774 <script>alert(1)</script>`)
const list = (files: Record<string, Buffer>): Hostile[] =>
  Object.entries(files).map(([name, bytes]) => ({ name, bytes }))

const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert('${MARK}')"/>`
const external = `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>` +
  `<svg xmlns="http://www.w3.org/2000/svg">&x;</svg>`
const box = (type: string, content = '') => {
  const bytes = Buffer.concat([Buffer.alloc(4), text(type + content)])
  bytes.writeUInt32BE(bytes.length)
  return bytes
}
const gif = text('GIF89a\x28\0\x1e\0\x80\0\0\0\0\0\xff\xff\xff')

export const noPictures = list({
  'html': text(`<!doctype html><script>alert('${MARK}')</script>`),
  'xhtml': text(`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>`),
  'svg': text(svg),
  'svg, gzipped': gzipSync(svg),
  'svg with an external entity': text(external),
  'pdf': text('%PDF-1.7\n1 0 obj<</OpenAction 2 0 R>>endobj\n%%EOF'),
  'elf': Buffer.concat([text('\x7fELF\x02\x01\x01'), Buffer.alloc(100)]),
  'exe': Buffer.concat([text('MZ'), Buffer.alloc(100)]),
  'zip': Buffer.concat([
    text('PK\x03\x04'),
    Buffer.alloc(60),
    text('PK\x05\x06'),
    Buffer.alloc(18),
  ]),
  'mp4': Buffer.concat([box('ftyp', 'isom\0\0\x02\0isomiso2'), box('mdat', MARK)]),
  'heic': Buffer.concat([box('ftyp', 'heic\0\0\0\0mif1heic'), box('meta')]),
  'avif': Buffer.concat([box('ftyp', 'avif\0\0\0\0avifmif1'), box('meta')]),
  'text': text('just words'),
  'ico': text('\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0'),
  'tiff': tiff(1),
  'jpeg xl': text('\xff\x0a\xfa\x1f'),
  'bmp': Buffer.concat([text('BM'), Buffer.alloc(60)]),
  'gif of 10,000 frames': Buffer.concat([
    gif,
    ...Array(10_000).fill(text(',\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0')),
    text(';'),
  ]),
  'empty': Buffer.alloc(0),
  'one byte': text('\xff'),
  'zeroes': Buffer.alloc(2000),
  'a script that begins like a GIF': text(`GIF89a/*${MARK}*/=1;alert(1)`),
})

const cut = (bytes: Buffer, share: number) => bytes.subarray(0, Math.floor(bytes.length * share))
const patched = (bytes: Buffer, at: number, ...values: number[]) => {
  const copy = Buffer.from(bytes)
  copy.set(values, at)
  return copy
}
const plainJpeg = jpeg(size)
const plainPng = png(size)
const plainWebp = webp(lossless(size))
const DQT = Buffer.from([0xff, 0xdb])
const frameAt = plainJpeg.indexOf(Buffer.from([0xff, 0xc0]))
const scanAt = plainJpeg.indexOf(Buffer.from([0xff, 0xda]))
const tables = plainJpeg.indexOf(Buffer.from([0xff, 0xc4]))
const vp8x = (width: number, height: number) => extended({ width, height }, 0)

function framesInFrames(depth: number): Buffer {
  const bytes = Buffer.alloc(24 * depth)
  for (let level = 0; level < depth; level++) {
    const at = 24 * level
    bytes.write('ANMF', at)
    bytes.writeUInt32LE(bytes.length - at - 8, at + 4)
    bytes.set([39, 0, 0, 29], at + 14)
  }
  return bytes
}

export const broken = list({
  'jpeg: only the beginning': plainJpeg.subarray(0, 3),
  'jpeg: only the head': plainJpeg.subarray(0, scanAt),
  'jpeg: a table of length 0': patched(plainJpeg, plainJpeg.indexOf(DQT) + 2, 0, 0),
  'jpeg: a segment longer than the file': patched(plainJpeg, 4, 0xff, 0xff),
  'jpeg: two frames': Buffer.concat([
    plainJpeg.subarray(0, frameAt),
    plainJpeg.subarray(frameAt, frameAt + 13),
    plainJpeg.subarray(frameAt),
  ]),
  'jpeg: no frame': Buffer.concat([
    plainJpeg.subarray(0, frameAt),
    plainJpeg.subarray(frameAt + 13),
  ]),
  'jpeg: no pixels': Buffer.concat([plainJpeg.subarray(0, scanAt + 10), Buffer.from([0xff, 0xd9])]),
  'jpeg: tables with words in them': Buffer.concat([
    plainJpeg.subarray(0, tables),
    segment(0xc4, Buffer.concat([Buffer.from([0, 0, 1, ...Array(15).fill(0)]), secret])),
    plainJpeg.subarray(tables),
  ]),
  'jpeg: arithmetic coding': patched(plainJpeg, frameAt + 1, 0xc9),
  'jpeg: width 0': patched(plainJpeg, frameAt + 7, 0, 0),
  'jpeg: height 0': patched(plainJpeg, frameAt + 5, 0, 0),
  'jpeg: fill bytes without end': Buffer.concat([
    plainJpeg.subarray(0, 2),
    Buffer.alloc(500_000, 0xff),
  ]),
  'jpeg: ten thousand scans': Buffer.concat([
    plainJpeg.subarray(0, scanAt),
    ...Array(10_000).fill(plainJpeg.subarray(scanAt, scanAt + 12)),
    Buffer.from([0xff, 0xd9]),
  ]),
  'png: only the signature': pngSignature,
  'png: cut at half': cut(plainPng, 0.5),
  'png: a wrong checksum of its header': patched(plainPng, 30, 1, 2),
  'png: a chunk of its own longer than the file': Buffer.concat([
    plainPng.subarray(0, 33),
    patched(chunk('prVt'), 0, 0x7f, 0xff, 0xff, 0xff),
    plainPng.subarray(33),
  ]),
  'png: a chunk of length minus one': patched(plainPng, 33, 0xff, 0xff, 0xff, 0xff),
  'png: no pixels': Buffer.concat([pngSignature, header(40, 30), chunk('IEND')]),
  'png: pixels before the header': Buffer.concat([
    pngSignature,
    chunk('IDAT', deflateSync(Buffer.alloc(100))),
    plainPng.subarray(8),
  ]),
  'png: two headers': Buffer.concat([pngSignature, header(40, 30), plainPng.subarray(8)]),
  'png: a depth that is none': Buffer.concat([
    pngSignature,
    header(40, 30, Buffer.from([7, 2, 0, 0, 0])),
    plainPng.subarray(33),
  ]),
  'png: colours without a palette': Buffer.concat([
    pngSignature,
    header(40, 30, Buffer.from([8, 3, 0, 0, 0])),
    plainPng.subarray(33),
  ]),
  'png: more pixels than it says': Buffer.concat([
    pngSignature,
    header(40, 30),
    chunk('IDAT', deflateSync(Buffer.concat([Buffer.alloc(121 * 30), secret]))),
    chunk('IEND'),
  ]),
  'png: fewer pixels than it says': Buffer.concat([
    pngSignature,
    header(40, 30),
    chunk('IDAT', deflateSync(Buffer.alloc(121 * 29))),
    chunk('IEND'),
  ]),
  'png: interlaced pixels that are not': Buffer.concat([
    pngSignature,
    header(40, 30, Buffer.from([8, 2, 0, 0, 1])),
    plainPng.subarray(33),
  ]),
  'png: words for pixels': Buffer.concat([
    pngSignature,
    header(40, 30),
    chunk('IDAT', secret),
    chunk('IEND'),
  ]),
  'png: pixels that end in the middle': Buffer.concat([
    pngSignature,
    header(40, 30),
    chunk('IDAT', deflateSync(Buffer.alloc(121 * 30)).subarray(0, -6)),
    chunk('IEND'),
  ]),
  'png: a hundred thousand empty chunks': inChunks(
    plainPng,
    1000,
    Buffer.concat(Array(100_000).fill(chunk('IDAT'))),
  ),
  'png: a hundred thousand chunks of its own': png({
    ...size,
    before: [Buffer.concat(Array(100_000).fill(chunk('prVt')))],
  }),
  'jpeg: a hundred thousand segments': jpeg({
    ...size,
    before: [Buffer.concat(Array(100_000).fill(segment(0xe5, Buffer.alloc(0))))],
  }),
  'jpeg: a table twice in one segment': jpeg({
    ...size,
    before: [segment(0xdb, Buffer.concat(Array(2).fill(Buffer.alloc(65))))],
  }),
  'jpeg: a table of a number that none has': jpeg({
    ...size,
    before: [segment(0xdb, Buffer.concat([Buffer.from([4]), Buffer.alloc(64)]))],
  }),
  'png: a needed chunk that nobody knows': png({ ...size, before: [chunk('EVIL', secret)] }),
  'webp: only the head': plainWebp.subarray(0, 12),
  'webp: a chunk longer than the file': patched(plainWebp, 16, 0xff, 0xff, 0xff, 0x7f),
  'webp: cut at half': cut(plainWebp, 0.6),
  'webp: no picture in it': webp(vp8x(40, 30)),
  'webp: two sizes': webp(vp8x(41, 30), lossless(size)),
  'webp: not a key frame': patched(webp(lossy()), 20, 0x31),
  'webp: a hundred thousand chunks': webp(
    lossless(size),
    Buffer.concat(Array(100_000).fill(webpChunk('more', Buffer.alloc(0)))),
  ),
  'webp: frames in frames': webp(vp8x(40, 30), framesInFrames(20_000)),
  'webp: an empty frame': webp(vp8x(40, 30), webpChunk('ANMF', Buffer.alloc(16))),
})

export const bombs = list({
  'png of 30,000 × 30,000': Buffer.concat([
    pngSignature,
    header(30_000, 30_000),
    chunk('IDAT', deflateSync(Buffer.alloc(900_000))),
    chunk('IEND'),
  ]),
  'png of 50,000 × 50,000': Buffer.concat([pngSignature, header(50_000, 50_000)]),
  'png of 1 × 60,000,000': Buffer.concat([pngSignature, header(1, 60_000_000)]),
  'png of 4,294,967,295 × 1': Buffer.concat([pngSignature, header(0xffffffff, 1)]),
  'jpeg of 65,535 × 65,535': patched(plainJpeg, frameAt + 5, 0xff, 0xff, 0xff, 0xff),
  'webp at its largest, lossless': webp(lossless({ width: 16_384, height: 16_384 })),
  'webp at its largest, extended': webp(vp8x(16_777_216, 16_777_216), lossless(size)),
  'webp at its largest, lossy': patched(webp(lossy()), 26, 0xff, 0x3f, 0xff, 0x3f),
})

const iptc = segment(0xed, Buffer.concat([text('Photoshop 3.0\x008BIM\x04\x04\0\0'), secret]))
const xmp = text(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><GPS>${MARK}</GPS></x:xmpmeta>`)
const zip = Buffer.concat([text('PK\x03\x04'), secret, text('PK\x05\x06'), Buffer.alloc(18)])
const pdf = text(`%PDF-1.4\n% ${MARK}\n%%EOF`)
const animated = (inner: Buffer) =>
  webp(
    extended(size, 2),
    webpChunk('ANIM', Buffer.alloc(6)),
    webpChunk(
      'ANMF',
      Buffer.concat([
        Buffer.from([0, 0, 0, 0, 0, 0, 39, 0, 0, 29, 0, 0, 1, 0, 0, 0]),
        inner,
      ]),
    ),
    webpChunk('ANMF', secret),
  )

function behindPixels(picture: Buffer, more: Buffer[]): Buffer {
  const at = picture.indexOf('IDAT') - 4
  const end = at + 8 + picture.readUInt32BE(at)
  return Buffer.concat([
    picture.subarray(0, at),
    chunk('IDAT', Buffer.concat([picture.subarray(at + 8, end), ...more])),
    picture.subarray(end + 4),
  ])
}

const wordsAsTable = (id: number) =>
  segment(0xdb, Buffer.concat([Buffer.from([id]), secret, Buffer.alloc(64)]).subarray(0, 65))

const ofScreen = profile(matrixTags(primaries.turned, ofSrgb), { mark: MARK })

export const loaded = list({
  'jpeg with a place in EXIF': jpeg({ ...size, before: [exifSegment(1, `${MARK} GPS`)] }),
  'jpeg with a thumbnail in EXIF': jpeg({
    ...size,
    before: [segment(0xe1, Buffer.concat([text('Exif\0\0'), tiff(1), jpeg(size), secret]))],
  }),
  'jpeg with a thumbnail in JFIF': jpeg({
    ...size,
    jfif: false,
    before: [segment(0xe0, Buffer.concat([text('JFIF\0\x01\x01\0\0\x01\0\x01\x04\x04'), secret]))],
  }),
  'jpeg with XMP': jpeg({
    ...size,
    before: [segment(0xe1, Buffer.concat([text('http://ns.adobe.com/xap/1.0/\0'), xmp]))],
  }),
  'jpeg with IPTC': jpeg({ ...size, before: [iptc] }),
  'jpeg with a profile': jpeg({
    ...size,
    before: [segment(0xe2, Buffer.concat([text('ICC_PROFILE\0\x01\x01'), secret]))],
  }),
  "jpeg with a screen's profile": jpeg({ ...size, before: [iccSegment(ofScreen)] }),
  'jpeg with a comment': jpeg({ ...size, before: [segment(0xfe, secret)] }),
  'jpeg with a maker segment of every number': jpeg({
    ...size,
    before: Array.from({ length: 16 }, (_, number) => segment(0xe0 + number, secret)),
  }),
  'jpeg with Adobe and more': jpeg({
    ...size,
    before: [segment(0xee, Buffer.concat([text('Adobe\0d\0\0\0\0\0'), secret]))],
  }),
  'jpeg and html': jpeg({ ...size, after: text(`<html><script>'${MARK}'</script>`) }),
  'jpeg and zip': jpeg({ ...size, after: zip }),
  'jpeg and another jpeg': jpeg({
    ...size,
    after: jpeg({ ...size, before: [segment(0xfe, secret)] }),
  }),
  'jpeg and script in a comment': jpeg({
    ...size,
    before: [segment(0xfe, text(`*/=alert('${MARK}')/*`))],
  }),
  'png with text': png({
    ...size,
    before: [
      chunk('tEXt', text(`Author\0${MARK}`)),
      chunk('zTXt', Buffer.concat([text('Author\0\0'), deflateSync(secret), secret])),
      chunk('iTXt', Buffer.concat([text('XML:com.adobe.xmp\0\0\0\0\0'), xmp])),
    ],
  }),
  'png with a place': png({ ...size, before: [chunk('eXIf', tiff(1, MARK))] }),
  'png with a profile': png({ ...size, before: [chunk('iCCP', secret)] }),
  "png with a screen's profile": png({ ...size, before: [iccp(ofScreen, MARK)] }),
  'png with chunks of its own': png({
    ...size,
    before: [chunk('prVt', secret)],
    between: [chunk('zzZz', secret)],
  }),
  'png that moves': png({
    ...size,
    before: [chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])), chunk('fcTL', secret)],
    between: [chunk('fcTL', secret), chunk('fdAT', secret)],
  }),
  'png with words behind its pixels': behindPixels(png(size), [secret]),
  'png with words behind its pixels, in chunks of their own': inChunks(
    behindPixels(png(size), [chunk('IDAT', secret), zip]),
    7,
  ),
  'png, interlaced, with words behind its pixels': behindPixels(
    Buffer.concat([
      pngSignature,
      header(5, 5, Buffer.from([1, 0, 0, 0, 1])),
      // In the seven passes, each row consists of a filter byte and one byte of pixels.
      chunk('IDAT', deflateSync(Buffer.alloc(2 * (1 + 1 + 1 + 2 + 1 + 3 + 2)))),
      chunk('IEND'),
    ]),
    [secret],
  ),
  'jpeg with words in tables that no scan uses': jpeg({
    ...size,
    before: [wordsAsTable(0), wordsAsTable(0), wordsAsTable(0)],
  }),
  'jpeg with words in tables behind its pixels': Buffer.concat([
    jpeg(size).subarray(0, -2),
    wordsAsTable(1),
    Buffer.from([0xff, 0xd9]),
  ]),
  'jpeg without an end, and what Samsung puts behind it': Buffer.concat([
    plainJpeg.subarray(0, -2),
    samsungTrailer(secret),
  ]),
  'jpeg with words between its segments': Buffer.concat([
    plainJpeg.subarray(0, frameAt),
    secret,
    plainJpeg.subarray(frameAt),
  ]),
  'jpeg with words behind a mark before its end': Buffer.concat([
    plainJpeg.subarray(0, -2),
    Buffer.from([0xff, 0x01]),
    secret,
    plainJpeg.subarray(-2),
  ]),
  'jpeg with a comment of length 0': Buffer.concat([
    plainJpeg.subarray(0, frameAt),
    Buffer.from([0xff, 0xfe, 0, 0]),
    secret,
    plainJpeg.subarray(frameAt),
  ]),
  'png with words for its end': Buffer.concat([plainPng.subarray(0, -12), secret]),
  'png whose last chunk says that it is longer than the file': patched(
    Buffer.concat([plainPng, secret]),
    33,
    ...[0x7f, 0xff, 0xff, 0xff],
  ),
  'webp that says that it is longer than the file': patched(
    webp(lossless(size), webpChunk('more', secret)),
    ...[4, 0xff, 0xff, 0, 0],
  ),
  'webp of two pictures': webp(
    lossless(size),
    lossless(size, [80, 76, 65]),
    webpChunk('more', secret),
  ),
  'png and zip': png({ ...size, after: zip }),
  'png and pdf': png({ ...size, after: pdf }),
  'png with a pdf in a comment': png({ ...size, before: [chunk('tEXt', pdf)] }),
  'webp with a place': webp(
    extended(size, 8),
    lossless(size),
    webpChunk('EXIF', tiff(1, MARK)),
  ),
  'webp with XMP': webp(extended(size, 4), lossless(size), webpChunk('XMP ', xmp)),
  'webp with a profile': webp(extended(size, 32), webpChunk('ICCP', secret), lossless(size)),
  "webp with a screen's profile": webp(
    extended(size, 32),
    webpChunk('ICCP', ofScreen),
    lossless(size),
  ),
  'webp with chunks of its own': webp(
    extended(size, 0),
    webpChunk('evil', secret),
    lossless(size),
    webpChunk('more', secret),
  ),
  'webp that moves': animated(lossless(size)),
  'webp and html': Buffer.concat([webp(lossless(size)), text(`<html>${MARK}`)]),
  'webp, lossy, and zip': Buffer.concat([webp(lossy()), zip]),
})
