// Makes ICC profiles. Like real profiles, they contain more than colours: names, serial numbers and a time.
import { deflateSync, inflateSync } from 'node:zlib'
import { chunk, segment } from './pictures.ts'

const bytes = (...values: number[]) => Buffer.from(values)
const text = (value: string) => Buffer.from(value, 'latin1')
const u16 = (...values: number[]) =>
  Buffer.concat(values.map((value) => bytes(value >> 8, value & 255)))
export const u32 = (...values: number[]) => {
  const buffer = Buffer.alloc(4 * values.length)
  values.forEach((value, at) => buffer.writeUInt32BE(value >>> 0, 4 * at))
  return buffer
}
const fixed = (...values: number[]) => u32(...values.map((value) => Math.round(value * 65536)))

export type Tags = Record<string, Buffer>
type Head = { space?: string; pcs?: string; version?: number; class?: string; mark?: string }

const type = (name: string, ...content: Buffer[]) => Buffer.concat([text(name), u32(0), ...content])

export const xyz = (...values: number[]) => type('XYZ ', fixed(...values))
export const gamma = (value: number) => type('curv', u32(1), u16(Math.round(value * 256)))
export const table = (entries: number, curve: (x: number) => number) =>
  type(
    'curv',
    u32(entries),
    u16(
      ...Array.from({ length: entries }, (_, at) => Math.round(65535 * curve(at / (entries - 1)))),
    ),
  )
export const parametric = (kind: number, ...values: number[]) =>
  type('para', u16(kind, 0), fixed(...values))

export const ofSrgb = parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
export const srgbCurve = (x: number) => x < 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4

/** Red, green and blue of well-known colour spaces, as profiles store them. */
export const primaries = {
  srgb: [[0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.7141]],
  p3: [[0.51512, 0.2412, -0.00105], [0.29198, 0.69225, 0.04189], [0.1571, 0.06657, 0.78407]],
  p3OfAndroid: [[0.5151, 0.24118, -0.00104], [0.29196, 0.69224, 0.04188], [
    0.15715,
    0.06658,
    0.78438,
  ]],
  adobe: [[0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457]],
  proPhoto: [[0.79767, 0.28804, 0], [0.13519, 0.71187, 0], [0.03134, 0.00009, 0.82491]],
  // An invented space that shows red as blue.
  turned: [[0.14307, 0.06061, 0.7141], [0.38515, 0.71687, 0.09708], [0.43607, 0.22249, 0.01392]],
}

export function matrixTags(of: number[][], ...curves: Buffer[]): Tags {
  const [red, green = red, blue = red] = curves
  const [r, g, b] = of as [number[], number[], number[]]
  return {
    rXYZ: xyz(...r),
    gXYZ: xyz(...g),
    bXYZ: xyz(...b),
    rTRC: red!,
    gTRC: green!,
    bTRC: blue!,
  }
}

/** Makes a lookup table from the colours of the cube's corners, with `grid` points on each side. */
export function lut(kind: 'mft1' | 'mft2' | 'mAB ', of: number[][], grid = 2, inputs = 3): Buffer {
  const points: number[] = []
  const width = kind === 'mft1' ? 1 : 2
  for (let at = 0; at < grid ** inputs; at++) {
    const ink = Array.from(
      { length: inputs },
      (_, channel) => Math.floor(at / grid ** (inputs - 1 - channel)) % grid / (grid - 1),
    )
    const light = inputs === 4
      ? ink.slice(0, 3).map((share) => (1 - share) * (1 - ink[3]!))
      : ink.map(srgbCurve)
    for (let axis = 0; axis < 3; axis++) {
      const value = light.reduce((sum, share, channel) => sum + share * of[channel]![axis]!, 0)
      // A table stores 1.0 as half of the largest value.
      points.push(Math.round(Math.max(0, value) * (width === 1 ? 127.5 : 32768)))
    }
  }
  const cube = width === 1 ? bytes(...points) : u16(...points)
  const identity = fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)
  const ramp = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
  const straight = (count: number) =>
    Buffer.concat(Array(count).fill(width === 1 ? ramp : u16(0, 65535)))
  if (kind === 'mAB ') {
    const curves = (count: number) => Buffer.concat(Array(count).fill(parametric(0, 1)))
    const [b, matrix, m] = [curves(3), Buffer.concat([identity, fixed(0, 0, 0)]), curves(3)]
    const clut = Buffer.concat([
      Buffer.from(Array.from({ length: 16 }, (_, at) => at < inputs ? grid : 0)),
      bytes(2, 0, 0, 0),
      cube,
      Buffer.alloc(-cube.length & 3),
    ])
    const at = [32, 32 + b.length, 32 + b.length + 48, 32 + b.length + 48 + m.length]
    return type(
      'mAB ',
      bytes(inputs, 3, 0, 0),
      u32(...at, at[3]! + clut.length),
      ...[b, matrix, m, clut, curves(inputs)],
    )
  }
  return type(
    kind,
    bytes(inputs, 3, grid, 0),
    identity,
    ...(kind === 'mft2' ? [u16(2, 2)] : []),
    straight(inputs),
    cube,
    straight(3),
  )
}

