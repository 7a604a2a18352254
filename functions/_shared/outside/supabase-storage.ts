// A client for Supabase Storage. Only these functions write to it, with the secret key.
import { backend } from '../database/db.ts'
import { alarm } from '../errors/alarms.ts'
import { log } from '../errors/log.ts'
import { Refusal } from '../errors/refusal.ts'
import { type Bytes, toBase64 } from '../input/bytes.ts'
import { env } from '../settings/env.ts'
import { fetchService, jsonType } from './http-client.ts'

export type Bucket = 'avatars' | 'listings' | 'suspended' | 'documents'

// A file name is never reused, so the content of a file never changes. Caches may still keep it for only one
// day, so that deletions take effect.
const cacheControl = (bucket: Bucket) => bucket === 'documents' ? 'no-store' : 'max-age=86400'
const pieceSize = 64 * 1024

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

/** A file in pieces, so that it need not be copied into one buffer. */
type File = { type: string; pieces: Bytes[] }

/** Stores a file with its metadata. A retry overwrites the file if the first attempt did store it. */
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

/** Copies a file with its metadata. */
export async function copyFile(bucket: Bucket, from: string, to: string) {
  const body = JSON.stringify({ bucketId: bucket, sourceKey: from, destinationKey: to })
  const headers = { ...jsonType, 'x-upsert': 'true' }
  const send = async () => isSuccess(await request('POST', '/object/copy', body, headers))
  if (await send() || await send()) return
  throw new Refusal('service_unavailable', { retryAfter: 5 })
}

/** Moves a file to another bucket under the same name. Returns whether it succeeded. */
export async function moveFile(from: Bucket, to: Bucket, name: string): Promise<boolean> {
  const move = { bucketId: from, sourceKey: name, destinationBucket: to, destinationKey: name }
  return isSuccess(await request('POST', '/object/move', JSON.stringify(move), jsonType))
}

export async function readFile(bucket: Bucket, name: string) {
  // The time limit applies only until the headers arrive. The stream after them ends when its reader cancels
  // it.
  const given = new AbortController()
  const timer = setTimeout(() => given.abort(), 20_000)
  try {
    const response = await fetchService(`/storage/v1/object/authenticated/${bucket}/${name}`, {
      headers: { apikey: env.secretKey },
      signal: given.signal,
    })
    if (response.ok) return response.body
    const text = await response.text()
    log('warn', { storage: response.status, body: text })
    // Storage returns 400 and puts the real status into the body.
    if (response.status === 404 || /"statusCode":"404"/.test(text)) return null
  } catch (cause) {
    log('warn', { storage: (cause as Error).name })
  } finally {
    clearTimeout(timer)
  }
  throw new Refusal('service_unavailable', { retryAfter: 5 })
}

// Storage refuses more than 1,000 names per request.
const maxNames = 500
// To find a name that Storage refuses, its batch is halved repeatedly, up to this many refusals.
const maxRefusals = 20

/** Removes files in batches and returns how many were removed. The job retries the others later. */
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
    if (!response.ok) log('warn', { storage: response.status, body: text })
    return response.status
  } catch (cause) {
    log('warn', { storage: (cause as Error).name })
    return noAnswer
  }
}

let saved: Promise<unknown> | undefined

/** Stores the base URLs of files and shared listings in the database, which builds links from them. */
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
