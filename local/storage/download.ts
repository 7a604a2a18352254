import { pipeline } from 'node:stream/promises'
import { asCaller } from './database.ts'
import { badField, badRange, noBucket, noObject } from './errors.ts'
import {
  answer,
  type Bucket,
  type Context,
  findBucket,
  numberIn,
  type ObjectRef,
  objectRef,
  readJson,
  send,
  type StorageRequest,
  type StoredObject,
  textsIn,
  validKey,
} from './request.ts'

const objectByKey = 'select * from storage.objects where bucket_id = $1 and name = $2'

/** Reads an object's row without applying policies. Only for public buckets and signed URLs. */
async function findObject({ pool }: Context, { bucket, key }: ObjectRef): Promise<StoredObject> {
  const { rows } = await pool.query<StoredObject>(objectByKey, [bucket, validKey(key)])
  if (!rows[0]) throw noObject()
  return rows[0]
}

/** Reads an object's row with the caller's rights. The error is the same for hidden and missing objects. */
export async function readObject(
  { pool }: Context,
  { caller }: StorageRequest,
  { bucket, key }: ObjectRef,
  operation: string,
): Promise<StoredObject> {
  const { rows } = await asCaller(
    pool,
    caller,
    { operation },
    (tx) => tx.query<StoredObject>(objectByKey, [bucket, key]),
  )
  if (!rows[0]) throw noObject()
  return rows[0]
}

async function objectFor(
  context: Context,
  request: StorageRequest,
  ref: ObjectRef,
): Promise<StoredObject> {
  const bucket: Bucket = await findBucket(context, ref.bucket)
  if (bucket.public) return await findObject(context, ref)
  if (!request.authenticated) throw noBucket()
  validKey(ref.key)
  return await readObject(context, request, ref, 'storage.object.get_authenticated')
}

export async function download(context: Context, request: StorageRequest, path: string) {
  await serve(context, request, await objectFor(context, request, objectRef(path)))
}

export async function downloadSigned(context: Context, request: StorageRequest, path: string) {
  const ref = objectRef(path)
  const { exp } = await context.signer.verify(tokenIn(request), urlOf(ref), 'download')
  const expires = new Date(exp * 1000).toUTCString()
  await serve(context, request, await findObject(context, ref), { expires })
}

export function tokenIn({ query }: StorageRequest): string {
  const token = query.get('token')
  if (token === null) throw badField("querystring must have required property 'token'")
  return token
}

export const urlOf = ({ bucket, key }: ObjectRef) => `${bucket}/${key}`

export async function info(context: Context, request: StorageRequest, path: string) {
  const object = await objectFor(context, request, objectRef(path))
  const { metadata } = object
  send(request.response, 200, {
    id: object.id,
    name: object.name,
    version: object.version,
    bucket_id: object.bucket_id,
    size: metadata.size,
    content_type: metadata.mimetype,
    cache_control: metadata.cacheControl,
    etag: metadata.eTag,
    metadata: object.user_metadata,
    last_modified: object.updated_at,
    created_at: object.created_at,
  }, {
    etag: metadata.eTag,
    'cache-control': metadata.cacheControl,
    'last-modified': new Date(metadata.lastModified).toUTCString(),
  })
}

export async function sign(context: Context, request: StorageRequest, path: string) {
  const seconds = expiresIn(await readJson(request))
  const ref = objectRef(path)
  validKey(ref.key)
  await readObject(context, request, ref, 'storage.object.sign')
  answer(request, 200, { signedURL: await signedUrl(context, ref, seconds) })
}

