// The form contains the field `identityId`, then the files.
import type { ApiContext } from '../../_shared/caller/context.ts'
import { call } from '../../_shared/database/db.ts'
import { invalidField, invalidFields } from '../../_shared/errors/refusal.ts'
import { sha256OfPieces } from '../../_shared/input/hashes.ts'
import { isUuid } from '../../_shared/input/uuid.ts'
import { beginsAsPicture, effortOfRequest } from '../../pictures/read.ts'
import { pdfIn } from './pdf.ts'
import { displayName, type FormPart, missingFile, openForm, readInto } from './upload-form.ts'
import { type File, merged } from './upload-listings.ts'
import { withBuffer } from './upload-memory.ts'
import {
  mebibyte,
  pictureIn,
  refusalFor,
  type RejectedFile,
  StoredFiles,
  type UploadGrant,
} from './upload-picture.ts'

const maxSize = 10 * mebibyte
export const maxDocuments = 5

class DocumentUpload {
  identityId?: string
  readonly files: File[] = []
  /** Files that are not stored because they already exist (`known`) or because there is no room for them. */
  readonly again: { index: number; sha256: string; known: boolean }[] = []
  stored?: StoredFiles
  private grant?: UploadGrant
  private readonly known = new Set<string>()
  private readonly effort = effortOfRequest()
  private readonly c: ApiContext

  constructor(c: ApiContext) {
    this.c = c
  }

  get uploadId() {
    return this.grant?.uploadId ?? ''
  }

  /**
   * Reads the only field. It must come before the files, because each file is stored as soon as it arrives.
   */
  readField(name: string, text: string) {
    if (name !== 'identityId') throw invalidFields({ path: displayName(name), code: 'unknown' })
    if (!isUuid(text) || this.identityId) throw invalidField('identityId', 'invalid')
    this.identityId = text
  }

  async add(part: FormPart) {
    const { identityId } = this
    const index = this.files.length
    if (!identityId) throw invalidField('identityId', 'required')
    if (index === maxDocuments) throw invalidFields({ path: 'files', code: 'too_big' })
    if (!this.grant) {
      const args = { identityId }
      const answer = await call(this.c, 'begin_document_upload', args, { rate: 'uploads' })
      this.grant = JSON.parse(answer) as UploadGrant
      this.stored = new StoredFiles('documents', this.grant)
      for (const { sha256 } of this.grant.known) this.known.add(sha256)
    }
    const name = displayName(part.filename!)
    const rejected = await this.store(part, index, name)
    this.files.push(rejected ? { index, name, ok: false, rejected } : { index, name, ok: true })
  }

  private store(part: FormPart, index: number, label: string): Promise<RejectedFile | undefined> {
    return withBuffer(async (buffer) => {
      const bytes = await readInto(part, buffer, maxSize)
      if (!bytes) return { code: 'file_too_large', detail: { max: maxSize / mebibyte } }
      // If a file begins like a picture, treat it as one, whatever it contains, so that its metadata is
      // removed.
      const pdf = beginsAsPicture(bytes) ? undefined : pdfIn(bytes)
      const file = pdf
        ? { type: 'application/pdf', ending: 'pdf', pieces: [bytes] }
        : pictureIn(bytes, part, this.effort)
      if ('code' in file) {
        return file.code === 'file_not_image' ? { ...file, code: 'file_not_document' } : file
      }
      const { limit, used } = this.grant!
      const sha256 = sha256OfPieces(file.pieces)
      const known = this.known.has(sha256)
      if (known || this.stored!.names.length >= limit - used) {
        return void this.again.push({ index, sha256, known })
      }
      this.known.add(sha256)
      await this.stored!.add(index, file, { label, sha256, encrypted: pdf?.encrypted })
    })
  }
}

export async function uploadDocuments(c: ApiContext, startedAt: number): Promise<string> {
  const form = openForm(c, startedAt, 'files', maxDocuments + 2)
  const upload = new DocumentUpload(c)
  const { files, again } = upload
  try {
    for await (const part of form.parts) {
      const { name, text } = part
      if (text === undefined) await upload.add(part)
      else if (name === 'files') throw missingFile('files', part)
      else upload.readField(name, text)
    }
    const [first] = files
    if (!first) throw missingFile('files')
    if (files.every(({ ok }) => !ok) && !first.ok) throw refusalFor(first.rejected)
    const { uploadId } = upload
    const args = { uploadId, again: again.length ? again : undefined }
    return merged(await call(c, 'upload_documents', args), files)
  } catch (error) {
    await upload.stored?.removeAfter(error)
    throw error
  } finally {
    form.close()
  }
}
