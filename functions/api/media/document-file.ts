/** A document on its way to who may read it. */
import type { ApiContext } from '../../_shared/context.ts'
import { Refusal } from '../../_shared/refusal.ts'
import { readFile } from '../../_shared/supabase-storage.ts'

/**
 * Streams the file that the database named, to be saved and never shown as a page: what a PDF does in a
 * browser nobody has looked at.
 */
export async function sendDocument(c: ApiContext, documentId: string, found: string) {
  const { file, type, size } = JSON.parse(found) as { file: string; type: string; size: number }
  const body = await readFile('documents', file)
  // It was removed in this moment.
  if (!body) throw new Refusal('document_not_found')
  const ending = file.split('.').at(-1)
  const headers = {
    ...c.get('headers'),
    'Content-Type': type,
    'Content-Length': String(size),
    'Content-Disposition': `attachment; filename="${documentId}.${ending}"`,
    'Content-Security-Policy': 'sandbox',
  }
  // A stream of our own: of one that is too short Deno then breaks off the answer, instead of waiting.
  return new Response(body.pipeThrough(new TransformStream()), { headers }) as never
}
