import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeEach, describe, expect, test } from 'vitest'
import { baseUrl, database, type Person, signUp } from '../support/client.ts'
import { insertWaitingCompany } from '../support/fixtures.ts'
import { createDraft } from '../support/listings.ts'
import { jpeg, png, pngOf } from '../support/pictures.ts'
import { refusal } from '../support/problems.ts'
import { within } from '../support/promised-times.ts'
import {
  download,
  filePart,
  postForm,
  rawForm,
  storedFiles,
  uploadAvatar,
  uploadPictures,
} from '../support/uploads.ts'
import { runJobs } from '../support/jobs.ts'
import { pause } from '../support/wait.ts'

const MiB = 1024 * 1024
const size = { width: 40, height: 30 }
const avatar = '/media/upload/avatar'
const listings = '/media/upload/listings'

let owner: Person

beforeEach(async () => {
  owner = await signUp()
})

describe('MED-02 the limit', () => {
  test.each([5_000_000, 5 * MiB - 1, 5 * MiB])(
    'takes an avatar of %i bytes whole',
    async (bytes) => {
      const { status, body } = await uploadAvatar(owner, pngOf(bytes))
      expect(status).toBe(201)
      expect((await download(body.url)).bytes.length).toBe(bytes)
    },
  )

  test('refuses one byte more, and says how much it takes', async () => {
    const refused = {
      status: 413,
      body: {
        error: {
          code: 'file_too_large',
          max: 5,
          message: 'حجم الملف أكبر من الحد المسموح (5 ميغابايت)',
        },
      },
    }
    expect(await uploadAvatar(owner, pngOf(5 * MiB + 1))).toMatchObject(refused)
    const large = Buffer.concat([pngOf(1_000_000), Buffer.alloc(49_000_000)])
    const reply = await within(
      'a file that is too large is refused',
      () => uploadAvatar(owner, large),
    )
    expect(reply).toMatchObject(refused)
    expect(await storedFiles(owner.identityId)).toEqual([])
  })

  test('of a listing is 10 MiB a file: a larger one is named, the others are kept', async () => {
    const files = [jpeg(size), pngOf(10 * MiB + 1), pngOf(10 * MiB), png(size)]
    const { status, body } = await uploadPictures(owner, files)
    expect(status).toBe(201)
    expect(body.files.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, false, true, true])
    expect(body.files[1].error).toMatchObject({ code: 'file_too_large', max: 10 })
    expect((await download(body.files[3].url)).bytes).toEqual(png(size))
  })

  test('of a request is 20 files and 100 MiB, counted also without a Content-Length', async () => {
    const many = await uploadPictures(owner, Array(21).fill(jpeg(size)))
    expect(many).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'files', code: 'too_big' }] } },
    })
    const { body, headers } = rawForm([
      ...Array(11).fill(filePart('files', 'filename="a.png"', Buffer.alloc(9.9 * MiB))),
    ])
    const reply = await postForm(owner, listings, new Uint8Array(body), headers)
    expect(reply).toMatchObject({ status: 413, body: { error: { code: 'body_too_large' } } })
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(body))
        controller.close()
      },
    })
    expect((await postForm(owner, listings, stream, headers)).status).toBe(413)
    expect(await storedFiles(owner.identityId)).toEqual([])
  })
})

test('INP-12 a request with too large a Content-Length is refused before anything else', async () => {
  const { host, port, pathname } = new URL(baseUrl + avatar)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n` +
      `Content-Type: text/plain\r\nContent-Length: ${100 * MiB + 1}\r\n\r\n`,
  )
  const [said] = await once(socket, 'data')
  socket.destroy()
  expect(String(said)).toMatch(/^HTTP\/1.1 413 /)
})

/** Sends the beginning of an upload over its own socket; `done` resolves to the response. */
function begun(path: string, bytes: Buffer, length: number, type: string) {
  const { hostname, port, pathname } = new URL(baseUrl + path)
  const socket = connect(Number(port), hostname)
  let said = ''
  socket.on('data', (data) => (said += data))
  socket.on('error', () => {})
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n` +
      `Authorization: Bearer ${owner.accessToken}\r\nContent-Type: ${type}\r\n` +
      `Content-Length: ${length}\r\n\r\n`,
  )
  socket.write(bytes)
  return { socket, done: once(socket, 'close').then(() => said) }
}

