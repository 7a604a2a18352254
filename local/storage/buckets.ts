// Buckets: their settings, made and changed with the rights of whoever asks (usually the secret key).
import { asCaller } from './database.ts'
import { badRequest, denied, noBucket, noRoute } from './errors.ts'
import { emptyBucket } from './objects.ts'
import { answer, type Bucket, type Context, readJson, type StorageRequest } from './request.ts'

const shown = `id, name, owner, owner_id, public, type, file_size_limit::integer,
  allowed_mime_types, created_at, updated_at`

const units: Record<string, number> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
}

/** A limit as storage-js sends it: a number of bytes, or text such as 20MB. */
export function bytesOf(value: unknown): number | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'number') return value
  const [, count, unit = 'B'] = /^(\d+(?:\.\d+)?) *([KMG]?i?B)?$/i.exec(String(value)) ?? []
  const factor = units[unit.toUpperCase()]
  if (!count || !factor) throw badRequest('body/file_size_limit is not a size')
  return Math.floor(Number(count) * factor)
}

/** /bucket and what is under it. */
export async function buckets(context: Context, request: StorageRequest, rest: string) {
  const { method } = request
  const [, id = '', act] = /^\/?([^/]*)(?:\/(empty))?$/.exec(rest) ?? []
  const name = decodeURIComponent(id)
  if (name === '' && method === 'GET') return answer(request, 200, await read(context, request))
  if (name === '' && method === 'POST') return await create(context, request)
  if (name === '') throw noRoute()
  const [bucket] = await read(context, request, name)
  if (!bucket) throw noBucket()
  if (act && method === 'POST') {
    await change(context, request, name, 'update storage.buckets set name = name where id = $1')
    await emptyBucket(context, name)
    return answer(request, 200, { message: 'Successfully emptied' })
  }
  if (method === 'GET') return answer(request, 200, bucket)
  if (method === 'PUT') return await update(context, request, bucket)
  if (method !== 'DELETE') throw noRoute()
  await change(context, request, name, 'delete from storage.buckets where id = $1')
  answer(request, 200, { message: 'Successfully deleted' })
}

async function read({ pool }: Context, { caller }: StorageRequest, id?: string) {
  const { rows } = await asCaller(
    pool,
    caller,
    { operation: 'storage.bucket.get' },
    (tx) =>
      tx.query<Bucket>(
        `select ${shown} from storage.buckets where $1::text is null or id = $1 order by id`,
        [id ?? null],
      ),
  )
  return rows
}

async function change(
  { pool }: Context,
  { caller }: StorageRequest,
  id: string,
  statement: string,
  values: unknown[] = [],
) {
  const { rowCount } = await asCaller(
    pool,
    caller,
    { operation: 'storage.bucket.update' },
    (tx) => tx.query(statement, [id, ...values]),
  )
  if (rowCount === 0) throw denied()
}

async function create({ pool }: Context, request: StorageRequest) {
  const body = await readJson(request)
  const name = String(body.name ?? body.id ?? '')
  const id = String(body.id ?? name)
  if (!/^[\w!.*'()&$@=;:+,? -]{1,100}$/.test(id)) throw badRequest('Bucket name invalid')
  await asCaller(pool, request.caller, { operation: 'storage.bucket.create' }, (tx) =>
    tx.query(
      `insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
      values ($1, $2, $3, $4, $5)`,
      [id, name, body.public === true, bytesOf(body.file_size_limit), body.allowed_mime_types],
    ))
  answer(request, 200, { name })
}

async function update(context: Context, request: StorageRequest, bucket: Bucket) {
  const body = await readJson(request)
  const given = <T>(key: string, before: T) => key in body ? body[key] as T : before
  await change(
    context,
    request,
    bucket.id,
    `update storage.buckets
    set public = $2, file_size_limit = $3, allowed_mime_types = $4, updated_at = now()
    where id = $1`,
    [
      given('public', bucket.public),
      bytesOf(given<unknown>('file_size_limit', bucket.file_size_limit)),
      given('allowed_mime_types', bucket.allowed_mime_types),
    ],
  )
  answer(request, 200, { message: 'Successfully updated' })
}
