import type { Schemas } from './operations.ts'

/** The widths that can be requested. There are only a few, so that most pictures are already cached. */
const widths = [160, 320, 640, 1280, 1920]

/**
 * Returns the URL of a picture that is resized to at least this width, or its original URL if resizing is not
 * available. `picture` comes from `GET /meta/app`.
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
