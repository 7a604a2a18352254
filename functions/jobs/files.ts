/** Files of pictures: the unwanted are removed, and files and rows are compared. */
import { alarm } from '../_shared/alarms.ts'
import { backend } from '../_shared/db.ts'
import { type Bucket, removeFiles, saveAddresses } from '../_shared/supabase-storage.ts'

type Due = { bucket: Bucket; names: string[] }[]

/** Has Storage delete what the database names and confirms it, until nothing more is named. */
export async function removeUnusedFiles(): Promise<number> {
  let all = 0
  let attempted: Due = []
  for (const end = Date.now() + 20_000;;) {
    const due = await backend<Due>('files_to_remove', { attempted })
    if (!due.length || Date.now() > end) return all
    for (const { bucket, names } of due) all += await removeFiles(bucket, names)
    attempted = due
  }
}

/** Compares files and rows, a stretch at each run. A difference is a fault of ours, so an alarm. */
export async function compareFilesAndRows(): Promise<number> {
  await saveAddresses()
  const wrong = await backend<number>('reconcile_media', {})
  if (wrong) await alarm('files_and_rows', 'media', { wrong })
  return wrong
}
