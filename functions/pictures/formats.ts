import type { Bytes } from '../_shared/input/bytes.ts'

// The first bytes of other formats; `?` stands for any byte.
const beginnings: [format: string, start: string][] = [
  ['GIF', 'GIF8?a'],
  ['BMP', 'BM????\0\0\0\0'],
  ['TIFF', 'II*\0'],
  ['TIFF', 'MM\0*'],
  ['JPEG XL', '\xff\n'],
  ['JPEG XL', '????JXL \r\n\x87\n'],
  ['JPEG 2000', '????jP  \r\n\x87\n'],
  ['JPEG 2000', '\xff\x4f\xff\x51'],
  ['PSD', '8BPS\0'],
  ['ICO', '\0\0\x01\0?\0'],
]

const brands: [format: string, names: string[]][] = [
  ['AVIF', ['avif', 'avis']],
  ['HEIC', ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs', 'mif1', 'msf1']],
]

/** Names the format of a picture that we do not accept, for the error message. */
export function otherFormat(bytes: Bytes): string | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, 200))
  const begins = (start: string) =>
    Array.from(start).every((char, at) => char === '?' ? at < text.length : char === text[at])
  // An ISO BMFF file begins with a list of brands. Video brands are missing from our table.
  const found = begins('????ftyp') ? text.slice(8, bytes[2] << 8 | bytes[3]) : ''
  const named: string[] = found.match(/[^]{4}/g) ?? []
  return beginnings.find(([, start]) => begins(start))?.[0] ??
    brands.find(([, names]) => names.some((name) => named.includes(name)))?.[0]
}
