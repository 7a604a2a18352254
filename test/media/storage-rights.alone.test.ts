import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  guestStorage,
  ownBuckets,
  serviceStorage,
  storageAs,
  storageRefusal,
  textOf,
} from '../support/buckets.ts'
import { database, type Person, projectUrl, publishableKey } from '../support/client.ts'
import { download } from '../support/uploads.ts'
import { waitUntil } from '../support/wait.ts'

const made = ownBuckets()
const { bucket, open } = made

let owner: Person
let stranger: Person

beforeAll(() => {
  ;({ owner, stranger } = made)
})

describe('MED-09 rights', () => {
  const theirs = () => `${owner.id}/theirs-${randomUUID()}.txt`

  test("somebody else's object can neither be read, written nor found", async () => {
    const path = theirs()
    await storageAs(owner).from(bucket).upload(path, 'mine')
    for (const storage of [storageAs(stranger), guestStorage]) {
      const files = storage.from(bucket)
      expect((await files.download(path)).error).not.toBe(null)
      expect(await files.info(path)).toMatchObject(storageRefusal('404'))
      expect(await files.createSignedUrl(path, 60)).toMatchObject(storageRefusal('404'))
      expect((await files.createSignedUrls([path], 60)).data).toMatchObject([{ signedUrl: null }])
      expect(await files.upload(path, 'x', { upsert: true })).toMatchObject(storageRefusal('403'))
      expect(await files.upload(theirs(), 'x')).toMatchObject(storageRefusal('403'))
      expect(await files.update(path, 'x')).toMatchObject(storageRefusal('403'))
      expect(await files.move(path, `${stranger.id}/x.txt`)).toMatchObject(storageRefusal('404'))
      expect(await files.copy(path, `${stranger.id}/x.txt`)).toMatchObject(storageRefusal('404'))
      expect(await files.remove([path])).toEqual({ data: [], error: null })
      expect(await files.createSignedUploadUrl(path)).toMatchObject(storageRefusal('403'))
      expect(await files.list(owner.id)).toEqual({ data: [], error: null })
    }
    expect(await textOf((await storageAs(owner).from(bucket).download(path)).data)).toBe('mine')
  })

  test('nobody writes, lists or signs in the picture buckets, not even in their own folder', async () => {
    const { identityId } = owner
    const { rows } = await database().query('select name from storage.objects limit 1')
    for (const name of ['avatars', 'listings', 'documents']) {
      for (const storage of [storageAs(owner), guestStorage]) {
        const files = storage.from(name)
        const path = `${identityId}/${randomUUID()}.png`
        const png = { contentType: 'image/png' }
        expect(await files.upload(path, 'x', png)).toMatchObject(storageRefusal('403'))
        expect(await files.upload(path, 'x', { ...png, upsert: true })).toMatchObject(
          storageRefusal('403'),
        )
        expect(await files.createSignedUploadUrl(path)).toMatchObject(storageRefusal('403'))
        expect(await files.list()).toEqual({ data: [], error: null })
        expect(await files.list(identityId)).toEqual({ data: [], error: null })
        expect((await files.listV2({ prefix: '' })).data).toMatchObject({ objects: [] })
        for (const { name } of rows) {
          expect(await files.remove([name])).toEqual({ data: [], error: null })
          expect(await files.move(name, path)).toMatchObject(storageRefusal('404'))
          expect(await files.createSignedUrl(name, 60)).toMatchObject(storageRefusal('404'))
        }
      }
    }
    for (const storage of [storageAs(owner), guestStorage]) {
      expect((await storage.createBucket(randomUUID())).error).toMatchObject({ statusCode: '403' })
      expect((await storage.listBuckets()).data).toEqual([])
      // Storage refuses to delete a bucket with files before it checks the right in the database.
      expect((await storage.deleteBucket('listings')).error).toMatchObject({ status: 400 })
      expect((await storage.emptyBucket('listings')).error).toMatchObject({ status: 403 })
      expect(await storage.updateBucket('listings', { public: true })).toMatchObject(
        storageRefusal('404'),
      )
    }
  })

  const x = () => `${projectUrl}/storage/v1/object/${bucket}/${owner.id}/x.txt`
  const tokens = {
    none: {},
    'no token': { apikey: publishableKey, authorization: 'Bearer x.y.z' },
    'no token and no key': { authorization: 'Bearer x.y.z' },
  }

  test('an invalid token is refused, and so is a call without one', async () => {
    for (const [headers, status] of [[tokens.none, '400'], [tokens['no token'], '403']] as const) {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const response = await fetch(x(), { method, headers })
        expect([response.status, (await response.json()).statusCode]).toEqual([400, status])
      }
    }
    expect((await fetch(x(), { headers: { apikey: 'sb_secret_x' } })).status).toBe(401)
  })

  test.each(Object.entries(tokens))('a public URL is open whatever the token: %s', async (
    _,
    headers,
  ) => {
    await serviceStorage.from(open).upload('open.txt', 'open', { upsert: true })
    const at = (path: string) => download(`${projectUrl}/storage/v1/object/${path}`, headers)
    for (const path of [`public/${open}/open.txt`, `${open}/open.txt`]) {
      expect((await at(path)).bytes.toString()).toBe('open')
    }
    // A private bucket looks as if it did not exist.
    for (const path of [`public/${bucket}/${owner.id}/x.txt`, `${bucket}/${owner.id}/x.txt`]) {
      const { status, bytes } = await at(path)
      expect([status, JSON.parse(bytes.toString()).statusCode]).toEqual([400, '404'])
    }
    expect((await at(`authenticated/${open}/open.txt`)).status).toBe(400)
  })

  test('an upload in parts is refused where a whole one is', async () => {
    const meta = (name: string, value: string) => `${name} ${btoa(value)}`
    const response = await fetch(`${projectUrl}/storage/v1/upload/resumable`, {
      method: 'POST',
      headers: {
        apikey: publishableKey,
        authorization: `Bearer ${stranger.accessToken}`,
        'tus-resumable': '1.0.0',
        'upload-length': '4',
        'upload-metadata': [meta('bucketName', 'listings'), meta('objectName', 'a/b.png')].join(),
      },
    })
    expect([403, 404]).toContain(response.status)
    await response.body?.cancel()
  })
})

