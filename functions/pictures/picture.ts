import type { Bytes } from '../_shared/input/bytes.ts'

export type Picture = {
  type: 'image/jpeg' | 'image/png' | 'image/webp'
  ending: 'jpg' | 'png' | 'webp'
  /** The size as stored; from orientation 5 on, width and height are swapped on display. */
  width: number
  height: number
  orientation: number
  /** The rewritten file, in order: views of the original bytes and a few new ones. */
  pieces: Bytes[]
}

export class NotAPicture extends Error {}
export class TooManyPixels extends Error {}

const maxPixels = 50_000_000
const maxSide = 32_767

/** Called as soon as a header declares the size. */
export function checkSize(width: number, height: number) {
  if (width < 1 || height < 1) throw new NotAPicture('no pixels')
  if (width * height > maxPixels || width > maxSide || height > maxSide) {
    throw new TooManyPixels()
  }
}
