import type { ApiContext } from '../../_shared/caller/context.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'
import { readFile } from '../../_shared/outside/supabase-storage.ts'

/** Streams the file as a download and never as a page, because a PDF's active content is unchecked. */
export async function sendDocument(c: ApiContext, documentId: string, found: string) {
  const { file, type, size } = JSON.parse(found) as { file: string; type: string; size: number }
  const body = await readFile('documents', file)
  // The file has just been removed.
  if (!body) throw new Refusal('document_not_found')
  const ending = file.split('.').at(-1)
  const headers = {
    ...c.get('headers'),
    'Content-Type': type,
    'Content-Length': String(size),
    'Content-Disposition': `attachment; filename="${documentId}.${ending}"`,
    'Content-Security-Policy': 'sandbox',
  }
  // With a stream of our own, Deno aborts the answer if the file is too short, instead of waiting.
  return new Response(body.pipeThrough(new TransformStream()), { headers }) as never
}
