/**
 * Pictures, rewritten container by container without decoding: what a viewer needs to draw them is
 * kept, and of everything else only the orientation. What cannot be followed to its end is no
 * picture. Nothing here waits or allocates by what a file says of itself, and a file of many small
 * parts costs no more than one of few.
 *
 * The coded pixels are taken as they are: whoever draws a secret into a picture has drawn it. A PNG
 * ends where its pixels do, as far as the effort of a request reaches. Beyond it, and always between
 * the last pixel of a scan of a JPEG and the next marker, or at the end of the picture of a WebP,
 * bytes can survive that no viewer draws: where those pixels end is known only to who decodes them.
 * They are served as a picture and nothing else: Storage forbids no browser to guess a type, but what
 * begins as a picture and says so is taken for no page.
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
