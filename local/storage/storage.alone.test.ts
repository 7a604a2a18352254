import { randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  guestStorage,
  ownBuckets,
  removeBucket,
  serviceStorage,
  sizeLimit,
  storageAs,
  storageRefusal,
  textOf,
} from '../../test/support/buckets.ts'
import {
  database,
  type Person,
  projectUrl,
  publishableKey,
  secretKey,
} from '../../test/support/client.ts'
import { download } from '../../test/support/uploads.ts'

const made = ownBuckets()
const { bucket, open } = made

let owner: Person
let stranger: Person

beforeAll(() => {
  ;({ owner, stranger } = made)
})

type FileBody = Parameters<ReturnType<typeof serviceStorage.from>['upload']>[1]

describe('an object', () => {
  test('is uploaded and downloaded in every form that storage-js sends', async () => {
    const files = storageAs(owner).from(bucket)
    const bodies: [string, Parameters<typeof files.upload>[1]][] = [
      ['blob', new Blob(['hello'], { type: 'text/plain' })],
      ['text', 'hello'],
      ['bytes', new TextEncoder().encode('hello')],
      ['stream', new Blob(['hello']).stream()],
    ]
    for (const [name, body] of bodies) {
      const path = `${owner.id}/${name} (1).txt`
      const options = { contentType: 'text/plain', cacheControl: '60', metadata: { a: 1 } }
      const { data, error } = await files.upload(path, body, options)
      expect(error).toBe(null)
      expect(data).toEqual({ id: expect.any(String), path, fullPath: `${bucket}/${path}` })
      expect(await textOf((await files.download(path)).data)).toBe('hello')
      const info = await files.info(path)
      expect(info.data).toMatchObject({
        name: path,
        size: 5,
        contentType: 'text/plain',
        cacheControl: 'max-age=60',
        metadata: { a: 1 },
      })
      expect(await files.exists(path)).toMatchObject({ data: true })
    }
    const { rows } = await database().query(
      `select owner, owner_id, metadata ->> 'eTag' as etag from storage.objects
      where bucket_id = $1 and name = $2`,
      [bucket, `${owner.id}/blob (1).txt`],
    )
    const etag = expect.stringMatching(/^"[0-9a-f]{32}(-\d+)?"$/)
    expect(rows).toEqual([{ owner: owner.id, owner_id: owner.id, etag }])
    const paths = bodies.map(([name]) => `${owner.id}/${name} (1).txt`)
    const { data } = await files.remove([...paths, `${owner.id}/none`])
    expect(data!.map(({ name }) => name).toSorted()).toEqual(paths.toSorted())
    expect(await files.exists(paths[0])).toMatchObject({ data: false })
  })

  test('is replaced only by upsert, and is never a mix of two', async () => {
    const files = storageAs(owner).from(bucket)
    const path = `${owner.id}/replaced.txt`
    const put = (body: string, upsert: boolean) => files.upload(path, body, { upsert })
    expect((await put('one', false)).error).toBe(null)
    expect(await put('two', false)).toMatchObject(storageRefusal('409'))
    expect(await textOf((await files.download(path)).data)).toBe('one')
    expect((await put('three', true)).error).toBe(null)
    expect((await files.update(path, 'four')).error).toBe(null)
    expect(await textOf((await files.download(path)).data)).toBe('four')

    // If uploads run concurrently, the one that ends last is stored, even if it was not sent as an upsert.
    const texts = Array.from({ length: 10 }, (_, index) => String(index).repeat(50_000))
    await Promise.all(texts.map((text, at) => put(text, at % 2 === 0)))
    expect(texts).toContain(await textOf((await files.download(path)).data))
  })

  test('is moved and copied', async () => {
    const files = storageAs(owner).from(bucket)
    const at = (name: string) => `${owner.id}/${name}.txt`
    await files.upload(at('a'), 'a')
    expect((await files.move(at('a'), at('b'))).data).toMatchObject({
      message: 'Successfully moved',
    })
    expect((await files.copy(at('b'), at('c'))).data).toEqual({ path: `${bucket}/${at('c')}` })
    expect((await files.download(at('a'))).error).not.toBe(null)
    for (const name of ['b', 'c']) {
      expect(await textOf((await files.download(at(name))).data)).toBe('a')
    }
    expect(await files.move(at('none'), at('d'))).toMatchObject(storageRefusal('404'))
    expect(await files.copy(at('b'), at('c'))).toMatchObject(storageRefusal('409'))
    expect(await files.move(at('b'), at('c'))).toMatchObject(storageRefusal('409'))
    expect(await files.move(at('b'), at('../d'))).toMatchObject(storageRefusal('400'))
  })

  test('is listed by folder, in pages', async () => {
    const files = storageAs(owner).from(bucket)
    const folder = `${owner.id}/listed`
    for (
      const name of ['b.txt', 'a.txt', 'sub/c.txt', 'sub/d.txt', '100%_x.txt'.replace('%', '$')]
    ) {
      await files.upload(`${folder}/${name}`, name)
    }
    const names = (found: { data: { name: string }[] | null }) =>
      found.data!.map(({ name }) => name)
    expect(names(await files.list(folder))).toEqual(['100$_x.txt', 'a.txt', 'b.txt', 'sub'])
    expect(names(await files.list(folder, { limit: 2, offset: 1 }))).toEqual(['a.txt', 'b.txt'])
    expect(names(await files.list(folder, { search: 'A' }))).toEqual(['a.txt'])
    expect(names(await files.list(folder, { sortBy: { column: 'name', order: 'desc' } })))
      .toEqual(['sub', 'b.txt', 'a.txt', '100$_x.txt'])
    const byTime = { sortBy: { column: 'created_at', order: 'desc' } }
    expect(names(await files.list(folder, byTime)))
      .toEqual(['sub', '100$_x.txt', 'a.txt', 'b.txt'])
    expect(await files.list(folder, { limit: 0 })).toMatchObject(storageRefusal('400'))
    const first = await files.listV2({ prefix: `${folder}/`, limit: 2, with_delimiter: true })
    expect(first.data).toMatchObject({ hasNext: true })
    const { nextCursor: cursor } = first.data!
    const rest = await files.listV2({ prefix: `${folder}/`, with_delimiter: true, cursor })
    expect(rest.data!.folders).toMatchObject([{ name: `${folder}/sub/`, key: 'sub' }])
    expect(rest.data!.objects).toMatchObject([{ name: `${folder}/b.txt`, key: 'b.txt' }])
    expect(await storageAs(stranger).from(bucket).list(folder)).toEqual({ data: [], error: null })
  })
})

