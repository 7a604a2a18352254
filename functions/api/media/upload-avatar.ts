import type { ApiContext } from '../../_shared/caller/context.ts'
import { call } from '../../_shared/database/db.ts'
import { invalidFields } from '../../_shared/errors/refusal.ts'
import { saveAddresses } from '../../_shared/outside/supabase-storage.ts'
import { effortOfRequest } from '../../pictures/read.ts'
import { displayName, missingFile, openForm } from './upload-form.ts'
import { withBuffer } from './upload-memory.ts'
import {
  beginUpload,
  mebibyte,
  noRoom,
  pictureMetadata,
  readPart,
  refusalFor,
  StoredFiles,
} from './upload-picture.ts'

const maxSize = 5 * mebibyte

export async function uploadAvatar(c: ApiContext, startedAt: number): Promise<string> {
  const upload = openForm(c, startedAt, 'file', 3)
  try {
    const { value: part } = await upload.parts.next()
    if (!part || part.name !== 'file' || part.text !== undefined) {
      throw missingFile('file', part)
    }
    const grant = await beginUpload(c, { bucket: 'avatars' })
    return await withBuffer(async (buffer) => {
      const read = await readPart(part, buffer, maxSize, effortOfRequest())
      if ('code' in read) throw refusalFor(read)
      const { value: another } = await upload.parts.next()
      if (another) throw invalidFields({ path: displayName(another.name), code: 'unknown' })
      const { uploadId, known, used, limit } = grant
      const again = known.some(({ sha256 }) => sha256 === read.hash) ? read.hash : undefined
      if (!again && used >= limit) throw refusalFor(noRoom(grant))
      const stored = new StoredFiles('avatars', grant)
      try {
        if (!again) await stored.add(0, read.picture, pictureMetadata(read.picture, read.hash))
        await saveAddresses()
        return await call(c, 'upload_avatar', { uploadId, again })
      } catch (error) {
        await stored.removeAfter(error)
        throw error
      }
    })
  } finally {
    upload.close()
  }
}
