/**
 * Pictures, rewritten container by container without decoding: what a viewer needs to draw them is
 * kept, and of everything else only the orientation. What cannot be followed to its end is no
 * picture. Nothing here waits, allocates by what a file says of itself, or walks twice over a file.
 *
 * The coded pixels are taken as they are: whoever draws a secret into a picture has drawn it.
 */
import type { Bytes } from './bytes.ts'
import { readJpeg } from './jpeg.ts'
import { NoPicture, type Picture } from './picture.ts'
import { readPng } from './png.ts'
import { readWebp } from './webp.ts'

export { NoPicture, type Picture, TooManyPixels } from './picture.ts'

/** The picture in these bytes by their content, whatever anybody called them. */
export function readPicture(bytes: Bytes): Picture {
  const read = [readJpeg, readPng, readWebp].find((read) => read.begins(bytes))
  if (!read) throw new NoPicture('of no type that is taken')
  return read(bytes)
}
