// The structure of an ICC profile (ICC.1): a header, a list of tags, and their contents.
import type { Bytes } from '../_shared/input/bytes.ts'
import { aligned, colourTags, padded, whiteTags } from './profile-tags.ts'
import { BrokenFile, concatenated, Reader } from './reader.ts'

export type Profile = {
  version: [major: number, minor: number]
  /**
   * The device class, the colour space of its samples, and the colour space that they are converted to (XYZ
   * or Lab).
   */
  device: string
  samples: string
  colours: string
  intent: number
  tags: Map<string, Bytes>
  name: string
}

const devices = ['scnr', 'mntr', 'prtr', 'spac']
const white = [0.9642, 1, 0.82491]

/** Checks the header in the same way as browsers. */
export function readProfile(sent: Bytes): Profile {
  const reader = new Reader(sent)
  const end = reader.u32()
  reader.take(4)
  const version: Profile['version'] = [reader.u8(), reader.u8()]
  reader.take(2)
  const [device, samples, colours] = [reader.text(4), reader.text(4), reader.text(4)]
  reader.take(12)
  const isProfile = reader.text(4) === 'acsp' && version[0] <= 4 && end <= sent.length &&
    ['RGB ', 'GRAY', 'CMYK'].includes(samples) && ['XYZ ', 'Lab '].includes(colours)
  reader.at = 64
  const intent = reader.u32()
  const isWhite = white.every((value) => Math.abs((reader.u32() | 0) / 65_536 - value) < 0.01)
  if (!isProfile || !isWhite) throw new BrokenFile('profile')
  return {
    version,
    device: devices.includes(device) ? device : 'mntr',
    samples,
    colours,
    intent: Math.min(intent, 3),
    tags: tagsIn(sent.subarray(0, end)),
    name: samples.trim(),
  }
}

function tagsIn(profile: Bytes): Profile['tags'] {
  const tags: Profile['tags'] = new Map()
  const reader = new Reader(profile, 128)
  for (let left = reader.u32(); left > 0; left--) {
    const name = reader.text(4)
    const content = new Reader(profile, reader.u32()).take(reader.u32())
    if (content.length < 4) throw new BrokenFile('tag')
    if (tags.has(name)) continue
    if (Object.hasOwn(colourTags, name)) tags.set(name, colourTags[name](content))
    else if (Object.hasOwn(whiteTags, name)) addIfSound(tags, name, content)
  }
  return tags
}

function addIfSound(tags: Profile['tags'], name: string, content: Bytes) {
  try {
    tags.set(name, whiteTags[name](content))
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error
  }
}

/** Tags with equal contents share one copy. */
export function writeProfile(profile: Profile): Bytes {
  const { version, device, samples, colours, intent, name } = profile
  const tags = new Map([
    ['desc', textOf(name, version, 'desc')],
    ['cprt', textOf('CC0', version, 'text')],
    ['wtpt', tagOf('XYZ ', fixed(...white))],
    ...profile.tags,
  ])
  const head = new Uint8Array(132 + 12 * tags.size)
  const parts: { at: number; content: Bytes }[] = []
  let [entry, end] = [132, head.length]
  for (const [name, content] of tags) {
    let part = parts.find((part) => isSame(part.content, content))
    if (!part) {
      part = { at: end, content }
      parts.push(part)
      end += padded(content.length)
    }
    head.set([...ascii(name), ...words(part.at, content.length)], entry)
    entry += 12
  }
  head.set(words(end))
  head.set([...version, 0, 0, ...ascii(device + samples + colours)], 8)
  head.set([2000 >> 8, 2000 & 255, 0, 1, 0, 1], 24)
  head.set(ascii('acsp'), 36)
  head.set([...words(intent), ...fixed(...white)], 64)
  head.set(words(tags.size), 128)
  return aligned([head, ...parts.map(({ content }) => content)])
}

const isSame = (one: Bytes, other: Bytes) =>
  one.length === other.length && one.every((byte, at) => byte === other[at])

const utf8 = new TextEncoder()
const ascii = (text: string): Bytes => utf8.encode(text)

function words(...values: number[]): Bytes {
  const bytes = new Uint8Array(4 * values.length)
  const view = new DataView(bytes.buffer)
  for (const [at, value] of values.entries()) view.setUint32(4 * at, value)
  return bytes
}

/** Fixed-point numbers with a 16-bit fraction. */
export const fixed = (...values: number[]): Bytes =>
  words(...values.map((value) => Math.round(value * 65_536)))

export const tagOf = (type: string, ...content: Bytes[]): Bytes =>
  concatenated([ascii(type), words(0), ...content])

/** A name or copyright in the format of the profile's version. */
function textOf(text: string, [major]: Profile['version'], type: 'desc' | 'text'): Bytes {
  const short = ascii(`${text}\0`)
  if (major < 4 && type === 'text') return tagOf('text', short)
  if (major < 4) return tagOf('desc', words(short.length), short, new Uint8Array(78))
  const wide = new Uint8Array([...ascii(text)].flatMap((char) => [0, char]))
  return tagOf('mluc', words(1, 12), ascii('enUS'), words(wide.length, 28), wide)
}
