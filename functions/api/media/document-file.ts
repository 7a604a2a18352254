import type { ApiContext } from '../../_shared/caller/context.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'
import { type Bucket, readFile } from '../../_shared/outside/supabase-storage.ts'

type Found = { bucket?: Bucket; file: string; type: string; size: number }

/** Streams the file as a download, never for display, because active content in a PDF is not checked. */
export async function sendFile(
  c: ApiContext,
  id: string,
  found: string,
  missing: ErrorCode = 'document_not_found',
) {
  const { bucket = 'documents', file, type, size } = JSON.parse(found) as Found
  const body = await readFile(bucket, file)
  // The file was just removed or moved.
  if (!body) throw new Refusal(missing)
  const ending = file.split('.').at(-1)
  const headers = {
    ...c.get('headers'),
    'Content-Type': type,
    'Content-Length': String(size),
    'Content-Disposition': `attachment; filename="${id}.${ending}"`,
    'Content-Security-Policy': 'sandbox',
  }
  // With our own stream, Deno aborts the response if the file turns out too short. Otherwise it would wait.
  return new Response(body.pipeThrough(new TransformStream()), { headers }) as never
}
