import { inflateSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Person, signUp } from '../support/client.ts'
import { chunk, inChunks, jpeg, partsIn, png, pngOf, segment } from '../support/pictures.ts'
import { download, uploadAvatar, uploadPictures } from '../support/uploads.ts'

let owner: Person

beforeAll(async () => {
  owner = await signUp()
})

const size = { width: 40, height: 30 }

async function stored(bytes: Buffer): Promise<Buffer> {
  const { status, body } = await uploadAvatar(owner, bytes)
  expect(status).toBe(201)
  return (await download(body.url)).bytes
}

describe('PR-27 a PNG', () => {
  const pixels = Buffer.from(Array.from({ length: 40 * 30 * 3 }, (_, at) => (at * at) & 255))
  const plain = png({ ...size, pixels })

  test.each([
    ['in chunks of one byte', inChunks(plain, 1)],
    ['in chunks of seven bytes with empty ones between', inChunks(plain, 7, chunk('IDAT'))],
    ['in chunks with others between', inChunks(plain, 100, chunk('prVt', Buffer.from('words')))],
    [
      'with empty chunks before and behind',
      inChunks(
        png({ ...size, pixels, before: [chunk('IDAT')], between: [chunk('IDAT')] }),
        5000,
      ),
    ],
  ])('%s is stored as if it were in one', async (_, bytes) => {
    expect((await stored(bytes)).equals(plain)).toBe(true)
  })

  test('in any encoding ends where its pixels end', async () => {
    const at = plain.indexOf('IDAT') + 4
    const raw = inflateSync(plain.subarray(at, at + plain.readUInt32BE(at - 8)))
    for (const level of [0, 1, 6, 9]) {
      const packed = png({ ...size, pixels, level })
      const more = packed.indexOf('IEND') - 4
      const hidden = Buffer.concat([
        packed.subarray(0, more),
        chunk('IDAT', Buffer.from('words')),
        packed.subarray(more),
      ])
      const bytes = await stored(hidden)
      expect(bytes.equals(packed)).toBe(true)
      expect(inflateSync(bytes.subarray(at)).equals(raw)).toBe(true)
    }
  })

  test('of ten megabytes in chunks of eight kilobytes is whole', async () => {
    const plain = pngOf(10 * 1024 * 1024 - 100_000)
    const { body } = await uploadPictures(owner, [inChunks(plain, 8192)])
    expect((await download(body.files[0].url)).bytes.equals(plain)).toBe(true)
  })
})

test('a JPEG keeps each table that a scan uses, in its position', async () => {
  const table = (shade: number) =>
    segment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, shade)]))
  const [before, after] = [table(7), table(1)]
  const replaced = jpeg({ ...size, before: [before] })
  expect((await stored(replaced)).equals(jpeg(size))).toBe(true)
  // The table changes between the two scans, so the version that each scan uses is kept.
  const plain = jpeg(size)
  const scan = plain.subarray(plain.indexOf(Buffer.from([0xff, 0xda])), -2)
  const twice = Buffer.concat([plain.subarray(0, -2), before, after, scan, plain.subarray(-2)])
  const bytes = await stored(twice)
  expect(bytes.equals(Buffer.concat([plain.subarray(0, -2), after, scan, plain.subarray(-2)])))
    .toBe(true)
  expect(partsIn(bytes).filter((part) => part === 'da')).toHaveLength(2)
})
