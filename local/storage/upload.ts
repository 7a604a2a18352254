// Taking a file in: limits and policies first, then the bytes on their way to disk, then the row.
import { boundaryOf, MultipartError, partsOf } from '../../functions/pictures/multipart.ts'
import { asCaller, type Caller, transaction } from './database.ts'
import { badRequest, exists, tooLarge, wrongType } from './errors.ts'
import type { Stored } from './files.ts'
import {
  answer,
  type Bucket,
  type Context,
  findBucket,
  splitPath,
  type StorageRequest,
} from './request.ts'

type Facts = {
  type: string
  cacheControl: string
  metadata: Record<string, unknown> | null
  content: AsyncIterable<Uint8Array>
}

const usualCache = 'max-age=3600'

/** POST and PUT /object/:bucket/:path. PUT replaces what is there. */
export async function upload(context: Context, request: StorageRequest, path: string) {
  const { bucket: id, key } = splitPath(path)
  const upsert = request.method === 'PUT' || request.raw.headers['x-upsert'] === 'true'
  const bucket = await findBucket(context, id)
  const { caller } = request
  if (caller.role !== 'service_role') await mayWrite(context, request, bucket, key, upsert)
  const owner = typeof caller.claims.sub === 'string' ? caller.claims.sub : null
  const object = await take(context, request, bucket, key, owner, upsert)
  answer(request, 200, { Id: object.id, Key: `${id}/${key}` })
}

/** PUT /object/upload/sign/:bucket/:path?token=: who holds the token was allowed to before. */
export async function uploadSigned(context: Context, request: StorageRequest, path: string) {
  const { bucket: id, key } = splitPath(path)
  const token = request.query.get('token') ?? ''
  const { owner, upsert } = await context.signer.verify(token, `${id}/${key}`, true)
  const bucket = await findBucket(context, id)
  await take(context, request, bucket, key, owner ?? null, upsert ?? false)
  answer(request, 200, { Key: `${id}/${key}` })
}

/** POST /object/upload/sign/:bucket/:path */
export async function signUpload(context: Context, request: StorageRequest, path: string) {
  const { bucket: id, key } = splitPath(path)
  const upsert = request.raw.headers['x-upsert'] === 'true'
  const bucket = await findBucket(context, id)
  await mayWrite(context, request, bucket, key, upsert)
  const owner = request.caller.claims.sub
  const token = await context.signer.sign(
    { url: `${id}/${key}`, owner, upsert, upload: true },
    7200,
  )
  answer(request, 200, { url: `/object/upload/sign/${id}/${encodeURI(key)}?token=${token}`, token })
}

/** Asks the policies with a row that is taken back, as long as only its description is known. */
export async function mayWrite(
  { pool }: Context,
  { caller, raw }: StorageRequest,
  bucket: Bucket,
  key: string,
  upsert: boolean,
) {
  const metadata = {
    mimetype: raw.headers['content-type'],
    contentLength: Number(raw.headers['content-length'] ?? 0),
  }
  const owner = ownerOf(caller)
  await asCaller(
    pool,
    caller,
    { operation: 'storage.object.upload', undone: true },
    (tx) =>
      tx.query(
        `insert into storage.objects (bucket_id, name, owner, owner_id, metadata, version)
      values ($1, $2, $3, $4, $5, '1')` + (upsert
          ? ` on conflict (bucket_id, name) do update
              set version = excluded.version, owner_id = excluded.owner_id
            returning id`
          : ''),
        [bucket.id, key, owner.uuid, owner.text, metadata],
      ),
  )
}

const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

export function ownerOf({ claims }: Caller) {
  const text = typeof claims.sub === 'string' ? claims.sub : null
  return { text, uuid: text && isUuid(text) ? text : null }
}

async function take(
  context: Context,
  request: StorageRequest,
  bucket: Bucket,
  key: string,
  owner: string | null,
  upsert: boolean,
) {
  const limit = Math.min(context.limit, Number(bucket.file_size_limit ?? Infinity))
  const facts = await read(request, limit)
  checkType(bucket, facts.type)
  const stored = await context.files.store(facts.content, limit).catch((error) => {
    throw error instanceof MultipartError ? badRequest(error.message) : error
  })
  try {
    return await keepRow(context, { bucket: bucket.id, key, owner, upsert, stored, facts })
  } catch (error) {
    await context.files.remove([stored.version])
    throw error
  }
}