describe('limits', () => {
  const makers: [what: string, sized: boolean, make: (bytes: Buffer) => FileBody][] = [
    ['a raw body', true, (bytes) => new Uint8Array(bytes)],
    ['a form', true, (bytes) => new Blob([new Uint8Array(bytes)], { type: 'text/plain' })],
    ['a raw body without a length', false, (bytes) => new Blob([new Uint8Array(bytes)]).stream()],
  ]

  test.each(makers)('of size hold where Storage knows the size: %s', async (_, sized, make) => {
    const files = storageAs(owner).from(bucket)
    const at = () => `${owner.id}/${randomUUID()}.txt`
    const options = { contentType: 'text/plain' }
    const [fits, tooLong] = [make(randomBytes(sizeLimit)), () => make(randomBytes(sizeLimit + 1))]
    const expected = sized ? storageRefusal('413') : { error: null }
    expect((await files.upload(at(), fits, options)).error).toBe(null)
    expect(await files.upload(at(), tooLong(), options)).toMatchObject(expected)
    const path = at()
    const { data } = await files.createSignedUploadUrl(path)
    expect(await files.uploadToSignedUrl(path, data!.token, tooLong(), options))
      .toMatchObject(expected)
  })

  test("of buckets are sizes in Storage's format, at most the project's limit", async () => {
    for (const [size, status] of [['100KiB', '400'], ['10 MB', '400'], ['20GB', '413']]) {
      expect(await serviceStorage.updateBucket(bucket, { public: false, fileSizeLimit: size }))
        .toMatchObject(storageRefusal(status!))
    }
  })

  test('of type hold literally; the type is the one that the client declares', async () => {
    const files = storageAs(owner).from(bucket)
    const at = `${owner.id}/${randomUUID()}`
    for (const contentType of ['application/pdf', 'image/png; a=b', 'IMAGE/PNG', 'png']) {
      expect(await files.upload(at, 'x', { contentType })).toMatchObject(storageRefusal('415'))
    }
    expect((await files.upload(at, '<html>', { contentType: 'text/html' })).error).toBe(null)
    const { data } = await files.createSignedUrl(at, 60)
    const { headers } = await download(data!.signedUrl)
    expect(headers.get('content-type')).toBe('text/plain')
    // Browsers may guess the type, because there is no nosniff header.
    expect(headers.get('x-content-type-options')).toBe(null)
  })

  test('of names hold: no control characters, no other scripts, no path traversal', async () => {
    const files = storageAs(owner).from(bucket)
    const names = ['صورة.png', 'a\u0000b', 'a%0Ab', 'a%23b', '%', 'a%2F..%2Fb', '..%2Fb', 'a%2F.']
    for (const name of names) {
      expect((await files.upload(`${owner.id}/${name}`, 'x')).error).toMatchObject({ status: 400 })
    }
    expect(await serviceStorage.from('no-such-bucket').upload('a', 'x')).toMatchObject(
      storageRefusal('404'),
    )
  })

  test('of bulk requests hold: 1,000 names', async () => {
    const names = Array.from({ length: 1001 }, (_, at) => `none/${at}`)
    expect(await serviceStorage.from(bucket).remove(names)).toMatchObject(storageRefusal('400'))
    expect(await serviceStorage.from(bucket).remove(names.slice(1))).toEqual({
      data: [],
      error: null,
    })
    expect(await serviceStorage.from(bucket).createSignedUrls(names, 60)).toMatchObject(
      storageRefusal('400'),
    )
  })
})

