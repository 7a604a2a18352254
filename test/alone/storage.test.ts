import { createClient } from '@supabase/supabase-js'
import { randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { database, type Person, projectUrl, publishableKey, secretKey, signUp } from '../client.ts'
import { served } from '../uploads.ts'

// storage-js as it comes, against buckets and policies of its own: no other test may find those.
const bucket = `test-${randomUUID()}`
const open = `${bucket}-open`

const session = { auth: { persistSession: false, autoRefreshToken: false } }
const service = createClient(projectUrl, secretKey, session).storage
const anybody = createClient(projectUrl, publishableKey, session).storage
const as = (person: Person) =>
  createClient(projectUrl, publishableKey, {
    ...session,
    accessToken: () => Promise.resolve(person.accessToken),
  }).storage

let owner: Person
let stranger: Person

const policy = (name: string, command: string, rule: string) =>
  `create policy "${bucket} ${name}" on storage.objects for ${command} to authenticated ${rule}`
const own = `bucket_id = '${bucket}' and (storage.foldername(name))[1] = (select auth.uid()::text)`

beforeAll(async () => {
  ;[owner, stranger] = await Promise.all([signUp(), signUp()])
  const limits = { fileSizeLimit: '100KiB', allowedMimeTypes: ['text/*', 'image/png'] }
  expect((await service.createBucket(bucket, { public: false, ...limits })).error).toBe(null)
  expect((await service.createBucket(open, { public: true })).error).toBe(null)
  for (
    const statement of [
      policy('read', 'select', `using (${own})`),
      policy('write', 'insert', `with check (${own})`),
      policy('change', 'update', `using (${own}) with check (${own})`),
      policy('remove', 'delete', `using (${own})`),
    ]
  ) await database().query(statement)
})

afterAll(async () => {
  for (const name of ['read', 'write', 'change', 'remove']) {
    await database().query(`drop policy "${bucket} ${name}" on storage.objects`)
  }
  for (const id of [bucket, open]) {
    await service.emptyBucket(id)
    expect((await service.deleteBucket(id)).error).toBe(null)
  }
})

const textOf = async (data: Blob | null) => await data!.text()
const refused = (status: string) => ({ data: null, error: { statusCode: status, status: 400 } })

describe('an object', () => {
  test('comes and goes in every way that storage-js sends it', async () => {
    const files = as(owner).from(bucket)
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
    expect(rows).toEqual([
      { owner: owner.id, owner_id: owner.id, etag: '"5d41402abc4b2a76b9719d911017c592"' },
    ])
    const paths = bodies.map(([name]) => `${owner.id}/${name} (1).txt`)
    const { data } = await files.remove([...paths, `${owner.id}/none`])
    expect(data!.map(({ name }) => name).toSorted()).toEqual(paths.toSorted())
    expect(await files.exists(paths[0])).toMatchObject({ data: false })
  })

  test('is replaced only by upsert, and is never half of two', async () => {
    const files = as(owner).from(bucket)
    const path = `${owner.id}/replaced.txt`
    const put = (body: string, upsert: boolean) => files.upload(path, body, { upsert })
    expect((await put('one', false)).error).toBe(null)
    expect(await put('two', false)).toMatchObject(refused('409'))
    expect(await textOf((await files.download(path)).data)).toBe('one')
    expect((await put('three', true)).error).toBe(null)
    expect((await files.update(path, 'four')).error).toBe(null)
    expect(await textOf((await files.download(path)).data)).toBe('four')

    const texts = Array.from({ length: 10 }, (_, index) => String(index).repeat(50_000))
    await Promise.all(texts.map((text) => put(text, true)))
    expect(texts).toContain(await textOf((await files.download(path)).data))
  })

  test('is moved and copied', async () => {
    const files = as(owner).from(bucket)
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
    expect(await files.move(at('none'), at('d'))).toMatchObject(refused('404'))
    expect(await files.copy(at('b'), at('c'))).toMatchObject(refused('409'))
  })

  test('is listed by folder, in pages', async () => {
    const files = as(owner).from(bucket)
    const folder = `${owner.id}/listed`
    for (
      const name of ['b.txt', 'a.txt', 'sub/c.txt', 'sub/d.txt', '100%_x.txt'.replace('%', '$')]
    ) {
      await files.upload(`${folder}/${name}`, name)
    }
    const names = (found: { data: { name: string }[] | null }) =>
      found.data!.map(({ name }) => name)
    expect(names(await files.list(folder))).toEqual(['sub', '100$_x.txt', 'a.txt', 'b.txt'])
    expect(names(await files.list(folder, { limit: 2, offset: 1 }))).toEqual([
      '100$_x.txt',
      'a.txt',
    ])
    expect(names(await files.list(folder, { search: 'A' }))).toEqual(['a.txt'])
    expect(names(await files.list(folder, { sortBy: { column: 'name', order: 'desc' } })))
      .toEqual(['sub', 'b.txt', 'a.txt', '100$_x.txt'])
    const first = await files.listV2({ prefix: `${folder}/`, limit: 2, with_delimiter: true })
    expect(first.data).toMatchObject({ hasNext: true })
    const { nextCursor: cursor } = first.data!
    const rest = await files.listV2({ prefix: `${folder}/`, with_delimiter: true, cursor })
    expect(rest.data!.folders.map(({ name }) => name)).toEqual([`${folder}/sub/`])
    expect(await as(stranger).from(bucket).list(folder)).toEqual({ data: [], error: null })
  })
})

describe('limits', () => {
  test('of size hold for raw bodies, forms and signed addresses, also without a length', async () => {
    const files = as(owner).from(bucket)
    const at = () => `${owner.id}/${randomUUID()}.txt`
    const fits = randomBytes(100 * 1024)
    const tooLong = randomBytes(100 * 1024 + 1)
    for (
      const make of [
        (bytes: Buffer) => new Uint8Array(bytes),
        (bytes: Buffer) => new Blob([new Uint8Array(bytes)], { type: 'text/plain' }),
        (bytes: Buffer) => new Blob([new Uint8Array(bytes)]).stream(),
      ]
    ) {
      const options = { contentType: 'text/plain' }
      expect((await files.upload(at(), make(fits), options)).error).toBe(null)
      expect(await files.upload(at(), make(tooLong), options)).toMatchObject(refused('413'))
      const path = at()
      const { data } = await files.createSignedUploadUrl(path)
      expect(await files.uploadToSignedUrl(path, data!.token, make(tooLong), options))
        .toMatchObject(refused('413'))
    }
  })

  test('of type hold; the type is what the client says', async () => {
    const files = as(owner).from(bucket)
    const at = `${owner.id}/${randomUUID()}`
    expect(await files.upload(at, 'x', { contentType: 'application/pdf' }))
      .toMatchObject(refused('415'))
    expect((await files.upload(at, '<html>', { contentType: 'text/html' })).error).toBe(null)
    const { data } = await files.createSignedUrl(at, 60)
    expect((await served(data!.signedUrl)).headers.get('content-type')).toBe('text/plain')
  })

  test('of names: no control marks, no other script', async () => {
    const files = as(owner).from(bucket)
    for (const name of ['صورة.png', 'a\u0000b', 'a%0Ab', 'a%23b', '%']) {
      expect((await files.upload(`${owner.id}/${name}`, 'x')).error).not.toBe(null)
    }
    expect(await service.from('no-such-bucket').upload('a', 'x')).toMatchObject(refused('404'))
  })
})

describe('MED-09 rights', () => {
  const theirs = () => `${owner.id}/theirs-${randomUUID()}.txt`

  test("another's object can neither be read, written nor found", async () => {
    const path = theirs()
    await as(owner).from(bucket).upload(path, 'mine')
    for (const storage of [as(stranger), anybody]) {
      const files = storage.from(bucket)
      expect((await files.download(path)).error).not.toBe(null)
      expect(await files.info(path)).toMatchObject(refused('404'))
      expect(await files.createSignedUrl(path, 60)).toMatchObject(refused('404'))
      expect((await files.createSignedUrls([path], 60)).data).toMatchObject([{ signedUrl: null }])
      expect(await files.upload(path, 'x', { upsert: true })).toMatchObject(refused('403'))
      expect(await files.upload(theirs(), 'x')).toMatchObject(refused('403'))
      expect(await files.update(path, 'x')).toMatchObject(refused('403'))
      expect(await files.move(path, `${stranger.id}/x.txt`)).toMatchObject(refused('404'))
      expect(await files.copy(path, `${stranger.id}/x.txt`)).toMatchObject(refused('404'))
      expect(await files.remove([path])).toEqual({ data: [], error: null })
      expect(await files.createSignedUploadUrl(path)).toMatchObject(refused('403'))
      expect(await files.list(owner.id)).toEqual({ data: [], error: null })
    }
    expect(await textOf((await as(owner).from(bucket).download(path)).data)).toBe('mine')
  })

  test('in the buckets of pictures nobody writes, lists or signs, also in the own folder', async () => {
    const { identityId } = owner
    const { rows } = await database().query('select name from storage.objects limit 1')
    for (const name of ['avatars', 'listings']) {
      for (const storage of [as(owner), anybody]) {
        const files = storage.from(name)
        const path = `${identityId}/${randomUUID()}.png`
        const png = { contentType: 'image/png' }
        expect(await files.upload(path, 'x', png)).toMatchObject(refused('403'))
        expect(await files.upload(path, 'x', { ...png, upsert: true })).toMatchObject(
          refused('403'),
        )
        expect(await files.createSignedUploadUrl(path)).toMatchObject(refused('403'))
        expect(await files.list()).toEqual({ data: [], error: null })
        expect(await files.list(identityId)).toEqual({ data: [], error: null })
        expect((await files.listV2({ prefix: '' })).data).toMatchObject({ objects: [] })
        for (const { name } of rows) {
          expect(await files.remove([name])).toEqual({ data: [], error: null })
          expect(await files.move(name, path)).toMatchObject(refused('404'))
          expect(await files.createSignedUrl(name, 60)).toMatchObject(refused('404'))
        }
      }
    }
    for (const storage of [as(owner), anybody]) {
      expect((await storage.createBucket(randomUUID())).error).toMatchObject({ statusCode: '403' })
      expect((await storage.listBuckets()).data).toEqual([])
      expect((await storage.deleteBucket('listings')).error).not.toBe(null)
      expect((await storage.emptyBucket('listings')).error).not.toBe(null)
      expect((await storage.updateBucket('listings', { public: true })).error).not.toBe(null)
    }
  })

  test('a token that is none is refused, and so is a call without a key', async () => {
    const to = `${projectUrl}/storage/v1/object/${bucket}/${owner.id}/x.txt`
    const bad = await fetch(to, {
      headers: { apikey: publishableKey, authorization: 'Bearer x.y.z' },
    })
    expect([bad.status, (await bad.json()).statusCode]).toEqual([400, '403'])
    expect((await fetch(to)).status).toBe(401)
    expect((await fetch(to, { headers: { apikey: 'sb_secret_x' } })).status).toBe(401)
  })

  test('resumable uploads are not served', async () => {
    const response = await fetch(`${projectUrl}/storage/v1/upload/resumable`, {
      method: 'POST',
      headers: { apikey: publishableKey, 'tus-resumable': '1.0.0', 'upload-length': '4' },
    })
    expect(response.status).toBeGreaterThanOrEqual(400)
    await response.body?.cancel()
  })
})

describe('a signed address', () => {
  test('is for one object, until its time, and cannot be changed', async () => {
    const files = as(owner).from(bucket)
    const [path, other] = [`${owner.id}/signed.txt`, `${owner.id}/other.txt`]
    await files.upload(path, 'signed')
    await files.upload(other, 'other')
    const { signedUrl } = (await files.createSignedUrl(path, 1)).data!
    expect((await served(signedUrl)).bytes.toString()).toBe('signed')
    const swapped = await served(signedUrl.replace('signed.txt', 'other.txt'))
    expect(JSON.parse(swapped.bytes.toString())).toMatchObject({ error: 'InvalidSignature' })
    const changed = await served(`${signedUrl.slice(0, -3)}xyz`)
    expect(JSON.parse(changed.bytes.toString())).toMatchObject({ error: 'InvalidJWT' })
    await sleep(2100)
    expect((await served(signedUrl)).status).toBe(400)
    const many = (await files.createSignedUrls([path, `${owner.id}/none`], 60)).data!
    expect((await served(many[0].signedUrl!)).status).toBe(200)
    expect(many[1]).toMatchObject({ signedUrl: null, error: expect.any(String) })
  })

  test('for an upload takes one file under that name, and reads nothing', async () => {
    const files = as(owner).from(bucket)
    const path = `${owner.id}/up.txt`
    const { token } = (await files.createSignedUploadUrl(path)).data!
    const send = (to: string) => anybody.from(bucket).uploadToSignedUrl(to, token, 'up')
    expect(await send(`${owner.id}/up2.txt`)).toMatchObject(refused('400'))
    expect((await send(path)).error).toBe(null)
    expect(await send(path)).toMatchObject(refused('409'))
    expect(
      (await served(`${projectUrl}/storage/v1/object/sign/${bucket}/${path}?token=${token}`))
        .status,
    ).toBe(400)
    const { rows } = await database().query(
      'select owner_id from storage.objects where bucket_id = $1 and name = $2',
      [bucket, path],
    )
    expect(rows).toEqual([{ owner_id: owner.id }])
  })
})

test('a public bucket is read by address, with ranges and tags, and is listed to nobody', async () => {
  const bytes = randomBytes(300_000)
  await service.from(open).upload('a/b.bin', bytes, { contentType: 'image/png' })
  const { publicUrl } = anybody.from(open).getPublicUrl('a/b.bin').data
  const whole = await served(publicUrl)
  expect(whole.bytes.equals(bytes)).toBe(true)
  const etag = whole.headers.get('etag')!
  expect((await served(publicUrl, { 'if-none-match': etag })).status).toBe(304)
  for (
    const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=299999-', 299_999, 300_000],
      ['bytes=-10', 299_990, 300_000],
      ['bytes=5-9999999', 5, 300_000],
    ] as const
  ) {
    const part = await served(publicUrl, { range })
    expect(part.status).toBe(206)
    expect(part.bytes.equals(bytes.subarray(from, to))).toBe(true)
    expect(part.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/300000`)
  }
  const head = await fetch(publicUrl, { method: 'HEAD' })
  expect(head.headers.get('content-length')).toBe('300000')
  expect(await anybody.from(open).list('a')).toEqual({ data: [], error: null })
  const closed = anybody.from(bucket).getPublicUrl(`${owner.id}/replaced.txt`).data.publicUrl
  expect((await served(closed)).status).toBe(400)
})

test('buckets are made, changed and removed with the secret key only', async () => {
  const id = `test-${randomUUID()}`
  await service.createBucket(id, { public: false })
  expect((await service.createBucket(id)).error).toMatchObject({ statusCode: '409' })
  await service.updateBucket(id, { public: true, fileSizeLimit: 10 })
  expect((await service.getBucket(id)).data)
    .toMatchObject({ id, public: true, file_size_limit: 10, allowed_mime_types: null })
  await service.from(id).upload('x', 'x')
  expect((await service.deleteBucket(id)).error).not.toBe(null)
  await service.emptyBucket(id)
  expect((await service.deleteBucket(id)).error).toBe(null)
  expect((await service.getBucket(id)).error).toMatchObject({ statusCode: '404' })
})

test('a row is not deleted by SQL, which would leave its file', async () => {
  await expect(database().query('delete from storage.objects where bucket_id = $1', [bucket]))
    .rejects.toMatchObject({ code: '42501' })
})

test('an upload that breaks off leaves no object', async () => {
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
  sent.write('x'.repeat(20_000))
  await sleep(200)
  sent.destroy()
  await sleep(300)
  expect((await as(owner).from(bucket).download(path)).error).not.toBe(null)
})
