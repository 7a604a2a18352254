/** One picture or other file of an upload, from the form to Storage: read, checked, rewritten, stored. */
import type { Bytes } from '../../_shared/bytes.ts'
import type { ApiContext } from '../../_shared/context.ts'
import { sha256, sha256Bytes } from '../../_shared/crypto.ts'
import { call } from '../../_shared/db.ts'
import type { ErrorCode } from '../../_shared/errors.ts'
import type { Part } from '../../_shared/multipart.ts'
import { type Detail, Refusal } from '../../_shared/refusal.ts'
import { type Bucket, removeFiles, storeFile } from '../../_shared/supabase-storage.ts'
import type { Effort } from '../../pictures/deflate.ts'
import { NotAPicture, type Picture, TooManyPixels } from '../../pictures/picture.ts'
import { beginsAsPicture, readPicture } from '../../pictures/read.ts'
import { readInto } from './upload-form.ts'
import type { UploadBuffer } from './upload-memory.ts'

export const mebibyte = 1024 * 1024

/** What an upload may store, and where, as `begin_upload` says. */
export type UploadGrant = {
  uploadId: string
  folder: string
  /** How many files there may be, and are. */
  limit: number
  used: number
  /** What is there already, so that it is not stored again. */
  known: { sha256: string; position?: number | null }[]
}

/** Whether the caller may upload, and where to. */
export const beginUpload = async (
  c: ApiContext,
  args: { bucket: Bucket; propertyId?: string; uploadSessionId?: string },
): Promise<UploadGrant> => JSON.parse(await call(c, 'begin_upload', args, { rate: 'uploads' }))

export const quotaExceeded = ({ limit, used }: UploadGrant): RejectedFile => ({
  code: 'quota_exceeded',
  detail: { limit, used },
})

/** Why a file is refused. */
export type RejectedFile = { code: ErrorCode; detail: Detail }

export const refusalFor = ({ code, detail }: RejectedFile) => new Refusal(code, detail)

/** The picture in a part, or what is wrong with it. */
export async function readPart(
  part: Part,
  buffer: UploadBuffer,
  limit: number,
  effort: Effort,
): Promise<{ picture: Picture; hash: string } | RejectedFile> {
  const bytes = await readInto(part, buffer, limit)
  if (!bytes) return { code: 'file_too_large', detail: { max: limit / mebibyte } }
  if (!beginsAsPicture(bytes)) return { code: 'file_not_image', detail: {} }
  // Of the bytes as sent: reading the picture rewrites them in place.
  const hash = await hashOf(bytes)
  const picture = pictureIn(bytes, part, effort)
  return 'code' in picture ? picture : { picture, hash }
}

/** The picture in the bytes of a part, which are rewritten in place, or what is wrong with it. */
export function pictureIn(bytes: Bytes, part: Part, effort: Effort): Picture | RejectedFile {
  try {
    return readPicture(bytes, effort)
  } catch (error) {
    if (error instanceof NotAPicture) return { code: 'file_not_image', detail: {} }
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
 * The hash of the hashes of each MiB, by which the same picture is known when it is sent again. Web
 * Crypto copies what it hashes, so it is given one MiB at a time.
 */
async function hashOf(bytes: Bytes): Promise<string> {
  const hashes = new Uint8Array(32 * Math.ceil(bytes.length / mebibyte))
  for (let at = 0, index = 0; at < bytes.length; at += mebibyte, index++) {
    hashes.set(await sha256Bytes(bytes.subarray(at, at + mebibyte)), 32 * index)
  }
  return await sha256(hashes)
}

type StoredFile = { type: string; ending: string; pieces: Bytes[] }

/** The files that an upload has stored so far, so that they can be removed again. */
export class StoredFiles {
  readonly names: string[] = []
  private readonly bucket: Bucket
  private readonly grant: UploadGrant

  constructor(bucket: Bucket, grant: UploadGrant) {
    this.bucket = bucket
    this.grant = grant
  }

  /** Stores a file under the name that the upload has for its index. */
  async add(index: number, content: StoredFile, metadata: Record<string, unknown>) {
    const { uploadId, folder } = this.grant
    const file = uploadId.slice(0, 34) + index.toString(16).padStart(2, '0')
    const name = `${folder}/${file}.${content.ending}`
    // Noted before: a failed request may have stored it all the same.
    this.names.push(name)
    await storeFile(this.bucket, name, content, metadata)
  }

  /** Removes what no row can name any more. Where that is not certain, the job finds out. */
  async removeAfter(error: unknown) {
    const certain = error instanceof Refusal && error.code !== 'timeout' ||
      /^PT4/.test((error as { code?: string }).code ?? '')
    if (certain && this.names.length) await removeFiles(this.bucket, this.names)
  }
}

/** What is kept with a picture: width and height as people see them, and its hash. */
export const pictureMetadata = (picture: Picture, sha256: string) => ({
  ...displaySize(picture),
  sha256,
})

function displaySize({ width, height, orientation }: Picture) {
  return orientation < 5
    ? { width, height, orientation }
    : { width: height, height: width, orientation }
}
