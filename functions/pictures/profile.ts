import type { Bytes } from '../_shared/input/bytes.ts'
import { wellKnown } from './colour-spaces.ts'
import { readProfile, writeProfile } from './profile-format.ts'
import { BrokenFile } from './reader.ts'

export const maxProfile = 65_536

/**
 * Rewrites an ICC profile so that it reveals nothing about its maker: keeps only the tags that define
 * colours, or replaces a well-known profile with our own. Returns undefined if the profile is too large or
 * malformed; browsers ignore malformed profiles, too.
 */
export function cleanProfile(sent: Bytes): Bytes | undefined {
  if (sent.length > maxProfile) return undefined
  try {
    const found = readProfile(sent)
    const written = writeProfile(wellKnown(found) ?? found)
    return written.length > maxProfile ? undefined : written
  } catch (error) {
    if (error instanceof BrokenFile) return undefined
    throw error
  }
}
