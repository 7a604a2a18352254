import type { ApiContext } from '../../_shared/caller/context.ts'
import { call } from '../../_shared/database/db.ts'
import { textsOf } from '../../_shared/errors/error-body.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import { type Field, invalidFields, Refusal } from '../../_shared/errors/refusal.ts'
import { parseDecimal } from '../../_shared/input/numbers.ts'
import { isUuid } from '../../_shared/input/uuid.ts'
import { saveAddresses } from '../../_shared/outside/supabase-storage.ts'
import { effortOfRequest } from '../../pictures/read.ts'
import { displayName, type FormPart, missingFile, openForm } from './upload-form.ts'
import { withBuffer } from './upload-memory.ts'
import {
  beginUpload,
  mebibyte,
  noRoom,
  pictureMetadata,
  readPart,
  refusalFor,
  type RejectedFile,
  StoredFiles,
  type UploadGrant,
} from './upload-picture.ts'

// Checked here, because Storage enforces its own limits only against the declared length.
export const maxSize = 10 * mebibyte
export const maxFiles = 20

type Fields = { propertyId?: string; uploadSessionId?: string; startPosition?: number }

function readField(fields: Fields, name: string, text: string) {
  const ids = name === 'propertyId' || name === 'uploadSessionId'
  if (!ids && name !== 'startPosition') {
    throw invalidFields({ path: displayName(name), code: 'unknown' })
  }
  const position = ids ? NaN : parseDecimal(text)
  const fits = ids ? isUuid(text) : Number.isInteger(position) && position >= 0 && position < 1000
  if (!fits || fields[name] !== undefined) {
    throw invalidFields({ path: name, code: position >= 1000 ? 'too_big' : 'invalid' })
  }
  if (ids) fields[name] = text
  else fields.startPosition = position
}

export type File =
  & { index: number; name: string }
  & ({ ok: true } | { ok: false; rejected: RejectedFile })

class ListingUpload {
  readonly fields: Fields = {}
  readonly files: File[] = []
  /** Files that are already stored. A client sends them again if it did not receive the response. */
  readonly again: { index: number; sha256: string }[] = []
  stored?: StoredFiles
  private grant?: UploadGrant
  private readonly effort = effortOfRequest()
  private readonly c: ApiContext

  constructor(c: ApiContext) {
    this.c = c
  }

  get uploadId() {
    return this.grant?.uploadId
  }

  /** Adds a file. Before the first one, asks the database whether the caller may upload. */
  async add(part: FormPart) {
    const index = this.files.length
    if (index === maxFiles) throw invalidFields({ path: 'files', code: 'too_big' })
    this.grant ??= await beginUpload(this.c, { bucket: 'listings', ...this.target() })
    this.stored ??= new StoredFiles('listings', this.grant)
    const rejected = await this.store(part, index)
    const name = displayName(part.filename!)
    this.files.push(rejected ? { index, name, ok: false, rejected } : { index, name, ok: true })
  }

  /**
   * Returns the fields received before the first file. Later fields are used when all files have been stored.
   */
  private target() {
    const { propertyId, uploadSessionId } = this.fields
    return { propertyId, uploadSessionId }
  }

  private store(part: FormPart, index: number): Promise<RejectedFile | undefined> {
    return withBuffer(async (buffer) => {
      const read = await readPart(part, buffer, maxSize, this.effort)
      if ('code' in read) return read
      const grant = this.grant!
      if (this.isKnown(index, read.hash)) {
        return void this.again.push({ index, sha256: read.hash })
      }
      if (this.stored!.names.length >= grant.limit - grant.used) {
        return noRoom(grant)
      }
      await this.stored!.add(index, read.picture, pictureMetadata(read.picture, read.hash))
    })
  }

  private isKnown(index: number, hash: string) {
    const { startPosition } = this.fields
    return this.grant!.known.some(({ sha256, position }) =>
      sha256 === hash && (startPosition === undefined || position === startPosition + index)
    )
  }
}

export async function uploadListings(c: ApiContext, startedAt: number): Promise<string> {
  const form = openForm(c, startedAt, 'files', maxFiles + 4)
  const upload = new ListingUpload(c)
  try {
    for await (const part of form.parts) {
      const { name, text } = part
      if (text === undefined) await upload.add(part)
      else if (name === 'files') throw missingFile('files', part)
      else readField(upload.fields, name, text)
    }
    if (!upload.files.length) throw missingFile('files')
    if (upload.files.every(({ ok }) => !ok)) throw allRejected(upload.files)
    await saveAddresses()
    const { uploadId = '', fields } = upload
    const again = upload.again.length ? upload.again : undefined
    const answer = await call(c, 'upload_listing_media', { uploadId, ...fields, again })
    return merged(answer, upload.files)
  } catch (error) {
    await upload.stored?.removeAfter(error)
    throw error
  } finally {
    form.close()
  }
}

/**
 * Returns a 422 with the error of each file. If the files were valid but there is no room, returns a 402 or
 * 409.
 */
function allRejected(files: File[]) {
  const rejected = files.map((file) => (file as { rejected: RejectedFile }).rejected)
  if (rejected.every(({ code }) => code === 'quota_exceeded' || code === 'uploads_full')) {
    return refusalFor(rejected[0])
  }
  const fields: Field[] = rejected.map(({ code, detail: { format } }, index) => ({
    path: `files.${index}`,
    // The text of file_too_large contains a number, which field errors cannot fill in.
    ...(code === 'file_not_image'
      ? { code, format: format as string | undefined }
      : { code: 'too_big' }),
  }))
  return new Refusal('validation_failed', { fields })
}

type Row = { index: number; error?: ErrorCode } & Record<string, unknown>

export function merged(answer: string, files: File[]): string {
  const { files: rows, ...rest } = JSON.parse(answer) as { files: Row[] }
  const known = new Map(rows.map((row) => [row.index, row]))
  return JSON.stringify({
    ...rest,
    files: files.map((file) => {
      const { index, name } = file
      if (!file.ok) return { index, name, ok: false, error: errorOf(file.rejected) }
      const { error, ...row } = known.get(index)!
      if (error) return { index, name, ok: false, error: errorOf({ code: error, detail: {} }) }
      return { ...row, name, ok: true }
    }),
  })
}

function errorOf({ code, detail }: RejectedFile) {
  const [message, messageEn] = textsOf(code, detail)
  const { max, format } = detail
  return { code, message, messageEn, max, format }
}
