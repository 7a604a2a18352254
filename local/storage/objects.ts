import { transaction } from '../postgres/pool.ts'
import { asCaller } from './database.ts'
import { badCursor, badField, badRequest, denied, noObject } from './errors.ts'
import { readObject } from './download.ts'
import {
  answer,
  type Context,
  newKey,
  numberIn,
  type ObjectRef,
  objectRef,
  readJson,
  type StorageRequest,
  type StoredObject,
  textIn,
  textsIn,
} from './request.ts'
import { checkWritable, ownerOf, saveObject } from './upload.ts'

const columns = ['name', 'created_at', 'updated_at', 'last_accessed_at']

function sortingIn(sortBy: unknown, known: string[]) {
  const { column = 'name', order = 'asc' } = (sortBy ?? {}) as Record<string, string>
  for (
    const [name, value, values] of [['column', column, known], ['order', order, orders]] as const
  ) {
    if (values.includes(value)) continue
    throw badField(`body/sortBy/${name} must be equal to one of the allowed values`)
  }
  return { column, order }
}

const orders = ['asc', 'desc']

/** Lists one level below a prefix, ignoring case. When sorted by a time, folders come before the files. */
export async function list(context: Context, request: StorageRequest, bucket: string) {
  const body = await readJson(request)
  const given = textIn(body, 'prefix')
  const prefix = given === '' || given.endsWith('/') ? given : `${given}/`
  const { column, order } = sortingIn(body.sortBy, columns)
  const limit = Math.min(numberIn(body, 'limit', 1) ?? 100, 1500)
  const offset = numberIn(body, 'offset', 0) ?? 0
  const by = column === 'name' ? 'sort_key' : `id is not null, ${column}`
  const { rows } = await asCaller(
    context.pool,
    request.caller,
    { operation: 'storage.object.list' },
    (tx) =>
      tx.query(
        `with found as (
          select objects.*, position('/' in substr(name, char_length($2 || $3) + 1)) as slash,
            lower(name) collate "C" as sort_key
          from storage.objects
          where bucket_id = $1 and starts_with(lower(name), lower($2 || $3))
        ), level as (
          select left(name, char_length($2 || $3) + slash - 1) as name, null::uuid as id,
            null::timestamptz as updated_at, null::timestamptz as created_at,
            null::timestamptz as last_accessed_at, null::jsonb as metadata, sort_key
          from (
            select distinct on (left(sort_key, char_length($2 || $3) + slash)) *
            from found where slash > 0 order by left(sort_key, char_length($2 || $3) + slash), sort_key
          ) as folders
          union all
          select name, id, updated_at, created_at, last_accessed_at, metadata, sort_key
          from found where slash = 0
        )
        select substr(name, char_length($2) + 1) as name, id, updated_at, created_at,
          last_accessed_at, metadata
        from level order by ${by} ${order}, sort_key ${order} limit $4 offset $5`,
        [bucket, prefix, String(body.search ?? ''), limit, offset],
      ),
  )
  answer(request, 200, rows)
}

