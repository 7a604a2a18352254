// What is done to objects without their bytes: list, remove, move, copy.
import { asCaller, transaction } from './database.ts'
import { badRequest, denied, noObject } from './errors.ts'
import { readObject } from './download.ts'
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
import { keepRow, mayWrite, ownerOf } from './upload.ts'

const number = (value: unknown, otherwise: number, most: number) =>
  Number.isInteger(value) && (value as number) >= 0 ? Math.min(value as number, most) : otherwise

const columns = ['name', 'created_at', 'updated_at', 'last_accessed_at']

/** POST /object/list/:bucket: one level of folders and files under a prefix. */
export async function list(context: Context, request: StorageRequest, bucket: string) {
  const body = await readJson(request)
  const { prefix = '', search = '', sortBy } = body
  const { column = 'name', order = 'asc' } = (sortBy ?? {}) as Record<string, string>
  const folder = String(prefix).replace(/^\/|\/$/g, '')
  const start = folder === '' ? '' : `${folder}/`
  const by = columns.includes(column) ? column : 'name'
  const { rows } = await asCaller(
    context.pool,
    request.caller,
    { operation: 'storage.object.list' },
    (tx) =>
      tx.query(
        `with found as (
          select objects.*, substr(name, char_length($2) + 1) as rest from storage.objects
          where bucket_id = $1 and starts_with(name, $2)
            and starts_with(lower(substr(name, char_length($2) + 1)), lower($3))
        )
        select * from (
          select distinct split_part(rest, '/', 1) as name, null::uuid as id,
            null::timestamptz as updated_at, null::timestamptz as created_at,
            null::timestamptz as last_accessed_at, null::jsonb as metadata
          from found where rest like '%/%'
          union all
          select rest, id, updated_at, created_at, last_accessed_at, metadata
          from found where rest not like '%/%'
        ) as level
        order by id is not null, ${by} ${order === 'desc' ? 'desc' : 'asc'}
        limit $4 offset $5`,
        [bucket, start, String(search), number(body.limit, 100, 1000), number(body.offset, 0, 1e9)],
      ),
  )
  answer(request, 200, rows)
}

/** POST /object/list-v2/:bucket: by cursor, with folders only where a delimiter is asked for. */
export async function listByCursor(context: Context, request: StorageRequest, bucket: string) {
  const body = await readJson(request)
  const prefix = String(body.prefix ?? '')
  const limit = number(body.limit, 1000, 1000) || 1000
  const after = body.cursor ? Buffer.from(String(body.cursor), 'base64url').toString() : ''
  const { rows } = await asCaller(
    context.pool,
    request.caller,
    { operation: 'storage.object.list_v2' },
    (tx) =>
      tx.query(
        `with found as (
          select objects.*, position('/' in substr(name, char_length($2) + 1)) as slash
          from storage.objects where bucket_id = $1 and starts_with(name, $2)
        )
        select * from (
          select distinct left(name, char_length($2) + slash) as key, null::uuid as id,
            null::timestamptz as updated_at, null::timestamptz as created_at, null::jsonb as metadata
          from found where $3 and slash > 0
          union all
          select name, id, updated_at, created_at, metadata
          from found where not ($3 and slash > 0)
        ) as level
        where key collate "C" > $4 order by key collate "C" limit $5 + 1`,
        [bucket, prefix, body.with_delimiter === true, after, limit],
      ),
  )
  const page = rows.slice(0, limit)
  const named = page.map(({ key, ...row }) => ({ ...row, key, name: key }))
  answer(request, 200, {
    hasNext: rows.length > limit,
    folders: named.filter(({ id }) => id === null).map(({ key, name }) => ({ key, name })),
    objects: named.filter(({ id }) => id !== null),
    ...(rows.length > limit && {
      nextCursor: Buffer.from(page.at(-1).key).toString('base64url'),
    }),
  })
}

