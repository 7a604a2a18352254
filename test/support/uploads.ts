import { randomUUID } from 'node:crypto'
import { baseUrl, checkReply, database, type Person, type Reply } from './client.ts'

type Sent = { name?: string; type?: string; bytes: Buffer }

export function formOf(field: string, files: Sent[], fields: Record<string, unknown> = {}) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value))
  for (const { name = 'picture.jpg', type = 'image/jpeg', bytes } of files) {
    form.append(field, new Blob([new Uint8Array(bytes)], { type }), name)
  }
  return form
}

/** Returns a valid form for this operation's route; documents name a company that does not exist. */
export const formFor = (operationId: string, bytes: Buffer) =>
  formOf(
    operationId === 'upload_avatar' ? 'file' : 'files',
    [{ bytes }],
    operationId === 'upload_documents' ? { identityId: randomUUID() } : {},
  )

export async function postForm(
  person: Pick<Person, 'accessToken'> | undefined,
  path: string,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { ...(person && { authorization: `Bearer ${person.accessToken}` }), ...headers },
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })
  const text = await response.text()
  const reply = { status: response.status, body: JSON.parse(text), headers: response.headers }
  await checkReply('POST', path, reply, body)
  return reply
}

export const uploadAvatar = (person: Person, bytes: Buffer, sent: Partial<Sent> = {}) =>
  postForm(person, '/media/upload/avatar', formOf('file', [{ ...sent, bytes }]))

export const uploadPictures = (
  person: Person,
  files: (Buffer | Sent)[],
  fields: Record<string, unknown> = {},
) =>
  postForm(
    person,
    '/media/upload/listings',
    formOf('files', files.map((file) => Buffer.isBuffer(file) ? { bytes: file } : file), fields),
  )

export const uploadDocuments = (
  person: Person,
  identityId: string,
  files: (Buffer | Sent)[],
  fields: Record<string, unknown> = {},
) =>
  postForm(
    person,
    '/media/upload/documents',
    formOf('files', files.map((file) => Buffer.isBuffer(file) ? { bytes: file } : file), {
      identityId,
      ...fields,
    }),
  )

export function rawForm(parts: (string | Buffer)[], boundary = 'xxBOUNDARYxx') {
  const pieces = parts.flatMap((part) => [
    Buffer.from(`--${boundary}\r\n`),
    Buffer.isBuffer(part) ? part : Buffer.from(part),
    Buffer.from('\r\n'),
  ])
  return {
    body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }
}

export const filePart = (field: string, disposition: string, bytes: Buffer) =>
  Buffer.concat([
    Buffer.from(`Content-Disposition: form-data; name="${field}"; ${disposition}\r\n`),
    Buffer.from('Content-Type: image/jpeg\r\n\r\n'),
    bytes,
  ])

export async function download(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, bytes }
}

export async function storedFiles(identityId: string): Promise<string[]> {
  const { rows } = await database().query(
    `select bucket_id || '/' || name as path from storage.objects
    where starts_with(name, $1) order by 1`,
    [`${identityId}/`],
  )
  return rows.map(({ path }) => path)
}
