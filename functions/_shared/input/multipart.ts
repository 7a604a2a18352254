// Reads multipart/form-data from a stream, one part at a time, and keeps only the current chunk in memory.
import type { Bytes } from './bytes.ts'

export class MultipartError extends Error {}

export type Part = {
  name: string
  /**
   * The file name that the client sent. It must not be used as a path. Undefined for a field that is not a
   * file.
   */
  filename?: string
  type?: string
  /** The content in chunks. Any unread content is skipped before the next part. */
  content: AsyncGenerator<Bytes, void>
}

const headLimit = 8 * 1024
const utf8 = new TextDecoder()
const ascii = new TextEncoder()
const none: Bytes = new Uint8Array()

export function boundaryOf(contentType: string): string | undefined {
  const [, quoted, plain] =
    /^multipart\/form-data *;(?:.*;)? *boundary=(?:"([^"]{1,70})"|([^\s;",]{1,70})) *(?:;.*)?$/i
      .exec(contentType) ?? []
  const boundary = quoted ?? plain
  return boundary && /^[\w'()+,./:=? -]*[\w'()+,./:=?-]$/.test(boundary) ? boundary : undefined
}

export async function* partsOf(
  body: AsyncIterable<Uint8Array>,
  boundary: string,
  maxParts: number,
): AsyncGenerator<Part, void> {
  const source = new Source(body, boundary)
  await drain(source.upToBoundary(headLimit))
  for (let count = 0; await source.another(); count++) {
    if (count === maxParts) throw new MultipartError('too many parts')
    const head = headOf(await source.head())
    const content = source.upToBoundary()
    yield { ...head, content }
    await drain(content)
  }
}

async function drain(content: AsyncGenerator<Uint8Array>) {
  while (!(await content.next()).done) { /* skipped */ }
}

class Source {
  private readonly pieces: AsyncIterator<Uint8Array>
  private readonly mark: Bytes
  // With this line break, the first boundary looks like all others.
  private rest: Bytes = ascii.encode('\r\n')

  constructor(body: AsyncIterable<Uint8Array>, boundary: string) {
    this.pieces = body[Symbol.asyncIterator]()
    this.mark = ascii.encode(`\r\n--${boundary}`)
  }

  private async more() {
    const { done, value } = await this.pieces.next()
    if (done) throw new MultipartError('cut short')
    if (this.rest.length === 0) this.rest = value as Bytes
    else {
      const joined = new Uint8Array(this.rest.length + value.length)
      joined.set(this.rest)
      joined.set(value, this.rest.length)
      this.rest = joined
    }
  }

  private take(length: number): Bytes {
    const taken = this.rest.subarray(0, length)
    this.rest = length === this.rest.length ? none : this.rest.subarray(length)
    return taken
  }

  /** Yields everything up to the next boundary, and consumes the boundary. */
  async *upToBoundary(limit = Infinity): AsyncGenerator<Bytes, void> {
    for (let size = 0;;) {
      const index = indexOf(this.rest, this.mark)
      const ready = index >= 0 ? index : Math.max(0, this.rest.length - this.mark.length + 1)
      size += ready
      if (size > limit) throw new MultipartError('no boundary')
      if (ready > 0) yield this.take(ready)
      if (index >= 0) return void this.take(this.mark.length)
      await this.more()
    }
  }

  /** After a boundary: whether another part follows. */
  async another(): Promise<boolean> {
    for (;;) {
      while (this.rest.length < 2) await this.more()
      const [first, second] = this.rest
      if (first === 0x0d && second === 0x0a) return true
      if (first === 0x2d && second === 0x2d) return false
      // Only spaces and tabs are allowed between a boundary and the end of its line.
      if (first !== 0x20 && first !== 0x09) throw new MultipartError('no boundary')
      this.take(1)
    }
  }

  async head(): Promise<string> {
    const end = ascii.encode('\r\n\r\n')
    for (;;) {
      const index = indexOf(this.rest, end)
      if (index >= 0 && index <= headLimit) {
        const head = utf8.decode(this.take(index))
        this.take(end.length)
        return head
      }
      if (this.rest.length > headLimit) throw new MultipartError('headers too long')
      await this.more()
    }
  }
}

function indexOf(bytes: Uint8Array, needle: Uint8Array): number {
  for (let from = 0;;) {
    const index = bytes.indexOf(needle[0], from)
    if (index < 0 || index + needle.length > bytes.length) return -1
    let same = 1
    while (same < needle.length && bytes[index + same] === needle[same]) same++
    if (same === needle.length) return index
    from = index + 1
  }
}

function headOf(head: string): Omit<Part, 'content'> {
  const headers = new Map<string, string>()
  for (const line of head.split('\r\n').slice(1)) {
    const [, name, value] = /^([\w-]+):[ \t]*(.*)$/s.exec(line) ?? []
    if (!name || headers.has(name.toLowerCase())) throw new MultipartError('bad headers')
    headers.set(name.toLowerCase(), value)
  }
  const disposition = headers.get('content-disposition') ?? ''
  if (!/^form-data *(;|$)/i.test(disposition)) throw new MultipartError('no form-data')
  const given = new Map<string, string>()
  for (const [, key, quoted, plain] of disposition.matchAll(parameter)) {
    if (given.has(key.toLowerCase())) throw new MultipartError('named twice')
    given.set(key.toLowerCase(), quoted?.replaceAll('\\"', '"') ?? plain)
  }
  const name = given.get('name')
  if (name === undefined) throw new MultipartError('no name')
  const filename = given.get('filename') ?? extended(given.get('filename*'))
  return { name, filename, type: headers.get('content-type') }
}

const parameter = /; *([\w*-]+) *= *(?:"((?:\\"|[^"])*)"|([^;"\s]*))/g

function extended(value: string | undefined): string | undefined {
  const [, text] = /^utf-8'[^']*'(.*)$/i.exec(value ?? '') ?? []
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    throw new MultipartError('bad file name')
  }
}
