import type { Schemas } from './operations.ts'

/** The widths that are made of a picture: few, so that most are kept already. */
const widths = [160, 320, 640, 1280, 1920]

/**
 * The address of a picture that is at least so many pixels wide, if there are as many; `picture` is that of
 * `GET /meta/app`. The picture's own address where sizes are not made.
 */
export function pictureIn(
  width: number,
  address: string,
  picture: Schemas['App']['picture'],
): string {
  const { url, files } = picture
  if (!url || address.slice(0, files.length) !== files) return address
  const least = widths.find((one) => one >= width) ?? widths[widths.length - 1]
  return url.replace('{w}', String(least)).replace('{path}', () => address.slice(files.length))
}