describe('a signed address', () => {
  test('is for one object, until it expires, and cannot be changed', async () => {
    const files = storageAs(owner).from(bucket)
    const [path, other] = [`${owner.id}/signed.txt`, `${owner.id}/other.txt`]
    await files.upload(path, 'signed')
    await files.upload(other, 'other')
    const { signedUrl } = (await files.createSignedUrl(path, 600)).data!
    expect((await download(signedUrl)).bytes.toString()).toBe('signed')
    const swapped = await download(signedUrl.replace('signed.txt', 'other.txt'))
    expect(JSON.parse(swapped.bytes.toString())).toMatchObject({ error: 'InvalidSignature' })
    const changed = await download(`${signedUrl.slice(0, -3)}xyz`)
    expect(JSON.parse(changed.bytes.toString())).toMatchObject({ error: 'InvalidJWT' })
    const brief = (await files.createSignedUrl(path, 1)).data!.signedUrl
    await waitUntil('it expires', async () => (await download(brief)).status === 400)
    expect((await download(signedUrl)).status).toBe(200)
    const many = (await files.createSignedUrls([path, `${owner.id}/none`], 60)).data!
    expect((await download(many[0].signedUrl!)).status).toBe(200)
    expect(many[1]).toMatchObject({ signedUrl: null, error: expect.any(String) })
  })

  test('for an upload accepts one file under that name, and reads nothing', async () => {
    const files = storageAs(owner).from(bucket)
    const path = `${owner.id}/up.txt`
    const { token } = (await files.createSignedUploadUrl(path)).data!
    const send = (to: string) => guestStorage.from(bucket).uploadToSignedUrl(to, token, 'up')
    expect(await send(`${owner.id}/up2.txt`)).toMatchObject(storageRefusal('400'))
    expect((await send(path)).error).toBe(null)
    expect(await send(path)).toMatchObject(storageRefusal('409'))
    expect(
      (await download(`${projectUrl}/storage/v1/object/sign/${bucket}/${path}?token=${token}`))
        .status,
    ).toBe(400)
    const { rows } = await database().query(
      'select owner_id from storage.objects where bucket_id = $1 and name = $2',
      [bucket, path],
    )
    expect(rows).toEqual([{ owner_id: owner.id }])
  })
})
