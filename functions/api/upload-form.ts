/** The form of an upload, read from the request as it comes: size and time are counted on the way. */
import type { Context } from 'hono'
import { boundaryOf, MultipartError, type Part, partsOf } from '../pictures/multipart.ts'
import { within } from './deadline.ts'
import type { Env } from './http.ts'
import { type Field, Refusal } from './problem.ts'
import { uploadLimit } from './request.ts'

const fieldLimit = 100
/** Nobody is silent so long on purpose; and a worker of a hosted project answers within 150 s. */
const silence = 15_000
const longest = 120_000

export const wrong = (...fields: Field[]) => new Refusal('validation_failed', { fields })

export type Upload = {
  parts: AsyncGenerator<Part, void>
  /** No file in it can be larger than this. */
  atMost: number
  close: () => void
}

/** Opens the form of a request. Whoever opens it closes it. */
export function openForm(c: Context<Env>, mostParts: number): Upload {
  const boundary = boundaryOf(c.req.header('content-type') ?? '')
  if (!boundary) throw new Refusal('content_type_unsupported')
  const length = Number(c.req.header('content-length') ?? uploadLimit)
  if (!c.req.raw.body) throw wrong({ path: '', code: 'invalid' })
  const reader = c.req.raw.body.getReader()
  return {
    parts: refusing(partsOf(counted(reader), boundary, mostParts)),
    atMost: length,
    close: () => void reader.cancel().catch(() => {}),
  }
}

async function* counted(reader: ReadableStreamDefaultReader<Uint8Array>) {
  const end = Date.now() + longest
  for (let size = 0;;) {
    const { done, value } = await soon(reader.read(), Math.min(silence, end - Date.now()))
    if (done) return
    size += value.length
    if (size > uploadLimit) throw new Refusal('body_too_large')
    yield value
  }
}

/** What does not come in time, or from a client that is gone, comes no more. */
const soon = <T>(coming: Promise<T>, ms: number): Promise<T> =>
  within(ms, coming, 'upload_timeout').catch(() => {
    throw new Refusal('upload_timeout')
  })

async function* refusing(parts: AsyncGenerator<Part, void>): AsyncGenerator<Part, void> {
  try {
    yield* parts
  } catch (error) {
    throw error instanceof MultipartError ? wrong({ path: '', code: 'invalid' }) : error
  }
}

/** The text of a field. */
export async function textOf({ content }: Part): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  try {
    for await (const piece of content) {
      text += decoder.decode(piece, { stream: true })
      if (text.length > fieldLimit) break
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw refused(error)
    return '\uFFFD'
  }
  return text
}

/** Reads a file into a buffer; undefined when it is longer. The rest is left to whoever reads on. */
export async function readInto(
  { content }: Part,
  buffer: Uint8Array<ArrayBuffer>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let size = 0
  try {
    for (;;) {
      // By hand: leaving a for…of would end the part, and the rest of it would be taken for the next.
      const { done, value } = await content.next()
      if (done) return buffer.subarray(0, size)
      if (size + value.length > Math.min(limit, buffer.length)) return undefined
      buffer.set(value, size)
      size += value.length
    }
  } catch (error) {
    throw refused(error)
  }
}

const refused = (error: unknown) =>
  error instanceof MultipartError ? wrong({ path: '', code: 'invalid' }) : error

// Marks and spaces that show as nothing or turn the line.
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** The name that a file was sent under, as text to show. */
export const shownName = (filename: string) =>
  [...filename.replace(unseen, '')].slice(0, 120).join('')
