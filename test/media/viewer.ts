// Displays and compares pictures in Chromium, and draws the pictures that tests start from.
import type { Page } from 'playwright-core'
import { openBrowser } from '../client/browser.ts'

/** The largest difference between two pictures in any sample, or why they cannot be compared. */
export type Compared = number | 'not shown before' | 'not shown' | 'another size'

export async function openViewer() {
  const browser = await openBrowser()
  const page = await browser.newPage()
  await page.evaluate(prepare)
  return {
    close: () => browser.close(),
    /** Draws a picture with gradients and hard edges, and encodes it. */
    draw: async (type: string, width = 96, height = 64, quality = 0.9) =>
      Buffer.from(await call(page, 'draw', type, width, height, quality), 'base64'),
    compare: (before: Buffer, after: Buffer): Promise<Compared> =>
      call(page, 'compare', before.toString('base64'), after.toString('base64')),
    /** Returns the first pixel of a picture in sRGB (red, green, blue). */
    first: (picture: Buffer): Promise<number[] | undefined> =>
      call(page, 'first', picture.toString('base64')),
  }
}

// deno-lint-ignore no-explicit-any
const call = (page: Page, name: string, ...args: unknown[]): Promise<any> =>
  // deno-lint-ignore no-explicit-any
  page.evaluate(([name, args]: any) => (globalThis as any)[name](...args), [name, args])

/** Runs in the page. Compares samples in Display P3, so that differences outside sRGB count, too. */
function prepare() {
  // deno-lint-ignore no-explicit-any
  const here = globalThis as any
  const { Image, OffscreenCanvas, URL, document } = here

  async function samples(base64: string, colorSpace = 'display-p3') {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    const image = new Image()
    image.src = URL.createObjectURL(new Blob([bytes]))
    try {
      await image.decode()
    } catch {
      return undefined
    }
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight)
    const context = canvas.getContext('2d', { colorSpace })
    context.drawImage(image, 0, 0)
    URL.revokeObjectURL(image.src)
    return context.getImageData(0, 0, canvas.width, canvas.height)
  }

  here.compare = async (first: string, second: string) => {
    const [before, after] = [await samples(first), await samples(second)]
    if (!before) return 'not shown before'
    if (!after) return 'not shown'
    if (before.width !== after.width || before.height !== after.height) return 'another size'
    let most = 0
    for (let at = 0; at < before.data.length; at++) {
      most = Math.max(most, Math.abs(before.data[at] - after.data[at]))
    }
    return most
  }

  here.first = async (picture: string) => {
    const shown = await samples(picture, 'srgb')
    return shown && [...shown.data.slice(0, 3)]
  }

  here.draw = (type: string, width: number, height: number, quality: number) => {
    const canvas = document.createElement('canvas')
    Object.assign(canvas, { width, height })
    const context = canvas.getContext('2d')
    for (let x = 0; x < width; x++) {
      for (let y = 0; y < height; y++) {
        context.fillStyle = `hsl(${(360 * x) / width} ${100 - (60 * y) / height}% ${
          20 + (60 * y) / height
        }%)`
        context.fillRect(x, y, 1, 1)
      }
    }
    context.fillStyle = '#f00'
    context.fillRect(0, 0, 16, 16)
    return canvas.toDataURL(type, quality).split(',')[1]
  }
}
