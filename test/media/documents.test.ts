import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { guestStorage, serviceStorage, storageAs, storageRefusal } from '../support/buckets.ts'
import {
  database,
  guest,
  type Person,
  projectUrl,
  publishableKey,
  signUp,
} from '../support/client.ts'
import { readDocument, sendDocument } from '../support/documents.ts'
import { insertWaitingCompany } from '../support/fixtures.ts'
import { exifSegment, jpeg, partsIn } from '../support/pictures.ts'
import { fieldRefusal, refusal } from '../support/problems.ts'
import { pdf } from '../support/pdf.ts'
import {
  download,
  filePart,
  formOf,
  postForm,
  rawForm,
  storedFiles,
  uploadDocuments,
} from '../support/uploads.ts'
import { waitUntil } from '../support/wait.ts'

let owner: Person
let company: string
beforeEach(async () => {
  owner = await signUp('خالد الرشيد')
  company = await insertWaitingCompany(owner.id)
})

const listOf = async (person = owner, identityId = company) =>
  (await person.get(`/auth/identities/${identityId}/documents`)).body.items
const missing = refusal(404, 'document_not_found')

const sendOne = (content?: string) => sendDocument(owner, company, content)

describe('upload', () => {
  test('MED-20 a PDF stays as it came, a picture loses its metadata, both are listed', async () => {
    const licence = pdf('رخصة')
    const photo = jpeg({ width: 8, height: 8, before: [exifSegment(1, 'SECRET-PLACE')] })
    const { status, body } = await uploadDocuments(owner, company, [
      { name: 'رخصة\u202E 2026.pdf', type: 'text/html', bytes: licence },
      { name: '../../photo.jpg', type: 'application/pdf', bytes: photo },
    ])
    expect(status).toBe(201)
    expect(body).toEqual({
      files: [
        { index: 0, name: 'رخصة 2026.pdf', ok: true, documentId: expect.any(String) },
        { index: 1, name: '../../photo.jpg', ok: true, documentId: expect.any(String) },
      ],
    })
    const [first, second] = body.files
    const path = `/auth/identities/${company}/documents`
    const listed = await owner.get(path)
    expect(listed.body).toEqual({
      items: [
        {
          id: first.documentId,
          name: 'رخصة 2026.pdf',
          type: 'application/pdf',
          size: licence.length,
          encrypted: false,
          createdAt: expect.any(String),
          url: `${path}/${first.documentId}`,
        },
        expect.objectContaining({ id: second.documentId, type: 'image/jpeg' }),
      ],
      nextCursor: null,
    })
    const sent = await readDocument(owner, listed.body.items[0].url)
    expect(sent.bytes.equals(licence)).toBe(true)
    expect(Object.fromEntries(sent.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${first.documentId}.pdf"`,
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    })
    const picture = await readDocument(owner, listed.body.items[1].url)
    expect(picture.headers.get('content-type')).toBe('image/jpeg')
    expect(picture.bytes.includes('SECRET-PLACE')).toBe(false)
    expect(partsIn(picture.bytes)).not.toContain('more')
    const again = await uploadDocuments(owner, company, [licence, photo])
    expect(again.body.files).toMatchObject(
      body.files.map(({ index, documentId }: typeof first) => ({
        index,
        documentId,
        ok: true,
      })),
    )
    expect(await storedFiles(company)).toHaveLength(2)
  })

  const bad: [string, Buffer][] = [
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>')],
    ['a ZIP', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(1021), pdf()])],
    ['nothing', Buffer.alloc(0)],
    ['a PDF after 1,025 bytes', Buffer.concat([Buffer.alloc(1025), pdf()])],
    ['a PDF that is cut', pdf('', 'trailer')],
    ['a PDF that ends too early', Buffer.concat([pdf(), Buffer.alloc(1025, 'x')])],
    ['a PDF of blanks alone after its beginning', Buffer.from(`%PDF-1.7${' '.repeat(2000)}`)],
    ['a broken picture', jpeg({ width: 8, height: 8 }).subarray(0, 40)],
    [
      'a broken picture that names itself a PDF',
      Buffer.concat([jpeg({ width: 8, height: 8 }).subarray(0, 40), pdf()]),
    ],
  ]
  test.each(bad)('MED-21 %s is no document', async (_what, bytes) => {
    expect(await uploadDocuments(owner, company, [bytes])).toMatchObject(
      refusal(415, 'file_not_document'),
    )
    expect(await listOf()).toEqual([])
    expect(await storedFiles(company)).toEqual([])
  })

  test('MED-14 a picture of another format is refused by its name', async () => {
    const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')
    const { status, body } = await uploadDocuments(owner, company, [heic])
    expect([status, body.error]).toMatchObject([415, {
      code: 'file_not_document',
      format: 'HEIC',
      messageEn: 'HEIC pictures are not accepted: send JPEG, PNG, WebP or PDF',
    }])
  })

  const padded: [string, Buffer, Buffer?][] = [
    ['a blank', Buffer.from(' ')],
    ['a byte order mark and an empty line', Buffer.from('\ufeff\r\n')],
    ['1,024 NULs', Buffer.alloc(1024)],
    ['the job language of a printer', Buffer.from('\x1b%-12345X@PJL ENTER LANGUAGE=PDF\r\n')],
    ['what a web server said', Buffer.from('<html>\nContent-Type: application/pdf\r\n\r\n')],
    ['nothing, with 100,000 NULs', Buffer.alloc(0), Buffer.alloc(100_000)],
    ['nothing, with 3,000 blanks', Buffer.alloc(0), Buffer.alloc(3000, ' ')],
    ['nothing, with 3,000 line ends', Buffer.alloc(0), Buffer.from('\r\n\n\r\t\f'.repeat(500))],
    ['nothing, with 1,000 other bytes', Buffer.alloc(0), Buffer.alloc(1000, 'x')],
  ]
  test.each(padded)(
    'MED-21 a PDF after %s is one, and stays as it came',
    async (_what, before, after) => {
      const bytes = Buffer.concat([before, pdf(), ...(after ? [after] : [])])
      expect((await uploadDocuments(owner, company, [bytes])).status).toBe(201)
      const [{ type, url, encrypted }] = await listOf()
      expect([type, encrypted]).toEqual(['application/pdf', false])
      expect((await readDocument(owner, url)).bytes.equals(bytes)).toBe(true)
    },
  )

  test('MED-21 an encrypted PDF is marked, one that only speaks of encryption is not', async () => {
    const files = [
      pdf('', 'trailer << /Root 1 0 R /Encrypt 9 0 R >>\n%%EOF'),
      pdf('', 'trailer <</Encrypt<</Filter/Standard>>>>\n%%EOF'),
      pdf('', 'trailer << /#45ncr#79pt 9 0 R >>\n%%EOF'),
      pdf('x'.repeat(65_511), 'trailer << /Encrypt 9 0 R >>\n%%EOF'),
      pdf('/EncryptMetadata false (how to /Encrypt a file)'),
    ]
    expect((await uploadDocuments(owner, company, files)).status).toBe(201)
    const marks = (await listOf()).map(({ encrypted }: { encrypted: boolean }) => encrypted)
    expect(marks).toEqual([true, true, true, true, false])
  })

  test('a picture with a PDF inside is a picture, without its metadata', async () => {
    const hidden = exifSegment(1, `SECRET-PLACE ${pdf().toString('latin1')}`)
    const photo = jpeg({ width: 8, height: 8, before: [hidden] })
    expect((await uploadDocuments(owner, company, [photo])).status).toBe(201)
    const [{ type, url }] = await listOf()
    expect(type).toBe('image/jpeg')
    expect((await readDocument(owner, url)).bytes.includes('SECRET-PLACE')).toBe(false)
  })

  test('a PDF with a page in it is served to be saved, as a PDF', async () => {
    const { url } = await sendOne('<html><script>alert(document.domain)</script></html>')
    const { headers } = await readDocument(owner, url)
    expect(headers.get('content-type')).toBe('application/pdf')
    expect(headers.get('content-disposition')).toMatch(/^attachment; /)
    expect(headers.get('content-security-policy')).toBe('sandbox')
  })

  test('a bad one among good ones is named, and the size counts to the byte', async () => {
    const limit = 10 * 1024 * 1024
    const whole = (length: number) =>
      Buffer.concat([Buffer.from('%PDF-'), Buffer.alloc(length - 10, 1), Buffer.from('%%EOF')])
    const { status, body } = await uploadDocuments(owner, company, [
      whole(limit),
      whole(limit + 1),
      Buffer.from('<html>'),
    ])
    expect(status).toBe(201)
    expect(body.files).toMatchObject([
      { index: 0, ok: true },
      { index: 1, ok: false, error: { code: 'file_too_large', max: 10 } },
      { index: 2, ok: false, error: { code: 'file_not_document' } },
    ])
    expect(await uploadDocuments(owner, company, [whole(limit + 1)])).toMatchObject(
      refusal(413, 'file_too_large'),
    )
    const [{ url, size }] = await listOf()
    expect(size).toBe(limit)
    expect((await readDocument(owner, url)).bytes.length).toBe(limit)
  })

  test('the form is one identity, then one to five files', async () => {
    const send = (form: FormData) => postForm(owner, '/media/upload/documents', form)
    expect(await send(formOf('files', [{ bytes: pdf() }]))).toMatchObject(
      fieldRefusal(422, 'validation_failed', 'identityId'),
    )
    const late = formOf('files', [{ bytes: pdf() }])
    late.append('identityId', company)
    expect(await send(late)).toMatchObject(fieldRefusal(422, 'validation_failed', 'identityId'))
    expect(await uploadDocuments(owner, 'x', [pdf()])).toMatchObject(
      fieldRefusal(422, 'validation_failed', 'identityId'),
    )
    expect(await uploadDocuments(owner, company, [pdf()], { note: 'x' })).toMatchObject(
      fieldRefusal(422, 'validation_failed', 'note'),
    )
    expect(await uploadDocuments(owner, company, [])).toMatchObject(refusal(422, 'file_missing'))
    const six = Array.from({ length: 6 }, (_, at) => pdf(`${at}`))
    expect(await uploadDocuments(owner, company, six)).toMatchObject(
      fieldRefusal(422, 'validation_failed', 'files'),
    )
    expect(await listOf()).toEqual([])
    expect(await storedFiles(company)).toEqual([])
  })

  test("MED-22 for one's own company or office, whatever its state, unless it is closed", async () => {
    const nobodys = refusal(404, 'identity_not_found')
    const stranger = await signUp()
    const theirs = await insertWaitingCompany(stranger.id)
    for (const identityId of [theirs, owner.identityId, randomUUID()]) {
      expect(await uploadDocuments(owner, identityId, [pdf()])).toMatchObject(nobodys)
    }
    expect(await postForm(undefined, '/media/upload/documents', formOf('files', []))).toMatchObject(
      refusal(401, 'token_missing'),
    )
    for (const status of ['rejected', 'suspended', 'expired', 'active']) {
      await database().query('update public.identities set status = $2 where id = $1', [
        company,
        status,
      ])
      expect((await uploadDocuments(owner, company, [pdf(status)])).status).toBe(201)
    }
    await database().query(`update public.identities set status = 'closed' where id = $1`, [
      company,
    ])
    expect(await uploadDocuments(owner, company, [pdf()])).toMatchObject(nobodys)
    expect(await storedFiles(owner.identityId)).toEqual([])
  })

  test('MED-23 of ten uploads at once no more are kept than the limit', async () => {
    const uploads = await Promise.all(
      Array.from(
        { length: 10 },
        (_, at) => uploadDocuments(owner, company, [pdf(`a ${at}`), pdf(`b ${at}`)]),
      ),
    )
    const files = uploads.flatMap(({ status, body }) => {
      if (status === 409) expect(body.error).toMatchObject({ code: 'documents_full', limit: 10 })
      return body.files ?? []
    })
    expect(files.filter(({ ok }) => ok)).toHaveLength(10)
    for (const { ok, error } of files) if (!ok) expect(error.code).toBe('documents_full')
    const [first, ...others] = await listOf()
    expect(others).toHaveLength(9)
    expect(await uploadDocuments(owner, company, [pdf('one more')])).toMatchObject({
      status: 409,
      body: { error: { code: 'documents_full', limit: 10, used: 10 } },
    })
    expect((await owner.delete(first.url)).status).toBe(204)
    expect((await uploadDocuments(owner, company, [pdf('one more')])).status).toBe(201)
  })

  test('MED-23 a file that is there takes no room, sent twice or by another upload meanwhile', async () => {
    const fill = () => uploadDocuments(owner, company, [1, 2, 3, 4].map(() => pdf(randomUUID())))
    expect([(await fill()).status, (await fill()).status]).toEqual([201, 201])
    const [paper, last, beyond] = [pdf('a'), pdf('b'), pdf('c')]
    const { body: form, headers } = rawForm([
      Buffer.from(`Content-Disposition: form-data; name="identityId"\r\n\r\n${company}`),
      ...[paper, paper, beyond, last, paper].map((bytes) =>
        filePart('files', 'filename="x.pdf"', bytes)
      ),
    ])
    // While this upload is still running, another upload stores two of the same files.
    const cut = form.indexOf(paper) + paper.length + 100
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const slow = postForm(owner, '/media/upload/documents', readable, headers)
    await writer.write(new Uint8Array(form.subarray(0, cut)))
    await waitUntil('it has begun', async () => {
      const text = 'select from private.uploads where identity_id = $1'
      return (await database().query(text, [company])).rowCount === 1
    })
    const { files: [first, second] } = (await uploadDocuments(owner, company, [paper, last])).body
    await writer.write(new Uint8Array(form.subarray(cut)))
    await writer.close()
    const there = { ok: true, documentId: first.documentId }
    expect((await slow).body.files).toMatchObject([
      there,
      there,
      { ok: false, error: { code: 'documents_full' } },
      { ok: true, documentId: second.documentId },
      there,
    ])
    expect(await listOf()).toHaveLength(10)
  })

  test('MED-23 an account keeps 30, however many companies it asks for', async () => {
    const companies = [company]
    while (companies.length < 4) companies.push(await insertWaitingCompany(owner.id))
    const five = () => Array.from({ length: 5 }, () => pdf(randomUUID()))
    for (const identityId of companies.slice(0, 3)) {
      for (let times = 0; times < 2; times++) {
        const { body } = await uploadDocuments(owner, identityId, five())
        expect(body.files.every(({ ok }: { ok: boolean }) => ok)).toBe(true)
      }
    }
    expect(await uploadDocuments(owner, companies[3]!, five())).toMatchObject({
      status: 409,
      body: { error: { code: 'documents_full', limit: 30, used: 30 } },
    })
  })
})

