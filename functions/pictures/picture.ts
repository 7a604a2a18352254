import type { Bytes } from '../_shared/input/bytes.ts'

export type Picture = {
  type: 'image/jpeg' | 'image/png' | 'image/webp'
  ending: 'jpg' | 'png' | 'webp'
  /** The size as stored. For orientations 5 to 8, viewers swap width and height. */
  width: number
  height: number
  orientation: number
  /** The rewritten file as a list of pieces: views of the original bytes and a few new ones. */
  pieces: Bytes[]
}

export class NotAPicture extends Error {}
export class TooManyPixels extends Error {}

const maxPixels = 50_000_000
const maxSide = 32_767

/** To be called as soon as a header declares the size. */
export function checkSize(width: number, height: number) {
  if (width < 1 || height < 1) throw new NotAPicture('no pixels')
  if (width * height > maxPixels || width > maxSide || height > maxSide) {
    throw new TooManyPixels()
  }
}
