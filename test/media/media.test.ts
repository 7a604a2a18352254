import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { database, guest, type Person, request, signUp } from '../support/client.ts'
import { openConversation, postMessage } from '../support/conversations.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { jpeg, partsIn, png } from '../support/pictures.ts'
import {
  download,
  formOf,
  postForm,
  storedFiles,
  uploadAvatar,
  uploadPictures,
} from '../support/uploads.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { unknownId } from '../support/problems.ts'
import { runJobs } from '../support/jobs.ts'

const small = { width: 40, height: 30 }

let owner: Person

beforeEach(async () => {
  owner = await signUp()
})

const shades = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => jpeg({ ...small, shade: from + index * 3 }))

/** The response for an upload session that is gone, used, or owned by another identity. */
const goneSession = {
  status: 422,
  body: {
    error: { code: 'validation_failed', fields: [{ path: 'uploadSessionId', code: 'invalid' }] },
  },
}

const mediaOf = async (id: string, person: Person = owner) =>
  (await person.get(`/properties/${id}`)).body.media

// deno-lint-ignore no-explicit-any
const idsOf = (items: any[]) => items.map(({ id, mediaId }) => id ?? mediaId)

describe('an avatar', () => {
  test('is stored, served with its type, and shown wherever its person is', async () => {
    const { status, body } = await uploadAvatar(owner, png(small), { name: 'me.jpg' })
    expect(status).toBe(201)
    expect(body).toEqual({ mediaId: expect.any(String), url: expect.any(String), ...small })
    expect((await owner.get('/auth/me')).body.user.avatarUrl).toBe(null)

    const changed = await owner.patch('/auth/me', { avatarMediaId: body.mediaId })
    expect(changed.body.user.avatarUrl).toBe(body.url)
    expect(changed.body.activeIdentity.avatarUrl).toBe(body.url)
    expect((await publishListing(owner)).owner.avatarUrl).toBe(body.url)

    const { headers, ...picture } = await download(body.url)
    expect(picture).toMatchObject({ status: 200, bytes: png(small) })
    expect(headers.get('content-type')).toBe('image/png')
  })

  test('replaces the previous one, whose file is removed; null removes it', async () => {
    const [first, second] = [
      (await uploadAvatar(owner, jpeg(small))).body,
      (await uploadAvatar(owner, jpeg({ ...small, shade: 9 }))).body,
    ]
    for (const { mediaId } of [first, second, second]) {
      expect((await owner.patch('/auth/me', { avatarMediaId: mediaId })).status).toBe(200)
    }
    await runJobs()
    await expect.poll(async () => (await download(first.url)).status).toBe(400)
    expect((await download(second.url)).status).toBe(200)
    expect((await owner.patch('/auth/me', { avatarMediaId: first.mediaId })).status).toBe(404)

    const { body } = await owner.patch('/auth/me', { avatarMediaId: null })
    expect(body.user.avatarUrl).toBe(null)
    await runJobs()
    await expect.poll(async () => (await download(second.url)).status).toBe(400)
    await expect.poll(() => storedFiles(owner.identityId)).toEqual([])
  })

  test("somebody else's picture is refused", async () => {
    const stranger = await signUp()
    const { body } = await uploadAvatar(stranger, jpeg(small))
    for (const avatarMediaId of [body.mediaId, unknownId]) {
      expect(await owner.patch('/auth/me', { avatarMediaId }))
        .toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    }
    for (const avatarMediaId of ['x', 1, {}]) {
      expect((await owner.patch('/auth/me', { avatarMediaId })).status).toBe(422)
    }
  })
})