async function take(context: Context, { caller }: StorageRequest, bucket: string, keys: string[]) {
  const operation = 'storage.object.delete_many'
  const { rows } = await asCaller(
    context.pool,
    caller,
    { operation },
    (tx) =>
      tx.query<StoredObject>(
        'delete from storage.objects where bucket_id = $1 and name = any ($2) returning *',
        [bucket, keys],
      ),
  )
  // The row is gone for good, so the file may go: one that is left is swept at the next start.
  await context.files.remove(rows.map(({ version }) => version))
  return rows
}

/** DELETE /object/:bucket with { prefixes }: what is missing or denied is simply not in the answer. */
export async function removeMany(context: Context, request: StorageRequest, bucket: string) {
  const { prefixes } = await readJson(request)
  if (!Array.isArray(prefixes) || prefixes.length < 1 || prefixes.length > 1000) {
    throw badRequest('body/prefixes must NOT have fewer than 1 or more than 1000 items')
  }
  await findBucket(context, bucket)
  answer(request, 200, await take(context, request, bucket, prefixes.map(String)))
}

/** DELETE /object/:bucket/:path */
export async function removeOne(context: Context, request: StorageRequest, path: string) {
  const { bucket, key } = splitPath(path)
  if ((await take(context, request, bucket, [key])).length === 0) throw noObject()
  answer(request, 200, { message: 'Successfully deleted' })
}

type Ways = { from: { bucket: string; key: string }; to: { bucket: string; key: string } }

async function readWays(
  request: StorageRequest,
): Promise<Ways & { body: Record<string, unknown> }> {
  const body = await readJson(request)
  const bucket = String(body.bucketId ?? '')
  return {
    body,
    from: { bucket, key: validKey(body.sourceKey) },
    to: { bucket: String(body.destinationBucket ?? bucket), key: validKey(body.destinationKey) },
  }
}

/** POST /object/move: the row gets another name, the file stays where it is. */
export async function move(context: Context, request: StorageRequest) {
  const { from, to } = await readWays(request)
  await findBucket(context, to.bucket)
  const object = await readObject(context, request, from, 'storage.object.move')
  const { rowCount } = await asCaller(
    context.pool,
    request.caller,
    { operation: 'storage.object.move' },
    (tx) =>
      tx.query(
        `update storage.objects set bucket_id = $3, name = $4
        where bucket_id = $1 and name = $2`,
        [from.bucket, from.key, to.bucket, to.key],
      ),
  )
  if (rowCount === 0) throw denied()
  answer(request, 200, {
    message: 'Successfully moved',
    Id: object.id,
    Key: `${to.bucket}/${to.key}`,
  })
}

/** POST /object/copy */
export async function copy(context: Context, request: StorageRequest) {
  const { from, to, body } = await readWays(request)
  const bucket = await findBucket(context, to.bucket)
  const upsert = request.raw.headers['x-upsert'] === 'true'
  const object = await readObject(context, request, from, 'storage.object.copy')
  await mayWrite(context, request, bucket, to.key, upsert)
  const stored = await context.files.copy(object.version)
  const { mimetype, cacheControl } = object.metadata
  const facts = {
    type: mimetype,
    cacheControl,
    metadata: body.copyMetadata === false ? null : object.user_metadata,
  }
  const owner = ownerOf(request.caller).text
  try {
    const row = { bucket: to.bucket, key: to.key, owner, upsert, stored, facts }
    const { id } = await keepRow(context, row)
    answer(request, 200, { Id: id, Key: `${to.bucket}/${to.key}`, name: to.key })
  } catch (error) {
    await context.files.remove([stored.version])
    throw error
  }
}

/** Every object of a bucket, in turns that a transaction can bear. */
export async function emptyBucket({ pool, files }: Context, bucket: string) {
  for (;;) {
    const { rows } = await transaction(pool, async (tx) => {
      await tx.query(`select set_config('storage.allow_delete_query', 'true', true)`)
      return await tx.query<{ version: string }>(
        `delete from storage.objects where id in (
          select id from storage.objects where bucket_id = $1 limit 1000
        ) returning version`,
        [bucket],
      )
    })
    if (rows.length === 0) return
    await files.remove(rows.map(({ version }) => version))
  }
}