test('a public bucket can be read by URL, by range and by ETag, but not be listed', async () => {
  const bytes = randomBytes(300_000)
  await store(open, 'a/b.bin', bytes)
  const { publicUrl } = guestStorage.from(open).getPublicUrl('a/b.bin').data
  const whole = await download(publicUrl)
  expect(whole.bytes.equals(bytes)).toBe(true)
  const etag = whole.headers.get('etag')!
  expect((await download(publicUrl, { 'if-none-match': etag })).status).toBe(304)
  const later = new Date(Date.parse(whole.headers.get('last-modified')!) + 1000).toUTCString()
  expect((await download(publicUrl, { 'if-modified-since': later })).status).toBe(304)
  const other = await download(publicUrl, { 'if-none-match': '"other"' })
  // These are the default headers, because the uploader set none.
  expect(other.headers.get('cache-control')).toBe('no-cache, stale-while-revalidate=30')
  expect(whole.headers.get('cache-control')).toBe('no-cache')
  for (
    const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=299999-', 299_999, 300_000],
      ['bytes=-10', 299_990, 300_000],
      ['bytes=5-9999999', 5, 300_000],
    ] as const
  ) {
    const part = await download(publicUrl, { range })
    expect(part.status).toBe(206)
    expect(part.bytes.equals(bytes.subarray(from, to))).toBe(true)
    expect(part.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/300000`)
  }
  for (const range of ['bytes=300000-', 'bytes=3-2', 'bytes=0-1,3-4', 'bytes=-']) {
    expect((await download(publicUrl, { range })).status).toBe(416)
  }
  const head = await fetch(publicUrl, { method: 'HEAD' })
  expect(head.headers.get('content-length')).toBe('300000')
  expect(await guestStorage.from(open).list('a')).toEqual({ data: [], error: null })
  const closed = guestStorage.from(bucket).getPublicUrl(`${owner.id}/replaced.txt`).data.publicUrl
  expect((await download(closed)).status).toBe(400)
})

test('the name of a download is encoded without quotes, and cannot inject a header', async () => {
  await store(open, 'named.bin', Buffer.from('x'))
  const { publicUrl } = guestStorage.from(open).getPublicUrl('named.bin').data
  const dispositionOf = async (query: string) =>
    (await download(`${publicUrl}?${query}`)).headers.get('content-disposition')
  expect(await dispositionOf('')).toBe(null)
  expect(await dispositionOf('download')).toBe('attachment;')
  const name = encodeURIComponent('a"\r\nX: y.html')
  expect(await dispositionOf(`download=${name}`))
    .toBe(`attachment; filename=${name}; filename*=UTF-8\'\'${name}`)
  expect((await download(`${publicUrl}?download=a&download=b`)).status).toBe(400)
})

/** Uploads as our functions do, with a raw body and without a caching header. */
async function store(bucket: string, path: string, body: Buffer) {
  const response = await fetch(`${projectUrl}/storage/v1/object/${bucket}/${path}`, {
    method: 'POST',
    headers: { apikey: secretKey, 'content-type': 'image/png' },
    body: new Uint8Array(body),
  })
  expect(response.status).toBe(200)
}

test('buckets are created, changed and removed with the secret key only', async () => {
  const id = `test-${randomUUID()}`
  await serviceStorage.createBucket(id, { public: false })
  expect((await serviceStorage.createBucket(id)).error).toMatchObject({ statusCode: '409' })
  await serviceStorage.updateBucket(id, { public: true, fileSizeLimit: 10 })
  expect((await serviceStorage.getBucket(id)).data)
    .toMatchObject({ id, public: true, file_size_limit: 10, allowed_mime_types: null })
  await serviceStorage.from(id).upload('x', 'x')
  expect((await serviceStorage.deleteBucket(id)).error).toMatchObject({ statusCode: '409' })
  await removeBucket(id)
  expect((await serviceStorage.getBucket(id)).error).toMatchObject({ statusCode: '404' })
})

test('a row cannot be deleted by SQL, which would leave its file', async () => {
  await expect(database().query('delete from storage.objects where bucket_id = $1', [bucket]))
    .rejects.toMatchObject({ code: '42501' })
})

test('an interrupted upload leaves no object', async () => {
  const path = `${owner.id}/broken.txt`
  const to = new URL(`${projectUrl}/storage/v1/object/${bucket}/${path}`)
  const sent = request(to, {
    method: 'POST',
    headers: {
      apikey: publishableKey,
      authorization: `Bearer ${owner.accessToken}`,
      'content-type': 'text/plain',
      'content-length': 50_000,
    },
  })
  sent.on('error', () => {})
  await new Promise((resolve) => sent.write('x'.repeat(20_000), resolve))
  sent.destroy()
  // By the time this complete file is stored, the incomplete one would have been stored too.
  const whole = `${owner.id}/whole.txt`
  const files = storageAs(owner).from(bucket)
  expect((await files.upload(whole, 'x'.repeat(50_000))).error).toBe(null)
  expect((await files.download(whole)).error).toBe(null)
  expect((await files.download(path)).error).not.toBe(null)
})

test('a form that is broken, cut short or empty leaves no object, and is answered', async () => {
  const files = storageAs(owner).from(bucket)
  const file = `--b\r\ncontent-disposition: form-data; name=""; filename="f"\r\n` +
    'content-type: text/plain\r\n\r\nhello\r\n'
  const send = async (body: string, type = 'multipart/form-data; boundary=b') => {
    const path = `${owner.id}/${randomUUID()}`
    const { status } = await fetch(`${projectUrl}/storage/v1/object/${bucket}/${path}`, {
      method: 'POST',
      headers: {
        apikey: publishableKey,
        authorization: `Bearer ${owner.accessToken}`,
        'content-type': type,
      },
      body,
    })
    return { status, stored: await (await files.download(path)).data?.text() }
  }
  const field = '--b\r\ncontent-disposition: form-data; name="cacheControl"\r\n\r\n60\r\n'
  expect(await send(`${field}${file}--b--\r\n`)).toEqual({ status: 200, stored: 'hello' })
  for (
    const [body, type] of [
      [`${file}--b--\r\n`, 'multipart/form-data'],
      [file],
      [file.slice(0, -5)],
      [`${field}--b--\r\n`],
      [''],
      ['hello'],
    ]
  ) {
    const { status, stored } = await send(body!, type)
    expect([status >= 400, stored], body).toEqual([true, undefined])
  }
})
