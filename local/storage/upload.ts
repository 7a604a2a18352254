// Taking a file in: limits and policies first, then the bytes on their way to disk, then the row.
import { boundaryOf, MultipartError, partsOf } from '../../functions/_shared/multipart.ts'
import { asCaller, type Caller, transaction } from './database.ts'
import { badRequest, exists, tooLarge, wrongType } from './errors.ts'
import { tokenIn, urlOf } from './download.ts'
import type { Stored } from './files.ts'
import {
  answer,
  type Bucket,
  type Context,
  findBucket,
  newKey,
  type ObjectRef,
  objectRef,
  type StorageRequest,
  type StoredObject,
} from './request.ts'
import { signedUploadSeconds } from './signed.ts'

type UploadInfo = {
  type: string
  cacheControl: string
  metadata: Record<string, unknown>
  content: AsyncIterable<Uint8Array>
  /** What the file itself may have; of a raw body nobody looks again. */
  limit: number
}

/** POST and PUT /object/:bucket/:path. PUT replaces what is there. */
export async function upload(context: Context, request: StorageRequest, path: string) {
  const { method, raw, caller } = request
  const ref = objectRef(path)
  const upsert = method === 'PUT' || raw.headers['x-upsert'] === 'true'
  const object = await storeUpload(context, request, ref, { caller, upsert })
  answer(request, 200, { Key: urlOf(ref), Id: object.id })
}

/** PUT /object/upload/sign/:bucket/:path?token=: who holds the token was allowed to before. */
export async function uploadSigned(context: Context, request: StorageRequest, path: string) {
  const ref = objectRef(path)
  const token = await context.signer.verify(tokenIn(request), urlOf(ref), 'upload')
  const caller: Caller = { role: 'service_role', claims: { sub: token.owner } }
  await storeUpload(context, request, ref, { caller, upsert: token.upsert ?? false })
  answer(request, 200, { Key: urlOf(ref) })
}

/** POST /object/upload/sign/:bucket/:path */
export async function signUpload(context: Context, request: StorageRequest, path: string) {
  const { caller, raw } = request
  const ref = objectRef(path)
  const upsert = raw.headers['x-upsert'] === 'true'
  await checkWritable(context, request, ref, { caller, upsert, type: raw.headers['content-type'] })
  const token = await context.signer.sign(
    { url: urlOf(ref), owner: caller.claims.sub, upsert, scope: 'upload' },
    signedUploadSeconds,
  )
  answer(request, 200, { url: `/object/upload/sign/${urlOf(ref)}?token=${token}`, token })
}

const defaultCacheControl = 'no-cache'

type Writing = { caller: Caller; upsert: boolean; type?: string | undefined }

/** Asks the policies with a row that is taken back, as long as only its description is known. */
export async function checkWritable(
  { pool }: Context,
  { raw }: StorageRequest,
  { bucket, key }: ObjectRef,
  { caller, upsert, type }: Writing,
) {
  const { 'content-length': length } = raw.headers
  const metadata = { mimetype: type, contentLength: length && Number(length) }
  const owner = ownerOf(caller)
  const insert = `insert into storage.objects (bucket_id, name, owner, owner_id, metadata, version)
    values ($1, $2, $3, $4, $5, '1')`
  const replace = `on conflict (bucket_id, name) do update
    set version = excluded.version, owner_id = excluded.owner_id returning *`
  await asCaller(
    pool,
    caller,
    { operation: 'storage.object.upload', undone: true },
    (tx) =>
      tx.query(
        upsert ? `${insert} ${replace}` : insert,
        [bucket, key, owner.uuid, owner.text, metadata],
      ),
  ).catch((error) => {
    throw error.code === '23505' ? exists('KeyAlreadyExists') : error
  })
}

const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

export function ownerOf({ claims }: Caller) {
  const text = typeof claims.sub === 'string' ? claims.sub : null
  return { text, uuid: text && isUuid(text) ? text : null }
}

/** What the description says comes first, then the rights; only then the bytes are read. */
async function storeUpload(
  context: Context,
  request: StorageRequest,
  ref: ObjectRef,
  writing: Writing,
) {
  const bucket = await findBucket(context, ref.bucket)
  const info = await read(request, bucket, context.limit)
  newKey(ref.key)
  await checkWritable(context, request, ref, { ...writing, type: info.type })
  const stored = await context.files.store(info.content, info.limit).catch((error) => {
    throw error instanceof MultipartError ? badRequest(error.message) : error
  })
  try {
    return await saveObject(context, { ...ref, ...ownerOf(writing.caller), stored, info })
  } catch (error) {
    await context.files.remove([stored.version])
    throw error
  }
}

