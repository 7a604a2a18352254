import { createHash, randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { type Person, signUp } from '../support/client.ts'
import { readDocument, sendDocument } from '../support/documents.ts'
import { insertWaitingCompany } from '../support/fixtures.ts'
import { pdf } from '../support/pdf.ts'
import { refusal } from '../support/problems.ts'
import { storedFiles, uploadDocuments } from '../support/uploads.ts'
import { act, byHand, edit, why } from './studio.ts'

let admin: Person
let owner: Person
let company: string
beforeEach(async () => {
  admin = await signUpAdmin()
  owner = await signUp('خالد الرشيد')
  company = await insertWaitingCompany(owner.id)
})

const waiting = async () => {
  const { body } = await admin.get(`/admin/moderation?accountId=${owner.id}`)
  return body.items[0]
}
const decide = (fields: object) =>
  admin.post(`/admin/moderation/${company}/decide`, { reason: why, ...fields })
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('MED-25 sees and reads what waits; the trail has who read it', async () => {
  expect((await waiting()).identity.documents).toEqual([])
  const { id } = await sendDocument(owner, company, 'licence')
  const [listed] = (await waiting()).identity.documents
  expect(listed).toMatchObject({
    id,
    type: 'application/pdf',
    encrypted: false,
    url: `/admin/documents/${id}`,
  })
  expect((await readDocument(admin, listed.url)).bytes.equals(pdf('licence'))).toBe(true)
  expect(await auditOf(admin, id)).toMatchObject([
    { action: 'document.read', targetType: 'document', after: { identityId: company } },
  ])
  expect(await admin.get(`/admin/documents/${randomUUID()}`)).toMatchObject(
    refusal(404, 'document_not_found'),
  )
  const locked = pdf('', 'trailer << /Root 1 0 R /Encrypt 9 0 R >>\n%%EOF')
  await uploadDocuments(owner, company, [locked])
  expect((await waiting()).identity.documents).toMatchObject([{}, { encrypted: true }])
  const marks = 'select encrypted from public.admin_documents where identity_id = $1'
  const { rows } = await byHand(marks, [company])
  expect(rows).toEqual([{ encrypted: true }, { encrypted: false }])
})

test('MED-26 decides about the documents that were seen, and the trail keeps which', async () => {
  const { id: old } = await sendDocument(owner, company, 'first')
  const { id } = await sendDocument(owner, company, 'second')
  const changed = (ids: string[]) => ({
    status: 409,
    body: { error: { code: 'documents_changed', documentIds: [...ids].sort() } },
  })
  for (const documentIds of [undefined, [], [old], [old, id, randomUUID()]]) {
    for (const decision of ['approve', 'reject']) {
      expect(await decide({ decision, documentIds })).toMatchObject(changed([old, id]))
    }
    const path = `/admin/identities/${company}/status`
    expect(await admin.patch(path, { status: 'active', reason: why, documentIds }))
      .toMatchObject(changed([old, id]))
  }
  await owner.delete(`/auth/identities/${company}/documents/${old}`)
  expect(await decide({ decision: 'approve', documentIds: [old, id] })).toMatchObject(
    changed([id]),
  )
  expect((await waiting()).identity.record.status).toBe('pending_verification')
  expect(await decide({ decision: 'approve', documentIds: [id] })).toMatchObject({
    status: 200,
    body: { status: 'active' },
  })
  const [entry] = await auditOf(admin, company)
  expect(entry.after).toEqual({
    status: 'active',
    licenceNo: expect.any(String),
    documents: [{
      name: 'picture.jpg',
      type: 'application/pdf',
      size: pdf('second').length,
      sha256: sha256(pdf('second')),
    }],
  })
  expect((await decide({ decision: 'suspend' })).status).toBe(200)
})

test('MED-26 an upload and a decision at once: nothing is decided unseen', async () => {
  const { id } = await sendDocument(owner, company)
  const [decided] = await Promise.all([
    decide({ decision: 'approve', documentIds: [id] }),
    uploadDocuments(owner, company, [pdf('late')]),
  ])
  const [entry] = await auditOf(admin, company)
  if (decided.status === 200) expect(entry.after.documents).toHaveLength(1)
  else expect([decided.status, entry.after.status]).toEqual([409, 'pending_verification'])
})

test('in Studio gives the version of the view, and types no status by hand', async () => {
  const first = await sendDocument(owner, company, 'one')
  await sendDocument(owner, company, 'two')
  const row = { act: 'verify_identity', target: company }
  await expect(act(row)).rejects.toThrow(/^It has 2 papers now: look at them/)
  await expect(act({ ...row, version: 2 })).rejects.toThrow(/^It has 2 papers/)
  await expect(act({ act: 'reject_identity', target: company, reason: why })).rejects.toThrow(
    /^It has 2 papers/,
  )
  await expect(edit('identities', company, { status: 'active' })).rejects.toThrow(
    /^It has papers: look at them/,
  )
  const seen = 'select version, papers from public.admin_identities_to_verify where id = $1'
  const view = async () => (await byHand(seen, [company])).rows[0]
  const before = await view()
  expect(before.papers).toBe('picture.jpg, picture.jpg')
  // The owner replaces one document by another, so the number of documents stays the same.
  expect((await owner.delete(first.url)).status).toBe(204)
  await sendDocument(owner, company, 'three')
  await expect(act({ ...row, version: before.version })).rejects.toThrow(/^It has 2 papers/)
  const { version } = await view()
  const { rows: files } = await byHand(
    'select file, encrypted from public.admin_documents where identity_id = $1',
    [company],
  )
  expect(files.map(({ encrypted }: { encrypted: boolean }) => encrypted)).toEqual([false, false])
  // The file of the deleted document may still be stored until a job removes it.
  expect(await storedFiles(company)).toEqual(
    expect.arrayContaining(files.map(({ file }: { file: string }) => `documents/${file}`)),
  )
  expect(await act({ ...row, version })).toMatchObject({ state: 'done' })
  const [entry] = await auditOf(admin, company)
  expect(entry.after).toMatchObject({ status: 'active', documents: [{}, {}] })
  const other = await insertWaitingCompany(owner.id)
  await expect(act({ act: 'verify_identity', target: other, version: 1 })).rejects.toThrow(
    /^It has 0 papers now/,
  )
  await edit('identities', other, { status: 'rejected', status_reason: why })
  await expect(byHand('delete from public.documents where identity_id = $1', [company])).rejects
    .toThrow(/^A document comes and goes with its file/)
})
