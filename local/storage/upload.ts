// Handles uploads: checks limits and policies first, then stores the file on disk, then its row.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { transaction } from '../postgres/pool.ts'
import { asCaller, type Caller } from './database.ts'
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
  /** The maximum size while reading. For a raw body it is Infinity: only its content-length is checked. */
  limit: number
}

/** Stores an upload. PUT and the header x-upsert replace an existing file. */
export async function upload(context: Context, request: StorageRequest, path: string) {
  const { method, raw, caller } = request
  const ref = objectRef(path)
  const upsert = method === 'PUT' || raw.headers['x-upsert'] === 'true'
  const object = await storeUpload(context, request, ref, { caller, upsert })
  answer(request, 200, { Key: urlOf(ref), Id: object.id })
}

/** Stores an upload to a signed URL. Permission was checked when the token was created. */
export async function uploadSigned(context: Context, request: StorageRequest, path: string) {
  const ref = objectRef(path)
  const token = await context.signer.verify(tokenIn(request), urlOf(ref), 'upload')
  const caller: Caller = { role: 'service_role', claims: { sub: token.owner } }
  await storeUpload(context, request, ref, { caller, upsert: token.upsert ?? false })
  answer(request, 200, { Key: urlOf(ref) })
}

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

/** Checks the policies by inserting a row with the declared metadata, which is rolled back. */
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
  const stored = await context.files.store(info.content, info.limit)
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

/** Stores the row. Of two concurrent uploads the later wins, even if it was not sent as an upsert. */
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

function checkType({ allowed_mime_types: allowed }: Bucket, type: string) {
  const [kind, form] = type.split('/')
  const fits = (pattern: string) => pattern === `${kind}/*` || pattern === `${kind}/${form}`
  if (allowed?.length && !allowed.some(fits)) throw wrongType(`mime type ${type} is not supported`)
}

/** Reads the headers and fields of an upload; its content is not read yet. */
async function read({ raw }: StorageRequest, bucket: Bucket, most: number): Promise<UploadInfo> {
  const { headers } = raw
  const limit = Math.min(most, Number(bucket.file_size_limit ?? Infinity))
  const type = headers['content-type'] ?? 'application/octet-stream'
  if (!/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;.*)?$/.test(type)) {
    throw wrongType('Invalid Content-Type header')
  }
  if (!type.startsWith('multipart/form-data')) {
    checkType(bucket, type)
    // Only the content-length of a raw body is checked. Without this header, any size is accepted.
    if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge()
    return {
      type,
      cacheControl: headers['cache-control'] ?? defaultCacheControl,
      metadata: jsonOf(fromBase64(headers['x-metadata'])),
      // If the body is not read to the end, the connection must stay open for the response.
      content: raw.iterator({ destroyOnReturn: false }),
      limit: Infinity,
    }
  }
  const info = await readForm(raw, formOf(type), limit)
  checkType(bucket, info.type)
  return info
}

/** Returns the same form parser that the real Storage uses, with the same limits. */
function formOf(type: string): BusboyInstance {
  try {
    return new Busboy({ headers: { 'content-type': type }, limits: { fields: 10, files: 1 } })
  } catch (error) {
    throw badRequest((error as Error).message)
  }
}

type FormFile = { content: Readable; type: string }

/** Reads a form. storage-js sends its fields first, then the file under an empty name. */
async function readForm(
  raw: IncomingMessage,
  form: BusboyInstance,
  limit: number,
): Promise<UploadInfo> {
  const fields = new Map<string, string>()
  form.on('field', (name, value, _isNameCut, isCut) => {
    if (isCut) form.destroy(new Error('A field is too long'))
    else fields.set(name, value)
  })
  const found = new Promise<FormFile>((resolve) =>
    form.once('file', (_field, content, _name, _encoding, type) => {
      // The content may fail before anything reads it.
      content.on('error', (error) => content.destroy(error))
      resolve({ content, type })
    })
  )
  // `finished` rejects with the first error; further errors are ignored.
  form.on('error', () => {})
  const finished = once(form, 'finish')
  const ended = finished.then(() => badRequest('No content provided'), asBadRequest)
  // If the client disconnects, the form is ended, so that it reports an error.
  raw.once('close', () => raw.complete || form.end())
  raw.pipe(form)
  const file = await Promise.race([found, ended])
  if (file instanceof Error) {
    readAway(raw, form)
    throw file
  }
  const seconds = fields.get('cacheControl')
  return {
    type: fields.get('contentType') ?? file.type,
    cacheControl: seconds ? `max-age=${seconds}` : defaultCacheControl,
    metadata: jsonOf(fields.get('metadata')),
    content: wholeForm(file.content, finished, () => readAway(raw, form)),
    limit,
  }
}

const asBadRequest = (error: Error) => badRequest(error.message)

/** Yields the file's content; throws if the form is truncated in the file or after it. */
async function* wholeForm(content: Readable, finished: Promise<unknown>, end: () => void) {
  try {
    yield* content
    await finished
  } catch (error) {
    throw asBadRequest(error as Error)
  } finally {
    end()
  }
}

/** Reads and drops the rest of a body, so that the client gets the response. */
function readAway(raw: IncomingMessage, form: BusboyInstance) {
  raw.unpipe(form)
  raw.resume()
}

const fromBase64 = (header: string | string[] | undefined) =>
  typeof header === 'string' ? Buffer.from(header, 'base64').toString() : undefined

/** Parses JSON. Invalid text is treated as an empty object. */
function jsonOf(text: string | undefined): Record<string, unknown> {
  try {
    return { ...JSON.parse(text ?? '{}') }
  } catch {
    return {}
  }
}
