// A picture has the same colours in Chromium before and after it is stored, and its profile no longer
// names its maker.
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { effortOfRequest, readPicture } from '../../functions/pictures/read.ts'
import { hasBrowser } from '../client/browser.ts'
import * as icc from '../support/profiles.ts'
import {
  chunk,
  extended,
  header,
  jpeg,
  partsIn,
  png,
  pngSignature,
  segment,
  webp,
  webpChunk,
} from '../support/pictures.ts'
import { faults, known, others, turned } from './colour-profiles.ts'
import { openViewer } from './viewer.ts'

const size = { width: 96, height: 64 }
const { primaries, matrixTags, profile, profileIn, lut, gamma, iccp, iccSegment } = icc

let viewer: Awaited<ReturnType<typeof openViewer>>
/** Pictures without metadata about their colours. */
let bare: { jpeg: Buffer; png: Buffer; webp: Buffer[] }

const stored = (picture: Buffer) =>
  Buffer.concat(readPicture(new Uint8Array(picture), effortOfRequest()).pieces)

const { u32 } = icc
const text = (value: string) => Buffer.from(value, 'latin1')

function chunksOf(picture: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 12, length = 0; at < picture.length; at += length) {
    length = 8 + picture.readUInt32LE(at + 4)
    length += length % 2
    chunks.push(picture.subarray(at, at + length))
  }
  return chunks
}

/** Returns the JPEG without the colour profile that Chromium writes. */
function withoutProfile(picture: Buffer): Buffer {
  const segments = [picture.subarray(0, 2)]
  let at = 2
  for (let next = 0; picture[at + 1] !== 0xda; at = next) {
    next = at + 2 + picture.readUInt16BE(at + 2)
    if (picture[at + 1] !== 0xe2) segments.push(picture.subarray(at, next))
  }
  return Buffer.concat([...segments, picture.subarray(at)])
}

/** Returns a picture of each type with this profile. */
const withProfile = (of: Buffer): Record<string, Buffer> => ({
  jpeg: icc.withParts(bare.jpeg, ...icc.iccSegments(of, Math.ceil(of.length / 65_000))),
  png: icc.withParts(bare.png, iccp(of)),
  webp: webp(extended(size, 0x20), webpChunk('ICCP', of), ...bare.webp),
})

const plainOf = (type: string) => type === 'webp' ? webp(...bare.webp) : bare[type as 'png']

const sameAsBefore = async (sent: Buffer) => {
  const after = stored(sent)
  expect(await viewer.compare(sent, after)).toBeLessThanOrEqual(2)
  expect(after.includes('PLANTED')).toBe(false)
  return after
}

// The tags that a stored profile may have, besides the lookup tables below.
const profileTags = [
  'desc',
  'cprt',
  'wtpt',
  'chad',
  'rXYZ',
  'gXYZ',
  'bXYZ',
  'rTRC',
  'gTRC',
  'bTRC',
  'kTRC',
]
const tables = ['A2B0', 'A2B1', 'A2B2', 'B2A0', 'B2A1', 'B2A2', 'cicp']

function expectColoursOnly(of: Buffer) {
  const { head, tags } = icc.readProfile(of)
  for (const name of Object.keys(tags)) expect([...profileTags, ...tables]).toContain(name)
  expect([tags.desc, tags.cprt].map((tag) => tag!.toString('latin1').replace(/[^\x20-\x7e]/g, '')))
    .toEqual([
      expect.stringMatching(/^(desc|mluc ?enUS)(sRGB|Display P3|Adobe RGB|RGB|GRAY|CMYK)$/),
      expect.stringMatching(/^(text|mluc ?enUS)CC0$/),
    ])
  // The header names no program, time, platform, maker, model, attributes, creator or profile id.
  expect(head.toString('hex')).toMatch(
    new RegExp(
      '^0{8}0[1-4]..0000.{24}07d0000100010{12}61637370(0{8}){6}0{7}[0-3]' +
        '0000f6d6000100000000d32d0{96}$',
    ),
  )
}

