// The contents of ICC profile tags (ICC.1, section 10). Copies only the declared length of each tag, so that
// no data can hide after it, between its parts, or in reserved bytes.
import type { Bytes } from '../_shared/input/bytes.ts'
import { BrokenFile, concatenated, Reader } from './reader.ts'

export const padded = (length: number) => length + (-length & 3)

/** Joins the parts and pads each to a multiple of four bytes. */
export const aligned = (parts: Bytes[]): Bytes =>
  concatenated(parts.flatMap((part) => [part, new Uint8Array(-part.length & 3)]))

function copied(tag: Bytes, length: number, ...reserved: [from: number, to: number][]): Bytes {
  if (length > tag.length) throw new BrokenFile('tag')
  const copy = tag.slice(0, length)
  for (const [from, to] of [[4, 8], ...reserved]) copy.fill(0, from, to)
  return copy
}

const typeOf = (tag: Bytes) => new Reader(tag).text(4)

const ofType = (type: string, length: number) => (tag: Bytes) => {
  if (typeOf(tag) !== type) throw new BrokenFile('tag')
  return copied(tag, length)
}

const parameters = [1, 3, 4, 5, 7]

function curve(tag: Bytes): Bytes {
  const type = typeOf(tag)
  const reader = new Reader(tag, 8)
  if (type === 'curv') return copied(tag, 12 + 2 * reader.u32())
  const count = parameters[reader.u16()]
  if (type !== 'para' || !count) throw new BrokenFile('curve')
  return copied(tag, 12 + 4 * count, [10, 12])
}

function curves(tag: Bytes, at: number, count: number): Bytes {
  const found: Bytes[] = []
  for (let left = count; left > 0; left--) {
    const one = curve(tag.subarray(at))
    found.push(one)
    at += padded(one.length)
  }
  return aligned(found)
}

const points = (of: Iterable<number>) => [...of].reduce((product, count) => product * count, 1)

/** Copies a table that converts device samples to colours or back: a single grid, or up to five parts. */
const lut = (type: string) => (tag: Bytes) => {
  const found = typeOf(tag)
  if (found === type) return lutOfParts(tag, type)
  const reader = new Reader(tag, 8)
  const [inputs, outputs, grid] = [reader.u8(), reader.u8(), reader.u8()]
  const cells = grid ** inputs * outputs
  if (found === 'mft1') return copied(tag, 48 + 256 * (inputs + outputs) + cells, [11, 12])
  if (found !== 'mft2') throw new BrokenFile('table')
  reader.at = 48
  const entries = reader.u16() * inputs + reader.u16() * outputs
  return copied(tag, 52 + 2 * (entries + cells), [11, 12])
}

function lutOfParts(tag: Bytes, type: string): Bytes {
  const reader = new Reader(tag, 8)
  const [inputs, outputs] = [reader.u8(), reader.u8()]
  const [device, colours] = type === 'mAB ' ? [inputs, outputs] : [outputs, inputs]
  reader.take(2)
  const read = [
    (at: number) => curves(tag, at, colours),
    (at: number) => new Reader(tag, at).take(48),
    (at: number) => curves(tag, at, colours),
    (at: number) => gridIn(tag, at, inputs, outputs),
    (at: number) => curves(tag, at, device),
  ]
  const parts = read.map((part) => {
    const at = reader.u32()
    return at ? part(at) : new Uint8Array()
  })
  const head = copied(tag, 32, [10, 12])
  const view = new DataView(head.buffer)
  let at = head.length
  for (const [index, { length }] of parts.entries()) {
    view.setUint32(12 + 4 * index, length ? at : 0)
    at += padded(length)
  }
  return aligned([head, ...parts])
}

function gridIn(tag: Bytes, at: number, inputs: number, outputs: number): Bytes {
  const reader = new Reader(tag, at)
  const sides = reader.take(16).subarray(0, inputs)
  const width = reader.u8()
  if (inputs > 16 || width < 1 || width > 2) throw new BrokenFile('table')
  const length = 20 + points(sides) * outputs * width
  const whole = new Reader(tag, at).take(length).slice()
  return whole.fill(0, inputs, 16).fill(0, 17, 20)
}

const xyz = ofType('XYZ ', 20)

/** The tags that a cleaned profile keeps, by name. */
export const colourTags: Record<string, (tag: Bytes) => Bytes> = {
  rXYZ: xyz,
  gXYZ: xyz,
  bXYZ: xyz,
  rTRC: curve,
  gTRC: curve,
  bTRC: curve,
  kTRC: curve,
  A2B0: lut('mAB '),
  A2B1: lut('mAB '),
  A2B2: lut('mAB '),
  B2A0: lut('mBA '),
  B2A1: lut('mBA '),
  B2A2: lut('mBA '),
  cicp: ofType('cicp', 12),
}

/**
 * Tags about the white point. Browsers do not validate these, so a malformed one is dropped and the rest of
 * the profile is kept.
 */
export const whiteTags: Record<string, (tag: Bytes) => Bytes> = {
  wtpt: xyz,
  chad: ofType('sf32', 44),
}
