import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { baseUrl, type Person } from './client.ts'
import { pdf } from './pdf.ts'
import { download, uploadDocuments } from './uploads.ts'

export const readDocument = ({ accessToken }: Person, path: string) =>
  download(baseUrl + path, { authorization: `Bearer ${accessToken}` })

export async function sendDocument(
  owner: Person,
  identityId: string,
  content: string = randomUUID(),
): Promise<{ id: string; url: string }> {
  const { status, body } = await uploadDocuments(owner, identityId, [pdf(content)])
  expect(status).toBe(201)
  const id = body.files[0].documentId
  return { id, url: `/auth/identities/${identityId}/documents/${id}` }
}
