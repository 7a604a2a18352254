import type { Bytes } from '../_shared/input/bytes.ts'
import { wellKnown } from './colour-spaces.ts'
import { readProfile, writeProfile } from './profile-format.ts'
import { BrokenFile } from './reader.ts'

export const maxProfile = 65_536

/**
 * Writes an ICC profile anew with what colours need, and that of a well-known space as our own: nothing is left
 * of who made it. One that is too large or malformed is none; browsers ignore the latter.
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
