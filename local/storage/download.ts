// Giving a file out: by public address, with the caller's rights, or by a signed address.
import { pipeline } from 'node:stream/promises'
import { asCaller } from './database.ts'
import { badRequest, noBucket, noObject } from './errors.ts'
import {
  answer,
  type Context,
  findBucket,
  readJson,
  splitPath,
  type StorageRequest,
  type StoredObject,
  validKey,
} from './request.ts'

type Wanted = { bucket: string; key: string }

/** Past the policies: only for public buckets and signed addresses. */
async function findObject({ pool }: Context, { bucket, key }: Wanted): Promise<StoredObject> {
  const { rows } = await pool.query<StoredObject>(
    'select * from storage.objects where bucket_id = $1 and name = $2',
    [bucket, key],
  )
  if (!rows[0]) throw noObject()
  return rows[0]
}

/** With the caller's rights: hidden and missing look the same. */
export async function readObject(
  { pool }: Context,
  { caller }: StorageRequest,
  { bucket, key }: Wanted,
  operation = 'storage.object.get_authenticated',
): Promise<StoredObject> {
  const { rows } = await asCaller(pool, caller, { operation }, (tx) =>
    tx.query<StoredObject>(
      'select * from storage.objects where bucket_id = $1 and name = $2',
      [bucket, key],
    ))
  if (!rows[0]) throw noObject()
  return rows[0]
}

async function publicObject(context: Context, wanted: Wanted) {
  const bucket = await findBucket(context, wanted.bucket)
  if (!bucket.public) throw noBucket()
  return await findObject(context, wanted)
}

/** GET and HEAD /object/public/… */
export async function downloadPublic(context: Context, request: StorageRequest, path: string) {
  await serve(context, request, await publicObject(context, splitPath(path)))
}

/** GET and HEAD /object/… and /object/authenticated/… */
export async function download(context: Context, request: StorageRequest, path: string) {
  await serve(context, request, await readObject(context, request, splitPath(path)))
}

/** GET /object/sign/:bucket/:path?token= */
export async function downloadSigned(context: Context, request: StorageRequest, path: string) {
  const wanted = splitPath(path)
  const token = request.query.get('token') ?? ''
  await context.signer.verify(token, `${wanted.bucket}/${wanted.key}`, false)
  await serve(context, request, await findObject(context, wanted))
}

/** GET /object/info/(public|authenticated)/… */
export async function info(context: Context, request: StorageRequest, path: string) {
  const [, open, rest] = /^(?:(public|authenticated)\/)?(.+)$/.exec(path)!
  const object = open === 'public'
    ? await publicObject(context, splitPath(rest!))
    : await readObject(context, request, splitPath(rest!))
  answer(request, 200, {
    id: object.id,
    name: object.name,
    version: object.version,
    bucket_id: object.bucket_id,
    size: object.metadata.size,
    content_type: object.metadata.mimetype,
    cache_control: object.metadata.cacheControl,
    etag: object.metadata.eTag,
    metadata: object.user_metadata,
    last_modified: object.updated_at,
    created_at: object.created_at,
  })
}

/** POST /object/sign/:bucket/:path */
export async function sign(context: Context, request: StorageRequest, path: string) {
  const { expiresIn } = await readJson(request)
  const wanted = splitPath(path)
  await readObject(context, request, wanted, 'storage.object.sign')
  answer(request, 200, { signedURL: await signedUrl(context, wanted, expiresIn) })
}

/** POST /object/sign/:bucket with { paths } */
export async function signMany(context: Context, request: StorageRequest, bucket: string) {
  const { expiresIn, paths } = await readJson(request)
  if (!Array.isArray(paths) || paths.length > 1000) throw badRequest('paths must be an array')
  await findBucket(context, bucket)
  const signed = await Promise.all(paths.map(async (path: unknown) => {
    try {
      const wanted = { bucket, key: validKey(path) }
      await readObject(context, request, wanted, 'storage.object.sign')
      return { error: null, path, signedURL: await signedUrl(context, wanted, expiresIn) }
    } catch {
      const error = 'Either the object does not exist or you do not have access to it'
      return { error, path, signedURL: null }
    }
  }))
  answer(request, 200, signed)
}

async function signedUrl({ signer }: Context, { bucket, key }: Wanted, expiresIn: unknown) {
  if (!Number.isInteger(expiresIn) || (expiresIn as number) < 1) {
    throw badRequest('body/expiresIn must be >= 1')
  }
  const token = await signer.sign({ url: `${bucket}/${key}` }, expiresIn as number)
  return `/object/sign/${bucket}/${encodeURI(key)}?token=${token}`
}

async function serve({ files }: Context, request: StorageRequest, object: StoredObject) {
  const { raw, response, query, method } = request
  const { size, mimetype, cacheControl, eTag } = object.metadata
  const headers: Record<string, string> = {
    'cache-control': cacheControl,
    // Storage never lets a browser run what somebody uploaded.
    'content-type': mimetype.startsWith('text/html') ? 'text/plain' : mimetype,
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'none',
    'accept-ranges': 'bytes',
    'last-modified': new Date(object.updated_at).toUTCString(),
    etag: eTag,
  }
  const name = query.get('download')
  if (name !== null) {
    const shown = name === '' ? '' : ` filename="${encodeURIComponent(name)}"; ` +
      `filename*=UTF-8''${encodeURIComponent(name)};`
    headers['content-disposition'] = `attachment;${shown}`
  }
  if (raw.headers['if-none-match'] === eTag) {
    response.writeHead(304, headers).end()
    return
  }
  const range = rangeOf(raw.headers.range, size)
  if (range === 'unsatisfiable') {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end()
    return
  }
  if (range) headers['content-range'] = `bytes ${range.start}-${range.end}/${size}`
  headers['content-length'] = String(range ? range.end - range.start + 1 : size)
  response.writeHead(range ? 206 : 200, headers)
  if (method === 'HEAD' || size === 0) return void response.end()
  // The client may go away in the middle; an answer cut short must look cut short.
  await pipeline(files.read(object.version, range), response).catch(() => response.destroy())
}

function rangeOf(header: string | undefined, size: number) {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (from === undefined || (from === '' && to === '')) return undefined
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(size - 1, Number(to))
  return start > end ? 'unsatisfiable' as const : { start, end }
}
