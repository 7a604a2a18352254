/** Files of pictures: those that nobody wants are removed, and files and rows are held together. */
import { backend } from '../api/db.ts'
import { type Bucket, noteFilesUrl, remove } from '../api/storage-service.ts'

type Due = { bucket: Bucket; names: string[] }[]

/** Has Storage delete what the database names, until it names nothing or nothing goes any more. */
export async function removeFiles(): Promise<number> {
  let all = 0
  const end = Date.now() + 20_000
  for (let before = ''; Date.now() < end;) {
    const due = await backend<Due>('files_to_remove', {})
    const names = JSON.stringify(due)
    if (!due.length || names === before) return all
    before = names
    for (const { bucket, names } of due) {
      if (await remove(bucket, names)) all += names.length
    }
  }
  return all
}

/** Walks on through files and rows. That they do not agree is a fault of ours, so it is told. */
export async function proveMedia(): Promise<number> {
  await noteFilesUrl()
  const wrong = await backend<number>('prove_media', {})
  if (wrong) console.error(JSON.stringify({ alert: 'files_and_rows', wrong }))
  return wrong
}
