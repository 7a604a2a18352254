import type { ApiContext } from '../../_shared/caller/context.ts'
import { call } from '../../_shared/database/db.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import { type Detail, Refusal } from '../../_shared/errors/refusal.ts'
import type { Bytes } from '../../_shared/input/bytes.ts'
import { sha256, sha256Bytes } from '../../_shared/input/hashes.ts'
import type { Part } from '../../_shared/input/multipart.ts'
import { type Bucket, removeFiles, storeFile } from '../../_shared/outside/supabase-storage.ts'
import type { Effort } from '../../pictures/deflate.ts'
import { otherFormat } from '../../pictures/formats.ts'
import { NotAPicture, type Picture, TooManyPixels } from '../../pictures/picture.ts'
import { beginsAsPicture, readPicture } from '../../pictures/read.ts'
import { readInto } from './upload-form.ts'
import type { UploadBuffer } from './upload-memory.ts'

export const mebibyte = 1024 * 1024

/** The permission to store files in a folder, returned by `begin_upload` or `begin_document_upload`. */
export type UploadGrant = {
  uploadId: string
  folder: string
  /** The error for pictures if there is no room. Not set for documents. */
  error?: ErrorCode
  limit: number
  used: number
  /** Files that already exist and need not be stored again. */
  known: { sha256: string; position?: number | null }[]
}

export const beginUpload = async (
  c: ApiContext,
  args: { bucket: Bucket; propertyId?: string; uploadSessionId?: string },
): Promise<UploadGrant> => JSON.parse(await call(c, 'begin_upload', args, { rate: 'uploads' }))

export const noRoom = ({ error, limit, used }: UploadGrant): RejectedFile => ({
  code: error!,
  detail: { limit, used },
})

export type RejectedFile = { code: ErrorCode; detail: Detail }

export const refusalFor = ({ code, detail }: RejectedFile) => new Refusal(code, detail)

export async function readPart(
  part: Part,
  buffer: UploadBuffer,
  limit: number,
  effort: Effort,
): Promise<{ picture: Picture; hash: string } | RejectedFile> {
  const bytes = await readInto(part, buffer, limit)
  if (!bytes) return { code: 'file_too_large', detail: { max: limit / mebibyte } }
  if (!beginsAsPicture(bytes)) return notAnImage(bytes)
  // Hash the bytes as they were sent, because reading the picture rewrites them in place.
  const hash = await hashOf(bytes)
  const picture = pictureIn(bytes, part, effort)
  return 'code' in picture ? picture : { picture, hash }
}

const notAnImage = (bytes: Bytes): RejectedFile => ({
  code: 'file_not_image',
  detail: { format: otherFormat(bytes) },
})

export function pictureIn(bytes: Bytes, part: Part, effort: Effort): Picture | RejectedFile {
  try {
    return readPicture(bytes, effort)
  } catch (error) {
    if (error instanceof NotAPicture) return notAnImage(bytes)
    if (error instanceof TooManyPixels) {
      return {
        code: 'validation_failed',
        detail: { fields: [{ path: part.name, code: 'too_big' }] },
      }
    }
    throw error
  }
}

/**
 * The hash by which we recognise a picture that is sent again. Hashes each MiB separately, because Web Crypto
 * copies its input.
 */
async function hashOf(bytes: Bytes): Promise<string> {
  const hashes = new Uint8Array(32 * Math.ceil(bytes.length / mebibyte))
  for (let at = 0, index = 0; at < bytes.length; at += mebibyte, index++) {
    hashes.set(await sha256Bytes(bytes.subarray(at, at + mebibyte)), 32 * index)
  }
  return await sha256(hashes)
}

type StoredFile = { type: string; ending: string; pieces: Bytes[] }

/** The files stored so far by an upload, so that they can be removed if it fails. */
export class StoredFiles {
  readonly names: string[] = []
  private readonly bucket: Bucket
  private readonly grant: UploadGrant

  constructor(bucket: Bucket, grant: UploadGrant) {
    this.bucket = bucket
    this.grant = grant
  }

  async add(index: number, content: StoredFile, metadata: Record<string, unknown>) {
    const { uploadId, folder } = this.grant
    const file = uploadId.slice(0, 34) + index.toString(16).padStart(2, '0')
    const name = `${folder}/${file}.${content.ending}`
    // Record the name first, because even a failed request may have stored the file.
    this.names.push(name)
    await storeFile(this.bucket, name, content, metadata)
  }

  /** Removes the files if it is certain that no row refers to them. Otherwise a job will decide later. */
  async removeAfter(error: unknown) {
    const certain = error instanceof Refusal && error.code !== 'timeout' ||
      /^PT4/.test((error as { code?: string }).code ?? '')
    if (certain && this.names.length) await removeFiles(this.bucket, this.names)
  }
}

/** The metadata of a picture: its width and height as displayed, and its hash. */
export const pictureMetadata = (picture: Picture, sha256: string) => ({
  ...displaySize(picture),
  sha256,
})

function displaySize({ width, height, orientation }: Picture) {
  return orientation < 5
    ? { width, height, orientation }
    : { width: height, height: width, orientation }
}