describe('MED-06 a broken form', () => {
  const picture = () => filePart('file', 'filename="a.jpg"', jpeg(size))
  const empty = (name: string, value: string) =>
    `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`

  const forms: [what: string, make: () => { body: Buffer; headers: Record<string, string> }][] = [
    ['no field', () => rawForm([])],
    ['the field twice', () => rawForm([picture(), picture()])],
    ['another field', () => rawForm([picture(), empty('owner', 'me')])],
    ['text where the file should be', () => rawForm([empty('file', 'words')])],
    ['a field name of 1 MB', () => rawForm([empty('x'.repeat(1_000_000), 'x')])],
    ['10,000 parts', () => rawForm(Array(10_000).fill(empty('x', 'x')))],
    ['two names', () =>
      rawForm([
        filePart('file', 'filename="a.jpg"; filename="b.html"', jpeg(size)),
      ])],
    ['no name', () => rawForm([`Content-Disposition: form-data\r\n\r\nx`])],
    ['no headers', () => rawForm(['\r\nx'])],
    ['another boundary', () => ({
      body: rawForm([picture()], 'other').body,
      headers: rawForm([]).headers,
    })],
    ['no final boundary', () => {
      const { body, headers } = rawForm([picture()])
      return { body: body.subarray(0, -10), headers }
    }],
    ['cut at half', () => {
      const { body, headers } = rawForm([picture()])
      return { body: body.subarray(0, body.length / 2), headers }
    }],
    ['nothing at all', () => ({ body: Buffer.alloc(0), headers: rawForm([]).headers })],
  ]
  test.each(forms)('with %s is refused', async (_, make) => {
    const { body, headers } = make()
    const reply = await postForm(owner, avatar, new Uint8Array(body), headers)
    expect(reply.status).toBe(422)
    expect((await postForm(owner, listings, new Uint8Array(body), headers)).status).toBe(422)
    expect(await storedFiles(owner.identityId)).toEqual([])
  })

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="a b "',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    'multipart/mixed; boundary=x',
    'application/json',
    'image/jpeg',
  ])('of type %s is refused', async (type) => {
    const reply = await postForm(owner, avatar, new Uint8Array(jpeg(size)), {
      'content-type': type,
    })
    expect(reply).toMatchObject({
      status: 415,
      body: { error: { code: 'content_type_unsupported' } },
    })
  })

  test('fields are checked like any other', async () => {
    const { id } = await createDraft(owner)
    for (
      const fields of [
        { propertyId: 'x' },
        { uploadSessionId: 'x'.repeat(1000) },
        { startPosition: '-1' },
        { startPosition: '1.5' },
        ...['1000', '٥٫٥', '1e2', 'x'].map((startPosition) => ({ startPosition })),
        { position: '1' },
        { propertyId: `${id} ` },
      ]
    ) expect((await uploadPictures(owner, [jpeg(size)], fields)).status).toBe(422)
    const { body } = await uploadPictures(owner, [jpeg(size)], {
      propertyId: id,
      uploadSessionId: randomUUID(),
      startPosition: '٧',
    })
    expect(body.files[0].position).toBe(7)
    expect(await storedFiles(owner.identityId)).toHaveLength(1)
  })

  test('a field without a text is absent, and a text may be JSON', async () => {
    const { id } = await createDraft(owner)
    const session = randomUUID()
    const field = (name: string, value: string, more = '') =>
      `Content-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}`
    const file = (name: string) =>
      filePart(name, 'filename="a.jpg"', jpeg({ ...size, shade: sent++ }))
    let sent = 0
    const post = (path: string, ...parts: (string | Buffer)[]) => {
      const { body, headers } = rawForm(parts)
      return postForm(owner, path, new Uint8Array(body), headers)
    }
    for (const nothing of ['', '""', 'null']) {
      const empty = ['propertyId', 'startPosition'].map((name) => field(name, nothing))
      const { status, body } = await post(
        listings,
        ...[...empty, field('uploadSessionId', JSON.stringify(session)), file('files')],
      )
      expect([status, body.propertyId, body.uploadSessionId]).toEqual([201, null, session])
      expect((await post(avatar, file('file'), empty[0]!)).status).toBe(201)
    }
    const json = '; filename="blob"\r\nContent-Type: application/json'
    const { body } = await post(
      listings,
      ...[field('propertyId', `"${id}"`, json), field('uploadSessionId', ''), file('files')],
      ...[field('startPosition', '7'), field('startPosition', '')],
    )
    expect([body.propertyId, body.files[0].position]).toEqual([id, 7])

    const company = await insertWaitingCompany(owner.id)
    const documents = '/media/upload/documents'
    const parts = [field('identityId', ''), field('identityId', `"${company}"`), file('files')]
    expect((await post(documents, ...parts)).status).toBe(201)
    const missing = { status: 422, body: { error: { fields: [{ path: 'identityId' }] } } }
    expect(await post(documents, field('identityId', ''), file('files'))).toMatchObject(missing)
    for (
      const wrong of [`"${company}`, `["${company}"]`, `""${company}""`, `'${company}'`, '"x"']
    ) {
      expect(await post(documents, field('identityId', wrong), file('files'))).toMatchObject(
        missing,
      )
    }
    expect(await post(avatar, field('file', ''))).toMatchObject(refusal(422, 'file_missing'))
  })

  test('that stalls ends with 408, and nothing of it is kept', async () => {
    const { body, headers } = rawForm([
      filePart('files', 'filename="a.jpg"', jpeg(size)),
      filePart('files', 'filename="b.jpg"', jpeg(size)),
    ])
    const type = headers['content-type']
    const part = body.subarray(0, body.length - 60)
    const stalled = [
      begun(listings, part, body.length, type),
      begun(listings, body, body.length + 100_000, type),
      begun(avatar, Buffer.alloc(0), 1000, type),
    ]
    const [first, second, third] = await within(
      'an upload that stalls is ended',
      () => Promise.all(stalled.map(({ done }) => done)),
    )
    for (const said of [first, third]) {
      expect(said).toMatch(/^HTTP\/1.1 408 /)
      expect(said).toContain('upload_timeout')
    }
    // The form was complete, so the rest of the announced length does not matter.
    expect(second).toMatch(/^HTTP\/1.1 201 /)
    expect(await storedFiles(owner.identityId)).toHaveLength(2)
  })

  test('that is cut off leaves nothing, and the next one is served', async () => {
    const { body, headers } = rawForm([
      filePart('files', 'filename="a.jpg"', jpeg(size)),
      filePart('files', 'filename="b.jpg"', pngOf(MiB)),
    ])
    for (const share of [0.1, 0.5, 0.9]) {
      const part = body.subarray(0, Math.floor(body.length * share))
      const { socket } = begun(listings, part, body.length, headers['content-type'])
      await pause(50, 'any moment is right')
      socket.destroy()
    }
    await expect.poll(() => storedFiles(owner.identityId)).toEqual([])
    expect((await uploadPictures(owner, [jpeg(size)])).status).toBe(201)
    await expect.poll(() => storedFiles(owner.identityId)).toHaveLength(1)
    const { rows } = await database().query(
      'select from public.media where account_id = $1',
      [owner.id],
    )
    expect(rows).toHaveLength(1)
  })
})