/** Makes a picture of a single shade in four inks (CMYK). */
function fourInks(...before: Buffer[]): Buffer {
  const four = (of: (channel: number) => number[]) => [1, 2, 3, 4].flatMap(of)
  const bits = '0110010110010' + '0111111010010' + '0110010000010' + '0111100000010' + '1111'
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xee, Buffer.concat([text('Adobe'), Buffer.from([0, 100, 0, 0, 0, 0, 0])])),
    ...before,
    segment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)])),
    segment(0xc0, Buffer.from([8, 0, 8, 0, 8, 4, ...four((id) => [id, 0x11, 0])])),
    segment(0xc4, Buffer.from([0x00, 0, 2, ...Array(14).fill(0), 0, 10])),
    segment(0xc4, Buffer.from([0x10, 1, ...Array(15).fill(0), 0])),
    segment(0xda, Buffer.from([4, ...four((id) => [id, 0]), 0, 63, 0])),
    Buffer.from(bits.match(/.{8}/g)!.map((byte) => parseInt(byte, 2))),
    Buffer.from([0xff, 0xd9]),
  ])
}

const greyPng = (...before: Buffer[]) =>
  Buffer.concat([
    pngSignature,
    header(8, 8, Buffer.from([8, 0, 0, 0, 0])),
    ...before,
    chunk('IDAT', deflateSync(Buffer.alloc(72, '\0\x10\x30\x50\x70\x90\xb0\xd0\xf0', 'latin1'))),
    chunk('IEND'),
  ])