type Row = ObjectRef & {
  text: string | null
  uuid: string | null
  stored: Stored
  info: Pick<UploadInfo, 'type' | 'cacheControl'> & { metadata?: Record<string, unknown> | null }
}

/**
 * Writes the row of a file that lies in place, and removes the file that it replaces. Of two that
 * were allowed at once the second stays, whether it meant to replace or not.
 */
export async function saveObject(
  { pool, files }: Context,
  { bucket, key, text, uuid, stored, info }: Row,
): Promise<StoredObject> {
  const now = new Date().toISOString()
  const metadata = {
    eTag: stored.etag,
    size: stored.size,
    mimetype: info.type,
    cacheControl: info.cacheControl,
    lastModified: now,
    contentLength: stored.size,
    httpStatusCode: 200,
  }
  const { object, before } = await transaction(pool, async (tx) => {
    const { rows: [before] } = await tx.query<{ version: string }>(
      'select version from storage.objects where bucket_id = $1 and name = $2 for update',
      [bucket, key],
    )
    const { rows } = await tx.query<StoredObject>(
      `insert into storage.objects
        (bucket_id, name, owner, owner_id, metadata, user_metadata, version)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (bucket_id, name) do update
        set owner = coalesce(excluded.owner, objects.owner),
          owner_id = coalesce(excluded.owner_id, objects.owner_id),
          metadata = excluded.metadata, user_metadata = excluded.user_metadata,
          version = excluded.version
      returning *`,
      [bucket, key, uuid, text, metadata, info.metadata, stored.version],
    )
    return { object: rows[0]!, before: before?.version }
  })
  if (before) await files.remove([before])
  return object
}

/** Letter by letter, parameters and all. */
function checkType({ allowed_mime_types: allowed }: Bucket, type: string) {
  const [kind, form] = type.split('/')
  const fits = (pattern: string) => pattern === `${kind}/*` || pattern === `${kind}/${form}`
  if (allowed?.length && !allowed.some(fits)) throw wrongType(`mime type ${type} is not supported`)
}

/** Header, fields and content of an upload; the content is still to be read. */
async function read({ raw }: StorageRequest, bucket: Bucket, most: number): Promise<UploadInfo> {
  const { headers } = raw
  const limit = Math.min(most, Number(bucket.file_size_limit ?? Infinity))
  const type = headers['content-type'] ?? 'application/octet-stream'
  if (!/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;.*)?$/.test(type)) {
    throw wrongType('Invalid Content-Type header')
  }
  if (!type.startsWith('multipart/form-data')) {
    checkType(bucket, type)
    // A raw body tells its size at once. One that does not is taken whatever its size.
    if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge()
    return {
      type,
      cacheControl: headers['cache-control'] ?? defaultCacheControl,
      metadata: jsonOf(fromBase64(headers['x-metadata'])),
      // Giving up on the body must not end the connection: the answer still goes there.
      content: raw.iterator({ destroyOnReturn: false }),
      limit: Infinity,
    }
  }
  const boundary = boundaryOf(type)
  if (!boundary) throw badRequest('Multipart: Boundary not found')
  const info = await readForm(partsOf(raw, boundary, 11), limit)
  checkType(bucket, info.type)
  return info
}

/** storage-js sends its fields first, then the file under an empty name. */
async function readForm(parts: ReturnType<typeof partsOf>, limit: number): Promise<UploadInfo> {
  const fields = new Map<string, string>()
  try {
    // By hand and not by for…of, which would end the parts with the first file.
    for (;;) {
      const { done, value: part } = await parts.next()
      if (done) throw badRequest('No content provided')
      if (part.filename === undefined) {
        fields.set(part.name, await textOf(part.content))
        continue
      }
      const seconds = fields.get('cacheControl')
      return {
        type: fields.get('contentType') ?? part.type ?? 'application/octet-stream',
        cacheControl: seconds ? `max-age=${seconds}` : defaultCacheControl,
        metadata: jsonOf(fields.get('metadata')),
        content: wholeForm(part.content, parts),
        limit,
      }
    }
  } catch (error) {
    throw error instanceof MultipartError ? badRequest(error.message) : error
  }
}

/** A form that is cut short after its file is no whole form. */
async function* wholeForm(content: AsyncIterable<Uint8Array>, parts: ReturnType<typeof partsOf>) {
  yield* content
  while (!(await parts.next()).done) { /* nothing after the file counts */ }
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of content) {
    size += piece.length
    if (size > 1024 * 1024) throw badRequest('A field is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

const fromBase64 = (header: string | string[] | undefined) =>
  typeof header === 'string' ? Buffer.from(header, 'base64').toString() : undefined

/** What cannot be read is nothing. */
function jsonOf(text: string | undefined): Record<string, unknown> {
  try {
    return { ...JSON.parse(text ?? '{}') }
  } catch {
    return {}
  }
}
