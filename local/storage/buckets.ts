import type { Tx } from '../postgres/pool.ts'
import { asCaller } from './database.ts'
import {
  badField,
  denied,
  exists,
  noBucket,
  noRoute,
  notEmpty,
  tooLarge,
  wrongType,
} from './errors.ts'
import { emptyBucket } from './objects.ts'
import {
  answer,
  type Bucket,
  type Context,
  findBucket,
  readJson,
  type StorageRequest,
  textIn,
  validBucket,
} from './request.ts'
import { ownerOf } from './upload.ts'

const bucketColumns = `id, name, coalesce(owner::text, '') as owner, public,
  file_size_limit::integer, allowed_mime_types, created_at, updated_at`

const sizes: Record<string, number> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9 }

/** Reads a limit as storage-js sends it: a whole number of bytes, or text such as 20MB. */
function limitIn(value: unknown, most: number): number | null {
  if (value === null) return null
  const [, count, unit] = /^(\d+(?:\.\d+)?)([kmg]?b)$/i.exec(String(value)) ?? []
  // The number is rounded to three significant digits, as in the real Storage.
  const bytes = count ? Number(Number(count).toPrecision(3)) * sizes[unit!.toLowerCase()]! : value
  if (!Number.isInteger(Number(bytes)) || Number(bytes) < 0) {
    throw badField('body/file_size_limit must match a schema in anyOf')
  }
  if (Number(bytes) > most) throw tooLarge()
  return Number(bytes)
}

function typesIn(value: unknown): string[] | null {
  if (value === null) return null
  const types = [value].flat().map(String).filter(Boolean)
  for (const type of types) {
    if (!/^[\w\-+.]+\/[\w\-+.]+(;\s*charset=[\w\-]+)?$|\*$/.test(type)) {
      throw wrongType(`mime type ${type} is not supported`)
    }
  }
  return types
}

function settingsIn(body: Record<string, unknown>, { limit }: Context) {
  const settings: Record<string, unknown> = {}
  if (body.public !== undefined) settings.public = body.public === true
  if (body.file_size_limit !== undefined) {
    settings.file_size_limit = limitIn(body.file_size_limit, limit)
  }
  if (body.allowed_mime_types !== undefined) {
    settings.allowed_mime_types = typesIn(body.allowed_mime_types)
  }
  return settings
}

export async function buckets(context: Context, request: StorageRequest, rest: string) {
  const { method } = request
  const [, id, act] = /^\/?([^/]*)(?:\/(empty))?$/.exec(rest) ?? []
  if (id === undefined) throw noRoute(method, `/bucket${rest}`)
  const name = decodeURIComponent(id)
  if (act && method === 'POST') return await empty(context, request, name)
  if (act) throw noRoute(method, `/bucket${rest}`)
  if (name === '' && method === 'GET') return answer(request, 200, await list(context, request))
  if (name === '' && method === 'POST') return await create(context, request)
  if (name === '') throw noRoute(method, `/bucket${rest}`)
  if (method === 'GET') return answer(request, 200, await read(context, request, name))
  if (method === 'PUT') return await update(context, request, name)
  if (method === 'DELETE') return await remove(context, request, name)
  throw noRoute(method, `/bucket${rest}`)
}

const as = <T>(
  { pool }: Context,
  { caller }: StorageRequest,
  act: string,
  work: (tx: Tx) => Promise<T>,
) => asCaller(pool, caller, { operation: `storage.bucket.${act}` }, work)

async function list(context: Context, request: StorageRequest) {
  const { rows } = await as(
    context,
    request,
    'list',
    (tx) => tx.query(`select ${bucketColumns}, type from storage.buckets order by id`),
  )
  return rows
}

async function read(context: Context, request: StorageRequest, id: string) {
  const { rows } = await as(
    context,
    request,
    'get',
    (tx) => tx.query<Bucket>(`select ${bucketColumns} from storage.buckets where id = $1`, [id]),
  )
  if (!rows[0]) throw noBucket()
  return rows[0]
}

async function create(context: Context, request: StorageRequest) {
  const body = await readJson(request)
  const name = textIn(body, 'name')
  if (name.trim() !== name) throw validBucket('')
  validBucket(name)
  const { public: open, file_size_limit, allowed_mime_types } = settingsIn(body, context)
  const owner = ownerOf(request.caller)
  const id = body.id ? String(body.id) : name
  await as(context, request, 'create', (tx) =>
    tx.query(
      `insert into storage.buckets
        (id, name, owner, owner_id, public, file_size_limit, allowed_mime_types)
      values ($1, $2, $3, $4, $5, $6, $7)`,
      [id, name, owner.uuid, owner.text, open ?? false, file_size_limit, allowed_mime_types],
    )).catch((error) => {
      throw error.code === '23505' ? exists('BucketAlreadyExists') : error
    })
  answer(request, 200, { name })
}

async function update(context: Context, request: StorageRequest, id: string) {
  const settings = settingsIn(await readJson(request), context)
  const columns = Object.keys(settings)
  if (columns.length === 0) throw badField('body must match a schema in anyOf')
  const { rowCount } = await as(context, request, 'update', (tx) =>
    tx.query(
      `update storage.buckets
      set ${columns.map((column, at) => `${column} = $${at + 2}`)}, updated_at = now()
      where id = $1`,
      [id, ...Object.values(settings)],
    ))
  if (rowCount === 0) throw noBucket()
  answer(request, 200, { message: 'Successfully updated' })
}

async function remove(context: Context, request: StorageRequest, id: string) {
  await findBucket(context, id)
  const { rowCount: some } = await context.pool.query(
    'select from storage.objects where bucket_id = $1 limit 1',
    [id],
  )
  if (some) throw notEmpty()
  const { rowCount } = await as(
    context,
    request,
    'delete',
    (tx) => tx.query('delete from storage.buckets where id = $1', [id]),
  )
  if (rowCount === 0) throw noBucket()
  answer(request, 200, { message: 'Successfully deleted' })
}

/** The delay before a bucket is emptied, in milliseconds. Hosted projects queue this work. */
const queue = 300

async function empty(context: Context, request: StorageRequest, id: string) {
  if (request.caller.role !== 'service_role') throw denied('Access denied: Invalid role', 403)
  await read(context, request, id)
  const before = new Date()
  setTimeout(() => {
    emptyBucket(context, id, before).catch((error) => console.error('storage:', error.message))
  }, queue)
  const message = 'Empty bucket has been queued. Completion may take up to an hour.'
  answer(request, 200, { message })
}
