// Draws the pictures of the demo data as PNG. The same seed always makes the same choices.
import { crc32, deflateSync } from 'node:zlib'

type Point = [x: number, y: number]

export function chooser(seed: number) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  const next = () => (state = (Math.imul(state ^ (state >>> 15), 0x85ebca6b) + 0x9e37) >>> 0)
  const upTo = (most: number) => next() % (most + 1)
  return {
    upTo,
    between: (least: number, most: number) => least + upTo(most - least),
    of: <T>(choices: T[]) => choices[upTo(choices.length - 1)]!,
  }
}
export type Choose = ReturnType<typeof chooser>

export class Canvas {
  readonly width: number
  readonly height: number
  private readonly pixels: Uint8Array
  private readonly colours: string[] = []

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.pixels = new Uint8Array(width * height)
  }

  private index(colour: string): number {
    const known = this.colours.indexOf(colour)
    return known >= 0 ? known : this.colours.push(colour) - 1
  }

  box(x: number, y: number, width: number, height: number, colour: string) {
    const index = this.index(colour)
    const from = Math.max(0, Math.round(x))
    const to = Math.min(this.width, Math.round(x + width))
    if (from >= to) return
    for (let row = Math.max(0, Math.round(y)); row < Math.min(this.height, y + height); row++) {
      this.pixels.fill(index, row * this.width + from, row * this.width + to)
    }
  }

  circle(x: number, y: number, radius: number, colour: string) {
    for (let dy = -radius; dy <= radius; dy++) {
      const half = Math.sqrt(radius * radius - dy * dy)
      this.box(x - half, y + dy, 2 * half, 1, colour)
    }
  }

  shape(points: Point[], colour: string) {
    const rows = points.map(([, y]) => y)
    for (
      let y = Math.max(0, Math.min(...rows));
      y < Math.min(this.height, Math.max(...rows));
      y++
    ) {
      const cuts: number[] = []
      points.forEach(([x1, y1], i) => {
        const [x2, y2] = points[(i + 1) % points.length]!
        if ((y1 <= y) !== (y2 <= y)) cuts.push(x1 + ((y - y1) / (y2 - y1)) * (x2 - x1))
      })
      cuts.sort((a, b) => a - b)
      for (let i = 0; i + 1 < cuts.length; i += 2) {
        this.box(cuts[i]!, y, cuts[i + 1]! - cuts[i]!, 1, colour)
      }
    }
  }

  png(): Buffer {
    const chunk = (name: string, content: Buffer) => {
      const framed = Buffer.alloc(content.length + 12)
      framed.writeUInt32BE(content.length, 0)
      framed.write(name, 4, 'latin1')
      content.copy(framed, 8)
      framed.writeUInt32BE(crc32(framed.subarray(4, -4)), framed.length - 4)
      return framed
    }
    const header = Buffer.alloc(13)
    header.writeUInt32BE(this.width, 0)
    header.writeUInt32BE(this.height, 4)
    header.set([8, 3], 8) // each pixel is one byte, an index into the palette
    const rows = Buffer.alloc((this.width + 1) * this.height)
    for (let y = 0; y < this.height; y++) {
      rows.set(this.pixels.subarray(y * this.width, (y + 1) * this.width), y * (this.width + 1) + 1)
    }
    return Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', header),
      chunk('PLTE', Buffer.from(this.colours.map((colour) => colour.slice(1)).join(''), 'hex')),
      chunk('IDAT', deflateSync(rows, { level: 6 })),
      chunk('IEND', Buffer.alloc(0)),
    ])
  }
}

export function mix(from: string, to: string, part: number): string {
  const parts = [1, 3, 5].map((at) => {
    const [a, b] = [from, to].map((colour) => parseInt(colour.slice(at, at + 2), 16))
    return Math.round(a! + (b! - a!) * part).toString(16).padStart(2, '0')
  })
  return `#${parts.join('')}`
}