describe('MED-07 all pictures of a flow', () => {
  test('in one request with a bad one keep their order, and the bad one is named', async () => {
    const { id } = await createDraft(owner)
    const files = shades(8)
    const sent = files.map((bytes, index) => ({ bytes, name: `${index}.jpg` }))
    sent[3] = { bytes: Buffer.from('<html>no</html>'), name: 'صورة.jpg' }
    const { status, body } = await uploadPictures(owner, sent, { propertyId: id })
    expect(status).toBe(201)
    expect(body.propertyId).toBe(id)
    expect(body.files[3]).toEqual({
      index: 3,
      name: 'صورة.jpg',
      ok: false,
      error: {
        code: 'file_not_image',
        message: 'يُسمح برفع الصور فقط',
        messageEn: expect.any(String),
      },
    })
    // deno-lint-ignore no-explicit-any
    const good = body.files.filter(({ ok }: any) => ok)
    // deno-lint-ignore no-explicit-any
    expect(good.map(({ index, name }: any) => [index, name]))
      .toEqual([0, 1, 2, 4, 5, 6, 7].map((index) => [index, `${index}.jpg`]))

    const media = await mediaOf(id)
    expect(idsOf(media)).toEqual(idsOf(good))
    for (const [index, { url, position, width, height }] of media.entries()) {
      expect({ url, position, width, height })
        .toEqual({ url: good[index].url, position: good[index].position, ...small })
      expect((await download(url)).bytes).toEqual(files[good[index].index])
    }
  })

  test('in 10 requests at once, in any order, get the positions asked for', async () => {
    const uploadSessionId = randomUUID()
    const files = shades(10)
    const replies = await Promise.all(
      files.map((bytes, startPosition) =>
        uploadPictures(owner, [bytes], { uploadSessionId, startPosition })
      ).toReversed(),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(201))
    const listing = await createDraft(owner, { uploadSessionId })
    const contents = await Promise.all(
      // deno-lint-ignore no-explicit-any
      listing.media.map(async ({ url }: any) => (await download(url)).bytes),
    )
    expect(contents).toEqual(files)
    expect(listing.media.map(({ position }: { position: number }) => position))
      .toEqual(files.map((_, index) => index))
  })

  test('in two uploads at once to one listing get distinct positions', async () => {
    const { id } = await createDraft(owner)
    for (let round = 0; round < 5; round++) {
      const replies = await Promise.all(
        [0, 1].map((half) =>
          uploadPictures(owner, shades(1, round * 40 + half * 20), { propertyId: id })
        ),
      )
      expect(replies.map(({ status }) => status)).toEqual([201, 201])
    }
    const positions = (await mediaOf(id)).map(({ position }: { position: number }) => position)
    expect(positions).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('go where they were asked for, and what is there moves on', async () => {
    const { id } = await createDraft(owner)
    const [a, b, cover, second, third] = shades(5)
    const upload = async (startPosition: number | undefined, ...files: Buffer[]) => {
      const to = { propertyId: id, ...(startPosition !== undefined && { startPosition }) }
      const { status, body } = await uploadPictures(owner, files, to)
      expect(status).toBe(201)
      return body.files
    }
    const last = await upload(undefined, a!, b!)
    const first = await upload(0, cover!, second!)
    expect(first).toMatchObject([{ position: 0 }, { position: 1 }])
    expect(await upload(0, cover!, second!)).toEqual(first)
    const between = await upload(2, third!)
    const media = await mediaOf(id)
    expect(idsOf(media)).toEqual(idsOf([...first, ...between, ...last]))
    expect(media.map(({ position }: { position: number }) => position)).toEqual([0, 1, 2, 3, 4])
  })

  test('sent again after a lost answer are stored once', async () => {
    const uploadSessionId = randomUUID()
    const [a, b] = shades(2)
    const first = await uploadPictures(owner, [a, b], { uploadSessionId, startPosition: 0 })
    const again = await uploadPictures(owner, [a, b], { uploadSessionId, startPosition: 0 })
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect((await createDraft(owner, { uploadSessionId })).media).toHaveLength(2)
    await runJobs()
    await expect.poll(() => storedFiles(owner.identityId)).toHaveLength(2)
  })

  test('that arrives after the listing was created belongs to it too', async () => {
    const [a, b] = shades(2)
    const { body } = await uploadPictures(owner, [a])
    const { uploadSessionId } = body
    expect(body.propertyId).toBe(null)
    const { id } = await createDraft(owner, { uploadSessionId })
    const late = await uploadPictures(owner, [b], { uploadSessionId })
    expect(late.body.propertyId).toBe(id)
    expect(idsOf(await mediaOf(id))).toEqual(idsOf([...body.files, ...late.body.files]))
    expect(await owner.post('/properties', { type: 'SALE', uploadSessionId }))
      .toMatchObject(goneSession)
  })

  test("over the plan's limit are named, and those that fit are kept", async () => {
    const { id } = await createDraft(owner)
    const { status, body } = await uploadPictures(owner, shades(12), { propertyId: id })
    expect(status).toBe(201)
    expect(body.files.map(({ ok }: { ok: boolean }) => ok))
      .toEqual([...Array(10).fill(true), false, false])
    expect(body.files[11].error.code).toBe('quota_exceeded')
    expect(await uploadPictures(owner, shades(1, 99), { propertyId: id }))
      .toMatchObject({
        status: 402,
        body: { error: { code: 'quota_exceeded', limit: 10, used: 10 } },
      })
    expect(await mediaOf(id)).toHaveLength(10)
    expect(await storedFiles(owner.identityId)).toHaveLength(10)
  })
})

describe('MED-28 an upload session', () => {
  const daysPass = (uploadSessionId: string, days: number) =>
    database().query(
      `with moved as (
         update private.upload_sessions
         set created_at = created_at - make_interval(days => $2),
             expires_at = expires_at - make_interval(days => $2)
         where id = $1
       )
       update public.media set created_at = created_at - make_interval(days => $2)
       where upload_session_id = $1`,
      [uploadSessionId, days],
    )

  test('keeps its pictures for seven days from the last upload, fourteen from the first', async () => {
    const uploadSessionId = randomUUID()
    const pictures = shades(4)
    for (const picture of pictures.slice(0, 3)) {
      expect((await uploadPictures(owner, [picture], { uploadSessionId })).status).toBe(201)
      await daysPass(uploadSessionId, 4)
      await runJobs()
    }
    // Twelve days have passed since the first upload, four since the last.
    expect((await uploadPictures(owner, [pictures[3]!], { uploadSessionId })).status).toBe(201)
    await daysPass(uploadSessionId, 1)
    await runJobs()
    expect(await storedFiles(owner.identityId)).toHaveLength(4)
    await daysPass(uploadSessionId, 1)
    expect(await owner.post('/properties', { type: 'SALE', uploadSessionId }))
      .toMatchObject(goneSession)
    await runJobs()
    await expect.poll(() => storedFiles(owner.identityId)).toEqual([])

    // The earlier pictures are gone, so the session can no longer become a listing.
    expect(await uploadPictures(owner, shades(1, 60), { uploadSessionId }))
      .toMatchObject(goneSession)
    expect(await owner.post('/properties', { type: 'SALE', uploadSessionId }))
      .toMatchObject(goneSession)
    await daysPass(uploadSessionId, 31)
    await runJobs()
    const { rows } = await database().query('select from private.upload_sessions where id = $1', [
      uploadSessionId,
    ])
    expect(rows).toEqual([])
    expect(await storedFiles(owner.identityId)).toEqual([])
  })

  test('of a form that is finished six days later gives all of its pictures', async () => {
    const { body } = await uploadPictures(owner, shades(3))
    const { uploadSessionId } = body
    await daysPass(uploadSessionId, 6)
    await runJobs()
    const { media, id } = await createDraft(owner, { uploadSessionId })
    expect(idsOf(media)).toEqual(idsOf(body.files))
    // The session has become a listing, so its pictures are not discarded.
    await daysPass(uploadSessionId, 20)
    await runJobs()
    expect(await mediaOf(id)).toHaveLength(3)
    const late = await uploadPictures(owner, shades(1, 50), { uploadSessionId })
    expect(late.body.propertyId).toBe(id)
  })

  test('takes no more while the account has 200 pictures that nothing uses', async () => {
    const { id: conversation } = await openConversation(owner, {
      identityId: (await signUp()).identityId,
      message: 'صورة',
    })
    const { body: { files: [sent] } } = await uploadPictures(owner, shades(1, 98))
    const send = () =>
      postMessage(owner, conversation, {
        clientMessageId: randomUUID(),
        type: 'image',
        mediaId: sent.mediaId,
      })
    expect(await send()).toMatchObject({ status: 201 })
    const sessions: string[] = []
    for (const count of [...Array(19).fill(10), 7]) {
      const { body } = await uploadPictures(owner, shades(count))
      sessions.push(body.uploadSessionId)
    }
    const full = { status: 409, body: { error: { code: 'uploads_full', limit: 200, used: 200 } } }
    const replies = await Promise.all(
      [0, 20, 40, 60, 80].map((from) => uploadPictures(owner, shades(2, from))),
    )
    const files = replies.flatMap(({ body }) => body.files ?? [])
    expect(files.filter(({ ok }) => ok)).toHaveLength(3)
    for (const { ok, error } of files) if (!ok) expect(error.code).toBe('uploads_full')
    for (const { status, body } of replies) {
      if (status !== 201) expect({ status, body }).toMatchObject(full)
    }
    expect(await uploadPictures(owner, shades(1, 99))).toMatchObject(full)
    expect(await uploadAvatar(owner, jpeg(small))).toMatchObject(full)
    expect(await send()).toMatchObject(full) // each message stores its own copy of the picture
    // Pictures of a listing no longer count towards the limit.
    await createDraft(owner, { uploadSessionId: sessions[0] })
    expect((await uploadAvatar(owner, jpeg(small))).status).toBe(201)
  })
})

describe('the pictures of a listing', () => {
  test('are reordered and removed', async () => {
    const { id } = await createDraft(owner)
    const { body } = await uploadPictures(owner, shades(4), { propertyId: id })
    const [a, b, c, d] = idsOf(body.files)
    const order = (mediaIds: unknown) => owner.put(`/properties/${id}/media/order`, { mediaIds })

    expect(idsOf((await order([d, a, c, b])).body.media)).toEqual([d, a, c, b])
    expect((await owner.delete(`/properties/${id}/media/${a}`)).status).toBe(204)
    expect((await mediaOf(id)).map(({ id, position }: { id: string; position: number }) => [
      id,
      position,
    ])).toEqual([[d, 0], [c, 1], [b, 2]])

    for (const wrong of [[d, c], [d, c, c], [d, c, b, b], 'x', [1]]) {
      expect((await order(wrong)).status).toBe(422)
    }
    for (const wrong of [[d, c, a], [d, c, unknownId]]) {
      expect((await order(wrong)).status).toBe(404)
    }
    expect((await owner.delete(`/properties/${id}/media/${a}`)).status).toBe(404)
    expect(idsOf(await mediaOf(id))).toEqual([d, c, b])
    await runJobs()
    await expect.poll(async () => (await download(body.files[0].url)).status).toBe(400)
    expect((await download(body.files[1].url)).status).toBe(200)
  })

  test('can be edited in the states in which the listing can', async () => {
    const { id } = await publishListing(owner)
    const { body } = await uploadPictures(owner, shades(1), { propertyId: id })
    await owner.post(`/properties/${id}/archive`)
    const conflict = { status: 409, body: { error: { code: 'property_state_conflict' } } }
    expect(await uploadPictures(owner, shades(1, 7), { propertyId: id })).toMatchObject(conflict)
    expect(await owner.delete(`/properties/${id}/media/${body.files[0].mediaId}`))
      .toMatchObject(conflict)
    const mediaIds = idsOf(body.files)
    expect(await owner.put(`/properties/${id}/media/order`, { mediaIds })).toMatchObject(conflict)
    expect(await mediaOf(id)).toHaveLength(1)
  })

  test('MED-12 ISO-14 go with a deleted listing, and with a closed account', async () => {
    const { id } = await publishListing(owner)
    const { body } = await uploadPictures(owner, shades(2), { propertyId: id })
    await uploadAvatar(owner, jpeg(small))
    await owner.delete(`/properties/${id}`)
    await runJobs()
    await expect.poll(() => storedFiles(owner.identityId)).toHaveLength(1)
    expect((await download(body.files[0].url)).status).toBe(400)

    await database().query('delete from auth.users where id = $1', [owner.id])
    await runJobs()
    await expect.poll(() => storedFiles(owner.identityId)).toEqual([])
    const { rows } = await database().query(
      'select from public.media where account_id = $1',
      [owner.id],
    )
    expect(rows).toEqual([])
  })
})

describe("MED-08 another's", () => {
  test('listing takes no pictures: 404 as for one that is not there, and no file stays', async () => {
    const stranger = await signUp()
    const theirs = await createDraft(stranger)
    const { body } = await uploadPictures(stranger, shades(2), { propertyId: theirs.id })
    const own = await createDraft(owner)
    const gone = await createDraft(owner)
    await owner.delete(`/properties/${gone.id}`)
    for (const propertyId of [theirs.id, unknownId, gone.id]) {
      expect(await uploadPictures(owner, shades(1), { propertyId }))
        .toMatchObject({ status: 404, body: { error: { code: 'property_not_found' } } })
    }
    const [a, b] = idsOf(body.files)
    for (
      const [method, path, sent] of [
        ['PUT', `/properties/${theirs.id}/media/order`, { mediaIds: [b, a] }],
        ['DELETE', `/properties/${theirs.id}/media/${a}`, undefined],
        ['PUT', `/properties/${own.id}/media/order`, { mediaIds: [a] }],
        ['DELETE', `/properties/${own.id}/media/${a}`, undefined],
      ] as const
    ) {
      const headers = { authorization: `Bearer ${owner.accessToken}` }
      expect((await request(method, path, sent, { headers })).status).toBe(404)
    }
    for (const uploadSessionId of [body.uploadSessionId, unknownId]) {
      expect(await owner.post('/properties', { type: 'SALE', uploadSessionId }))
        .toMatchObject(goneSession)
    }
    expect(idsOf(await mediaOf(theirs.id, stranger))).toEqual([a, b])
    expect(await storedFiles(owner.identityId)).toEqual([])
  })

  test('listing named after the files is refused as well, and nothing stays', async () => {
    const theirs = await createDraft(await signUp())
    const form = new FormData()
    form.append('files', new Blob([new Uint8Array(jpeg(small))]), 'a.jpg')
    form.append('propertyId', theirs.id)
    expect((await postForm(owner, '/media/upload/listings', form)).status).toBe(404)
    expect(await storedFiles(owner.identityId)).toEqual([])
  })

  test('identity of the same account has flows and pictures of its own', async () => {
    const { body } = await uploadPictures(owner, shades(1))
    const company = await insertOrganisation(owner.id)
    await owner.post('/auth/identity/switch', { identityId: company })
    const { uploadSessionId } = body
    expect(await owner.post('/properties', { type: 'SALE', uploadSessionId }))
      .toMatchObject(goneSession)
    await uploadPictures(owner, shades(1, 50), { uploadSessionId })
    const { media } = await createDraft(owner, { uploadSessionId })
    expect(media).toHaveLength(1)
    expect(media[0].url).toContain(company)
  })
})

test('MED-10 without a token, or while suspended, nothing is uploaded', async () => {
  for (const [path, field] of [['avatar', 'file'], ['listings', 'files']]) {
    const form = () => formOf(field, [{ bytes: jpeg(small) }])
    const to = `/media/upload/${path}`
    expect((await postForm(undefined, to, form())).status).toBe(401)
    expect((await postForm({ accessToken: 'x.y.z' }, to, form())).status).toBe(401)
    const gone = await signUp()
    await gone.post('/auth/logout', {})
    expect((await postForm(gone, to, form())).status).toBe(401)
    const suspended = await signUp()
    await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
      suspended.id,
    ])
    expect((await postForm(suspended, to, form())).status).toBe(403)
    expect(await storedFiles(suspended.identityId)).toEqual([])
  }
})

