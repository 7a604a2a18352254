/** The form of an upload, read from the request as it comes: size and time are counted on the way. */
import type { Bytes } from '../../_shared/bytes.ts'
import type { ApiContext } from '../../_shared/context.ts'
import { boundaryOf, MultipartError, type Part, partsOf } from '../../_shared/multipart.ts'
import { type Field, Refusal } from '../../_shared/refusal.ts'
import { receiveWithin } from '../../_shared/timeout.ts'
import { uploadLimit } from '../http/checks.ts'
import type { Room } from './upload-memory.ts'

const fieldLimit = 100
/** A client that waits for nothing on our side sends at least so much in so long: 2 KB/s. */
const pace = { bytes: 20 * 1024, ms: 10_000 }
/** A worker of a hosted project answers within 150 s. */
const longest = 120_000

export const wrong = (...fields: Field[]) => new Refusal('validation_failed', { fields })

export type Upload = {
  parts: AsyncGenerator<Part, void>
  close: () => void
}

/** Opens the form of a request that came then. Whoever opens it closes it. */
export function openForm(c: ApiContext, came: number, mostParts: number): Upload {
  const boundary = boundaryOf(c.req.header('content-type') ?? '')
  if (!boundary) throw new Refusal('content_type_unsupported')
  if (!c.req.raw.body) throw wrong({ path: '', code: 'invalid' })
  const reader = c.req.raw.body.getReader()
  return {
    parts: refusing(partsOf(counted(reader, came + longest), boundary, mostParts)),
    close: () => void reader.cancel().catch(() => {}),
  }
}

async function* counted(reader: ReadableStreamDefaultReader<Uint8Array>, end: number) {
  let [size, waited, come] = [0, 0, 0]
  for (;;) {
    const asked = Date.now()
    const { done, value } = await receiveWithin(
      Math.min(pace.ms - waited, end - asked),
      reader.read(),
    )
    if (done) return
    size += value.length
    if (size > uploadLimit) throw new Refusal('body_too_large')
    waited += Date.now() - asked
    come += value.length
    if (come >= pace.bytes) waited = come = 0
    else if (waited >= pace.ms) throw new Refusal('upload_timeout')
    yield value
  }
}

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

/** Reads a file into a room; undefined when it is longer. The rest is left to whoever reads on. */
export async function readInto(
  { content }: Part,
  room: Room,
  limit: number,
): Promise<Bytes | undefined> {
  let size = 0
  try {
    for (;;) {
      // By hand: leaving a for…of would end the part, and the rest of it would be taken for the next.
      const { done, value } = await content.next()
      if (done) return room.bytes.subarray(0, size)
      if (size + value.length > limit) return undefined
      await room.grow(size + value.length, size)
      room.bytes.set(value, size)
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
