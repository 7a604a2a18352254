// Rewrites pictures without decoding them: keeps everything needed for drawing, and of the metadata only the
// orientation. A file that cannot be parsed up to its pixels is refused. Time and memory depend neither on
// what a file declares nor on the number of its parts.
// Coded pixels stay as they are, so bytes that no viewer draws can survive in a JPEG scan, at the end of a
// WebP or in a PNG that exceeds the effort of a request. They are harmless: the files begin as pictures and
// are served as pictures, so browsers never treat them as pages.
import type { Bytes } from '../_shared/input/bytes.ts'
import type { Effort } from './deflate.ts'
import { readJpeg } from './jpeg.ts'
import { NotAPicture, type Picture } from './picture.ts'
import { readPng } from './png.ts'
import { readWebp } from './webp.ts'

const readers = [readJpeg, readPng, readWebp]

/** Reading this many codes takes 0.4 s of the 2 s of processor time that a request has. */
export const effortOfRequest = (): Effort => ({ left: 32_000_000 })

export const beginsAsPicture = (bytes: Bytes) => readers.some((read) => read.begins(bytes))

/** Detects the type by the content alone and rewrites the bytes in place. */
export function readPicture(bytes: Bytes, effort: Effort): Picture {
  const read = readers.find((read) => read.begins(bytes))
  if (!read) throw new NotAPicture('unsupported type')
  return read(bytes, effort)
}
