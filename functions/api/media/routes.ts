/** Media: pictures of people and listings. Rules: sql/09_media/5_writes_uploads.sql and beside it. */
import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/context.ts'
import { call } from '../../_shared/db.ts'
import { type ErrorCode, errors } from '../../_shared/errors.ts'
import type { Part } from '../../_shared/multipart.ts'
import { type Field, Refusal } from '../../_shared/refusal.ts'
import { noteFilesUrl } from '../../_shared/supabase-storage.ts'
import { effortOfRequest } from '../../pictures/read.ts'
import { area, json, mine, problems, route, send } from '../http/route.ts'
import { openForm, shownName, textOf, wrong } from './upload-form.ts'
import { withRoom, withTurn } from './upload-memory.ts'
import {
  type Bad,
  type Entrance,
  mebibyte,
  pictureIn,
  quotaExceeded,
  Stored,
} from './upload-picture.ts'

// The only limits there are: Storage has some too, which it holds against told lengths alone.
const avatarLimit = 5 * mebibyte
const listingLimit = 10 * mebibyte
const mostFiles = 20

const tags = ['media']

/** Described only: the form is read part by part and never parsed as a whole. */
const form = (properties: Record<string, unknown>, required: string[]) => ({
  body: {
    required: true,
    content: {
      'multipart/form-data': {
        schema: { type: 'object', additionalProperties: false, properties, required } as never,
      },
    },
  },
})

const picture = { type: 'string', format: 'binary', description: 'JPEG, PNG or WebP.' }

const avatar = route({
  ...mine,
  tags,
  operationId: 'upload_avatar',
  method: 'post',
  path: '/upload/avatar',
  summary: 'Upload a picture of mine, to be named at PATCH /auth/me',
  request: form({ file: { ...picture, description: 'At most 5 MiB.' } }, ['file']),
  responses: {
    201: json(
      z.object({ mediaId: z.uuid(), url: z.string(), width: z.int(), height: z.int() })
        .openapi('UploadedAvatar'),
      'It is removed after a day unless it is used.',
    ),
    ...problems(402, 404, 408, 413, 415),
  },
})

const FileError = z.looseObject({ code: z.string(), message: z.string(), messageEn: z.string() })

const Uploaded = z
  .object({
    propertyId: z.uuid().nullable(),
    uploadSessionId: z.uuid(),
    files: z.array(z.object({
      index: z.int(),
      name: z.string().openapi({ description: 'As sent; text to show, never a path.' }),
      ok: z.boolean(),
      mediaId: z.uuid().optional(),
      url: z.string().optional(),
      position: z.int().optional(),
      error: FileError.optional(),
    })),
  })
  .openapi('UploadedListingMedia')

const listings = route({
  ...mine,
  tags,
  operationId: 'upload_listing_media',
  method: 'post',
  path: '/upload/listings',
  summary: 'Upload pictures of a listing, or of one that is still to be written',
  request: form({
    files: { type: 'array', items: picture, minItems: 1, maxItems: mostFiles },
    propertyId: { type: 'string', format: 'uuid' },
    uploadSessionId: {
      type: 'string',
      format: 'uuid',
      description: 'Names the flow; chosen by the client, or taken from the first answer.',
    },
    startPosition: { type: 'integer', minimum: 0, maximum: 999 },
  }, ['files']),
  responses: {
    201: json(Uploaded, 'In the order sent. The good ones are kept, the bad ones named.'),
    ...problems(402, 404, 408, 413, 415),
  },
})

async function uploadAvatar(c: ApiContext, came: number): Promise<string> {
  const upload = openForm(c, came, 3)
  try {
    const { value: part } = await upload.parts.next()
    if (!part || part.name !== 'file' || part.filename === undefined) throw missing('file', part)
    const entrance = await begin(c, { bucket: 'avatars' })
    return await withRoom(async (room) => {
      const read = await pictureIn(part, room, avatarLimit, effortOfRequest())
      if ('code' in read) throw refusalOf(read)
      const { value: another } = await upload.parts.next()
      if (another) throw wrong({ path: shownName(another.name), code: 'unknown' })
      const { uploadId, known, used, limit } = entrance
      const again = known.some(({ sha256 }) => sha256 === read.hash) ? read.hash : undefined
      if (!again && used >= limit) throw refusalOf(quotaExceeded(entrance))
      const stored = new Stored('avatars', entrance)
      try {
        if (!again) await stored.add(0, read.picture, read.hash)
        await noteFilesUrl()
        return await call(c, 'upload_avatar', { uploadId, again })
      } catch (error) {
        await stored.takeBack(error)
        throw error
      }
    })
  } finally {
    upload.close()
  }
}

const refusalOf = ({ code, detail }: Bad) => new Refusal(code, detail)

const missing = (field: string, part?: Part | void) =>
  part && part.name !== field
    ? wrong({ path: shownName(part.name), code: 'unknown' })
    : new Refusal('file_missing', { fields: [{ path: field, code: 'file_missing' }] })

type Asked = { propertyId?: string; uploadSessionId?: string; startPosition?: number }