describe.runIf(hasBrowser)('MED-13 PR-27 colours', () => {
  beforeAll(async () => {
    viewer = await openViewer()
    const [drawnJpeg, drawnPng, drawnWebp] = await Promise.all(
      ['image/jpeg', 'image/png', 'image/webp'].map((type) => viewer.draw(type)),
    )
    const drawn = chunksOf(drawnWebp!)
    bare = {
      jpeg: withoutProfile(drawnJpeg!),
      png: drawnPng!,
      webp: drawn.filter((part) => /^VP8[ L]/.test(part.toString('latin1', 0, 4))),
    }
    expect([profileIn(bare.jpeg), profileIn(bare.png), bare.webp.length])
      .toEqual([undefined, undefined, 1])
  })
  afterAll(() => viewer?.close())

  test.each(Object.entries(known))('%s becomes our own profile', async (_, [name, made]) => {
    const ours = new Set<string>()
    for (const picture of Object.values(withProfile(made))) {
      const own = profileIn(await sameAsBefore(picture))!
      expectColoursOnly(own)
      ours.add(own.toString('hex'))
      expect(own.toString('latin1').replaceAll('\0', '')).toContain(name)
    }
    expect(ours.size).toBe(1)
  })

  test('and is one for whoever made it', () => {
    const of = (name: string) =>
      Object.values(known).filter(([known]) => known === name)
        .map(([, made]) => profileIn(stored(withProfile(made).png!))!.toString('hex'))
    expect(['Display P3', 'Adobe RGB', 'sRGB'].map((name) => new Set(of(name)).size))
      .toEqual([1, 1, 1])
  })

  test.each(Object.entries(others))('%s keeps what colours need', async (_, made) => {
    for (const [type, picture] of Object.entries(withProfile(made))) {
      const shown = await viewer.compare(plainOf(type), picture)
      expect(shown).toBeGreaterThan(10)
      expectColoursOnly(profileIn(await sameAsBefore(picture))!)
    }
  })

  const [first, second, third] = icc.iccSegments(turned, 3) as [Buffer, Buffer, Buffer]
  const jpegs: Record<string, [segments: Buffer[], isShown: boolean]> = {
    'its last part first': [[third, first, second], true],
    'the same part twice': [[first, second, second, third], false],
    'the same part twice, once it is whole': [[first, second, third, second], true],
    'two whole profiles': [[iccSegment(turned), iccSegment(others.ProPhoto!)], true],
    'a part beyond their number': [[first, second, third, iccSegment(turned, 4, 3)], true],
    'a part beyond their number ahead of the last': [
      [first, second, iccSegment(turned, 4, 3), third],
      false,
    ],
    'another number ahead of the last': [[first, second, iccSegment(turned, 3, 4), third], false],
    'a part of number 0 ahead of the last': [
      [first, second, iccSegment(turned, 0, 3), third],
      false,
    ],
    'an empty part ahead of the last': [
      [first, second, iccSegment(Buffer.alloc(0), 3, 3), third],
      true,
    ],
    'a part that lacks': [[first, third], false],
    'an empty part': [[iccSegment(turned, 1, 2), iccSegment(Buffer.alloc(0), 2, 2)], false],
    'a part of number 0': [[iccSegment(turned, 0, 1)], false],
    'parts of two numbers': [[first, second, iccSegment(turned, 3, 4)], false],
    'words for a profile': [[iccSegment(text('PLANTED'))], false],
    'a segment of another kind': [[segment(0xe2, text('FPXR\0PLANTED'))], false],
  }
  test.each(Object.entries(jpegs))('a JPEG with %s', async (_, [segments, isShown]) => {
    const sent = icc.withParts(bare.jpeg, ...segments)
    expect(await viewer.compare(bare.jpeg, sent) as number > 10).toBe(isShown)
    expect(profileIn(await sameAsBefore(sent)) !== undefined).toBe(isShown)
  })

  test('a JPEG with a profile behind its frame or its pixels', async () => {
    const scan = bare.jpeg.indexOf(Buffer.from([0xff, 0xda]))
    for (const [at, isShown] of [[scan, true], [bare.jpeg.length - 2, false]] as const) {
      const sent = Buffer.concat([
        bare.jpeg.subarray(0, at),
        first,
        second,
        third,
        bare.jpeg.subarray(at),
      ])
      expect(await viewer.compare(bare.jpeg, sent) as number > 10).toBe(isShown)
      expect(profileIn(await sameAsBefore(sent)) !== undefined).toBe(isShown)
    }
  })

  test('a profile in parts of a JPEG is written in parts', () => {
    const { jpeg } = withProfile(others['one that takes two segments of a JPEG']!)
    expect(partsIn(stored(jpeg!)).filter((part) => part === 'e2')).toHaveLength(2)
  })

  const number = (type: string, ...values: number[]) =>
    chunk(type, u32(...values.map((value) => Math.round(value * 100_000))))
  const byte = (type: string, ...values: number[]) => chunk(type, Buffer.from(values))
  const linear = number('gAMA', 1)
  const ofAdobe = number('cHRM', 0.3127, 0.329, 0.64, 0.33, 0.21, 0.71, 0.15, 0.06)
  const hdr = byte('cICP', 9, 16, 0, 1)
  const damaged = (part: Buffer) =>
    Buffer.concat([part.subarray(0, -1), Buffer.from([part.at(-1)! ^ 1])])
  const packed = deflateSync(turned)
  const badSum = Buffer.concat([packed.subarray(0, -1), Buffer.from([packed.at(-1)! ^ 1])])
  const rawIccp = (method: number, content: Buffer, name = 'PLANTED') =>
    chunk('iCCP', Buffer.concat([text(`${name}\0`), Buffer.from([method]), content]))
  const pngs: Record<string, [sent: Buffer[], chunks: string[]]> = {
    'gAMA 1.0': [[linear], ['gAMA']],
    'gAMA as a screen has it': [[number('gAMA', 0.45455)], ['gAMA']],
    'two gAMA': [[linear, number('gAMA', 0.45455)], ['gAMA']],
    'gAMA and cHRM': [[number('gAMA', 0.45455), ofAdobe], ['gAMA', 'cHRM']],
    'cHRM alone': [[ofAdobe], ['cHRM']],
    'sRGB and gAMA 1.0': [[byte('sRGB', 0), linear], ['sRGB', 'gAMA']],
    'sRGB of two bytes and gAMA 1.0': [[byte('sRGB', 0, 0), linear], ['gAMA']],
    'a gAMA whose checksum is wrong': [[damaged(linear)], []],
    'cICP of Display P3': [[byte('cICP', 12, 13, 0, 1)], ['cICP']],
    'cICP and a profile': [[byte('cICP', 12, 13, 0, 1), iccp(turned)], ['cICP', 'iCCP']],
    'cICP of HDR': [[hdr], ['cICP']],
    'cICP of HDR, and how bright it is': [
      [hdr, chunk('cLLI', u32(2_000_000, 500_000))],
      ['cICP', 'cLLI'],
    ],
    'cICP of HDR, and whose screen it was made on': [
      [hdr, chunk('mDCV', Buffer.concat([Buffer.alloc(16, 0x33), u32(40_000_000, 1)]))],
      ['cICP', 'mDCV'],
    ],
    'a profile and gAMA 1.0': [[iccp(turned), linear], ['iCCP', 'gAMA']],
    'a profile and sRGB': [[byte('sRGB', 0), iccp(turned)], ['sRGB', 'iCCP']],
    'words for a profile, and gAMA 1.0': [[iccp(text('PLANTED '.repeat(30))), linear], ['gAMA']],
    'what is not packed for a profile': [[rawIccp(0, text('PLANTED'))], []],
    'a profile that is cut': [[rawIccp(0, packed.subarray(0, -20))], []],
    'a profile without its checksum': [[rawIccp(0, packed.subarray(0, -4))], []],
    'a profile with a wrong checksum': [[rawIccp(0, badSum)], []],
    'a profile packed by nobody': [[rawIccp(1, packed)], []],
    'a profile without a name': [[rawIccp(0, packed, '')], []],
    'words behind a profile': [[rawIccp(0, Buffer.concat([packed, text('PLANTED')]))], ['iCCP']],
    'a profile that is not packed': [[rawIccp(0, deflateSync(turned, { level: 0 }))], ['iCCP']],
    'a profile of fixed codes': [[rawIccp(0, deflateSync(turned, { strategy: 4 }))], ['iCCP']],
    'a profile of 64 KiB, packed': [[iccp(others['the largest that is kept']!)], ['iCCP']],
    'a grey profile': [[iccp(profile({ kTRC: gamma(1) }, { space: 'GRAY' }))], ['iCCP']],
  }
  test.each(Object.entries(pngs))('a PNG with %s', async (_, [parts, chunks]) => {
    const after = await sameAsBefore(icc.withParts(bare.png, ...parts))
    expect(partsIn(after)).toEqual(['IHDR', ...chunks, 'IDAT', 'IEND'])
  })

  test('gAMA before or behind a palette, or pixels, stays where it counts', async () => {
    const [palette, pixels] = [
      chunk('PLTE', Buffer.from([200, 50, 30, 10, 200, 99])),
      chunk('IDAT', deflateSync(Buffer.from([0, 0, 1, 0, 1, 0]))),
    ]
    const head = [pngSignature, header(2, 2, Buffer.from([8, 3, 0, 0, 0]))]
    for (
      const [parts, chunks] of [
        [[linear, palette, pixels], ['gAMA', 'PLTE', 'IDAT']],
        [[palette, linear, pixels], ['PLTE', 'gAMA', 'IDAT']],
        [[palette, pixels, linear], ['PLTE', 'IDAT']],
      ] as const
    ) {
      const after = await sameAsBefore(Buffer.concat([...head, ...parts, chunk('IEND')]))
      expect(partsIn(after)).toEqual(['IHDR', ...chunks, 'IEND'])
    }
  })

  const greys: Record<string, Buffer[]> = {
    'gAMA 1.0': [linear],
    'a grey profile': [iccp(profile({ kTRC: gamma(1) }, { space: 'GRAY' }))],
    "a screen's grey profile of version 2": [
      iccp(profile({ kTRC: gamma(2.2) }, { space: 'GRAY', version: 2 })),
    ],
    'a grey profile that leads to Lab': [
      iccp(profile({ kTRC: gamma(1.4) }, { space: 'GRAY', pcs: 'Lab ' })),
    ],
    'a profile for colours': [iccp(profile(matrixTags(primaries.srgb, gamma(1))))],
    'a profile of sRGB, and gAMA 1.0': [iccp(known['Adobe RGB']![1]), linear],
  }
  test.each(Object.entries(greys))('a grey picture with %s', async (_, parts) => {
    await sameAsBefore(greyPng(...parts))
    for (const part of parts.filter((part) => part.includes('iCCP'))) {
      const made = profileIn(icc.withParts(bare.png, part))!
      for (const shade of [0, 200, 400]) {
        await sameAsBefore(jpeg({ width: 8, height: 8, shade, before: [iccSegment(made)] }))
      }
    }
  })

  test('a picture of four inks keeps a small profile', async () => {
    const inks = profile({ A2B0: lut('mft2', primaries.turned, 3, 4) }, {
      space: 'CMYK',
      class: 'prtr',
    })
    const sent = fourInks(iccSegment(inks))
    expect(await viewer.compare(fourInks(), sent)).toBeGreaterThan(10)
    expectColoursOnly(profileIn(await sameAsBefore(sent))!)
    await sameAsBefore(fourInks())
    await sameAsBefore(fourInks(iccSegment(turned)))
  })

  const icons = (of: Buffer) => webpChunk('ICCP', of)
  const webps: Record<string, [make: () => Buffer, isShown: boolean]> = {
    'that it does not name': [() => webp(extended(size, 0), icons(turned), ...bare.webp), false],
    'behind its pixels': [() => webp(extended(size, 0x20), ...bare.webp, icons(turned)), true],
    'of words': [() => webp(extended(size, 0x20), icons(text('PLANTED')), ...bare.webp), false],
    'and another': [
      () => webp(extended(size, 0x20), icons(turned), icons(others.ProPhoto!), ...bare.webp),
      true,
    ],
    'that it names and has not': [() => webp(extended(size, 0x20), ...bare.webp), false],
    'as it moves': [
      () =>
        webp(
          extended(size, 0x22),
          icons(turned),
          webpChunk('ANIM', Buffer.alloc(6)),
          webpChunk(
            'ANMF',
            Buffer.concat([
              Buffer.from([0, 0, 0, 0, 0, 0, 95, 0, 0, 63, 0, 0, 1, 0, 0, 0]),
              ...bare.webp,
            ]),
          ),
        ),
      false,
    ],
  }
  test.each(Object.entries(webps))('a WebP with a profile %s', async (_, [make, isShown]) => {
    const sent = make()
    expect(await viewer.compare(webp(...bare.webp), sent) as number > 10).toBe(isShown)
    expect(profileIn(await sameAsBefore(sent)) !== undefined).toBe(isShown)
  })

  test.each(Object.entries(faults))('a profile %s is dropped', async (name, made) => {
    for (const [type, sent] of Object.entries(withProfile(made))) {
      const after = stored(sent)
      expect([type, profileIn(after), after.includes('PLANTED')]).toEqual([type, undefined, false])
      expect(await viewer.compare(plainOf(type), after)).toBe(0)
      // Browsers ignore malformed profiles, too, except the ones with these names.
      if (!/64 KiB|samples/.test(name)) expect(await viewer.compare(sent, after)).toBe(0)
    }
  })

  test('a profile that unpacks to more is dropped for what it takes to read 64 KiB', () => {
    const bomb = deflateSync(Buffer.alloc(40_000_000))
    const blocks = Buffer.concat([
      Buffer.from([0x78, 0x9c]),
      Buffer.alloc(200_000, Buffer.from([0x02, 0x08, 0x20, 0x80, 0x00])),
    ])
    for (const content of [bomb, blocks]) {
      const effort = effortOfRequest()
      const { left } = effort
      const sent = icc.withParts(
        png({ width: 4, height: 4 }),
        ...Array(50).fill(rawIccp(0, content)),
      )
      const picture = readPicture(new Uint8Array(sent), effort)
      expect(partsIn(Buffer.concat(picture.pieces))).toEqual(['IHDR', 'IDAT', 'IEND'])
      expect(left - effort.left).toBeLessThan(5000)
    }
  })
})
