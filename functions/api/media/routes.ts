import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { acting, area, Count, json, mine, route, send } from '../http/route.ts'
import { Media } from '../properties/schemas.ts'
import { uploadAvatar } from './upload-avatar.ts'
import { maxDocuments, uploadDocuments } from './upload-documents.ts'
import { maxFiles, uploadListings } from './upload-listings.ts'
import { withUploadSlot } from './upload-memory.ts'

const tags = ['media']

/** Only describes the form in OpenAPI. Forms are read part by part and never parsed as a whole. */
const form = (
  file: string,
  properties: Record<string, unknown>,
  types = 'image/jpeg, image/png, image/webp',
  required = [file],
) => ({
  body: {
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          additionalProperties: false,
          properties,
          required,
        } as never,
        encoding: { [file]: { contentType: types } },
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
  errors: ['quota_exceeded', 'uploads_full', 'file_too_large', 'file_not_image', 'file_missing'],
  request: form('file', { file: { ...picture, description: 'At most 5 MiB.' } }),
  responses: {
    201: json(
      Media.pick({ url: true, width: true, height: true }).extend({
        mediaId: z.uuid().describe('For `avatarMediaId` of `PATCH /auth/me`.'),
      }).openapi('UploadedAvatar', { description: 'A picture that was uploaded.' }),
      'Removed after a day unless it is used.',
    ),
  },
})

const FileError = z.object({
  code: z.string().describe('A code of `GET /errors`.'),
  message: z.string().describe('For people: Arabic, or English with Accept-Language: en.'),
  messageEn: z.string().describe('Always in English.'),
  max: z.int().optional().describe('file_too_large: the limit, in MiB.'),
  format: z.string().optional().describe(
    'file_not_image, file_not_document: the format of a picture that is not taken, such as HEIC.',
  ),
  limit: z.int().optional().describe('documents_full: how many there may be.'),
  used: z.int().optional().describe('documents_full: how many there are.'),
})

const Uploaded = z
  .object({
    propertyId: z.uuid().nullable().describe('The listing; null: still to be created.'),
    uploadSessionId: z.uuid().describe('To be sent with `POST /properties`.'),
    files: z.array(z.object({
      index: Count.describe('Its position among the files as they were sent.'),
      name: z.string().describe('As sent; text to show, never a path.'),
      ok: z.boolean().describe('Whether it was accepted.'),
      mediaId: z.uuid().optional().describe('Of an accepted one.'),
      url: Media.shape.url.optional(),
      position: Media.shape.position.optional(),
      error: FileError.optional().describe('Why it was not accepted.'),
    })).describe('The outcome of each file, in the order sent.'),
  })
  .openapi('UploadedListingMedia', { description: 'What became of the files of an upload.' })

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
    'send it with `POST /properties` within 7 days of its last upload and 14 of its first: then ' +
    'its pictures are gone, and the id is 422. A session holds at most 40 pictures, an account ' +
    '200 that are not used yet (409 `uploads_full`). Each file has its own outcome; 422 only if ' +
    'none was good. At most 60 uploads an hour.',
  errors: [
    'property_not_found',
    'property_state_conflict',
    'quota_exceeded',
    'uploads_full',
    'file_missing',
  ],
  request: form('files', {
    files: {
      type: 'array',
      items: picture,
      minItems: 1,
      maxItems: maxFiles,
      description: 'In their order, each at most 10 MiB.',
    },
    propertyId: {
      type: 'string',
      format: 'uuid',
      description: 'The listing that the pictures are for; without it, one still to be created.',
    },
    uploadSessionId: {
      type: 'string',
      format: 'uuid',
      description:
        'Identifies the upload session; chosen by the client, or taken from the first answer.',
    },
    startPosition: {
      type: 'integer',
      minimum: 0,
      maximum: 999,
      description:
        'The position of the first of these pictures, from which others move on; without it they go to ' +
        'the end.',
    },
  }),
  responses: {
    201: json(
      Uploaded,
      'In the order sent: accepted files are stored, rejected ones carry an error.',
    ),
  },
})

const documents = route({
  ...mine,
  tags,
  operationId: 'upload_documents',
  method: 'post',
  path: '/upload/documents',
  summary: 'Upload documents of my company or office, for the administrators who verify it',
  description:
    '1 to 5 files, JPEG, PNG, WebP or PDF by their content, each at most 10 MiB, with `identityId` ahead ' +
    'of them. Nobody but its owner and administrators can read them. An identity keeps at most 10, an ' +
    'account 30. Each file has its own outcome; where none was good, the refusal of the first is the ' +
    'answer. They go 90 days after the last decision about the company or office, at the latest 180 days ' +
    'after an upload that nobody decided.',
  errors: [
    'identity_not_found',
    'documents_full',
    'file_too_large',
    'file_not_document',
    'file_missing',
  ],
  request: form(
    'files',
    {
      identityId: {
        type: 'string',
        format: 'uuid',
        description: 'The company or office, in any state but closed; ahead of the files.',
      },
      files: {
        type: 'array',
        items: { ...picture, description: 'JPEG, PNG, WebP or PDF.' },
        minItems: 1,
        maxItems: maxDocuments,
        description: 'Each at most 10 MiB.',
      },
    },
    'image/jpeg, image/png, image/webp, application/pdf',
    ['identityId', 'files'],
  ),
  responses: {
    201: json(
      z.object({
        files: z.array(z.object({
          index: Count.describe('Its position among the files as they were sent.'),
          name: z.string().describe('As sent; text to show, never a path.'),
          ok: z.boolean().describe('Whether it was accepted.'),
          documentId: z.uuid().optional().describe('Of an accepted one.'),
          error: FileError.optional().describe('Why it was not accepted.'),
        })).describe('The outcome of each file, in the order sent.'),
      }).openapi('UploadedDocuments', {
        description: 'What became of the documents of an upload.',
      }),
      'In the order sent: accepted files are stored, rejected ones carry an error.',
    ),
  },
})

/** The time spent waiting for a slot counts towards the time limit of the request. */
const inSlot = (c: ApiContext, upload: typeof uploadAvatar) => {
  const startedAt = Date.now()
  return withUploadSlot(c.var.caller.sub!, () => upload(c, startedAt))
}

export const media = area()
  .openapi(avatar, async (c) => send(c, await inSlot(c, uploadAvatar), 201))
  .openapi(documents, async (c) => send(c, await inSlot(c, uploadDocuments), 201))
  .openapi(listings, async (c) => send(c, await inSlot(c, uploadListings), 201))