describe('MED-24 nobody else', () => {
  test('lists, reads or removes it: what is hidden looks as what is missing', async () => {
    const { id, url } = await sendOne()
    const stranger = await signUp()
    const other = await insertWaitingCompany(stranger.id)
    for (const path of [url, `/auth/identities/${other}/documents/${id}`]) {
      expect(await stranger.get(path)).toMatchObject(missing)
      expect(await stranger.delete(path)).toMatchObject(missing)
    }
    expect(await owner.get(`/auth/identities/${owner.identityId}/documents/${id}`)).toMatchObject(
      missing,
    )
    expect(await stranger.get(`/auth/identities/${company}/documents`)).toMatchObject(
      refusal(404, 'identity_not_found'),
    )
    for (const path of [url, `/admin/documents/${id}`]) {
      expect(await guest.get(path)).toMatchObject(refusal(401, 'token_missing'))
    }
    for (const person of [owner, stranger]) {
      expect(await person.get(`/admin/documents/${id}`)).toMatchObject(refusal(403, 'admin_only'))
    }
    expect((await owner.get(url)).status).toBe(200)
  })

  test('reaches it at the doors of Storage, not even its owner', async () => {
    await sendOne()
    const [path] = await storedFiles(company)
    const name = path!.replace('documents/', '')
    for (const storage of [storageAs(owner), storageAs(await signUp()), guestStorage]) {
      const files = storage.from('documents')
      expect((await files.download(name)).error).not.toBe(null)
      expect(await files.info(name)).toMatchObject(storageRefusal('404'))
      expect(await files.list(company)).toEqual({ data: [], error: null })
      expect(await files.createSignedUrl(name, 60)).toMatchObject(storageRefusal('404'))
      expect((await files.createSignedUrls([name], 60)).data).toMatchObject([{ signedUrl: null }])
      expect(await files.createSignedUploadUrl(`${company}/x.pdf`)).toMatchObject(
        storageRefusal('403'),
      )
      expect(await files.upload(name, 'x', { contentType: 'application/pdf', upsert: true }))
        .toMatchObject(storageRefusal('403'))
      expect(await files.move(name, `${company}/x.pdf`)).toMatchObject(storageRefusal('404'))
      expect(await files.copy(name, `${company}/x.pdf`)).toMatchObject(storageRefusal('404'))
      expect(await files.remove([name])).toEqual({ data: [], error: null })
    }
    const keys: Record<string, string>[] = [
      {},
      { apikey: publishableKey },
      { apikey: publishableKey, authorization: `Bearer ${owner.accessToken}` },
    ]
    for (const headers of keys) {
      for (const door of ['', 'public/', 'authenticated/', 'info/', 'info/public/', 'sign/']) {
        const at = `${projectUrl}/storage/v1/object/${door}${path}`
        expect((await download(at, headers)).status, `${door} ${Object.keys(headers)}`)
          .toBeGreaterThanOrEqual(400)
      }
    }
    expect((await serviceStorage.from('documents').download(name)).error).toBe(null)
  })
})
