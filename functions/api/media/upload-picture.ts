/** One picture of an upload, from the form to Storage: read, looked at, rewritten, stored. */
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Bytes } from '../../_shared/bytes.ts'
import type { ErrorCode } from '../../_shared/errors.ts'
import type { Part } from '../../_shared/multipart.ts'
import { type Detail, Refusal } from '../../_shared/refusal.ts'
import { type Bucket, remove, store } from '../../_shared/supabase-storage.ts'
import {
  beginsAsPicture,
  type Effort,
  NoPicture,
  type Picture,
  readPicture,
  TooManyPixels,
} from '../../pictures/read.ts'
import { readInto } from './upload-form.ts'
import type { Room } from './upload-memory.ts'

export const mebibyte = 1024 * 1024

/** Where an upload may store: sql/09_media/5_writes_uploads.sql. */
export type Entrance = {
  uploadId: string
  folder: string
  /** How many pictures there may be, and are. */
  limit: number
  used: number
  /** What is there already, so that it is not stored again. */
  known: { sha256: string; position: number | null }[]
}

export const quotaExceeded = ({ limit, used }: Entrance): Bad => ({
  code: 'quota_exceeded',
  detail: { limit, used },
})

/** Why a file is not taken, in the words of the table of errors. */
export type Bad = { code: ErrorCode; detail: Detail }

/** The picture in a part, or what is wrong with it. */
export async function pictureIn(
  part: Part,
  room: Room,
  limit: number,
  effort: Effort,
): Promise<{ picture: Picture; hash: string } | Bad> {
  const bytes = await readInto(part, room, limit)
  if (!bytes) return { code: 'file_too_large', detail: { max: limit / mebibyte } }
  if (!beginsAsPicture(bytes)) return { code: 'file_not_image', detail: {} }
  // Of what was sent, which reading makes into what is stored.
  const hash = await hashOf(bytes)
  try {
    return { picture: readPicture(bytes, effort), hash }
  } catch (error) {
    if (error instanceof NoPicture) return { code: 'file_not_image', detail: {} }
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
 * The hash of the hashes of each MiB: by it the same picture is told when it is sent again. Native
 * code needs a copy of what it hashes, and is twenty times as fast; so it gets it a MiB at a time.
 */
async function hashOf(bytes: Bytes): Promise<string> {
  const hashes = new Uint8Array(32 * Math.ceil(bytes.length / mebibyte))
  for (let at = 0, index = 0; at < bytes.length; at += mebibyte, index++) {
    const hash = await crypto.subtle.digest('SHA-256', bytes.subarray(at, at + mebibyte))
    hashes.set(new Uint8Array(hash), 32 * index)
  }
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', hashes)))
}

/** What an upload has stored so far, so that it can be taken back. */
export class Stored {
  readonly names: string[] = []
  private readonly bucket: Bucket
  private readonly entrance: Entrance

  constructor(bucket: Bucket, entrance: Entrance) {
    this.bucket = bucket
    this.entrance = entrance
  }

  /** Stores the file of that number under the name that the upload has for it. */
  async add(index: number, picture: Picture, hash: string) {
    const { uploadId, folder } = this.entrance
    const file = uploadId.slice(0, 34) + index.toString(16).padStart(2, '0')
    const name = `${folder}/${file}.${picture.ending}`
    // Also when it fails: it may have come through.
    this.names.push(name)
    await store(this.bucket, name, picture, { ...shownSize(picture), sha256: hash })
  }

  /** Takes back what no row can name any more. Where that is not certain, the job finds out. */
  async takeBack(because: unknown) {
    const certain = because instanceof Refusal && because.code !== 'timeout' ||
      /^PT4/.test((because as { code?: string }).code ?? '')
    if (certain && this.names.length) await remove(this.bucket, this.names)
  }
}

/** The sides as people see them. */
function shownSize({ width, height, orientation }: Picture) {
  return orientation < 5
    ? { width, height, orientation }
    : { width: height, height: width, orientation }
}
