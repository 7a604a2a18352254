/** Media: pictures of people and listings. */
import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/context.ts'
import { acting, area, json, mine, route, send } from '../http/route.ts'
import { uploadAvatar } from './upload-avatar.ts'
import { maxFiles, uploadListings } from './upload-listings.ts'
import { withUploadSlot } from './upload-memory.ts'

const tags = ['media']

/** For the description only: the form is read part by part and never parsed as a whole. */
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
  summary: 'Upload my avatar, to be set with PATCH /auth/me',
  description:
    'One picture, JPEG, PNG or WebP by its content, at most 5 MiB. Position and camera data are ' +
    'taken out of it. Show it with `PATCH /auth/me {avatarMediaId}`; what is not used within a ' +
    'day is removed. At most 60 uploads an hour.',
  errors: ['quota_exceeded', 'file_too_large', 'file_not_image', 'file_missing'],
  request: form({ file: { ...picture, description: 'At most 5 MiB.' } }, ['file']),
  responses: {
    201: json(
      z.object({ mediaId: z.uuid(), url: z.string(), width: z.int(), height: z.int() })
        .openapi('UploadedAvatar'),
      'Removed after a day unless it is used.',
    ),
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
  ...acting,
  tags,
  operationId: 'upload_listing_media',
  method: 'post',
  path: '/upload/listings',
  summary: 'Upload pictures of a listing, existing or still to be created',
  description:
    '1 to 20 pictures, JPEG, PNG or WebP by their content, each at most 10 MiB, at most 100 MiB ' +
    'together. To a listing (`propertyId`), or ahead of it: choose an `uploadSessionId` and ' +
    'send it with `POST /properties`. Each file has its own outcome; 422 only if none was good. ' +
    'At most 60 uploads an hour.',
  errors: ['property_not_found', 'property_state_conflict', 'quota_exceeded', 'file_missing'],
  request: form({
    files: { type: 'array', items: picture, minItems: 1, maxItems: maxFiles },
    propertyId: { type: 'string', format: 'uuid' },
    uploadSessionId: {
      type: 'string',
      format: 'uuid',
      description:
        'Identifies the upload session; chosen by the client, or taken from the first answer.',
    },
    startPosition: { type: 'integer', minimum: 0, maximum: 999 },
  }, ['files']),
  responses: {
    201: json(
      Uploaded,
      'In the order sent: accepted files are stored, rejected ones carry an error.',
    ),
  },
})

/** Waiting for a slot is part of the time that a request may take. */
const inSlot = (c: ApiContext, upload: typeof uploadAvatar) => {
  const startedAt = Date.now()
  return withUploadSlot(c.var.caller.sub!, () => upload(c, startedAt))
}

export const media = area()
  .openapi(avatar, async (c) => send(c, await inSlot(c, uploadAvatar), 201))
  .openapi(listings, async (c) => send(c, await inSlot(c, uploadListings), 201))