/** Lists objects with a cursor. Folders are grouped only if a delimiter is requested. */
export async function listByCursor(context: Context, request: StorageRequest, bucket: string) {
  const body = await readJson(request)
  const prefix = String(body.prefix ?? '')
  const limit = Math.min(numberIn(body, 'limit', 1) ?? 1000, 1000)
  const cursor = body.cursor ? cursorIn(String(body.cursor)) : undefined
  const { order } = sortingIn(body.sortBy, ['name'])
  const grouped = body.with_delimiter === true
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
          select distinct left(name, char_length($2) + slash) as name, null::uuid as id,
            null::timestamptz as updated_at, null::timestamptz as created_at,
            null::timestamptz as last_accessed_at, null::jsonb as metadata
          from found where $3 and slash > 0
          union all
          select name, id, updated_at, created_at, last_accessed_at, metadata
          from found where not ($3 and slash > 0)
        ) as level
        where $4::text is null or name collate "C" ${order === 'asc' ? '>' : '<'} $4
        order by name collate "C" ${order} limit $5 + 1`,
        [bucket, prefix, grouped, cursor, limit],
      ),
  )
  const page = rows.slice(0, limit)
    .map((row) => grouped ? { key: row.name.replace(/\/$/, '').split('/').at(-1), ...row } : row)
  const next = rows.length > limit ? page.at(-1).name : undefined
  answer(request, 200, {
    hasNext: next !== undefined,
    ...(next !== undefined && { nextCursor: cursorAt(next), nextCursorKey: next }),
    folders: page.filter(({ id }) => id === null),
    objects: page.filter(({ id }) => id !== null),
  })
}

const cursorAt = (name: string) => Buffer.from(`l:${name}`).toString('base64')

function cursorIn(text: string): string {
  const [, name] = /^l:(.*)$/.exec(Buffer.from(text, 'base64').toString()) ?? []
  if (name === undefined) throw badCursor()
  return name
}

/** Deletes rows with the caller's rights, then their files. Leftover files are deleted at a later start. */
async function deleteObjects(
  context: Context,
  { caller }: StorageRequest,
  bucket: string,
  keys: string[],
) {
  const { rows } = await asCaller(
    context.pool,
    caller,
    { operation: 'storage.object.delete_many' },
    (tx) =>
      tx.query<StoredObject>(
        'delete from storage.objects where bucket_id = $1 and name = any ($2) returning *',
        [bucket, keys],
      ),
  )
  await context.files.remove(rows.map(({ version }) => version))
  return rows
}

/** Deletes several objects. The response omits objects that are missing or that the caller may not delete. */
export async function removeMany(context: Context, request: StorageRequest, bucket: string) {
  const prefixes = textsIn(await readJson(request), 'prefixes')
  if (prefixes.length > 1000) {
    throw badRequest('Bulk object requests are limited to 1000 objects per request.')
  }
  answer(request, 200, (await deleteObjects(context, request, bucket, prefixes)).map(objectJson))
}

const objectJson = ({ owner, owner_id, path_tokens: _, ...row }: StoredObject) => ({
  ...row,
  owner: owner ?? '',
  owner_id: owner_id ?? '',
})

export async function removeOne(context: Context, request: StorageRequest, path: string) {
  const { bucket, key } = objectRef(path)
  const { rowCount } = await context.pool.query(
    'select from storage.objects where bucket_id = $1 and name = $2',
    [bucket, key],
  )
  if (rowCount === 0) throw noObject()
  if ((await deleteObjects(context, request, bucket, [key])).length === 0) {
    throw denied('Access denied')
  }
  answer(request, 200, { message: 'Successfully deleted' })
}

type Transfer = { from: ObjectRef; to: ObjectRef; body: Record<string, unknown> }

async function readTransfer(request: StorageRequest): Promise<Transfer> {
  const body = await readJson(request)
  const bucket = textIn(body, 'bucketId')
  const from = { bucket, key: textIn(body, 'sourceKey') }
  const to = {
    bucket: String(body.destinationBucket || bucket),
    key: newKey(textIn(body, 'destinationKey')),
  }
  return { body, from, to }
}

/** Moves an object by changing the bucket, name and owner in its row. The file does not change. */
export async function move(context: Context, request: StorageRequest) {
  const { from, to } = await readTransfer(request)
  const { caller } = request
  await readObject(context, request, from, 'storage.object.move')
  const owner = ownerOf(caller)
  const { rowCount } = await asCaller(
    context.pool,
    caller,
    { operation: 'storage.object.move' },
    (tx) =>
      tx.query(
        `update storage.objects
        set bucket_id = $3, name = $4, owner = coalesce($5, owner),
          owner_id = coalesce($6, owner_id)
        where bucket_id = $1 and name = $2`,
        [from.bucket, from.key, to.bucket, to.key, owner.uuid, owner.text],
      ),
  )
  if (rowCount === 0) throw noObject()
  answer(request, 200, { message: 'Successfully moved' })
}

export async function copy(context: Context, request: StorageRequest) {
  const { from, to, body } = await readTransfer(request)
  const { caller, raw } = request
  const object = await readObject(context, request, from, 'storage.object.copy')
  const { mimetype, cacheControl } = object.metadata
  const whole = body.copyMetadata !== false
  const given = whole ? {} : body.metadata as Record<string, string> | undefined
  const type = given?.mimetype ?? mimetype
  const upsert = raw.headers['x-upsert'] === 'true'
  await checkWritable(context, request, to, { caller, upsert, type })
  const stored = await context.files.copy(object.version)
  try {
    const copied = await saveObject(context, {
      ...to,
      ...ownerOf(caller),
      stored,
      info: {
        type,
        cacheControl: given?.cacheControl ?? cacheControl,
        metadata: whole ? object.user_metadata : null,
      },
    })
    answer(request, 200, { Id: copied.id, Key: `${to.bucket}/${to.key}`, ...objectJson(copied) })
  } catch (error) {
    await context.files.remove([stored.version])
    throw error
  }
}

/** Deletes, in batches, all objects of a bucket that were created before the given time. */
export async function emptyBucket({ pool, files }: Context, bucket: string, before: Date) {
  for (;;) {
    const { rows } = await transaction(pool, async (tx) => {
      await tx.query(`select set_config('storage.allow_delete_query', 'true', true)`)
      return await tx.query<{ version: string }>(
        `delete from storage.objects where id in (
          select id from storage.objects where bucket_id = $1 and created_at < $2 limit 1000
        ) returning version`,
        [bucket, before],
      )
    })
    if (rows.length === 0) return
    await files.remove(rows.map(({ version }) => version))
  }
}