test('a slow upload is accepted as long as data arrives', async () => {
  const { body, headers } = rawForm([filePart('file', 'filename="a.jpg"', pngOf(40_000))])
  const step = Math.ceil(body.length / 8)
  const { socket, done } = begun(
    avatar,
    body.subarray(0, step),
    body.length,
    headers['content-type'],
  )
  for (let at = step; at < body.length; at += step) {
    await pause(250, 'time is the subject')
    socket.write(body.subarray(at, at + step))
  }
  expect(await done).toMatch(/^HTTP\/1.1 201 /)
})

test('CRASH-10 leftovers of uploads and unused files are removed', async () => {
  const { body } = await uploadPictures(owner, [jpeg(size), png(size)])
  // Simulates that the functions crashed after they stored the first file and before they wrote its row.
  const [first, second] = await storedFiles(owner.identityId)
  await database().query(
    `with gone as (
      delete from public.media where bucket || '/' || name = $1 returning identity_id, account_id
    )
    insert into private.uploads (id, identity_id, account_id, bucket, due_at)
    select (left($2, 34) || '00')::uuid, identity_id, account_id, 'listings', now() from gone`,
    [first, first.split('/')[2]],
  )
  await runJobs()
  await expect.poll(() => storedFiles(owner.identityId)).toEqual([second])

  await database().query(
    'update private.upload_sessions set expires_at = now() where identity_id = $1',
    [owner.identityId],
  )
  await runJobs()
  await expect.poll(() => storedFiles(owner.identityId)).toEqual([])
  const { uploadSessionId } = body
  expect((await owner.post('/properties', { type: 'SALE', uploadSessionId })).status).toBe(422)
})
