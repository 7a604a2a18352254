import type { Bytes } from '../_shared/input/bytes.ts'
import { wellKnown } from './colour-spaces.ts'
import { readProfile, writeProfile } from './profile-format.ts'
import { BrokenFile } from './reader.ts'

export const maxProfile = 65_536

/**
 * Rewrites an ICC profile with only the tags that colours need, or as our own for a well-known space, so that
 * nothing about its maker is left. Returns undefined if it is too large or malformed; browsers ignore a
 * malformed one.
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