/** Makes a profile, with texts and a maker's private tag that must not be served. */
export function profile(tags: Tags, head: Head = {}): Buffer {
  const { mark = 'PLANTED', space = 'RGB ', pcs = 'XYZ ', version = 4, class: kind = 'mntr' } = head
  const all: Tags = {
    desc: version < 4
      ? type('desc', u32(mark.length + 1), text(`${mark}\0`), Buffer.alloc(78))
      : type('mluc', u32(1, 12), text('enUS'), u32(mark.length, 28), text(mark)),
    cprt: type('text', text(`${mark}\0`)),
    wtpt: xyz(0.9642, 1, 0.82491),
    ...tags,
    mmod: type('mmod', text(`${mark}  serial number`)),
  }
  const names = Object.keys(all)
  const parts: Buffer[] = []
  const places: Buffer[] = []
  let end = 132 + 12 * names.length
  for (const name of names) {
    const content = all[name]!
    const padded = Buffer.concat([content, Buffer.alloc(-content.length & 3)])
    places.push(text(name), u32(end, content.length))
    parts.push(padded)
    end += padded.length
  }
  return Buffer.concat([
    u32(end),
    text('appl'),
    bytes(version, 0x20, 0, 0),
    text(`${kind}${space}${pcs}`),
    u16(2026, 11, 30, 6, 55, 0),
    text('acspAPPL'),
    u32(0),
    text(mark.padEnd(8).slice(0, 8)), // maker and model
    u32(0, 0, 0),
    fixed(0.9642, 1, 0.82491),
    text(mark.padEnd(48).slice(0, 48)),
    u32(names.length),
    ...places,
    ...parts,
  ])
}

// Pictures with a profile --------------------------------------------------------------------------

/** Returns the picture with parts inserted after its beginning (JPEG) or header (PNG). */
export const withParts = (picture: Buffer, ...parts: Buffer[]) => {
  const at = picture[0] === 0xff ? 2 : 33
  return Buffer.concat([picture.subarray(0, at), ...parts, picture.subarray(at)])
}

export const iccSegment = (content: Buffer, number = 1, count = 1) =>
  segment(0xe2, Buffer.concat([text('ICC_PROFILE\0'), bytes(number, count), content]))

/** Splits the profile into this many segments. */
export const iccSegments = (whole: Buffer, count: number) => {
  const length = Math.ceil(whole.length / count)
  return Array.from(
    { length: count },
    (_, at) => iccSegment(whole.subarray(at * length, (at + 1) * length), at + 1, count),
  )
}

export const iccp = (content: Buffer, name = 'PLANTED') =>
  chunk('iCCP', Buffer.concat([text(`${name}\0\0`), deflateSync(content)]))

/** The profile of a picture, if it has one. */
export function profileIn(picture: Buffer): Buffer | undefined {
  if (picture[0] === 0xff) {
    const parts: Buffer[] = []
    for (let at = 2; picture[at + 1] !== 0xda; at += 2 + picture.readUInt16BE(at + 2)) {
      const content = picture.subarray(at + 4, at + 2 + picture.readUInt16BE(at + 2))
      if (picture[at + 1] === 0xe2) parts[content[12]! - 1] = content.subarray(14)
    }
    return parts.length ? Buffer.concat(parts) : undefined
  }
  if (picture[0] === 0x89) {
    for (let at = 8; at < picture.length; at += 12 + picture.readUInt32BE(at)) {
      if (picture.toString('latin1', at + 4, at + 8) !== 'iCCP') continue
      const content = picture.subarray(at + 8, at + 8 + picture.readUInt32BE(at))
      return inflateSync(content.subarray(content.indexOf(0) + 2))
    }
    return undefined
  }
  for (let at = 12, length = 0; at < picture.length; at += 8 + length + length % 2) {
    length = picture.readUInt32LE(at + 4)
    if (picture.toString('latin1', at, at + 4) === 'ICCP') {
      return picture.subarray(at + 8, at + 8 + length)
    }
  }
  return undefined
}

/** The tags of a profile by name, and its header without size and tags. */
export function readProfile(of: Buffer): { head: Buffer; tags: Record<string, Buffer> } {
  const tags: Record<string, Buffer> = {}
  for (let at = 132; at < 132 + 12 * of.readUInt32BE(128); at += 12) {
    const from = of.readUInt32BE(at + 4)
    tags[of.toString('latin1', at, at + 4)] = of.subarray(from, from + of.readUInt32BE(at + 8))
  }
  return { head: of.subarray(4, 128), tags }
}