const begin = async (c: ApiContext, args: { bucket: string } & Asked): Promise<Entrance> =>
  JSON.parse(await call(c, 'begin_upload', args, { rate: 'uploads' }))

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Puts a field into what is asked for; one that is unknown, twice there or ill-formed is refused. */
async function readField(asked: Asked, part: Part) {
  const { name } = part
  const text = await textOf(part)
  const ids = name === 'propertyId' || name === 'uploadSessionId'
  if (!ids && name !== 'startPosition') throw wrong({ path: shownName(name), code: 'unknown' })
  const fits = ids ? uuid.test(text) : /^\d{1,3}$/.test(text)
  if (!fits || asked[name] !== undefined) throw wrong({ path: name, code: 'invalid' })
  if (ids) asked[name] = text
  else asked.startPosition = Number(text)
}

type File = { index: number; name: string } & ({ ok: true } | { ok: false; bad: Bad })

/** The state of one upload of listing pictures, while its form is read. */
class ListingUpload {
  readonly asked: Asked = {}
  readonly files: File[] = []
  /** Those that were there before: an answer was lost, and the client sends once more. */
  readonly again: { index: number; sha256: string }[] = []
  stored?: Stored
  private entrance?: Entrance
  private readonly effort = effortOfRequest()
  private readonly c: ApiContext

  constructor(c: ApiContext) {
    this.c = c
  }

  get uploadId() {
    return this.entrance?.uploadId
  }

  /** Takes the next file: who may upload is asked once, before the first one is read. */
  async take(part: Part) {
    const index = this.files.length
    if (index === mostFiles) throw wrong({ path: 'files', code: 'too_big' })
    this.entrance ??= await begin(this.c, { bucket: 'listings', ...this.place() })
    this.stored ??= new Stored('listings', this.entrance)
    const bad = await this.keep(part, index)
    const name = shownName(part.filename!)
    this.files.push(bad ? { index, name, ok: false, bad } : { index, name, ok: true })
  }

  /** Fields that stand after the first file are looked at when all is stored. */
  private place() {
    const { propertyId, uploadSessionId } = this.asked
    return { propertyId, uploadSessionId }
  }

  private keep(part: Part, index: number): Promise<Bad | undefined> {
    return withRoom(async (room) => {
      const read = await pictureIn(part, room, listingLimit, this.effort)
      if ('code' in read) return read
      const entrance = this.entrance!
      if (this.isKnown(index, read.hash)) {
        return void this.again.push({ index, sha256: read.hash })
      }
      if (this.stored!.names.length >= entrance.limit - entrance.used) {
        return quotaExceeded(entrance)
      }
      await this.stored!.add(index, read.picture, read.hash)
    })
  }

  private isKnown(index: number, hash: string) {
    const { startPosition } = this.asked
    return this.entrance!.known.some(({ sha256, position }) =>
      sha256 === hash && (startPosition === undefined || position === startPosition + index)
    )
  }
}

async function uploadListings(c: ApiContext, came: number): Promise<string> {
  const form = openForm(c, came, mostFiles + 4)
  const upload = new ListingUpload(c)
  try {
    for await (const part of form.parts) {
      if (part.name === 'files' && part.filename !== undefined) await upload.take(part)
      else if (part.name === 'files') throw missing('files', part)
      else await readField(upload.asked, part)
    }
    if (!upload.files.length) throw missing('files')
    if (upload.files.every(({ ok }) => !ok)) throw noneGood(upload.files)
    await noteFilesUrl()
    const { uploadId = '', asked } = upload
    const again = upload.again.length ? upload.again : undefined
    const answer = await call(c, 'upload_listing_media', { uploadId, ...asked, again })
    return merged(answer, upload.files)
  } catch (error) {
    await upload.stored?.takeBack(error)
    throw error
  } finally {
    form.close()
  }
}

/** 422 with what is wrong with each; 402 when they were good and had no room. */
function noneGood(files: File[]) {
  const bad = files.map((file) => (file as { bad: Bad }).bad)
  if (bad.every(({ code }) => code === 'quota_exceeded')) return refusalOf(bad[0])
  const fields: Field[] = bad.map(({ code }, index) => ({
    path: `files.${index}`,
    // The text of too_large wants a number; whoever reads a field has it before the eyes.
    code: code === 'file_not_image' ? code : 'too_big',
  }))
  return new Refusal('validation_failed', { fields })
}

type Row = { index: number; mediaId?: string; url?: string; position?: number; error?: ErrorCode }

/** The answer of the database, with what the files were called and what was wrong with the bad ones. */
function merged(answer: string, files: File[]): string {
  const { files: rows, ...rest } = JSON.parse(answer) as { files: Row[] }
  const known = new Map(rows.map((row) => [row.index, row]))
  return JSON.stringify({
    ...rest,
    files: files.map((file) => {
      const { index, name } = file
      if (!file.ok) return { index, name, ok: false, error: told(file.bad) }
      const { error, ...row } = known.get(index)!
      if (error) return { index, name, ok: false, error: told({ code: error, detail: {} }) }
      return { ...row, name, ok: true }
    }),
  })
}

function told({ code, detail: { max } }: Bad) {
  const [, message, messageEn] = errors[code].map((text) =>
    String(text).replace('{max}', String(max))
  )
  return { code, message, messageEn, ...(max !== undefined && { max }) }
}

/** Time in line is part of the time that a request may take. */
const inTurn = (c: ApiContext, upload: typeof uploadAvatar) => {
  const came = Date.now()
  return withTurn(c.var.caller.sub!, () => upload(c, came))
}

export const media = area()
  .openapi(avatar, async (c) => send(c, await inTurn(c, uploadAvatar), 201))
  .openapi(listings, async (c) => send(c, await inTurn(c, uploadListings), 201))
