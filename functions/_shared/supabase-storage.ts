/** Supabase Storage, which keeps the files. Only the functions write there, with the secret key. */
import { alarm } from './alarms.ts'
import type { Bytes } from './bytes.ts'
import { backend } from './db.ts'
import { env } from './env.ts'
import { Refusal } from './refusal.ts'

export type Bucket = 'avatars' | 'listings'

// A name is never used twice, so what is behind it never changes; a day lets deletion be felt.
const cacheControl = 'max-age=86400'
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
export async function store(
  bucket: Bucket,
  name: string,
  { type, pieces }: File,
  facts: Record<string, unknown>,
) {
  const send = async () =>
    isGood(
      await ask('POST', `/object/${bucket}/${name}`, streamOf(pieces), {
        'content-type': type,
        'cache-control': cacheControl,
        'x-upsert': 'true',
        'x-metadata': btoa(JSON.stringify(facts)),
      }),
    )
  if (await send() || await send()) return
  throw new Refusal('service_unavailable', { retryAfter: 5 })
}

// Storage refuses more than 1,000 names at once.
const mostNames = 500
// One name that it will not delete is found by halves; a Storage that refuses everything is left.
const mostRefusals = 20

/** Removes files, some at a time; gives how many. What could not be removed is asked again by the job. */
export async function remove(bucket: Bucket, names: string[]): Promise<number> {
  const slices: string[][] = []
  for (let at = 0; at < names.length; at += mostNames) slices.push(names.slice(at, at + mostNames))
  const refused: string[] = []
  let [removed, refusals] = [0, 0]
  for (let slice = slices.shift(); slice; slice = slices.shift()) {
    const body = JSON.stringify({ prefixes: slice })
    const status = await ask('DELETE', `/object/${bucket}`, body, {
      'content-type': 'application/json',
    })
    if (isGood(status)) removed += slice.length
    else if (slice.length === 1 || status === noAnswer || ++refusals > mostRefusals) {
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
const isGood = (status: number) => status >= 200 && status < 300

/** Asks Storage; gives the status of its answer. */
async function ask(
  method: string,
  path: string,
  body: BodyInit,
  headers: Record<string, string>,
): Promise<number> {
  try {
    const response = await fetch(`${env.supabaseUrl}/storage/v1${path}`, {
      method,
      headers: { apikey: env.secretKey, ...headers },
      body,
      signal: AbortSignal.timeout(20_000),
    })
    const text = await response.text()
    if (!response.ok) console.error(JSON.stringify({ storage: response.status, said: text }))
    return response.status
  } catch (cause) {
    console.error(JSON.stringify({ storage: (cause as Error).name }))
    return noAnswer
  }
}

let noted: Promise<unknown> | undefined

/** The database writes addresses of pictures, so it must know where this project is reached. */
export async function noteFilesUrl() {
  noted ??= backend('set_files_url', { url: env.filesUrl })
  await noted.catch((error) => {
    noted = undefined
    throw error
  })
}
