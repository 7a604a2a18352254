import { backend } from '../_shared/database/db.ts'
import { alarm } from '../_shared/errors/alarms.ts'
import {
  type Bucket,
  moveFile,
  removeFiles,
  saveAddresses,
} from '../_shared/outside/supabase-storage.ts'

type Due = { bucket: Bucket; names: string[] }[]

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

type Move = { move: number; id: string; name: string; from: Bucket; to: Bucket }

/**
 * Moves the files of suspended or restored content. Runs may overlap: a file that another run has moved is no
 * longer at its old place.
 */
export async function moveSuspendedFiles(): Promise<number> {
  let all = 0
  let attempted: Move[] = []
  for (const end = Date.now() + 20_000;;) {
    const due: Move[] = await backend<Move[]>('files_to_move', { attempted })
    if (!due.length || Date.now() > end) return all
    attempted = []
    while (attempted.length < due.length && Date.now() < end) {
      const some = due.slice(attempted.length, attempted.length + 10)
      const moved = await Promise.all(some.map(({ from, to, name }) => moveFile(from, to, name)))
      all += moved.filter(Boolean).length
      attempted.push(...some)
    }
  }
}

/**
 * Each run compares some of the files with their rows. A mismatch is a bug of ours, so it raises an alarm.
 */
export async function compareFilesAndRows(): Promise<number> {
  await saveAddresses()
  const wrong = await backend<number>('reconcile_media', {})
  if (wrong) await alarm('files_and_rows', 'media', { wrong })
  return wrong
}
