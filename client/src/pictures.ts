import type { Schemas } from './operations.ts'

/** The widths that are requested. They are few, so that most pictures are cached already. */
const widths = [160, 320, 640, 1280, 1920]

/**
 * Returns the address of a picture, resized to at least this width if possible. `picture` comes from
 * `GET /meta/app`. Without resizing it is the picture's own address.
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
