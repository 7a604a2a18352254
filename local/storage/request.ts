import type { IncomingMessage, ServerResponse } from 'node:http'
import type pg from 'pg'
import type { Caller } from './database.ts'
import { badKey, badRequest, noBucket, StorageError } from './errors.ts'
import type { Files } from './files.ts'
import type { Signer } from './signed.ts'

export type Context = {
  pool: pg.Pool
  files: Files
  signer: Signer
  /** The project's limit; a bucket's own may be lower. */
  limit: number
}

/** A request as the gateway hands it on. */
export type StorageRequest = {
  method: string
  /** Without /storage/v1 and query. */
  path: string
  query: URLSearchParams
  caller: Caller
  raw: IncomingMessage
  response: ServerResponse
}

export type Bucket = {
  id: string
  name: string
  public: boolean
  file_size_limit: string | null
  allowed_mime_types: string[] | null
}

export type StoredObject = {
  id: string
  bucket_id: string
  name: string
  owner: string | null
  owner_id: string | null
  version: string
  created_at: string
  updated_at: string
  last_accessed_at: string
  metadata: { size: number; mimetype: string; cacheControl: string; eTag: string }
  user_metadata: Record<string, unknown> | null
}

/** Looks a bucket up past the policies, as Storage does before it asks them. */
export async function findBucket({ pool }: Context, id: string): Promise<Bucket> {
  const { rows } = await pool.query<Bucket>('select * from storage.buckets where id = $1', [id])
  if (!rows[0]) throw noBucket()
  return rows[0]
}

/** The name of an object: letters, digits and what Storage lets stand in a key. */
export function keyOf(encoded: string): string {
  let key: string
  try {
    key = decodeURIComponent(encoded)
  } catch {
    throw badKey(encoded)
  }
  return validKey(key)
}

export function validKey(key: unknown): string {
  if (typeof key !== 'string' || !/^[\w/!\-.*'() &$@=;:+,?]{1,1024}$/.test(key)) {
    throw badKey(String(key))
  }
  return key
}

/** Bucket and key of a path such as avatars/a/b.jpg. */
export function splitPath(path: string): { bucket: string; key: string } {
  const [, bucket, key] = /^([^/]+)\/(.+)$/.exec(path) ?? []
  if (!bucket) throw badRequest('A bucket and a path are needed')
  return { bucket: decodeURIComponent(bucket), key: keyOf(key!) }
}

const bodyLimit = 1024 * 1024

/** A JSON body, which none of Storage's own calls needs to be long. */
export async function readJson(request: StorageRequest): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request.raw.iterator({ destroyOnReturn: false })) {
    size += piece.length
    if (size > bodyLimit) {
      throw new StorageError(413, 'Payload too large', 'Too large', 'TooLarge', 413)
    }
    pieces.push(piece)
  }
  try {
    const body = JSON.parse(Buffer.concat(pieces).toString() || '{}')
    if (body && typeof body === 'object' && !Array.isArray(body)) return body
  } catch { /* answered below */ }
  throw badRequest('body must be object')
}

export function answer({ response }: StorageRequest, status: number, body: unknown) {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  })
  response.end(JSON.stringify(body))
}