test('MED-12 files are served with our type and name, whole or in part', async () => {
  const { id } = await publishListing(owner)
  const { body } = await uploadPictures(
    owner,
    [{ bytes: png(small), name: 'x.html', type: 'text/html' }],
    { propertyId: id },
  )
  const { url } = body.files[0]
  expect(new URL(url).pathname)
    .toMatch(/\/listings\/[0-9a-f-]{36}\/[0-9a-f-]{36}\.png$/)
  const whole = await download(url)
  expect(whole.headers.get('content-type')).toBe('image/png')
  expect(whole.headers.get('cache-control')).toBe('max-age=86400')
  expect(partsIn(whole.bytes)).toEqual(['IHDR', 'IDAT', 'IEND'])

  const part = await download(url, { range: 'bytes=8-15' })
  expect(part).toMatchObject({ status: 206, bytes: png(small).subarray(8, 16) })
  expect((await download(url, { range: 'bytes=99999-' })).status).toBe(416)
  const down = await download(`${url}?download=${encodeURIComponent('a"\r\nX: y.html')}`)
  expect(down.headers.get('content-disposition')).toMatch(
    /^attachment; filename=[\w%.]+; [\w%.*='-]+$/,
  )
  expect(down.headers.get('x')).toBe(null)
  expect(await guest.get(`/properties/${id}`)).toMatchObject({ body: { media: [{ url }] } })
})
