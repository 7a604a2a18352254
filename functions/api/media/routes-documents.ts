import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import {
  area,
  Count,
  forAdmins,
  json,
  mine,
  pageOf,
  route,
  send,
  sendNothing,
  Time,
} from '../http/route.ts'
import { sendFile } from './document-file.ts'

const types = ['image/jpeg', 'image/png', 'image/webp', 'application/pdf'] as const

export const Document = z
  .object({
    id: z.uuid(),
    name: z.string().describe('As it was sent; text to show, never a path.'),
    type: z.enum(types).describe('By its content.'),
    size: Count.describe('In bytes, as it is stored.'),
    encrypted: z.boolean().describe('A PDF that is encrypted: it may ask for a password.'),
    createdAt: Time,
    url: z.string().describe('A path of this API, which takes a token as every other.'),
  })
  .openapi('Document', { description: 'A document of a company or office, such as its licence.' })

const OneIdentity = z.strictObject({ identityId: z.uuid() })
const documentId = z.uuid().describe('Of a document that is listed.')
const OneDocument = OneIdentity.extend({ documentId })

const file = {
  description: 'The file, to be saved: `Content-Disposition: attachment`.',
  content: Object.fromEntries(
    types.map((type) => [type, { schema: { type: 'string', format: 'binary' } as const }]),
  ),
}

const list = route({
  ...mine,
  tags: ['accounts'],
  operationId: 'list_documents',
  method: 'get',
  path: '/identities/{identityId}/documents',
  summary: 'List the documents of one of my companies or offices',
  description: 'All of them. Nobody but its owner and administrators can read them.',
  errors: ['identity_not_found'],
  request: { params: OneIdentity },
  responses: { 200: json(pageOf('DocumentPage', Document), 'Oldest first.') },
})

const get = route({
  ...mine,
  tags: ['accounts'],
  operationId: 'get_document',
  method: 'get',
  path: '/identities/{identityId}/documents/{documentId}',
  summary: 'Download a document of one of my companies or offices',
  description: 'The file itself, not JSON. A picture is without its metadata, a PDF as it came.',
  errors: ['document_not_found'],
  request: { params: OneDocument },
  responses: { 200: file },
})

const remove = route({
  ...mine,
  tags: ['accounts'],
  operationId: 'delete_document',
  method: 'delete',
  path: '/identities/{identityId}/documents/{documentId}',
  summary: 'Remove a document of one of my companies or offices',
  description: 'Nobody can read it from now on; its file is removed within minutes.',
  errors: ['document_not_found'],
  request: { params: OneDocument },
  responses: { 204: { description: 'It is gone.' } },
})

const read = route({
  ...forAdmins,
  tags: ['admin'],
  operationId: 'get_admin_document',
  method: 'get',
  path: '/documents/{documentId}',
  summary: 'Download a document of a company or office',
  description: 'The file itself, not JSON. The audit trail keeps who read it.',
  errors: ['document_not_found'],
  request: { params: z.strictObject({ documentId }) },
  responses: { 200: file },
})

const picture = route({
  ...forAdmins,
  tags: ['admin'],
  operationId: 'get_admin_picture',
  method: 'get',
  path: '/pictures/{mediaId}',
  summary: 'Download a picture, also of what is suspended',
  description:
    'The file itself, not JSON. What an administrator suspended is at no public address until that ' +
    'is lifted.',
  errors: ['not_found'],
  request: {
    params: z.strictObject({ mediaId: z.uuid().describe('Of a listing, person, page or report.') }),
  },
  responses: {
    200: {
      description: 'The picture, to be saved: `Content-Disposition: attachment`.',
      content: Object.fromEntries(
        types.slice(0, 3).map((type) => [
          type,
          { schema: { type: 'string', format: 'binary' } as const },
        ]),
      ),
    },
  },
})

export const documents = area()
  .openapi(list, async (c) => send(c, await call(c, 'list_documents', c.req.valid('param'))))
  .openapi(get, async (c) => {
    const given = c.req.valid('param')
    return await sendFile(c, given.documentId, await call(c, 'get_document', given))
  })
  .openapi(remove, async (c) => {
    await call(c, 'delete_document', c.req.valid('param'))
    return sendNothing(c)
  })

export const adminDocuments = area()
  .openapi(read, async (c) => {
    const given = c.req.valid('param')
    return await sendFile(c, given.documentId, await call(c, 'get_admin_document', given))
  })
  .openapi(picture, async (c) => {
    const given = c.req.valid('param')
    return await sendFile(c, given.mediaId, await call(c, 'get_admin_picture', given), 'not_found')
  })
