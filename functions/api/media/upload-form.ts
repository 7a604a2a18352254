import type { ApiContext } from '../../_shared/caller/context.ts'
import { invalidFields, Refusal } from '../../_shared/errors/refusal.ts'
import { receiveWithin } from '../../_shared/errors/timeout.ts'
import type { Bytes } from '../../_shared/input/bytes.ts'
import { boundaryOf, MultipartError, type Part, partsOf } from '../../_shared/input/multipart.ts'
import { uploadLimit } from '../http/checks.ts'
import type { UploadBuffer } from './upload-memory.ts'

const fieldLimit = 100
/** The pace required of a client while we wait for it: 2 KB/s. */
const minPace = { bytes: 20 * 1024, ms: 10_000 }
/** A worker of a hosted project has to answer within 150 s. */
const maxTime = 120_000

type Upload = {
  parts: AsyncGenerator<Part, void>
  close: () => void
}

/** Opens the form of a request that arrived at `startedAt`. The caller has to close it. */
export function openForm(c: ApiContext, startedAt: number, maxParts: number): Upload {
  const boundary = boundaryOf(c.req.header('content-type') ?? '')
  if (!boundary) throw new Refusal('content_type_unsupported')
  if (!c.req.raw.body) throw invalidFields({ path: '', code: 'invalid' })
  const reader = c.req.raw.body.getReader()
  return {
    parts: withRefusals(partsOf(timed(reader, startedAt + maxTime), boundary, maxParts)),
    close: () => void reader.cancel().catch(() => {}),
  }
}

async function* timed(reader: ReadableStreamDefaultReader<Uint8Array>, end: number) {
  let [size, waited, received] = [0, 0, 0]
  for (;;) {
    const startedAt = Date.now()
    const { done, value } = await receiveWithin(
      Math.min(minPace.ms - waited, end - startedAt),
      reader.read(),
    )
    if (done) return
    size += value.length
    if (size > uploadLimit) throw new Refusal('body_too_large')
    waited += Date.now() - startedAt
    received += value.length
    if (received >= minPace.bytes) waited = received = 0
    else if (waited >= minPace.ms) throw new Refusal('upload_timeout')
    yield value
  }
}

async function* withRefusals(parts: AsyncGenerator<Part, void>): AsyncGenerator<Part, void> {
  try {
    yield* parts
  } catch (error) {
    throw error instanceof MultipartError ? invalidFields({ path: '', code: 'invalid' }) : error
  }
}

export async function textOf({ content }: Part): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  try {
    for await (const piece of content) {
      text += decoder.decode(piece, { stream: true })
      if (text.length > fieldLimit) break
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw asRefusal(error)
    return '\uFFFD'
  }
  return text
}

/** Reads a file. Returns undefined if it is longer than `limit`; its rest is skipped before the next part. */
export async function readInto(
  { content }: Part,
  buffer: UploadBuffer,
  limit: number,
): Promise<Bytes | undefined> {
  let size = 0
  try {
    for (;;) {
      // Leaving a for…of would end the generator, and the next part would begin inside this one.
      const { done, value } = await content.next()
      if (done) return buffer.bytes.subarray(0, size)
      if (size + value.length > limit) return undefined
      await buffer.grow(size + value.length, size)
      buffer.bytes.set(value, size)
      size += value.length
    }
  } catch (error) {
    throw asRefusal(error)
  }
}

const asRefusal = (error: unknown) =>
  error instanceof MultipartError ? invalidFields({ path: '', code: 'invalid' }) : error

// Invisible characters, and those that change the direction of a line.
const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

export const displayName = (filename: string) =>
  [...filename.replace(invisible, '')].slice(0, 120).join('')

export const missingFile = (name: string, part?: Part | void) =>
  part && part.name !== name
    ? invalidFields({ path: displayName(part.name), code: 'unknown' })
    : new Refusal('file_missing', { fields: [{ path: name, code: 'file_missing' }] })
