/**
 * Pictures, rewritten container by container without decoding: what a viewer needs to draw them is
 * kept, and of everything else only the orientation. What cannot be followed to its end is not accepted
 * as a picture. Time and memory do not depend on what a file says of itself, nor on the number of its
 * parts.
 *
 * The coded pixels stay as they are. A PNG ends where its pixels do, as far as the effort of a request
 * reaches. Beyond it, and always between the last pixel of a JPEG scan and the next marker or at the
 * end of a WebP, bytes can survive that no viewer draws: only a decoder knows where those pixels end.
 * They are served as a picture only: Storage does not forbid browsers to guess a type, but content that
 * begins like a picture and is declared as one is never taken for a page.
 */
import type { Bytes } from '../_shared/bytes.ts'
import type { Effort } from './deflate.ts'
import { readJpeg } from './jpeg.ts'
import { NotAPicture, type Picture } from './picture.ts'
import { readPng } from './png.ts'
import { readWebp } from './webp.ts'

const readers = [readJpeg, readPng, readWebp]

/** So many codes take 0.4 s of the 2 s of processor time that a request has. */
export const effortOfRequest = (): Effort => ({ left: 32_000_000 })

/** Whether the bytes begin like a picture of a supported type. */
export const beginsAsPicture = (bytes: Bytes) => readers.some((read) => read.begins(bytes))

/** The picture in these bytes, by their content alone. They are rewritten in place. */
export function readPicture(bytes: Bytes, effort: Effort): Picture {
  const read = readers.find((read) => read.begins(bytes))
  if (!read) throw new NotAPicture('unsupported type')
  return read(bytes, effort)
}
