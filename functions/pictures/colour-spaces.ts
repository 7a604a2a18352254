// sRGB, Display P3 and Adobe RGB. A profile with the same colours as one of these is replaced by our own
// version.
import type { Bytes } from '../_shared/input/bytes.ts'
import { fixed, type Profile, tagOf } from './profile-format.ts'
import { Reader } from './reader.ts'

type Vector = [number, number, number]

type Space = {
  name: string
  /** Red, green and blue as XYZ coordinates, in units of 1/65536. */
  primaries: [Vector, Vector, Vector]
  curve: Bytes
  /** Converts linear light to a sample. */
  encode: (light: number) => number
}

const srgbCurve = tagOf(
  'para',
  new Uint8Array([0, 3, 0, 0]),
  fixed(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045),
)
const srgbSample = (light: number) =>
  light > 0.0031308 ? 1.055 * light ** (1 / 2.4) - 0.055 : 12.92 * light

const spaces: Space[] = [
  {
    name: 'sRGB',
    primaries: [[28578, 14581, 912], [25241, 46981, 6362], [9376, 3972, 46799]],
    curve: srgbCurve,
    encode: srgbSample,
  },
  {
    name: 'Display P3',
    primaries: [[33759, 15807, -69], [19135, 45367, 2745], [10296, 4363, 51385]],
    curve: srgbCurve,
    encode: srgbSample,
  },
  {
    name: 'Adobe RGB',
    primaries: [[39960, 20389, 1276], [13453, 41004, 3989], [9777, 4143, 48796]],
    curve: tagOf('curv', new Uint8Array([0, 0, 0, 1, 2, 51])),
    encode: (light) => light ** (256 / 563),
  },
]

const names = ['rXYZ', 'gXYZ', 'bXYZ']
const curves = ['rTRC', 'gTRC', 'bTRC']

/** Returns our own profile if the colours of the given one differ only invisibly from a well-known space. */
export function wellKnown({ samples, colours, tags }: Profile): Profile | undefined {
  const isMatrix = [...names, ...curves].every((name) => tags.has(name)) &&
    ![...tags.keys()].some((name) => name.startsWith('A2B') || name === 'cicp')
  if (!isMatrix || samples !== 'RGB ' || colours !== 'XYZ ') return undefined
  const space = spaces.find(({ primaries, encode }) =>
    names.every((name, index) => isPrimary(xyzOf(tags.get(name)!), index, primaries)) &&
    curves.every((name) => isCurve(tags.get(name)!, encode))
  )
  return space && profileOf(space)
}

const profileOf = ({ name, primaries, curve }: Space): Profile => ({
  version: [4, 0x20],
  device: 'mntr',
  samples: 'RGB ',
  colours: 'XYZ ',
  intent: 0,
  name,
  tags: new Map([
    ...names.map((name, index): [string, Bytes] => [
      name,
      tagOf('XYZ ', fixed(...primaries[index].map((units) => units / 65_536))),
    ]),
    ...curves.map((name): [string, Bytes] => [name, curve]),
  ]),
})

function xyzOf(tag: Bytes): Vector {
  const reader = new Reader(tag, 8)
  return [reader.u32() | 0, reader.u32() | 0, reader.u32() | 0]
}

const cross = ([a, b, c]: Vector, [d, e, f]: Vector): Vector => [
  b * f - c * e,
  c * d - a * f,
  a * e - b * d,
]
const dot = (one: Vector, other: Vector) =>
  one.reduce((sum, value, axis) => sum + value * other[axis], 0)

/** Whether the colour matches the primary at this index. */
function isPrimary(found: Vector, index: number, [red, green, blue]: Space['primaries']): boolean {
  const whole = dot(red, cross(green, blue))
  return [cross(green, blue), cross(blue, red), cross(red, green)].every((axis, at) =>
    Math.abs(dot(found, axis) / whole - (at === index ? 1 : 0)) < 0.0004
  )
}

function isCurve(curve: Bytes, encode: Space['encode']): boolean {
  const light = lightOf(curve)
  return Array.from({ length: 256 }, (_, sample) => sample / 255)
    .every((sample) => Math.abs(encode(light(sample)) - sample) < 0.75 / 255)
}

/** Returns a function that converts samples to linear light. */
function lightOf(curve: Bytes): (sample: number) => number {
  const reader = new Reader(curve)
  const type = reader.text(4)
  reader.take(4)
  if (type === 'para') return parametric(reader)
  const count = reader.u32()
  if (count === 0) return (sample) => sample
  const values = Array.from({ length: count }, () => reader.u16())
  if (count === 1) return (sample) => sample ** (values[0] / 256)
  return (sample) => {
    const at = sample * (count - 1)
    const [low, high] = [values[Math.floor(at)], values[Math.ceil(at)]]
    return (low + (high - low) * (at % 1)) / 65_535
  }
}

function parametric(reader: Reader): (sample: number) => number {
  const kind = reader.u16()
  reader.take(2)
  const values = Array.from({ length: reader.left / 4 }, () => (reader.u32() | 0) / 65_536)
  const [g, a = 1, b = 0] = values
  const [c, d, e, f] = kind < 3
    ? [0, kind ? -b / a : 0, values[3] ?? 0, values[3] ?? 0]
    : [values[3], values[4], values[5] ?? 0, values[6] ?? 0]
  return (sample) => sample >= d ? (a * sample + b) ** g + e : c * sample + f
}
