// A JPEG stores a profile in numbered segments, because each segment holds less than 64 KiB.
import type { Bytes } from '../_shared/input/bytes.ts'
import { cleanProfile, maxProfile } from './profile.ts'
import { concatenated, startsWith } from './reader.ts'

const APP2 = 0xe2
const icc = Array.from('ICC_PROFILE\0', (char) => char.charCodeAt(0))
const maxPart = 65_533 - icc.length - 2

/** The parts of a profile by number, and how many parts are expected. */
export type ProfileParts = { count: number; parts: Map<number, Bytes> }

const isWhole = ({ count, parts }: ProfileParts) => parts.size === count

/**
 * Adds the part in this segment to the profile. As in browsers, a part that does not fit makes the profile
 * invalid, but is ignored once the profile is complete.
 */
export function withPart(content: Bytes, found?: ProfileParts): ProfileParts | undefined {
  if (!startsWith(content, icc) || content.length <= icc.length + 2) return found
  const [number, count] = content.subarray(icc.length)
  const { parts, ...first } = found ?? { count, parts: new Map() }
  if (found && isWhole(found)) return found
  const fits = count === first.count && number > 0 && number <= count && !parts.has(number)
  if (!fits) return { count: Infinity, parts: new Map() }
  return { count, parts: parts.set(number, content.subarray(icc.length + 2)) }
}

/** Returns the segments of the cleaned profile. Its parts may have arrived in any order. */
export function profileSegments(found?: ProfileParts): Bytes[] {
  if (!found || !isWhole(found)) return []
  const parts = Array.from({ length: found.count }, (_, at) => found.parts.get(at + 1)!)
  const length = parts.reduce((sum, { length }) => sum + length, 0)
  const profile = length > maxProfile ? undefined : cleanProfile(concatenated(parts))
  if (!profile) return []
  const count = Math.ceil(profile.length / maxPart)
  return Array.from({ length: count }, (_, at) => {
    const part = profile.subarray(at * maxPart, (at + 1) * maxPart)
    const length = 2 + icc.length + 2 + part.length
    return [
      new Uint8Array([0xff, APP2, length >> 8, length & 255, ...icc, at + 1, count]),
      part,
    ]
  }).flat()
}