type Row = {
  bucket: string
  key: string
  owner: string | null
  upsert: boolean
  stored: Stored
  facts: Pick<Facts, 'type' | 'cacheControl' | 'metadata'>
}

/** Writes the row of a file that lies in place, and removes the file that it replaces. */
export async function keepRow(
  { pool, files }: Context,
  { bucket, key, owner, upsert, stored, facts }: Row,
): Promise<{ id: string }> {
  const now = new Date().toISOString()
  const metadata = {
    eTag: stored.etag,
    size: stored.size,
    mimetype: facts.type,
    cacheControl: facts.cacheControl,
    lastModified: now,
    contentLength: stored.size,
    httpStatusCode: 200,
  }
  const { id, before } = await transaction(pool, async (tx) => {
    const { rows: [before] } = await tx.query<{ version: string }>(
      'select version from storage.objects where bucket_id = $1 and name = $2 for update',
      [bucket, key],
    )
    if (before && !upsert) throw exists()
    const { rows } = await tx.query<{ id: string }>(
      `insert into storage.objects
        (bucket_id, name, owner, owner_id, metadata, user_metadata, version)
      values ($1, $2, $3, $4, $5, $6, $7)` + (upsert
        ? ` on conflict (bucket_id, name) do update
              set owner = excluded.owner, owner_id = excluded.owner_id,
                metadata = excluded.metadata, user_metadata = excluded.user_metadata,
                version = excluded.version`
        : '') +
        ' returning id',
      [
        bucket,
        key,
        owner && isUuid(owner) ? owner : null,
        owner,
        metadata,
        facts.metadata,
        stored.version,
      ],
    )
    return { id: rows[0]!.id, before: before?.version }
  })
  if (before) await files.remove([before])
  return { id }
}

function checkType({ allowed_mime_types: allowed }: Bucket, type: string) {
  const plain = type.split(';')[0]!.trim().toLowerCase()
  const fits = (pattern: string) =>
    pattern === plain || (pattern.endsWith('/*') && plain.startsWith(pattern.slice(0, -1)))
  if (allowed?.length && !allowed.some(fits)) throw wrongType(plain)
}

/** Header, fields and content of an upload; the content is still to be read. */
async function read({ raw }: StorageRequest, limit: number): Promise<Facts> {
  const type = raw.headers['content-type'] ?? 'application/octet-stream'
  if (!/^multipart\/form-data/i.test(type)) {
    // A raw body tells its size at once.
    if (Number(raw.headers['content-length'] ?? 0) > limit) throw tooLarge()
    return {
      type,
      cacheControl: raw.headers['cache-control'] ?? usualCache,
      metadata: jsonOf(fromBase64(raw.headers['x-metadata'])),
      // Giving up on the body must not end the connection: the answer still goes there.
      content: raw.iterator({ destroyOnReturn: false }),
    }
  }
  const boundary = boundaryOf(type)
  if (!boundary) throw badRequest('Multipart: Boundary not found')
  return await readForm(partsOf(raw, boundary, 11))
}

/** storage-js sends its fields first, then the file under an empty name. */
async function readForm(parts: ReturnType<typeof partsOf>): Promise<Facts> {
  const fields = new Map<string, string>()
  try {
    // By hand and not by for…of, which would end the parts with the first file.
    for (;;) {
      const { done, value: part } = await parts.next()
      if (done) throw badRequest('No file was sent')
      if (part.filename === undefined) {
        fields.set(part.name, await textOf(part.content))
        continue
      }
      const seconds = fields.get('cacheControl')
      return {
        type: fields.get('contentType') ?? part.type ?? 'application/octet-stream',
        cacheControl: seconds ? `max-age=${seconds}` : 'no-cache',
        metadata: jsonOf(fields.get('metadata')),
        content: wholeForm(part.content, parts),
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

function jsonOf(text: string | undefined): Record<string, unknown> | null {
  if (!text) return null
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('Invalid metadata')
  }
}