export async function signMany(context: Context, request: StorageRequest, bucket: string) {
  const body = await readJson(request)
  const seconds = expiresIn(body)
  const paths = textsIn(body, 'paths')
  if (paths.length > 1000) throw badField('body/paths must NOT have more than 1000 items')
  const { rows } = await asCaller(
    context.pool,
    request.caller,
    { operation: 'storage.object.sign_many' },
    (tx) =>
      tx.query<{ name: string }>(
        'select name from storage.objects where bucket_id = $1 and name = any ($2)',
        [bucket, paths],
      ),
  )
  const seen = new Set(rows.map(({ name }) => name))
  const error = 'Either the object does not exist or you do not have access to it'
  const signed = await Promise.all(
    paths.map(async (path) =>
      seen.has(path)
        ? { error: null, path, signedURL: await signedUrl(context, { bucket, key: path }, seconds) }
        : { error, path, signedURL: null }
    ),
  )
  answer(request, 200, signed)
}

function expiresIn(body: Record<string, unknown>): number {
  const seconds = numberIn(body, 'expiresIn', 1)
  if (seconds === undefined) throw badField("body must have required property 'expiresIn'")
  return seconds
}

async function signedUrl({ signer }: Context, ref: ObjectRef, seconds: number) {
  const token = await signer.sign({ url: urlOf(ref), scope: 'download' }, seconds)
  return `/object/sign/${urlOf(ref)}?token=${token}`
}

async function serve(
  { files }: Context,
  request: StorageRequest,
  object: StoredObject,
  { expires }: { expires?: string } = {},
) {
  const { raw, response, method } = request
  const { size, mimetype, eTag, lastModified } = object.metadata
  const head = method === 'HEAD'
  const disposition = dispositionOf(request)
  // For HEAD, only the row is read. It ignores ranges, and its status is never 304.
  if (!head && isUnchanged(request, object)) return void response.writeHead(304).end()
  const range = head || raw.headers.range === undefined
    ? undefined
    : rangeOf(raw.headers.range, size)
  const headers: Record<string, string> = {
    'accept-ranges': 'bytes',
    // Storage never serves uploaded HTML as HTML.
    'content-type': mimetype.includes('text/html') ? 'text/plain' : mimetype,
    etag: eTag,
    'x-robots-tag': 'none',
    'last-modified': new Date(lastModified).toUTCString(),
    'content-length': String(range ? range.end - range.start + 1 : size),
    ...(expires ? { expires } : { 'cache-control': cacheControlOf(request, object) }),
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
    ...(disposition !== undefined && { 'content-disposition': disposition }),
  }
  response.writeHead(range ? 206 : 200, headers)
  if (head || size === 0) return void response.end()
  // On an error, the response is destroyed, so that the client notices that it is incomplete.
  await pipeline(files.read(object.version, range), response).catch(() => response.destroy())
}

function cacheControlOf({ raw, method }: StorageRequest, { metadata }: StoredObject): string {
  const known = raw.headers['if-none-match']
  if (!known || known === metadata.eTag) return metadata.cacheControl
  const stale = method === 'HEAD' ? 'must-revalidate' : 'stale-while-revalidate=30'
  return `${metadata.cacheControl}, ${stale}`
}

/** Whether the client's copy is current. Supports a single ETag or a time, but no list of ETags. */
function isUnchanged({ raw }: StorageRequest, { metadata }: StoredObject): boolean {
  const { 'if-none-match': tag, 'if-modified-since': since } = raw.headers
  if (tag) return tag === metadata.eTag
  const seconds = (time: string) => Math.floor(Date.parse(time) / 1000)
  return since !== undefined && seconds(metadata.lastModified) <= seconds(since)
}

function dispositionOf({ query, method }: StorageRequest): string | undefined {
  const names = query.getAll('download')
  if (method !== 'HEAD' && names.length > 1) throw badField('querystring/download must be string')
  if (names[0] === undefined) return undefined
  const name = encodeURIComponent(names[0])
  return name === '' ? 'attachment;' : `attachment; filename=${name}; filename*=UTF-8''${name}`
}

function rangeOf(header: string, size: number) {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? []
  if (from === undefined || (from === '' && Number(to) === 0)) throw badRange()
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(size - 1, Number(to))
  if (start > end) throw badRange()
  return { start, end }
}
