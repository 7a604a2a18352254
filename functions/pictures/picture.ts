/** What a picture is, and what is none. */
import type { Bytes } from '../_shared/bytes.ts'

export type Picture = {
  type: 'image/jpeg' | 'image/png' | 'image/webp'
  ending: 'jpg' | 'png' | 'webp'
  /** As stored; orientations from 5 on are shown with the sides exchanged. */
  width: number
  height: number
  orientation: number
  /** The rewritten file: views of what was given and a few bytes of ours, in order. */
  pieces: Bytes[]
}

/** Not JPEG, PNG or WebP, or broken. */
export class NoPicture extends Error {}
/** A picture that nobody could draw: its head names more pixels than we take. */
export class TooManyPixels extends Error {}

const mostPixels = 50_000_000
const mostOnOneSide = 32_767

/** Checked as soon as a head names them, before anything else is believed. */
export function checkSize(width: number, height: number) {
  if (width < 1 || height < 1) throw new NoPicture('no pixels')
  if (width * height > mostPixels || width > mostOnOneSide || height > mostOnOneSide) {
    throw new TooManyPixels()
  }
}
