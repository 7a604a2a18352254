/** Files of pictures: those that nobody wants are removed, and files and rows are held together. */
import { alarm } from '../_shared/alarms.ts'
import { backend } from '../_shared/db.ts'
import { type Bucket, noteFilesUrl, remove } from '../_shared/supabase-storage.ts'

type Due = { bucket: Bucket; names: string[] }[]

/** Has Storage delete what the database names, and says so, until it names nothing more. */
export async function removeFiles(): Promise<number> {
  let all = 0
  let attempted: Due = []
  for (const end = Date.now() + 20_000;;) {
    const due = await backend<Due>('files_to_remove', { attempted })
    if (!due.length || Date.now() > end) return all
    for (const { bucket, names } of due) all += await remove(bucket, names)
    attempted = due
  }
}

/** Walks on through files and rows. That they do not agree is a fault of ours, so it is told. */
export async function proveMedia(): Promise<number> {
  await noteFilesUrl()
  const wrong = await backend<number>('prove_media', {})
  if (wrong) await alarm('files_and_rows', 'media', { wrong })
  return wrong
}
