import type { IncomingMessage, ServerResponse } from 'node:http'
import type pg from 'pg'
import { bodyOf } from '../http/body.ts'
import type { Caller } from './database.ts'
import { badBody, badBucketName, badField, badKey, noBucket, StorageError } from './errors.ts'
import type { Files } from './files.ts'
import type { Signer } from './signed.ts'

export type Context = {
  pool: pg.Pool
  files: Files
  signer: Signer
  /** The project's size limit for files, in bytes. A bucket may have a lower limit. */
  limit: number
}

export type StorageRequest = {
  method: string
  query: URLSearchParams
  caller: Caller
  /** False if the request has no valid token and needs none. */
  authenticated: boolean
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
  path_tokens: string[]
  created_at: string
  updated_at: string
  last_accessed_at: string
  metadata: {
    size: number
    mimetype: string
    cacheControl: string
    eTag: string
    lastModified: string
  }
  user_metadata: Record<string, unknown> | null
}

/** A bucket and a key. The key is not validated yet. */
export type ObjectRef = { bucket: string; key: string }

/** Reads a bucket without applying policies, as Storage does before it checks them. */
export async function findBucket({ pool }: Context, id: string): Promise<Bucket> {
  const { rows } = await pool.query<Bucket>('select * from storage.buckets where id = $1', [id])
  if (!rows[0]) throw noBucket()
  return rows[0]
}

export function validKey(key: string): string {
  if (!/^[\w/!\-.*'() &$@=;:+,?]{1,1024}$/.test(key)) throw badKey(key)
  return key
}

export function newKey(key: string): string {
  const dots = validKey(key).split('/').some((part) => part === '.' || part === '..')
  if (dots) throw badKey(`${key} contains dot path segment`)
  return key
}

export function validBucket(id: string): string {
  if (!/^[\w!\-.*'() &$@=;:+,?]{1,100}$/.test(id)) throw badBucketName()
  return id
}

export function objectRef(path: string): ObjectRef {
  const slash = path.indexOf('/')
  return {
    bucket: validBucket(decodeURIComponent(path.slice(0, slash))),
    key: decodeURIComponent(path.slice(slash + 1)),
  }
}

const bodyLimit = 1024 * 1024

export async function readJson({ raw }: StorageRequest): Promise<Record<string, unknown>> {
  const bytes = await bodyOf(raw, bodyLimit)
  if (!bytes) {
    const message = 'Request body is too large'
    throw new StorageError(413, { ...badBody(message).body, statusCode: '413', message })
  }
  if (!/^application\/json\b/.test(raw.headers['content-type'] ?? '')) {
    throw badField('body must be object')
  }
  const when = "when content-type is set to 'application/json'"
  if (bytes.length === 0) throw badBody(`Body cannot be empty ${when}`)
  let body
  try {
    body = JSON.parse(bytes.toString())
  } catch {
    throw badBody(`Body is not valid JSON but content-type is set to 'application/json'`)
  }
  if (body && typeof body === 'object' && !Array.isArray(body)) return body
  throw badField('body must be object')
}

type Fields = Record<string, unknown>

/** Reads an integer field that has a minimum. Numeric text is accepted. */
export function numberIn(body: Fields, name: string, least: number): number | undefined {
  if (body[name] === undefined) return undefined
  const value = Number(body[name])
  if (!Number.isInteger(value)) throw badField(`body/${name} must be integer`)
  if (value < least) throw badField(`body/${name} must be >= ${least}`)
  return value
}

export function textIn(body: Fields, name: string): string {
  if (body[name] === undefined) throw badField(`body must have required property '${name}'`)
  return String(body[name] ?? '')
}

export function textsIn(body: Fields, name: string): string[] {
  if (body[name] === undefined) throw badField(`body must have required property '${name}'`)
  const texts = [body[name]].flat().map(String)
  if (texts.length < 1) throw badField(`body/${name} must NOT have fewer than 1 items`)
  return texts
}

export function answer({ response }: StorageRequest, status: number, body: unknown) {
  send(response, status, body)
}

export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}
