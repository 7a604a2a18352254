// MED-27: Storage is down, a document's file is missing, or an upload is interrupted.
import { connect } from 'node:net'
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jsonAnswer, startProjectProxy } from '../base/project-proxy.ts'
import { serviceStorage } from '../support/buckets.ts'
import { baseUrl, database, type Person, signUp } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { insertWaitingCompany } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'
import { refusal } from '../support/problems.ts'
import { pdf } from '../support/pdf.ts'
import {
  download,
  filePart,
  formOf,
  rawForm,
  storedFiles,
  uploadDocuments,
} from '../support/uploads.ts'
import { waitUntil } from '../support/wait.ts'

let owner: Person
let company: string
beforeEach(async () => {
  owner = await signUp()
  company = await insertWaitingCompany(owner.id)
})

const documentsPath = () => `/auth/identities/${company}/documents`
const listed = async () => (await owner.get(documentsPath())).body.items
const bearer = () => ({ authorization: `Bearer ${owner.accessToken}` })

async function sendOne(content: string = randomUUID()) {
  const { status, body } = await uploadDocuments(owner, company, [pdf(content)])
  expect(status).toBe(201)
  return `${documentsPath()}/${body.files[0].documentId}`
}

async function giveUp() {
  await database().query('update private.uploads set due_at = now() where account_id = $1', [
    owner.id,
  ])
  await runJobs()
}

test('one whose file is missing is 404, and is removed like every other', async () => {
  const path = await sendOne()
  const [file] = await storedFiles(company)
  const lost = await serviceStorage.from('documents').remove([file!.replace('documents/', '')])
  expect(lost.data).toHaveLength(1)
  expect(await owner.get(path)).toMatchObject(refusal(404, 'document_not_found'))
  expect(await listed()).toHaveLength(1)
  expect((await owner.delete(path)).status).toBe(204)
  await runJobs()
  const { rows } = await database().query('select from public.documents where identity_id = $1', [
    company,
  ])
  expect(rows).toEqual([])
})

test('of an upload that is cut off nothing is seen, and what it had stored is removed', async () => {
  const { body, headers } = rawForm([
    `Content-Disposition: form-data; name="identityId"\r\n\r\n${company}`,
    filePart('files', 'filename="a.pdf"', pdf('whole')),
    filePart('files', 'filename="b.pdf"', pdf('x'.repeat(100_000))),
  ])
  const { hostname, port, pathname } = new URL(`${baseUrl}/media/upload/documents`)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n` +
      `Authorization: ${bearer().authorization}\r\nContent-Type: ${headers['content-type']}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`,
  )
  socket.write(body.subarray(0, body.length - 50_000))
  await waitUntil('the first is stored', async () => (await storedFiles(company)).length === 1)
  socket.destroy()
  expect(await listed()).toEqual([])
  await giveUp()
  expect(await storedFiles(company)).toEqual([])
  expect(await listed()).toEqual([])
  expect((await uploadDocuments(owner, company, [pdf('whole')])).status).toBe(201)
})

describe.runIf(hasStack)('Storage is away', () => {
  let way: Awaited<ReturnType<typeof startProjectProxy>>
  let facade: Facade

  beforeAll(async () => {
    way = await startProjectProxy()
    facade = await startFacade(way.settings)
  })
  afterAll(async () => {
    await facade?.stop()
    way?.stop()
  })
  afterEach(() => way.answers.clear())

  const outages: [what: string, answer: Parameters<typeof way.answers.set>[1]][] = [
    ['busy', jsonAnswer(503, { statusCode: '503', error: 'Unavailable', message: 'busy' })],
    ['in trouble', jsonAnswer(500, { statusCode: '500', error: 'Internal', message: 'no' })],
    ['not there', (response) => void response.destroy()],
  ]
  const away = refusal(503, 'service_unavailable')

  async function send(bytes: Buffer) {
    const response = await fetch(`${facade.url}/media/upload/documents`, {
      method: 'POST',
      headers: bearer(),
      body: formOf('files', [{ bytes }], { identityId: company }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  test.each(outages)(
    '%s: an upload is 503, and the same file is taken later',
    async (_, answer) => {
      way.answers.set(`/storage/v1/object/documents/${company}/`, answer)
      const bytes = pdf(randomUUID())
      const refused = await send(bytes)
      expect(refused).toMatchObject(away)
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(await listed()).toEqual([])
      way.answers.clear()
      expect((await send(bytes)).status).toBe(201)
      expect(await listed()).toHaveLength(1)
      await giveUp()
      expect(await storedFiles(company)).toHaveLength(1)
    },
  )

  test.each(outages)('%s: a download is 503, and the file comes later', async (_, answer) => {
    const path = await sendOne('licence')
    way.answers.set(`/storage/v1/object/authenticated/documents/${company}/`, answer)
    const refused = await facade.get(path, bearer())
    expect(refused).toMatchObject(away)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    way.answers.clear()
    expect((await download(facade.url + path, bearer())).bytes.equals(pdf('licence'))).toBe(true)
  })

  test('a file that breaks off is never taken for whole', async () => {
    const path = await sendOne('x'.repeat(500_000))
    way.answers.set(
      `/storage/v1/object/authenticated/documents/${company}/`,
      (response) => {
        response.writeHead(200, { 'content-type': 'application/pdf' })
        response.write(pdf('x'.repeat(1000)), () => response.destroy())
      },
    )
    await expect(download(facade.url + path, bearer())).rejects.toThrow()
    // A file that is too short must not look complete either.
    way.answers.set(
      `/storage/v1/object/authenticated/documents/${company}/`,
      (response) => void response.end(pdf('x'.repeat(1000))),
    )
    await expect(download(facade.url + path, bearer())).rejects.toThrow()
  })
})
