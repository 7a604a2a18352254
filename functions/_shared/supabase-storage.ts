/** Supabase Storage, which keeps the files. Only the functions write there, with the secret key. */
import { alarm } from './alarms.ts'
import { type Bytes, toBase64 } from './bytes.ts'
import { backend } from './db.ts'
import { env } from './env.ts'
import { fetchService } from './http-client.ts'
import { Refusal } from './refusal.ts'

export type Bucket = 'avatars' | 'listings' | 'documents'

// A name is never used twice, so what is behind it never changes; a day lets deletion be felt.
const cacheControl = (bucket: Bucket) => bucket === 'documents' ? 'no-store' : 'max-age=86400'
const pieceSize = 64 * 1024

/** The pieces of a file as a stream. */
function streamOf(pieces: Bytes[]) {
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

/** A file in pieces, so that no copy of the whole is made. */
type File = { type: string; pieces: Bytes[] }

/** Stores a file with what is known of it. A second try may find what the first one left. */
export async function storeFile(
  bucket: Bucket,
  name: string,
  { type, pieces }: File,
  metadata: Record<string, unknown>,
) {
  const send = async () =>
    isSuccess(
      await request('POST', `/object/${bucket}/${name}`, streamOf(pieces), {
        'content-type': type,
        'cache-control': cacheControl(bucket),
        'x-upsert': 'true',
        'x-metadata': toBase64(JSON.stringify(metadata)),
      }),
    )
  if (await send() || await send()) return
  throw new Refusal('service_unavailable', { retryAfter: 5 })
}

/** A file of a bucket that is not public, as a stream; null if it is not there. */
export async function readFile(bucket: Bucket, name: string) {
  // A stream ends when its reader leaves, so time is limited until it begins.
  const given = new AbortController()
  const timer = setTimeout(() => given.abort(), 20_000)
  try {
    const response = await fetchService(`/storage/v1/object/authenticated/${bucket}/${name}`, {
      headers: { apikey: env.secretKey },
      signal: given.signal,
    })
    if (response.ok) return response.body
    const text = await response.text()
    console.error(JSON.stringify({ storage: response.status, body: text }))
    // Storage says 400, and in its body what it means.
    if (response.status === 404 || /"statusCode":"404"/.test(text)) return null
  } catch (cause) {
    console.error(JSON.stringify({ storage: (cause as Error).name }))
  } finally {
    clearTimeout(timer)
  }
  throw new Refusal('service_unavailable', { retryAfter: 5 })
}

// Storage refuses more than 1,000 names at once.
const maxNames = 500
// A name that it does not delete is found by halving; when it refuses everything we stop.
const maxRefusals = 20

/** Removes files in batches; gives how many. The job tries again what could not be removed. */
export async function removeFiles(bucket: Bucket, names: string[]): Promise<number> {
  const slices: string[][] = []
  for (let at = 0; at < names.length; at += maxNames) slices.push(names.slice(at, at + maxNames))
  const refused: string[] = []
  let [removed, refusals] = [0, 0]
  for (let slice = slices.shift(); slice; slice = slices.shift()) {
    const body = JSON.stringify({ prefixes: slice })
    const status = await request('DELETE', `/object/${bucket}`, body, {
      'content-type': 'application/json',
    })
    if (isSuccess(status)) removed += slice.length
    else if (slice.length === 1 || status === noAnswer || ++refusals > maxRefusals) {
      refused.push(...slice)
    } else {
      const half = Math.ceil(slice.length / 2)
      slices.push(slice.slice(0, half), slice.slice(half))
    }
  }
  if (refused.length) {
    const some = refused.slice(0, 5)
    alarm('files_not_removed', bucket, { count: refused.length, some })
  }
  return removed
}

const noAnswer = 0
const isSuccess = (status: number) => status >= 200 && status < 300

/** Gives the status of Storage's answer. */
async function request(
  method: string,
  path: string,
  body: BodyInit,
  headers: Record<string, string>,
): Promise<number> {
  try {
    const response = await fetchService(`/storage/v1${path}`, {
      method,
      headers: { apikey: env.secretKey, ...headers },
      body,
      signal: AbortSignal.timeout(20_000),
    })
    const text = await response.text()
    if (!response.ok) console.error(JSON.stringify({ storage: response.status, body: text }))
    return response.status
  } catch (cause) {
    console.error(JSON.stringify({ storage: (cause as Error).name }))
    return noAnswer
  }
}

let saved: Promise<unknown> | undefined

/** Tells the database where files are read and listings passed on, as it writes both into records. */
export async function saveAddresses() {
  saved ??= Promise.all([
    backend('set_files_url', { url: env.filesUrl }),
    backend('set_share_url', { template: env.shareUrl ?? null }),
  ])
  await saved.catch((error) => {
    saved = undefined
    throw error
  })
}
