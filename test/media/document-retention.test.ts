import { beforeEach, describe, expect, test } from 'vitest'
import { serviceStorage } from '../support/buckets.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { sendDocument } from '../support/documents.ts'
import { insertWaitingCompany } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'
import { pdf } from '../support/pdf.ts'
import { refusal } from '../support/problems.ts'
import { storedFiles } from '../support/uploads.ts'

let owner: Person
let company: string
beforeEach(async () => {
  owner = await signUp('خالد الرشيد')
  company = await insertWaitingCompany(owner.id)
})

const listOf = async () => (await owner.get(`/auth/identities/${company}/documents`)).body.items
const missing = refusal(404, 'document_not_found')
const sendOne = () => sendDocument(owner, company)

describe('MED-27 a document goes', () => {
  const daysLeft = async () => {
    const { rows } = await database().query(
      `select round(extract(epoch from kept_until - now()) / 86400)::integer as days
       from public.documents where identity_id = $1 order by created_at`,
      [company],
    )
    return rows.map(({ days }) => days)
  }
  const runTheirTime = (column: string) =>
    database().query(
      `update public.documents set ${column} = now() - interval '1 second' where identity_id = $1`,
      [company],
    )

  test('180 days after an upload, 90 after the last decision, and then with its file', async () => {
    await sendOne()
    expect(await daysLeft()).toEqual([180])
    const setStatus = (status: string) =>
      database().query('update public.identities set status = $2 where id = $1', [company, status])
    await setStatus('rejected')
    await sendOne()
    expect(await daysLeft()).toEqual([90, 180])
    await runTheirTime('kept_until')
    await setStatus('suspended')
    expect(await daysLeft()).toEqual([90, 90])
    // An expired licence or a withdrawn change does not alter how long the documents are kept.
    await database().query(
      `update public.documents set kept_until = now() + interval '10 days' where identity_id = $1`,
      [company],
    )
    await setStatus('expired')
    const rename = async (nameAr: string) =>
      (await owner.patch(`/auth/identities/${company}`, { nameAr })).body
    const { nameAr } = await rename('شركة أخرى')
    expect((await rename(nameAr)).pendingChanges).toBe(null)
    expect(await daysLeft()).toEqual([10, 10])
    await runTheirTime('kept_until')
    await runJobs()
    expect(await listOf()).toEqual([])
    await expect.poll(() => storedFiles(company)).toEqual([])
    expect(await daysLeft()).toEqual([])
  })

  test('at once when its owner removes it, with its name', async () => {
    const { id, url } = await sendOne()
    expect((await owner.delete(url)).status).toBe(204)
    expect(await owner.delete(url)).toMatchObject(missing)
    expect(await owner.get(url)).toMatchObject(missing)
    expect(await listOf()).toEqual([])
    const { rows } = await database().query('select name from public.documents where id = $1', [id])
    expect(rows.map(({ name }) => name).join('')).toBe('')
    await runJobs()
    await expect.poll(() => storedFiles(company)).toEqual([])
  })

  test('180 days after its company is closed, and no longer than its account', async () => {
    await sendOne()
    await database().query(
      `update public.documents set kept_until = now() + interval '10 days' where identity_id = $1`,
      [company],
    )
    await database().query(`update public.identities set status = 'closed' where id = $1`, [
      company,
    ])
    expect(await daysLeft()).toEqual([180])
    await database().query('delete from auth.users where id = $1', [owner.id])
    await runJobs()
    await expect.poll(() => storedFiles(company)).toEqual([])
    expect(await daysLeft()).toEqual([])
  })

  test('a file whose upload died half-way is seen by nobody and removed', async () => {
    const { rows: [upload] } = await database().query(
      `insert into private.uploads (account_id, identity_id, bucket)
       values ($1, $2, 'documents') returning id`,
      [owner.id, company],
    )
    const name = `${company}/${upload.id.slice(0, 34)}00.pdf`
    const stored = await serviceStorage.from('documents').upload(name, pdf(), {
      contentType: 'application/pdf',
    })
    expect(stored.error).toBe(null)
    expect(await listOf()).toEqual([])
    await database().query('update private.uploads set due_at = now() where id = $1', [upload.id])
    await runJobs()
    await expect.poll(() => storedFiles(company)).toEqual([])
  })

  test('is in the export of its owner, without its content', async () => {
    const { id } = await sendOne()
    const { body } = await owner.get('/auth/me/export')
    const { documents } = body.identities.find(
      (one: { identity: { id: string } }) => one.identity.id === company,
    )
    expect(documents).toEqual([{
      id,
      name: 'picture.jpg',
      type: 'application/pdf',
      size: expect.any(Number),
      createdAt: expect.any(String),
    }])
  })
})
