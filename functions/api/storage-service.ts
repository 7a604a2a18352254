/** Supabase Storage, which keeps the files. Only the functions write there, with the secret key. */
import type { Picture } from '../pictures/index.ts'
import { backend } from './db.ts'
import { env } from './env.ts'
import { Refusal } from './problem.ts'

export type Bucket = 'avatars' | 'listings'

// A name is never used twice, so what is behind it never changes; a day lets deletion be felt.
const cacheControl = 'max-age=86400'
const pieceSize = 64 * 1024

/** The pieces of a picture as a stream: no copy of the whole is made on its way. */
function streamOf(pieces: Uint8Array<ArrayBuffer>[]) {
  let index = 0
  let at = 0
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      while (index < pieces.length && at >= pieces[index].length) {
        index++
        at = 0
      }
      if (index === pieces.length) return controller.close()
      controller.enqueue(pieces[index].subarray(at, at + pieceSize))
      at += pieceSize
    },
  }, { highWaterMark: 1 })
}

/** Stores a picture with what is known of it. A second try may find what the first one left. */
export async function store(
  bucket: Bucket,
  name: string,
  { type, pieces }: Picture,
  facts: Record<string, unknown>,
) {
  const send = () =>
    ask('POST', `/object/${bucket}/${name}`, streamOf(pieces), {
      'content-type': type,
      'cache-control': cacheControl,
      'x-upsert': 'true',
      'x-metadata': btoa(JSON.stringify(facts)),
    })
  if (await send() || await send()) return
  throw new Refusal('service_unavailable', { retryAfter: 5 })
}

/** Removes files; what could not be removed is found by the job. */
export const remove = (bucket: Bucket, names: string[]) =>
  ask('DELETE', `/object/${bucket}`, JSON.stringify({ prefixes: names }), {
    'content-type': 'application/json',
  })

async function ask(
  method: string,
  path: string,
  body: BodyInit,
  headers: Record<string, string>,
): Promise<boolean> {
  try {
    const response = await fetch(`${env.supabaseUrl}/storage/v1${path}`, {
      method,
      headers: { apikey: env.secretKey, ...headers },
      body,
      signal: AbortSignal.timeout(20_000),
    })
    const text = await response.text()
    if (!response.ok) console.error(JSON.stringify({ storage: response.status, said: text }))
    return response.ok
  } catch (cause) {
    console.error(JSON.stringify({ storage: (cause as Error).name }))
    return false
  }
}

let noted: Promise<unknown> | undefined

/** The database writes addresses of pictures, so it must know where this project is reached. */
export async function noteFilesUrl() {
  noted ??= backend('note_files_url', { url: env.filesUrl })
  await noted.catch((error) => {
    noted = undefined
    throw error
  })
}
