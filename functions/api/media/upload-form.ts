import type { ApiContext } from '../../_shared/caller/context.ts'
import { invalidFields, Refusal } from '../../_shared/errors/refusal.ts'
import { receiveWithin } from '../../_shared/errors/timeout.ts'
import type { Bytes } from '../../_shared/input/bytes.ts'
import { boundaryOf, MultipartError, type Part, partsOf } from '../../_shared/input/multipart.ts'
import { beginning } from '../../_shared/input/texts.ts'
import { uploadLimit } from '../http/checks.ts'
import type { UploadBuffer } from './upload-memory.ts'

const fieldLimit = 100
/** The minimum speed of a client while we wait for its data: 2 KB/s. */
const minPace = { bytes: 20 * 1024, ms: 10_000 }
/** In milliseconds. On hosted projects, a worker must respond within 150 s. */
const maxTime = 120_000

/** A file, or a field and its text. */
export type FormPart = Part & { text?: string }

type Upload = {
  parts: AsyncGenerator<FormPart, void>
  close: () => void
}

/**
 * Opens the form of a request that arrived at `startedAt` and has its files in `fileField`. The caller must
 * close it.
 */
export function openForm(
  c: ApiContext,
  startedAt: number,
  fileField: string,
  maxParts: number,
): Upload {
  const boundary = boundaryOf(c.req.header('content-type') ?? '')
  if (!boundary) throw new Refusal('content_type_unsupported')
  if (!c.req.raw.body) throw invalidFields({ path: '', code: 'invalid' })
  const reader = c.req.raw.body.getReader()
  const parts = partsOf(timed(reader, startedAt + maxTime), boundary, maxParts)
  return {
    parts: present(parts, fileField),
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

/** Skips empty fields, because generated clients send absent fields as empty strings. */
async function* present(
  parts: AsyncGenerator<Part, void>,
  fileField: string,
): AsyncGenerator<FormPart, void> {
  try {
    for await (const part of parts) {
      const isFile = part.name === fileField && part.filename !== undefined
      const text = isFile ? undefined : plainText(await textOf(part))
      if (text !== '') yield { ...part, text }
    }
  } catch (error) {
    throw asRefusal(error)
  }
}

/** Some generated clients encode texts as JSON and send null for an absent text. */
function plainText(text: string): string {
  if (text !== 'null' && !text.startsWith('"')) return text
  try {
    return JSON.parse(text) ?? ''
  } catch {
    return text
  }
}

async function textOf({ content }: Part): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  try {
    for await (const piece of content) {
      text += decoder.decode(piece, { stream: true })
      if (text.length > fieldLimit) break
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return '\uFFFD'
  }
  return text
}

/**
 * Reads a file into the buffer. Returns undefined if it is larger than `limit`; the rest of it is then
 * skipped.
 */
export async function readInto(
  { content }: Part,
  buffer: UploadBuffer,
  limit: number,
): Promise<Bytes | undefined> {
  let size = 0
  try {
    for (;;) {
      // Breaking out of a for…of loop would end the generator, and the rest of this part would be read as the
      // next part.
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

// Invisible characters and characters that change the text direction.
const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

export const displayName = (filename: string) => beginning(filename.replace(invisible, ''), 120)

export const missingFile = (name: string, part?: FormPart | void) =>
  part && part.name !== name
    ? invalidFields({ path: displayName(part.name), code: 'unknown' })
    : new Refusal('file_missing', { fields: [{ path: name, code: 'file_missing' }] })
