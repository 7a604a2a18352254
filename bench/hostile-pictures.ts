/** Measures CPU time and memory for malicious pictures, and for ordinary ones of the same type and size. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { deflateSync } from 'node:zlib'
import {
  chunk,
  extended,
  header,
  inChunks,
  jpeg,
  lossless,
  pngOf,
  pngSignature,
  segment,
  webp,
  webpChunk,
} from '../test/support/pictures.ts'
import { iccSegment } from '../test/support/profiles.ts'

const bytes = 10 * 1024 * 1024
const small = { width: 40, height: 30 }
const repeated = (part: Buffer, length: number) =>
  Buffer.alloc(Math.floor(length / part.length) * part.length, part)

const filled = (picture: Buffer, at: number, part: Buffer) =>
  Buffer.concat([
    picture.subarray(0, at),
    repeated(part, bytes - picture.length),
    picture.subarray(at),
  ])

/** Repeats empty deflate blocks. An empty block with fixed codes has ten bits, so four take five bytes. */
const blocks = (length: number) =>
  Buffer.concat([
    Buffer.from([0x78, 0x9c]),
    repeated(Buffer.from([0x02, 0x08, 0x20, 0x80, 0x00]), length),
  ])

const iccpOf = (packed: Buffer) => chunk('iCCP', Buffer.concat([Buffer.from('p\0\0'), packed]))

function pngs(): Record<string, Buffer> {
  const tiny = pngOf(5000)
  const pixels = tiny.indexOf('IDAT') - 4
  const row = 1 + 1566 * 3
  const noise = randomBytes(2850 * row)
  const rows = noise.map((byte, at) => at % row ? byte & 63 : 0)
  const packed = (content: Buffer) =>
    Buffer.concat([
      pngSignature,
      header(1566, 2850),
      chunk('IDAT', content.subarray(0, bytes - 100)),
      chunk('IEND'),
    ])
  return {
    'plain': packed(deflateSync(rows, { level: 6 })),
    'plain, its pixels not packed': pngOf(bytes),
    'empty chunks': filled(tiny, pixels, chunk('IDAT')),
    'chunks of one byte': inChunks(pngOf(800_000), 1).subarray(0, bytes),
    '9,000 chunks': inChunks(pngOf(bytes - 150_000), 1152),
    'chunks of its own': filled(tiny, pixels, chunk('prVt')),
    'one bit a code': packed(deflateSync(Buffer.alloc(8 * bytes), { strategy: 2 })),
    'blocks of nothing': packed(blocks(bytes)),
    'profiles that unpack to 50 MB': filled(tiny, pixels, iccpOf(deflateSync(Buffer.alloc(5e7)))),
    'a profile of blocks of nothing': filled(tiny, pixels, iccpOf(blocks(100_000))),
    'directories of EXIF': filled(
      tiny,
      pixels,
      chunk(
        'eXIf',
        Buffer.concat([Buffer.from('MM\0*\0\0\0\x08\xff\xff', 'latin1'), Buffer.alloc(780_000)]),
      ),
    ),
  }
}

function jpegs(): Record<string, Buffer> {
  const tiny = jpeg(small)
  const scan = tiny.indexOf(Buffer.from([0xff, 0xda]))
  const pixels = scan + 10
  const table = segment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)]))
  return {
    'plain': filled(
      tiny,
      pixels,
      Buffer.from(randomBytes(9973).map((byte) => byte === 0xff ? 0 : byte)),
    ),
    'empty segments': filled(tiny, 2, segment(0xe5, Buffer.alloc(0))),
    'large segments': filled(tiny, 2, segment(0xe5, Buffer.alloc(5300))),
    'parts of a profile': filled(tiny, 2, iccSegment(Buffer.alloc(5300))),
    'tables': filled(tiny, 2, table),
    'fill bytes': filled(tiny, 2, Buffer.from([0xff])),
    'fill bytes in a scan': filled(tiny, pixels + 1, Buffer.from([0xff])),
    'padding in a scan': filled(tiny, pixels, Buffer.from([0xff, 0])),
    'restarts in a scan': filled(tiny, pixels, Buffer.from([0xff, 0xd0])),
    '199 scans': filled(
      tiny,
      scan,
      Buffer.concat([
        tiny.subarray(scan, pixels),
        repeated(Buffer.from([0xff, 0xd0]), bytes / 199),
        table,
      ]),
    ),
  }
}

function webps(): Record<string, Buffer> {
  const picture = lossless(small)
  const behind = (part: Buffer, length = bytes) => webp(picture, repeated(part, length - 100))
  const frame = webpChunk('ANMF', Buffer.alloc(16))
  return {
    'plain': webp(
      webpChunk('VP8L', Buffer.concat([picture.subarray(8), randomBytes(bytes - 100)])),
    ),
    'empty chunks': behind(webpChunk('more', Buffer.alloc(0))),
    'chunks of one byte': behind(webpChunk('more', Buffer.alloc(1))),
    '4,900 chunks': behind(webpChunk('more', Buffer.alloc(2131))),
    'frames': behind(frame),
    'a large profile': webp(
      extended(small, 0x20),
      webpChunk('ICCP', Buffer.alloc(bytes - 200)),
      picture,
    ),
    'directories of EXIF': behind(
      webpChunk(
        'EXIF',
        Buffer.concat([Buffer.from('II*\0\x08\0\0\0\xff\xff', 'latin1'), Buffer.alloc(780_000)]),
      ),
    ),
  }
}

type Cost = { cpuMs: number; megabytes: number; status: number; nineMs: number }
export type HostileFigures = Record<string, Record<string, Cost>>

/** Returns the CPU time of a process so far in milliseconds. Linux counts hundredths of a second. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const memoryOf = (pid: number) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024

const times = 8

type Send = (...pictures: Buffer[]) => Promise<number>

async function costOf(pid: number, file: Buffer, send: Send): Promise<Cost> {
  const status = await send(file)
  await send(file)
  await sleep(500)
  const cpu = cpuOf(pid)
  let most = memoryOf(pid)
  const watch = setInterval(() => (most = Math.max(most, memoryOf(pid))), 50)
  for (let time = 0; time < times; time++) await send(file)
  const alone = cpuOf(pid)
  // At most nine such files fit into one request.
  await send(...Array(9).fill(file))
  clearInterval(watch)
  return {
    cpuMs: (alone - cpu) / times,
    nineMs: cpuOf(pid) - alone,
    megabytes: Math.round(most),
    status,
  }
}

/** Sends each file several times by itself, and then nine copies in one request. */
export async function measureHostilePictures(pid: number, send: Send): Promise<HostileFigures> {
  const figures: HostileFigures = {}
  for (const [type, files] of Object.entries({ PNG: pngs(), JPEG: jpegs(), WebP: webps() })) {
    figures[type] = {}
    for (const [name, file] of Object.entries(files)) {
      figures[type][name] = await costOf(pid, file, send)
    }
  }
  return figures
}

export const hostilePicturesTable = (figures: HostileFigures) => [
  ['10 MiB', 'processor', 'times', 'nine in one', 'memory', 'status'],
  ...Object.entries(figures).flatMap(([type, costs]) =>
    Object.entries(costs).map(([name, { cpuMs, nineMs, megabytes, status }]) => [
      `${type}: ${name}`,
      `${cpuMs.toFixed(0)} ms`,
      (cpuMs / costs.plain!.cpuMs).toFixed(1),
      `${nineMs} ms`,
      `${megabytes} MB`,
      String(status),
    ])
  ),
]
