// Rewrites pictures without decoding them. Keeps everything needed to render them, and of the metadata only
// the orientation. A file that cannot be parsed up to its pixels is refused. Time and memory do not depend on
// the sizes that a file declares or on how many parts it has. The coded pixels are copied unchanged, so bytes
// that no viewer renders can survive in a JPEG scan, at the end of a WebP, or in a PNG that exceeds the
// effort of a request. They are harmless: the files begin as pictures and are served as pictures, so browsers
// never treat them as web pages.
import type { Bytes } from '../_shared/input/bytes.ts'
import type { Effort } from './deflate.ts'
import { readJpeg } from './jpeg.ts'
import { NotAPicture, type Picture } from './picture.ts'
import { readPng } from './png.ts'
import { readWebp } from './webp.ts'

const readers = [readJpeg, readPng, readWebp]

/** Reading this many codes takes 0.4 s. A request has 2 s of CPU time. */
export const effortOfRequest = (): Effort => ({ left: 32_000_000 })

export const beginsAsPicture = (bytes: Bytes) => readers.some((read) => read.begins(bytes))

/** Detects the type from the content alone and rewrites the bytes in place. */
export function readPicture(bytes: Bytes, effort: Effort): Picture {
  const read = readers.find((read) => read.begins(bytes))
  if (!read) throw new NotAPicture('unsupported type')
  return read(bytes, effort)
}
